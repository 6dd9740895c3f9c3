"""Whether the files of a model folder are those that were written: at once or in passing."""

from __future__ import annotations

import os
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from manylabel.exceptions import StoreError
from manylabel.store.arrays import REPAIR
from manylabel.store.manifest import read_manifest

__all__ = ["BackgroundCheck", "damaged_files"]

#: Bytes that are read at a time.
BLOCK = 1 << 22


def damaged_files(
    path: str | os.PathLike[str], progress: Callable[[int, int], None] | None = None
) -> list[StoreError]:
    """Read every array file of a model folder from end to end; what is wrong with each.

    Parameters
    ----------
    path : path
        A model folder.
    progress : callable, optional
        Is told the bytes read so far, and all there are.

    Returns
    -------
    list of StoreError
        One for each file that is not as it was written; empty if all are.

    Raises
    ------
    StoreError
        If the manifest cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from manylabel import LCIF, save
    >>> with TemporaryDirectory() as folder:
    ...     save(LCIF(k=1).fit([[1, 0], [0, 1]], [[1, 0], [0, 1]]), folder)
    ...     damaged_files(folder)
    []
    """
    manifest = read_manifest(path)
    total = sum(record["bytes"] for record in manifest["files"].values())
    found, done = [], 0
    for name, record in manifest["files"].items():
        file = Path(path) / manifest["data"] / name
        try:
            for size in _read(file, record):
                done += size
                if progress is not None:
                    progress(done, total)
        except StoreError as error:
            found.append(error)
    return found


def _read(path: Path, record: dict[str, Any]) -> Iterator[int]:
    """Read a file block by block, giving sizes; an error at the end if its bytes are others."""
    crc, size = 0, 0
    try:
        if path.is_symlink():
            raise StoreError(
                "this is a link, which a model folder may not hold; put the file itself here.", path
            )
        buffer = bytearray(BLOCK)
        with open(path, "rb", buffering=0) as file:
            while n := file.readinto(buffer):
                crc = zlib.crc32(memoryview(buffer)[:n], crc)
                size += n
                yield n
    except FileNotFoundError:
        raise StoreError(f"the file is missing; {REPAIR}.", path) from None
    except OSError as error:
        raise StoreError(
            f"the file cannot be read ({error.strerror or error}); {REPAIR}.", path
        ) from None
    if size != record["bytes"]:
        raise StoreError(
            f"the file has {size} bytes, not the {record['bytes']} that were written; {REPAIR}.",
            path,
        )
    if f"{crc:08x}" != record["crc32"]:
        raise StoreError(f"the file was altered after it was written; {REPAIR}.", path)


class BackgroundCheck:
    """Compares checksums while the model is used already; takes half of one core at most.

    Parameters
    ----------
    folder : path
    manifest : dict
        Of the model that is used.
    """

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self._folder, self._manifest = folder, manifest
        self._error: StoreError | None = None
        self._thread = threading.Thread(target=self._run, name="manylabel-check", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until every file was read; False if that takes longer than some seconds."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def raise_damage(self) -> None:
        """Raise what was found so far."""
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        place = self._folder / self._manifest["data"]
        # Large files first: the small ones were checked when the model was loaded.
        records = sorted(self._manifest["files"].items(), key=lambda item: -item[1]["bytes"])
        for name, record in records:
            try:
                begun = time.monotonic()
                for _ in _read(place / name, record):
                    time.sleep(min(1.0, time.monotonic() - begun))
                    begun = time.monotonic()
            except StoreError as error:
                # A writer may have replaced the model: its files are no fault then.
                with suppress(StoreError):
                    if read_manifest(self._folder)["data"] != self._manifest["data"]:
                        return
                self._error = error
                return
