"""What to label next: the documents whose labels would help most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.predictions import keep_top

__all__ = ["uncertainty", "what_next"]

#: Labels of a document that count for its uncertainty.
_LABELS = 10
#: The weight of diversity against uncertainty: the power of the distance to chosen documents.
_DIVERSITY = 2.0


def uncertainty(probabilities: sparse.csr_array) -> NDArray[np.float64]:
    """The uncertainty about each document: the entropy of its most probable labels, in nats.

    Examples
    --------
    >>> uncertainty(sparse.csr_array([[0.5, 0.0], [0.99, 0.0]])).round(2).tolist()
    [0.69, 0.06]
    """
    from scipy.special import xlogy

    if probabilities.nnz and not 0 <= probabilities.data.min() <= probabilities.data.max() <= 1:
        raise InputError("scores must be probabilities to measure uncertainty: train an ensemble.")
    best = keep_top(probabilities, _LABELS)
    p = best.data.astype(np.float64)
    entropy = -(xlogy(p, p) + xlogy(1 - p, 1 - p))
    sums = np.concatenate([[0.0], np.cumsum(entropy)])
    return sums[best.indptr[1:]] - sums[best.indptr[:-1]]


def what_next(
    worth: NDArray[np.float64],
    rows: sparse.csr_array,
    n: int,
    known: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Choose documents of high worth that differ from each other, one after another.

    Parameters
    ----------
    worth : ndarray of shape (n_documents,)
        How much the labels of each document would help, such as its uncertainty.
    rows : csr_array of shape (n_documents, n_features)
        Weighted, of unit length.
    n : int
        How many to choose.
    known : ndarray of shape (n_documents,), optional
        The similarity of each to the nearest labelled document.

    Returns
    -------
    ndarray
        Their numbers, in the order in which to label them.

    Examples
    --------
    >>> rows = sparse.csr_array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> what_next(np.array([0.9, 0.8, 0.3]), rows, 2).tolist()
    [0, 2]
    """
    near = np.zeros(worth.size) if known is None else known.astype(np.float64).copy()
    left = np.ones(worth.size, bool)
    columns = sparse.csc_array(rows)
    chosen = []
    for _ in range(min(n, worth.size)):
        value = np.where(left, (worth + 1e-9) * (1 - np.clip(near, 0, 1)) ** _DIVERSITY, -1.0)
        best = int(np.argmax(value))
        chosen.append(best)
        left[best] = False
        np.maximum(near, _similar(columns, rows, best), out=near)
    return np.array(chosen, np.int64)


def _similar(columns: sparse.csc_array, rows: sparse.csr_array, row: int) -> NDArray[np.float64]:
    """The cosine of each row with one of them; reads only the columns of its features."""
    span = slice(rows.indptr[row], rows.indptr[row + 1])
    return np.asarray(columns[:, rows.indices[span]] @ rows.data[span], np.float64).ravel()
