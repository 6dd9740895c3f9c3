"""Find names among many without a dictionary of strings, which takes long to make."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from manylabel.exceptions import StoreError
from manylabel.kernels import text_names
from manylabel.strings import StringArray

__all__ = ["NameTable"]


class NameTable:
    """The number of each name, in a hash table of bytes.

    Parameters
    ----------
    names : StringArray
        Of two equal names, the first is found.

    Examples
    --------
    >>> NameTable(StringArray(["cats", "dogs"])).find(["dogs", "cows"]).tolist()
    [1, -1]
    """

    def __init__(self, names: StringArray) -> None:
        letters, ends = names.packed
        if ends[0] != 0 or ends[-1] != letters.size or (np.diff(ends) < 0).any():
            raise StoreError("the names of features are damaged; restore the folder from a backup.")
        slots = np.empty(1 << max(4, (2 * len(names)).bit_length()), np.int64)
        text_names.index_names(letters, ends, slots)
        self.names = text_names.Names(letters, ends, slots)

    def find(self, asked: Sequence[str]) -> NDArray[np.int32]:
        """The number of each name; -1 for an unknown one."""
        joined = "".join(asked)
        letters = joined.encode("utf-8", "surrogatepass") or b" "
        encoded = asked if joined.isascii() else [n.encode("utf-8", "surrogatepass") for n in asked]
        ends = np.zeros(len(asked) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, encoded), np.int64, len(asked)), out=ends[1:])
        return self.find_packed(np.frombuffer(letters, np.uint8), ends)

    def find_packed(self, letters: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.int32]:
        """The same for names in UTF-8, given where each begins and the last one ends."""
        out = np.empty(ends.size - 1, np.int32)
        text_names.find_names(letters, ends, self.names, out)
        return out
