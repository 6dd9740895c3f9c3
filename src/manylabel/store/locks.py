"""Allow one writer at a time; a lock is released when its process ends."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manylabel.exceptions import StoreError

__all__ = ["LOCK", "PAUSE", "exclusive", "try_lock"]

#: The file in the model folder that writers lock.
LOCK = ".lock"
#: Seconds to wait for another writer, and between two attempts.
PATIENCE = 120.0
PAUSE = 0.02


@contextmanager
def exclusive(folder: Path, patience: float | None = None) -> Iterator[None]:
    """Lock other writers out of a model folder, after waiting for the current one."""
    until = time.monotonic() + (PATIENCE if patience is None else patience)
    while (file := _locked(folder / LOCK)) is None:
        if time.monotonic() > until:
            raise StoreError(
                "another process is writing this model; try again when it is done.", folder
            )
        time.sleep(PAUSE)
    try:
        yield
    finally:
        os.close(file)


def _locked(path: Path) -> int | None:
    """An open and locked file; None if another process has it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        _lock(file)
        # The previous holder may have removed the file, along with a folder it did not finish.
        if os.path.samestat(os.fstat(file), os.stat(path)):
            return file
    except (BlockingIOError, PermissionError, FileNotFoundError):
        pass
    except BaseException:
        os.close(file)
        raise
    os.close(file)
    return None


def try_lock(file: int) -> bool:
    """Lock an open file until it is closed; False if another process has it."""
    try:
        _lock(file)
    except (BlockingIOError, PermissionError):
        return False
    return True


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
