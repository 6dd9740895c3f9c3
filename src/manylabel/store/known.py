"""Which large model folders this user has saved or checked on this machine.

A record is an empty file outside the model folder. Its name is a digest of the manifest and of each
array's file: device, inode, size and times. A copy, and a file that was written to, have others.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from manylabel.kernels import machine_code

__all__ = ["digest_of", "is_known", "remember"]

#: Maximum records; the oldest are removed.
_MAX_RECORDS = 1_000


def digest_of(folder: Path, content: bytes, manifest: dict[str, Any]) -> str | None:
    """The digest of a model folder with a manifest; None if a file is missing."""
    digest = hashlib.sha256(content)
    data = folder / manifest["data"]
    try:
        for name in sorted(manifest["files"]):
            facts = os.lstat(data / name)
            # The last time is set by the system alone, whenever the file changes.
            times = facts.st_mtime_ns, facts.st_ctime_ns
            digest.update(f"{facts.st_dev} {facts.st_ino} {facts.st_size} {times} ".encode())
    except OSError:
        return None
    return digest.hexdigest()


def is_known(digest: str | None) -> bool:
    """Whether the model folder with this digest was saved or checked here."""
    if digest is None:
        return False
    with suppress(OSError, RuntimeError):
        place = _place()
        return _is_private(place) and (place / digest).is_file()
    return False


def remember(digest: str | None) -> None:
    """Record that a model folder was saved or checked here, where the system lets us."""
    if digest is None:
        return
    with suppress(OSError, RuntimeError):
        place = _place()
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(place):
            return
        (place / digest).touch(mode=0o600)
        records = sorted(place.iterdir(), key=lambda record: record.stat().st_mtime_ns)
        for record in records[:-_MAX_RECORDS]:
            record.unlink(missing_ok=True)


def _place() -> Path:
    """The folder of the records: in the folder for caches, never beside a model."""
    return machine_code.user_folder() / "checked"


def _is_private(place: Path) -> bool:
    """Whether only this user can write the records."""
    facts = os.lstat(place)
    if not hasattr(os, "getuid"):
        return True
    return facts.st_uid == os.getuid() and not facts.st_mode & 0o022
