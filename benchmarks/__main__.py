"""Run every benchmark, one after the other, each in its own process.

python -m benchmarks [NAME ...] > results.md
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.common import DATA

#: In the order of the layers.
NAMES = (
    "reading",
    "vectorizing",
    "search",
    "lcif",
    "lazy",
    "linear",
    "trees",
    "topics",
    "ensemble",
    "defaults",
    "tagger",
    "audit",
    "next",
    "vocabulary",
    "startup",
    "server",
    "distributed",
)


def main() -> int:
    here = Path(__file__).parent
    names = sys.argv[1:] or [name for name in NAMES if (here / f"{name}.py").exists()]
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(f"no benchmark is called {unknown[0]!r}; there are {', '.join(NAMES)}.")
        return 2
    if not DATA.exists():
        print(f"The corpora are not in {DATA}; set MANYLABEL_DATA to their folder.")
        return 1
    failed = []
    for name in names:
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
