"""Let folders appear under their name when they are complete."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

__all__ = ["publish"]


def publish(unfinished: Path, path: Path) -> None:
    """Rename a finished folder to its final name, unless another process was faster."""
    try:
        os.rename(unfinished, path)
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not path.exists():
            raise
