"""Pack a folder into bytes with a checksum, to send it to machines that share no disk."""

from __future__ import annotations

import hashlib
import io
import secrets
import shutil
import tarfile
from pathlib import Path
from typing import IO, Any

from manylabel.distributed.publishing import publish
from manylabel.exceptions import StoreError

__all__ = ["pack", "packed", "unpack"]

_DIGEST = hashlib.sha256().digest_size
_CHUNK = 1 << 20


class _Hashing:
    """A file that hashes what is written to it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.hash = file, hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.hash.update(data)
        return self._file.write(data)


def pack(folder: Path, file: IO[bytes]) -> None:
    """Write the files of a folder, then the hash of all bytes written."""
    hashing: Any = _Hashing(file)
    with tarfile.open(fileobj=hashing, mode="w|") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.add(path, str(path.relative_to(folder)), recursive=False)
    file.write(hashing.hash.digest())


def packed(folder: Path) -> bytes:
    """Pack a folder into bytes."""
    file = io.BytesIO()
    pack(folder, file)
    return file.getvalue()


def unpack(file: IO[bytes], size: int, path: Path) -> None:
    """Unpack a folder from the ``size`` bytes of a file; it appears when it is complete.

    Raises
    ------
    StoreError
        If a byte is missing or has changed.
    """
    digest, left = hashlib.sha256(), size - _DIGEST
    while left > 0 and (data := file.read(min(_CHUNK, left))):
        digest.update(data)
        left -= len(data)
    if left != 0 or file.read() != digest.digest():
        raise StoreError(f"the {size:,} bytes of {path.name} do not match their checksum.")
    file.seek(0)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            archive.extractall(unfinished, filter="data")
    except (tarfile.TarError, OSError):
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    publish(unfinished, path)
