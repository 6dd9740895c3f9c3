"""Build hook: the project's description on PyPI.

PyPI shows README.md outside the repository, where its pictures, its links to other files and its
``make`` commands do not work. The description has no pictures, the text of the links, and commands
that work after an installation.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_COMMANDS = """\
```sh
pip install manylabel
manylabel demo    # trains, tags and explains on a bundled catalogue
```

You need Python 3.11 or later."""
_END = """\
The documentation, with benchmarks that say where manylabel loses, is in the folder `docs` of the
source distribution. MIT licence.
"""


def describe(readme: str) -> str:
    """README.md without what works only in the repository."""
    text = readme.partition("[Benchmarks in two minutes]")[0] + _END
    text = re.sub(r"<img\b[^>]*>\n*|<br\b[^>]*>", "", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)\n*", "", text)
    text = re.sub(r"\[([^\]]*)\]\((?!https?://)[^)]*\)", r"\1", text)
    return re.sub(r"```sh\nmake .*?pip and make\.", _COMMANDS, text, flags=re.DOTALL)


class DescriptionHook(MetadataHookInterface):
    """Sets the description that ``pyproject.toml`` declares as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set ``readme``."""
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": describe(readme)}
