"""Draw the pictures of the README from the bundled corpus.

python docs/make_images.py
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from manylabel.cli.demo import prepare
from manylabel.cli.demo_show import show_why

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    """Write docs/images/demo.svg."""
    console = Console(record=True, width=88, file=io.StringIO(), force_terminal=True)
    show_why(console, prepare(1))
    picture = console.export_svg(title="manylabel demo")
    # The picture asks nobody for fonts, and carries no advertisement.
    picture = re.sub(
        r"@font-face \{.*?\}\s*|<!-- Generated .*?-->\s*", "", picture, flags=re.DOTALL
    )
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "demo.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
