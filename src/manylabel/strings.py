"""Many strings in two arrays, which can be memory-mapped."""

from __future__ import annotations

import os
import tempfile
from codecs import utf_8_decode
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from manylabel.exceptions import InputError, StoreError

__all__ = ["StringArray", "StringFile"]

#: Strings decoded at a time by an iteration.
BLOCK = 4_096
_DAMAGED = "a text of the model is damaged; restore the folder from a backup."


class StringArray(Sequence[str]):
    """A sequence of strings that loads instantly.

    Strings are decoded on access. A list takes about 60 bytes more per string and must be read
    completely.

    Parameters
    ----------
    strings : iterable of str

    Examples
    --------
    >>> names = StringArray(["cats", "dogs"])
    >>> names.extend(["größer"])
    >>> len(names), names[-1], names[:2].tolist(), names[np.array([1, 0])].tolist()
    (3, 'größer', ['cats', 'dogs'], ['dogs', 'cats'])
    """

    def __init__(self, strings: Iterable[str] = ()) -> None:
        self._bytes, self._ends = _packed(strings)
        # Strings added after the arrays were made.
        self._more: list[str] = []

    def _check_stored(self) -> None:
        """Refuse arrays that are no strings; what they contain is checked when it is read."""
        ends, encoded = self._ends, self._bytes
        if ends.ndim != 1 or ends.dtype.kind != "i" or not ends.size:
            raise InputError("texts end nowhere")
        if encoded.ndim != 1 or encoded.dtype != np.uint8:
            raise InputError("texts are not bytes")

    def __len__(self) -> int:
        return self._ends.size - 1 + len(self._more)

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice | NDArray[Any]) -> StringArray: ...
    def __getitem__(self, position: Any) -> Any:
        """One string, or several by a slice, an array of positions or a boolean mask."""
        n_packed = self._ends.size - 1
        if type(position) is int and 0 <= position < n_packed:
            return _decoded(self._bytes[self._ends[position] : self._ends[position + 1]].tobytes())
        if isinstance(position, slice | np.ndarray):
            return StringArray(self[int(i)] for i in np.arange(len(self))[position])
        if position < 0:
            position += len(self)
        if not 0 <= position < len(self):
            raise IndexError(f"there are {len(self)} strings; got index {position}.")
        return self._more[position - n_packed] if position >= n_packed else self[int(position)]

    def beginning(self, position: int, length: int) -> str:
        """The first characters of a string, without reading the others.

        Examples
        --------
        >>> StringArray(["größer"]).beginning(0, 3)
        'grö'
        """
        if not 0 <= position < self._ends.size - 1:
            return self[position][:length]
        start, stop = self._ends[position : position + 2].tolist()
        # A character has at most four bytes, and the last one may be cut.
        encoded = self._bytes[start : min(stop, start + 4 * length)].tobytes()
        try:
            return utf_8_decode(encoded, "surrogatepass", stop <= start + 4 * length)[0][:length]
        except UnicodeDecodeError:
            raise StoreError(_DAMAGED) from None

    def __iter__(self) -> Iterator[str]:
        for block in self._blocks():
            yield from block

    def check(self) -> None:
        """Raise an error if the arrays are damaged; takes far less time than a list of all.

        Examples
        --------
        >>> StringArray(["größer"]).check()
        """
        for _ in self._texts():
            pass

    def _blocks(self) -> Iterator[list[str]]:
        """The strings, in blocks."""
        for text, ends in self._texts():
            yield [text[start:stop] for start, stop in pairwise(ends.tolist())]
        yield self._more

    def _texts(self) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """Blocks of strings, each as one text, and where each string begins and the last ends."""
        for first in range(0, self._ends.size - 1, BLOCK):
            ends = self._ends[first : first + BLOCK + 1]
            encoded = self._bytes[ends[0] : ends[-1]]
            if encoded.size != ends[-1] - ends[0] or (np.diff(ends) < 0).any():
                raise StoreError(_DAMAGED)
            text, ends = _decoded(encoded.tobytes()), ends - ends[0]
            if len(text) != encoded.size:
                ends = _in_characters(encoded, ends)
            yield text, ends

    def __eq__(self, other: object) -> bool:
        """Whether another sequence has the same strings."""
        if not isinstance(other, StringArray | list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # it can grow

    def __repr__(self) -> str:
        return f"<StringArray: {len(self)} strings>"

    def extend(self, strings: Iterable[str]) -> None:
        """Add strings at the end."""
        self._more.extend(map(_checked, strings))

    @property
    def packed(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """All strings as concatenated UTF-8, and the offset of each; the last offset is the end."""
        if self._more:
            return _packed(self)
        return self._bytes, self._ends

    def lower(self) -> StringArray:
        """The strings with the letters A to Z in lower case.

        Examples
        --------
        >>> StringArray(["Ice", "ÉTÉ"]).lower().tolist()
        ['ice', 'ÉtÉ']
        """
        letters, ends = self.packed
        same = StringArray()
        is_capital = (letters >= ord("A")) & (letters <= ord("Z"))
        same._bytes, same._ends = letters + (is_capital.view(np.uint8) << 5), ends
        return same

    def tolist(self) -> list[str]:
        """The strings as a list."""
        return list(chain.from_iterable(self._blocks()))

    def _store_state(self) -> dict[str, Any]:
        """The two arrays, with later strings appended."""
        if not self._more:
            return vars(self)
        new_bytes, new_ends = _packed(self._more)
        return {
            "_bytes": np.concatenate([self._bytes, new_bytes]),
            "_ends": np.concatenate([self._ends, self._ends[-1] + new_ends[1:]]),
            "_more": [],
        }


class StringFile:
    """Collects strings in a file without a name, so that memory never holds them all.

    Parameters
    ----------
    folder : path
        On a disk with room for the strings.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     collected = StringFile(folder)
    ...     collected.extend(["cats", "dogs"])
    ...     names = collected.finish()
    >>> names.tolist()
    ['cats', 'dogs']
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - gone with its arrays
        self._ends = [np.zeros(1, np.int64)]

    def extend(self, strings: Sequence[str]) -> None:
        """Add strings at the end."""
        array = strings if isinstance(strings, StringArray) else StringArray(strings)
        encoded, ends = array.packed
        self._file.write(np.ascontiguousarray(encoded).data)
        self._ends.append(ends[1:] + self._ends[-1][-1])

    def finish(self) -> StringArray:
        """All strings, memory-mapped."""
        array = StringArray()
        self._file.flush()
        array._ends = np.concatenate(self._ends)
        if array._ends[-1]:
            array._bytes = np.memmap(self._file, np.uint8, "r")
        return array


def _packed(strings: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Concatenated UTF-8, and the offset of each string; the last offset is the end."""
    encoded = [_checked(string).encode("utf-8", "surrogatepass") for string in strings]
    ends = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=ends[1:])
    return np.frombuffer(bytearray(b"".join(encoded)), np.uint8), ends


def _in_characters(encoded: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Offsets into UTF-8 as offsets into the text that it encodes."""
    # All bytes of a character but the first are of the form 10xxxxxx.
    continues = np.append((encoded & 0xC0) == 0x80, False)
    if continues[ends].any():
        raise StoreError(_DAMAGED)
    before = np.concatenate([[0], np.cumsum(continues)])
    return ends - before[ends]


def _decoded(encoded: bytes) -> str:
    try:
        return encoded.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise StoreError(_DAMAGED) from None


def _checked(string: str) -> str:
    if not isinstance(string, str):
        raise InputError(f"a StringArray must contain strings; got {string!r}.")
    return string
