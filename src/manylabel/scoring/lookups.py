"""Where the entries of single labels are in the long rows of a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manylabel.kernels.lookup import Lookup, mark_labels

__all__ = ["Lookups", "make_lookup"]

#: Fewer entries of a row are read one after another, which is faster than a lookup.
MANY = 256
#: Nor are the entries of rows that have one for less than one in this many labels.
SHARE = 16
#: Documents that are scored without a lookup, which takes longer to make than it saves for them.
PATIENCE = 16
_NOTHING = Lookup(np.empty(0, np.int32), np.empty((0, 0), np.uint64), np.empty((0, 0), np.int32))


def make_lookup(ptr: NDArray[np.int64], labels: NDArray[np.int32], n_labels: int) -> Lookup:
    """A lookup for the rows with entries for many labels.

    It takes at most three eighths of the memory of their labels and single-precision values.
    """
    lengths = np.diff(ptr)
    rows = np.flatnonzero(lengths >= max(MANY, n_labels // SHARE))
    size = rows.size, -(-n_labels // 64)
    at = np.full(lengths.size, -1, np.int32)
    lookup = Lookup(at, np.zeros(size, np.uint64), np.empty(size, np.int32))
    if rows.size:  # small corpora need not compile it
        mark_labels(ptr, labels, rows, lookup)
    return lookup


class Lookups:
    """The lookup of a matrix, made once enough documents were scored.

    Parameters
    ----------
    ptr, labels : ndarray
        The pattern of a CSR matrix with one column per label.
    n_labels : int

    Examples
    --------
    >>> lookups = Lookups(np.array([0, 1]), np.array([3], np.int32), 5)
    >>> lookups.after(PATIENCE).at.size, lookups.after(1).at.tolist()
    (0, [-1])
    """

    def __init__(self, ptr: NDArray[np.int64], labels: NDArray[np.int32], n_labels: int) -> None:
        self._matrix: Any = ptr, labels, n_labels
        self._n_scored = 0
        self._made: Lookup | None = None

    def after(self, n_documents: int) -> Lookup:
        """The lookup for some more documents; an empty one if there were few so far."""
        if self._made is None:
            self._n_scored += n_documents
            if self._n_scored <= PATIENCE:
                return _NOTHING
            self._made = make_lookup(*self._matrix)
        return self._made
