"""Check that the files of a model folder are intact, on demand or in the background."""

from __future__ import annotations

import atexit
import os
import threading
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from manylabel.exceptions import StoreError
from manylabel.store.arrays import REPAIR
from manylabel.store.manifest import read_manifest

__all__ = ["BackgroundCheck", "damaged_files"]

#: Bytes read at a time.
BLOCK = 1 << 22


def damaged_files(
    path: str | os.PathLike[str], progress: Callable[[int, int], None] | None = None
) -> list[StoreError]:
    """Read every array file of a model folder from end to end, and report the damaged ones.

    Parameters
    ----------
    path : path
        A model folder.
    progress : callable, optional
        Called with the bytes read so far, and the total.

    Returns
    -------
    list of StoreError
        One per damaged file; empty if all are intact.

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
    errors, done = [], 0
    for name, record in manifest["files"].items():
        file = Path(path) / manifest["data"] / name
        try:
            for size in _read(file, record):
                done += size
                if progress is not None:
                    progress(done, total)
        except StoreError as error:
            errors.append(error)
    return errors


def _read(path: Path, record: dict[str, Any]) -> Iterator[int]:
    """Read a file block by block, yielding sizes; raise an error at the end if it is damaged."""
    crc, size = 0, 0
    try:
        if path.is_symlink():
            raise StoreError(
                "this is a link, which is not allowed in a model folder; replace it by the file.",
                path,
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
    """Compares checksums while the model is in use, then looks at indices.

    Comparing takes at most half of one core, unless a caller waits for it.

    Parameters
    ----------
    folder : path
    manifest : dict
        Of the model in use.
    look : callable, optional
        Is given both at the end; raises a StoreError if something else is wrong.
    """

    def __init__(
        self,
        folder: Path,
        manifest: dict[str, Any],
        look: Callable[[Path, dict[str, Any]], None] | None = None,
    ) -> None:
        self._folder, self._manifest, self._look = folder, manifest, look
        self._error: StoreError | None = None
        self._is_known = False
        self._is_awaited = threading.Event()
        self._thread = threading.Thread(target=self._run, name="manylabel-check", daemon=True)

    def start(self) -> None:
        """Start the check; a process that ends before it says so."""
        atexit.register(self._warn)
        self._thread.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until every file is read; False if that takes longer than ``seconds``."""
        self._is_awaited.set()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def raise_damage(self) -> None:
        """Raise the error of a damaged file, if one was found so far."""
        if self._error is not None:
            self._is_known = True
            raise self._error

    def _warn(self) -> None:
        """Warn of what the process has not noticed."""
        if self._error is not None and not self._is_known:
            warnings.warn(f"{self._error} Do not use its answers.", stacklevel=1)
        elif self._thread.is_alive():
            warnings.warn(
                f"{self._folder} was in use, but is not checked to the end; run `manylabel check "
                f"{self._folder}`.",
                stacklevel=1,
            )

    def _run(self) -> None:
        try:
            self._compare()
            if self._look is not None:
                self._look(self._folder, self._manifest)
        except StoreError as error:
            # A writer may have replaced the model: missing files are not damage then.
            with suppress(StoreError):
                if read_manifest(self._folder)["data"] != self._manifest["data"]:
                    return
            self._error = error
        finally:
            if self._error is None:
                atexit.unregister(self._warn)

    def _compare(self) -> None:
        """Compare checksums, with pauses."""
        data = self._folder / self._manifest["data"]
        # Large files first: the small ones were checked when the model was loaded.
        records = sorted(self._manifest["files"].items(), key=lambda item: -item[1]["bytes"])
        for name, record in records:
            begun = time.monotonic()
            for _ in _read(data / name, record):
                self._is_awaited.wait(min(1.0, time.monotonic() - begun))
                begun = time.monotonic()
