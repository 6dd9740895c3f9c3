"""Folders that appear under their name when they are complete."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

__all__ = ["publish"]


def publish(unfinished: Path, path: Path) -> None:
    """Give a finished folder its name, unless another process was quicker."""
    try:
        os.rename(unfinished, path)
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not path.exists():
            raise
