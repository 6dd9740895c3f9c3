"""What to label next: the documents whose labels would help most."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.neighbors import NeighborIndex
from manylabel.predictions import keep_top

__all__ = ["SHORT", "choose_by_words", "choose_next", "most_uncertain", "uncertainty"]

#: Texts with fewer different words, on average, are titles, which are chosen by their words.
SHORT = 30
#: A document is represented by one of this many nearest neighbours, if at all.
_NEAR = 100
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


def choose_next(
    rows: sparse.csr_array,
    n: int,
    known: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    r"""Choose documents that represent the others, one after another.

    A document is represented as well as the nearest labelled or chosen one is similar to it. Each
    step chooses the document that raises the sum over all documents most (facility location). A
    document is compared with the 100 nearest others; those further away do not represent it.

    Parameters
    ----------
    rows : csr_array of shape (n_documents, n_features)
        Weighted.
    n : int
        How many to choose.
    known : ndarray of shape (n_documents,), optional
        The similarity of each to the nearest labelled document.
    n_jobs : int, optional

    Returns
    -------
    ndarray
        Their numbers, in the order in which to label them.

    Examples
    --------
    >>> rows = sparse.csr_array([[0.0, 1.0], [1.0, 0.1], [1.0, 0.0], [1.0, 0.1]])
    >>> choose_next(rows, 2).tolist()
    [1, 0]
    """
    size = rows.shape[0]
    covered = np.zeros(size) if known is None else np.clip(known, 0, 1).astype(np.float64)
    represents = _represents(rows, n_jobs)

    def represented(row: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        span = slice(represents.indptr[row], represents.indptr[row + 1])
        return represents.indices[span], represents.data[span]

    def worth(row: int) -> float:
        others, similarity = represented(row)
        return float(np.maximum(similarity - covered[others], 0).sum())

    def choose(row: int) -> None:
        others, similarity = represented(row)
        covered[others] = np.maximum(covered[others], similarity)

    return _greedy(size, n, worth, choose)


def _represents(rows: sparse.csr_array, n_jobs: int | None) -> sparse.csr_array:
    """For each document, the similarity to those that it can represent: itself among them."""
    size = rows.shape[0]
    own = sparse.eye_array(size, format="csr")
    if size < 2:
        return sparse.csr_array(own)
    near = NeighborIndex(rows).search_self(min(_NEAR, size - 1), n_jobs=n_jobs)
    found = near.indices >= 0
    others = np.repeat(np.arange(size), found.sum(axis=1))
    similarity = near.similarities[found].astype(np.float64)
    return sparse.csr_array(
        sparse.csr_array((similarity, (near.indices[found], others)), shape=(size, size)) + own
    )


def choose_by_words(
    rows: sparse.csr_array, n: int, known: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    r"""Choose short documents with frequent words that few labelled documents have, one by one.

    A word that d documents have, and k labelled or chosen ones, is worth
    :math:`\sqrt d / (1 + k)`. A document is worth the sum over its words, divided by the square
    root of their number.

    Parameters
    ----------
    rows : csr_array of shape (n_documents, n_features)
        Words are what is not 0.
    n : int
        How many to choose.
    known : ndarray of shape (n_features,), optional
        The number of labelled documents with each word.

    Returns
    -------
    ndarray
        Their numbers, in the order in which to label them.

    Examples
    --------
    >>> rows = sparse.csr_array([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 1]])
    >>> choose_by_words(rows, 3).tolist()
    [3, 0, 1]
    """
    size, n_words = rows.shape
    seen = np.zeros(n_words) if known is None else known.astype(np.float64).copy()
    frequent = np.sqrt(np.bincount(rows.indices, minlength=n_words))

    def words(row: int) -> NDArray[np.int32]:
        found: NDArray[np.int32] = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
        return found

    def worth(row: int) -> float:
        own = words(row)
        return float((frequent[own] / (1 + seen[own])).sum() / np.sqrt(max(own.size, 1)))

    def choose(row: int) -> None:
        seen[words(row)] += 1

    return _greedy(size, n, worth, choose)


def _greedy(
    size: int, n: int, worth: Callable[[int], float], choose: Callable[[int], None]
) -> NDArray[np.int64]:
    """The documents that are worth most, one after another; what they are worth only falls."""
    # So a worth that is still the greatest is final.
    queue = [(-worth(row), row) for row in range(size)]
    heapq.heapify(queue)
    chosen: list[int] = []
    while queue and len(chosen) < n:
        _, row = heapq.heappop(queue)
        now = (-worth(row), row)
        if queue and now > queue[0]:
            heapq.heappush(queue, now)
            continue
        chosen.append(row)
        choose(row)
    return np.array(chosen, np.int64)


def most_uncertain(
    worth: NDArray[np.float64],
    rows: sparse.csr_array,
    n: int,
    known: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Choose uncertain documents that differ from each other, one after another.

    Parameters
    ----------
    worth : ndarray of shape (n_documents,)
        The uncertainty about each document.
    rows : csr_array of shape (n_documents, n_features)
        Weighted, of unit length.
    n : int
        How many to choose.
    known : ndarray of shape (n_documents,), optional
        The similarity of each to the nearest labelled document.

    Returns
    -------
    ndarray
        Their numbers, the most uncertain first.

    Examples
    --------
    >>> rows = sparse.csr_array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> most_uncertain(np.array([0.9, 0.8, 0.3]), rows, 2).tolist()
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
