"""Array files: written with a checksum, memory-mapped when read."""

from __future__ import annotations

import io
import math
import mmap
import os
import stat
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manylabel.exceptions import StoreError

__all__ = [
    "REPAIR",
    "FileRecord",
    "as_array",
    "check_sum",
    "open_file",
    "write_array",
    "write_file",
]

#: NumPy parses headers as Python literals, which two threads must not do at once (CPython 3.11).
_parsing = threading.Lock()
#: What to do about a broken folder.
REPAIR = "restore the folder from a backup, or save the model again"
#: Files of at least this size are memory-mapped; smaller ones are read.
MAPPED = 1 << 16
#: Maximum size of an array's header.
HEADER = 1 << 16

#: Size and checksum of a file, and the type and shape of its array, as in the manifest.
FileRecord = dict[str, Any]


class _Summed(io.RawIOBase):
    """Writes to a file, and counts the bytes and their checksum."""

    def __init__(self, file: Any) -> None:
        self.file, self.size, self.crc = file, 0, 0

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        self.file.write(piece)
        self.crc = zlib.crc32(piece, self.crc)
        self.size += len(piece)
        return len(piece)


def write_array(path: Path, array: NDArray[Any]) -> FileRecord:
    """Write one array durably, in NumPy's format."""
    with open(path, "xb") as file:
        summed = _Summed(file)
        np.lib.format.write_array(summed, np.asarray(array), allow_pickle=False)
        _flush(file)
    return {
        "bytes": summed.size,
        "crc32": f"{summed.crc:08x}",
        "type": array.dtype.str,
        "shape": list(array.shape),
    }


def write_file(path: Path, content: bytes) -> None:
    """Write bytes durably."""
    with open(path, "xb") as file:
        file.write(content)
        _flush(file)


def _flush(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())


def open_file(path: Path, record: FileRecord) -> bytearray | mmap.mmap:
    """The bytes of a file of the right size, memory-mapped if it is large.

    A private map shares its pages with other processes until it is written to, and changes stay in
    this process. So a loaded array can be changed like any other.
    """
    try:
        if stat.S_ISLNK(os.lstat(path).st_mode):
            raise StoreError(
                "this is a link, which is not allowed in a model folder; replace it by the file.",
                path,
            )
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(path, flags), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size != record["bytes"]:
                raise StoreError(
                    f"the file has {size} bytes, not the {record['bytes']} that were written; "
                    f"{REPAIR}.",
                    path,
                )
            if size >= MAPPED:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            return bytearray(file.read())
    except FileNotFoundError:
        raise StoreError(f"the file is missing; {REPAIR}.", path) from None
    except OSError as error:
        raise StoreError(
            f"the file cannot be read ({error.strerror or error}); {REPAIR}.", path
        ) from None


def check_sum(path: Path, buffer: bytearray | mmap.mmap, record: FileRecord) -> None:
    """Refuse a file whose bytes are not those that were written."""
    if f"{zlib.crc32(buffer):08x}" != record["crc32"]:
        raise StoreError(f"the file was altered after it was written; {REPAIR}.", path)


def as_array(path: Path, buffer: bytearray | mmap.mmap, record: FileRecord) -> NDArray[Any]:
    """The array in the bytes of a file, without a copy."""
    header = io.BytesIO(memoryview(buffer)[:HEADER])
    try:
        version = np.lib.format.read_magic(header)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        with _parsing:
            shape, by_columns, dtype = read(header)
        if dtype.hasobject or header.tell() + math.prod(shape) * dtype.itemsize != len(buffer):
            raise ValueError("the header does not fit the file")
        # Older manifests do not say.
        if [dtype.str, list(shape)] != [
            record.get("type", dtype.str),
            record.get("shape", [*shape]),
        ]:
            raise ValueError("the array has another type or shape than the one that was written")
    except (KeyError, ValueError) as error:
        raise StoreError(f"this is not an array file ({error}); {REPAIR}.", path) from None
    flat = np.frombuffer(buffer, dtype, math.prod(shape), header.tell())
    return flat.reshape(shape, order="F" if by_columns else "C")
