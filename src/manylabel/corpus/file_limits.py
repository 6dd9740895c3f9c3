"""Limits beyond which a file is refused: long lines, and archives that expand."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from manylabel.exceptions import CorpusError, ParameterError

__all__ = ["Guard", "Limits", "check_archive", "limits"]


@dataclass(frozen=True)
class Limits:
    """Limits beyond which a file is refused as a mistake or an attack.

    Parameters
    ----------
    line : int, default=64 MiB
        Maximum bytes per line. The limit of consecutive white space is a sixteenth of this.
    expansion : float, default=100
        Maximum ratio of decompressed to compressed bytes, beyond the first 32 MiB.
    """

    line: int = 1 << 26
    expansion: float = 100.0


#: Decompressed bytes that are always allowed.
_ALWAYS_ALLOWED = 1 << 25


def _default_limits() -> Limits:
    """The limits set by environment variables, or the defaults."""
    limits: dict[str, Any] = {}
    for name, kind in (("line", int), ("expansion", float)):
        text = os.environ.get(f"MANYLABEL_MAX_{name.upper()}")
        if text is not None:
            try:
                limits[name] = kind(text)
            except ValueError:
                raise ParameterError(
                    f"MANYLABEL_MAX_{name.upper()} must be a number; got {text!r}."
                ) from None
    return Limits(**limits)


_limits: ContextVar[Limits | None] = ContextVar("limits", default=None)


def _current() -> Limits:
    """The limits of this context."""
    return _limits.get() or _default_limits()


@contextmanager
def limits(*, line: int | None = None, expansion: float | None = None) -> Iterator[None]:
    """Read files with other limits within this context.

    Parameters
    ----------
    line : int, optional
        Maximum bytes per line.
    expansion : float, optional
        Maximum ratio of decompressed to compressed bytes.

    Examples
    --------
    >>> with limits(line=1 << 30, expansion=1000):
    ...     pass  # read a corpus with very long lines, compressed very well
    """
    given = {"line": line, "expansion": expansion}
    for name, value in given.items():
        if value is not None and not value > 0:
            raise ParameterError(f"`{name}` must be a number above 0; got {value!r}.")
    changed: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    before = _limits.set(replace(_current(), **changed))
    try:
        yield
    finally:
        _limits.reset(before)


class Guard:
    """Stops at endless lines, endless white space and decompression bombs.

    Parameters
    ----------
    name : str
        The file, for errors.
    compressed_size : callable, optional
        Returns the number of compressed bytes read so far.
    """

    def __init__(self, name: str, compressed_size: Callable[[], int] | None) -> None:
        self._name, self._compressed_size = name, compressed_size
        self._limits = _current()
        self._size = self._line = self._blank = 0

    def see(self, piece: bytes | memoryview) -> None:
        """Check the next bytes."""
        piece = bytes(piece)
        self._size += len(piece)
        cut = piece.rfind(b"\n")
        # The line that continues from the last piece ends at the first line end of this one.
        longest = self._line + (piece.find(b"\n") if cut >= 0 else len(piece))
        self._line = len(piece) - cut - 1 if cut >= 0 else longest
        if longest > self._limits.line:
            raise CorpusError(
                f"a line has more than {self._limits.line:,} bytes; if that is correct, raise the "
                "limit (`manylabel.corpus.limits(line=...)`, or MANYLABEL_MAX_LINE).",
                path=self._name,
            )
        self._blank = 0 if piece.strip() else self._blank + len(piece)
        if self._blank > self._limits.line // 16:
            raise CorpusError(
                f"the file has more than {self._limits.line // 16:,} consecutive bytes of white "
                "space; remove them.",
                path=self._name,
            )
        if self._compressed_size is not None:
            _check_expansion(self._compressed_size(), self._size, self._limits, self._name)


def _check_expansion(compressed: int, size: int, limits: Limits, name: str) -> None:
    """Refuse bytes that expand to many times as many."""
    if size > _ALWAYS_ALLOWED and size > limits.expansion * max(compressed, 1):
        raise CorpusError(
            f"{compressed:,} compressed bytes expand to {size:,}, more than "
            f"{limits.expansion:g} times as many; if that is correct, raise the limit "
            "(`manylabel.corpus.limits(expansion=...)`, or MANYLABEL_MAX_EXPANSION).",
            path=name,
        )


def check_archive(content: bytes, name: str) -> None:
    """Refuse a ZIP archive, such as an office file, that expands to many times its size.

    Anything else passes.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        return
    _check_expansion(len(content), size, _current(), name)
