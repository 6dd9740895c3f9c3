"""Rank sparse scores of candidate labels.

Two rules apply everywhere in manylabel. A higher score ranks first, and ties go to the lower label
index. A label that is not stored ranks after every stored label, even one with a negative score.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.validation import check_structure, check_whole, pointers, trusted_csr

__all__ = [
    "FEW",
    "best_of_rows",
    "canonical_scores",
    "is_stored",
    "keep_top",
    "rank_order",
    "values_at",
]

#: Fewer entries than this are ranked and judged without kernels that are not compiled yet: that
#: takes some hundredths of a second, while compilation takes a second after an installation.
FEW = 1 << 17
#: Entries are looked up for this many rows at a time: keys and positions take 24 bytes per entry.
_ROWS = 1 << 14


def canonical_scores(scores: Any) -> sparse.csr_array:
    """Turn scores into sorted CSR; stored zeros remain, because a stored label is a candidate.

    All entries of dense scores are stored.
    """
    if sparse.issparse(scores):
        check_structure(scores, "the matrix of scores")
        matrix = sparse.csr_array(scores)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
    else:
        dense = np.atleast_2d(np.asarray(scores))
        n_rows, n_labels = dense.shape
        matrix = sparse.csr_array(
            (
                dense.ravel(),
                np.tile(np.arange(n_labels), n_rows),
                np.arange(n_rows + 1) * n_labels,
            ),
            shape=dense.shape,
        )
    if matrix.nnz and not np.isfinite(matrix.data).all():
        raise InputError("scores must be finite, without NaN or inf.")
    return matrix


def values_at(
    scores: sparse.csr_array, pattern: sparse.csr_array, absent: float = 0.0
) -> NDArray[np.float64]:
    """The scores of the entries that ``pattern`` stores, in its order; ``absent`` if not stored.

    Examples
    --------
    >>> scores = sparse.csr_array([[0.5, 0.0, 0.2]])
    >>> values_at(scores, sparse.csr_array([[1, 1, 0]])).tolist()
    [0.5, 0.0]
    """
    # One of the two may be older and lack new labels.
    width = max(scores.shape[1], pattern.shape[1])
    stored, wanted = _keys(scores, width), _keys(pattern, width)
    if not stored.size:
        return np.full(wanted.size, absent)
    positions = np.minimum(np.searchsorted(stored, wanted), stored.size - 1)
    return np.where(stored[positions] == wanted, scores.data[positions], absent)


def is_stored(matrix: sparse.csr_array, pattern: sparse.csr_array) -> NDArray[np.bool_]:
    """Whether a matrix of ones has the entries that ``pattern`` stores, of which many may be.

    Examples
    --------
    >>> matrix = sparse.csr_array([[1, 0, 1]])
    >>> is_stored(matrix, sparse.csr_array([[1, 1, 0]])).tolist()
    [True, False]
    """
    found = np.empty(pattern.nnz, np.bool_)
    for start in range(0, pattern.shape[0], _ROWS):
        rows = slice(start, min(start + _ROWS, pattern.shape[0]))
        entries = slice(pattern.indptr[rows.start], pattern.indptr[rows.stop])
        found[entries] = values_at(matrix[rows], pattern[rows]) > 0
    return found


def _keys(matrix: sparse.csr_array, width: int) -> NDArray[np.int64]:
    """An ascending key per stored entry, where rows have ``width`` columns."""
    rows = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    return rows * width + matrix.indices


def rank_order(scores: sparse.csr_array) -> NDArray[np.int64]:
    """Positions into ``scores.data``, row by row, best first."""
    from manylabel.kernels import ranking

    if scores.shape[0] == 1:
        # The same order as the kernel's, without compiling it.
        return np.argsort(-scores.data.astype(np.float64), kind="stable")
    data = scores.data if scores.dtype.kind == "f" else scores.data.astype(np.float64)
    if data.size < FEW and not ranking.rank_order.is_compiled:
        return _order_of_rows(scores.indptr, data)
    return ranking.rank_order(scores.indptr.astype(np.int64, copy=False), data)


def _order_of_rows(ptr: NDArray[Any], values: NDArray[Any]) -> NDArray[np.int64]:
    """The positions of each row's values, greatest first, as the kernel has them."""
    rows = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
    return np.lexsort((-values.astype(np.float64, copy=False), rows))


def best_of_rows(ptr: NDArray[np.int64], values: NDArray[Any], top: int) -> NDArray[np.bool_]:
    """Mark the ``top`` greatest values of each row; among equal ones, the first.

    Examples
    --------
    >>> best_of_rows(np.array([0, 3, 4]), np.array([0.1, 0.3, 0.3, 0.2]), 1).tolist()
    [False, True, False, True]
    """
    if ptr.size > 2:
        from manylabel.kernels import ranking

        if values.size >= FEW or ranking.best_of_rows.is_compiled:
            return ranking.best_of_rows(ptr, values.astype(np.float64, copy=False), top)
        order = _order_of_rows(ptr, values)
        best = np.zeros(values.size, np.bool_)
        position = np.arange(order.size) - np.repeat(ptr[:-1], np.diff(ptr))
        best[order[position < top]] = True
        return best
    # As the kernel does, which takes a while to compile after an installation.
    best = np.ones(values.size, np.bool_)
    best[np.argsort(-values, kind="stable")[top:]] = False
    return best


def keep_top(scores: sparse.csr_array, top: int) -> sparse.csr_array:
    """Keep the ``top`` best entries of each row.

    Examples
    --------
    >>> keep_top(canonical_scores([[0.1, 0.3, 0.3]]), 1).indices.tolist()
    [1]
    """
    top = check_whole("top", top, 1)
    lengths = np.diff(scores.indptr)
    if not lengths.size or lengths.max() <= top:
        return scores
    order = rank_order(scores)
    if lengths.size == 1:
        kept = np.sort(order[:top])
    else:
        position = np.arange(order.size) - np.repeat(scores.indptr[:-1], lengths)
        kept = np.sort(order[position < top])
    indptr = pointers(np.minimum(lengths, top))
    return trusted_csr(scores.data[kept], scores.indices[kept], indptr, scores.shape)
