"""Measures of the first k labels of each document.

Only candidates count: if a document has fewer than k candidates, the empty ranks are misses. Equal
scores are ordered by the tie rule, lower label index first, not averaged over their orders.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manylabel.metrics.judge import Judged, judge, mean
from manylabel.validation import check_whole

__all__ = [
    "TOP_MEASURES",
    "coverage_at",
    "ndcg_at",
    "precision_at",
    "r_precision_at",
    "recall_at",
]

Values = NDArray[np.float64]


def precision_at(Y_true: Any, scores: Any, k: int = 5, *, average: bool = True) -> Any:
    """P@k: the share of the k best labels that are correct.

    The denominator is always k, so a document with fewer than k true labels cannot reach 1, and
    a document without true labels counts as 0: this is what the scripts of the Extreme
    Classification repository do.

    Parameters
    ----------
    Y_true : sparse or dense indicator matrix of shape (n_documents, n_labels)
    scores : sparse or dense matrix of shape (n_documents, n_labels)
        A stored entry is a candidate; labels that are not stored are never among the k best.
    k : int
    average : bool
        Return the mean; False returns one value per document.

    Returns
    -------
    float or ndarray of shape (n_documents,)

    Examples
    --------
    >>> precision_at([[1, 0, 1]], [[0.9, 0.5, 0.1]], k=2)
    0.5
    """
    return _top_measure("p", Y_true, scores, k, average)


def recall_at(Y_true: Any, scores: Any, k: int = 5, *, average: bool = True) -> Any:
    """Recall@k: the share of a document's true labels that are among its k best.

    Documents without true labels are left out of the mean (NaN with ``average=False``).
    Parameters and result as in :func:`precision_at`.

    Examples
    --------
    >>> recall_at([[1, 0, 1], [0, 0, 0]], [[0.9, 0.5, 0.1], [1, 0, 0]], k=2)
    0.5
    """
    return _top_measure("recall", Y_true, scores, k, average)


def r_precision_at(Y_true: Any, scores: Any, k: int = 5, *, average: bool = True) -> Any:
    """RP@k: hits among the k best over the smaller of k and the number of true labels.

    Documents without true labels are left out of the mean (NaN with ``average=False``).
    Parameters and result as in :func:`precision_at`.

    Examples
    --------
    >>> r_precision_at([[1, 0, 0]], [[0.9, 0.5, 0.1]], k=2)
    1.0
    """
    return _top_measure("rp", Y_true, scores, k, average)


def ndcg_at(Y_true: Any, scores: Any, k: int = 5, *, average: bool = True) -> Any:
    """nDCG@k: hits discounted by log2 of their rank, over the best that k ranks allow.

    Documents without true labels count as 0, as in scikit-learn and in the scripts of the Extreme
    Classification repository. Ties are broken by the tie rule; scikit-learn averages over them
    instead. Parameters and result as in :func:`precision_at`.

    Examples
    --------
    >>> round(ndcg_at([[0, 1, 0]], [[0.9, 0.5, 0.1]], k=3), 4)
    0.6309
    """
    return _top_measure("ndcg", Y_true, scores, k, average)


def coverage_at(Y_true: Any, scores: Any, k: int = 5) -> float:
    """Coverage@k: the share of the labels in the truth that are a hit for some document.

    It shows whether a model ever finds its rare labels. Parameters as in :func:`precision_at`.

    Examples
    --------
    >>> coverage_at([[1, 0], [0, 1]], [[0.9, 0.5], [0.9, 0.5]], k=1)
    0.5
    """
    return coverage_of(judge(Y_true, scores), check_whole("k", k, 1))


def coverage_of(judged: Judged, k: int) -> float:
    """Coverage@k of a judged ranking; NaN when there are no true labels."""
    position = np.arange(judged.hits.size) - np.repeat(judged.indptr[:-1], np.diff(judged.indptr))
    n_hit = np.unique(judged.items[(position < k) & (judged.hits == 1)]).size
    occurring = np.count_nonzero(judged.item_frequency)
    return float(n_hit / occurring) if occurring else float("nan")


def _precision(judged: Judged, k: int) -> Values:
    return judged.head(k).sum(axis=1) / k


def _recall(judged: Judged, k: int) -> Values:
    return judged.head(k).sum(axis=1) / _nan_for_zero(judged.n_true)


def _r_precision(judged: Judged, k: int) -> Values:
    return judged.head(k).sum(axis=1) / _nan_for_zero(np.minimum(judged.n_true, k))


def _ndcg(judged: Judged, k: int) -> Values:
    hits = judged.head(k)
    ideal = np.concatenate([[0.0], np.cumsum(discounts(k))])[np.minimum(judged.n_true, k)]
    return (hits @ discounts(hits.shape[1])) / np.where(ideal > 0, ideal, 1.0)


#: Family, the name before the @ -> a function that gives one value per document.
TOP_MEASURES: dict[str, Callable[[Judged, int], Values]] = {
    "p": _precision,
    "recall": _recall,
    "rp": _r_precision,
    "ndcg": _ndcg,
}


def discounts(k: int) -> Values:
    """The discount at each of the first ``k`` ranks."""
    return 1.0 / np.log2(np.arange(k) + 2.0)


def _nan_for_zero(counts: NDArray[np.int64]) -> Values:
    return np.where(counts > 0, counts, np.nan)


def _top_measure(family: str, Y_true: Any, scores: Any, k: int, average: bool) -> Any:
    values = TOP_MEASURES[family](judge(Y_true, scores), check_whole("k", k, 1))
    return mean(values) if average else values
