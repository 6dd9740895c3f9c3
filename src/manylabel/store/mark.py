"""The number of the last journal entry, kept outside the journal to detect missing entries.

The mark of a model is written after each change of the journal, before the change is acknowledged.
So the journal may be ahead of the mark by unacknowledged changes, but is never behind.
"""

from __future__ import annotations

import os
import re
import stat
import time
import zlib
from pathlib import Path

from manylabel.exceptions import JournalError, StoreError
from manylabel.store.locks import PAUSE, try_lock

__all__ = ["MARK_NAME", "Mark"]

#: The file in the model folder; the token identifies the model that it belongs to.
MARK_NAME = re.compile(r"journal-([0-9a-f]{2,64})\.mark")
# Two lines in separate sectors are written in turn, so an interrupted write damages only one.
_SECTOR = 512
_LINE = re.compile(rb"manylabel journal ([0-9a-f]+) (\d{1,18}) ([0-9a-f]{8})\n")
#: Seconds to wait for another writer.
PATIENCE = 10.0


class Mark:
    """The marks of a model folder.

    Parameters
    ----------
    folder : path

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     mark = Mark(folder)
    ...     mark.write("c0ffee", 7)
    ...     mark.read("c0ffee"), mark.read("beef")
    (7, None)
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)

    def path(self, token: str) -> Path:
        """The file of a model."""
        return self._folder / f"journal-{token}.mark"

    def read(self, token: str) -> int | None:
        """The number of the last acknowledged entry; None if the model has no mark.

        Raises
        ------
        JournalError
            If the mark is damaged.
        """
        path = self.path(token)
        try:
            if stat.S_ISLNK(os.lstat(path).st_mode):
                raise JournalError("this is a link, which is not allowed in a model folder", path)
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise JournalError(
                f"the file cannot be read ({error.strerror or error})", path
            ) from None
        numbers = [number for _, number in _lines(content, token)]
        if not numbers:
            raise JournalError(
                "the file, which has the number of changes in the journal, was altered", path
            )
        return max(numbers)

    def missing(self, token: str) -> JournalError:
        """The error for a model without its mark."""
        return JournalError(
            "the file, which has the number of changes in the journal, is missing",
            self.path(token),
        )

    def write(self, token: str, number: int) -> None:
        """Record durably that the journal has entries up to a number; never goes back.

        Raises
        ------
        StoreError
            If the file cannot be written.
        """
        try:
            self._write(token, number)
        except OSError as error:
            raise StoreError(
                f"the file cannot be written ({error.strerror or error}), so the last change may "
                "or may not have been made; free some space or get write permission, then check.",
                self.path(token),
            ) from None

    def _write(self, token: str, number: int) -> None:
        path = self.path(token)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        is_new = not path.exists()
        file = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            until = time.monotonic() + PATIENCE
            while not try_lock(file):
                if time.monotonic() > until:
                    raise OSError("another process is writing the file and did not finish in time")
                time.sleep(PAUSE / 10)
            lines = dict(_lines(os.pread(file, 2 * _SECTOR, 0), token))
            if lines and max(lines.values()) >= number:
                return
            # Overwrite the older line; a new file gets both.
            newest = max(lines, key=lines.__getitem__, default=None)
            for position in (0, 1):
                if position != newest:
                    _write(file, _line(token, number), position * _SECTOR)
            os.fsync(file)
        finally:
            os.close(file)
        if is_new and os.name == "posix":
            folder = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def _write(file: int, content: bytes, position: int) -> None:
    """Write all of it, however little the system takes at a time."""
    while content:
        size = os.pwrite(file, content, position)
        content, position = content[size:], position + size


def _line(token: str, number: int) -> bytes:
    body = b"manylabel journal %s %d" % (token.encode(), number)
    return b"%s %08x\n" % (body, zlib.crc32(body))


def _lines(content: bytes, token: str) -> list[tuple[int, int]]:
    """Position and number of each intact line of this model."""
    lines = []
    for position in (0, 1):
        line = _LINE.match(content, position * _SECTOR)
        if line is not None and line[1] == token.encode() and line[0] == _line(token, int(line[2])):
            lines.append((position, int(line[2])))
    return lines
