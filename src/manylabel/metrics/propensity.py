"""Propensity-scored measures: a hit on a rare label is worth more than on a frequent one.

Jain et al. (2016) model the probability that a relevant label is recorded; a hit counts as one over
this propensity. As in the Extreme Classification repository, the mean over documents is divided by
the same mean for the best possible ranking, so a perfect model scores 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError, ParameterError
from manylabel.metrics.judge import Judged, check_truth, head, judge_matrices
from manylabel.metrics.ranking import discounts
from manylabel.predictions import canonical_scores, rank_order
from manylabel.validation import check_labels, check_real, check_whole

__all__ = ["propensities", "psndcg_at", "psndcg_of", "psp_at", "psp_of"]


def propensities(Y_train: Any, A: float = 0.55, B: float = 1.5) -> NDArray[np.float64]:
    """The propensity of each label, from its frequency among the training documents.

    ``1 / (1 + C (frequency + B)^-A)`` with ``C = (log n_documents - 1) (B + 1)^A``; with fewer
    than three documents C is 0 and every propensity 1.

    Parameters
    ----------
    Y_train : sparse or dense indicator matrix of shape (n_documents, n_labels)
    A, B : float
        0.55 and 1.5 are usual; 0.5 and 0.4 for Wikipedia, 0.6 and 2.6 for Amazon corpora.

    Returns
    -------
    ndarray of shape (n_labels,)

    Examples
    --------
    >>> propensities([[1, 0], [1, 0], [1, 0], [1, 1]]).round(3).tolist()
    [0.8, 0.721]
    """
    A, B = check_real("A", A, 0.0), check_real("B", B, 0.0)
    if B == 0:
        raise ParameterError("`B` must be above 0, for labels without a training document; got 0.")
    labels = check_labels(Y_train, "Y_train")
    n_documents, n_labels = labels.shape
    if n_documents == 0:
        raise InputError("Y_train must have at least one row to learn propensities from; got 0.")
    frequency = np.bincount(labels.indices, minlength=n_labels)
    C = max(0.0, np.log(n_documents) - 1.0) * (B + 1.0) ** A
    return 1.0 / (1.0 + C * (frequency + B) ** -A)


def psp_at(Y_true: Any, scores: Any, propensity: Any, k: int = 5) -> float:
    """PSP@k: propensity-scored precision among the k best labels.

    Documents without true labels add nothing to numerator or denominator. NaN if none has any.

    Parameters
    ----------
    Y_true : sparse or dense indicator matrix of shape (n_documents, n_labels)
    scores : sparse or dense matrix of shape (n_documents, n_labels)
    propensity : array of shape (n_labels,)
        From :func:`propensities`.
    k : int

    Examples
    --------
    >>> psp_at([[1, 1]], [[0.9, 0.1]], propensity=[0.8, 0.4], k=1)
    0.5
    """
    truth, judged = _judge(Y_true, scores)
    return psp_of(judged, truth, _weights(propensity, truth), check_whole("k", k, 1))


def psndcg_at(Y_true: Any, scores: Any, propensity: Any, k: int = 5) -> float:
    """PSnDCG@k: propensity-scored nDCG of the k best labels. Parameters as in :func:`psp_at`.

    Examples
    --------
    >>> psndcg_at([[1, 1]], [[0.9, 0.1]], propensity=[0.8, 0.4], k=1)
    0.5
    """
    truth, judged = _judge(Y_true, scores)
    return psndcg_of(judged, truth, _weights(propensity, truth), check_whole("k", k, 1))


def psp_of(judged: Judged, truth: sparse.csr_array, weights: NDArray[np.float64], k: int) -> float:
    """PSP@k of a judged ranking, with one over the propensity as weights."""
    gained, possible = _gains(judged, truth, weights, k)
    return _ratio(gained.sum(), possible.sum())


def psndcg_of(
    judged: Judged, truth: sparse.csr_array, weights: NDArray[np.float64], k: int
) -> float:
    """PSnDCG@k of a judged ranking, with one over the propensity as weights."""
    ideal = np.concatenate([[np.inf], np.cumsum(discounts(k))])[np.minimum(judged.n_true, k)]
    gained, possible = (
        ((gains @ discounts(gains.shape[1])) / ideal).sum()
        for gains in _gains(judged, truth, weights, k)
    )
    return _ratio(gained, possible)


def _gains(
    judged: Judged, truth: sparse.csr_array, weights: NDArray[np.float64], k: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights of the hits at the first ``k`` ranks, as ranked and at best."""
    gained = head(judged.indptr, judged.hits * weights[judged.items], k)
    best = sparse.csr_array((weights[truth.indices], truth.indices, truth.indptr), truth.shape)
    possible = head(best.indptr, best.data[rank_order(best)], k)
    return gained, possible


def _judge(Y_true: Any, scores: Any) -> tuple[sparse.csr_array, Judged]:
    matrix = canonical_scores(scores)
    truth = check_truth(Y_true, matrix, "scores")
    return truth, judge_matrices(truth, matrix)


def _weights(propensity: Any, truth: sparse.csr_array) -> NDArray[np.float64]:
    values = np.asarray(propensity, np.float64)
    if values.shape != (truth.shape[1],):
        raise InputError(
            f"`propensity` must have one number for each of {truth.shape[1]} labels; "
            f"got the shape {values.shape}."
        )
    if not (values > 0).all():
        raise InputError(f"`propensity` must be positive; the smallest is {values.min():g}.")
    return 1.0 / values


def _ratio(gained: float, possible: float) -> float:
    return float(gained / possible) if possible else float("nan")
