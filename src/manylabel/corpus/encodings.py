"""Decode text: UTF-8, or UTF-16 and Windows-1252 as spreadsheets and old programs write it."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from typing import Any

from manylabel.corpus.files import Source
from manylabel.exceptions import CorpusError, ParameterError

__all__ = ["Lines", "check_encoding", "decoded_start", "recoded"]

_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_OLD = "cp1252"
_PIECE = 1 << 16


def check_encoding(encoding: str | None) -> None:
    """Refuse an unknown encoding."""
    try:
        if encoding is not None:
            codecs.lookup(encoding)
    except LookupError:
        raise ParameterError(
            f"`encoding` must be a name such as utf-8, utf-16 or cp1252; got {encoding!r}."
        ) from None


def recoded(source: Source, encoding: str | None, tell: Callable[[str], None]) -> Source:
    """Convert a source to UTF-8.

    UTF-16 is detected by its byte order mark, or if every other byte is 0. Carriage returns alone
    as line ends become line feeds. Windows-1252 is left to `Lines`, because its first non-ASCII
    character may come late in the file.
    """
    start = source.peek()
    detected = encoding
    if detected is None:
        detected = _UTF16.get(start[:2]) or _without_mark(start)
        if detected is not None:
            tell(f"The file is in {detected.upper()}.")
    is_plain = detected is None or codecs.lookup(detected).name == "utf-8"
    has_returns = is_plain and b"\r" in start.rstrip(b"\r") and b"\n" not in start
    if is_plain and not has_returns:
        return source
    name = "utf-8" if is_plain else str(detected)
    stream = io.BufferedReader(_Recoder(source, name, has_returns), source.peek_size * 4)
    return Source(stream, source.name)


def _without_mark(start: bytes) -> str | None:
    """Detect UTF-16 without a mark: in European languages, every other byte is 0."""
    if len(start) < 4 or b"\0" not in start:
        return None
    even, odd = start[::2].count(0) / len(start[::2]), start[1::2].count(0) / len(start[1::2])
    if odd > 0.7 and even < 0.1:
        return "utf-16-le"
    return "utf-16-be" if even > 0.7 and odd < 0.1 else None


class _Recoder(io.RawIOBase):
    """A stream that converts a source to UTF-8."""

    def __init__(self, source: Source, encoding: str, has_returns: bool) -> None:
        self._source, self._has_returns = source, has_returns
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)("strict")
        self._left, self._is_first, self._is_done = b"", True, False

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._left and not self._is_done:
            piece = self._source.stream.read(_PIECE)
            self._is_done = not piece
            try:
                text = self._decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                raise self._source.error(
                    f"expected text in {self._encoding}, found invalid bytes ({error.reason}); "
                    "set the encoding with `encoding`."
                ) from None
            if self._is_first and text:
                text, self._is_first = text.removeprefix("\ufeff"), False
            self._left = (text.replace("\r", "\n") if self._has_returns else text).encode()
        taken = self._left[: len(target)]
        self._left = self._left[len(target) :]
        target[: len(taken)] = taken
        return len(taken)


def decoded_start(source: Source, *, or_old: bool) -> str:
    """The first lines of a source as text, without a last line that is cut off."""
    start = source.peek()
    if len(start) == source.peek_size:
        start = start[: start.rfind(b"\n") + 1] or start
    try:
        return start.decode()
    except UnicodeDecodeError:
        return start.decode(_OLD if or_old else "utf-8", "replace")


class Lines(Iterator[str]):
    """The lines of a source, with line ends; can continue after a line that cannot be decoded.

    Parameters
    ----------
    source : Source
        In UTF-8.
    or_old : bool
        Whether the file may be in Windows-1252. It is if the first line that is not ASCII is not
        UTF-8 either.
    tell : callable
        Called with a sentence if it is.

    Attributes
    ----------
    number : int
        Number of the last line.
    n_bytes : int
        Bytes read so far.
    """

    def __init__(self, source: Source, or_old: bool, tell: Callable[[str], None]) -> None:
        self._source, self._tell = source, tell
        self._stream = iter(source.stream)
        self._may_be_old, self._is_old = or_old, False
        self.number = self.n_bytes = 0

    def __next__(self) -> str:
        line = next(self._stream)
        self.number += 1
        self.n_bytes += len(line)
        if line.isascii():
            return line.decode("ascii")
        if not self._is_old:
            try:
                text = line.decode()
            except UnicodeDecodeError:
                self._is_old = self._may_be_old and _is_old(line)
                if not self._is_old:
                    return self._source.decode(line, self.number)
                self._tell("The file is not in UTF-8; it is read as Windows-1252.")
            else:
                self._may_be_old = False
                return text
        if not _is_old(line):
            raise CorpusError(
                "expected text in Windows-1252, found invalid bytes; set the encoding with "
                "`encoding`.",
                self._source.name,
                self.number,
            )
        return line.decode(_OLD)


def _is_old(line: bytes) -> bool:
    """Whether bytes are valid Windows-1252, which does not define all bytes."""
    try:
        line.decode(_OLD)
    except UnicodeDecodeError:
        return False
    return True
