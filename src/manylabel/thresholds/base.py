"""The base class of thresholds, and functions that they share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.estimators import BaseEstimator
from manylabel.exceptions import InputError
from manylabel.predictions import canonical_scores
from manylabel.validation import check_labels, csr_parts

__all__ = [
    "Threshold",
    "cardinality",
    "give_above",
    "lowest",
    "not_empty",
    "ones",
    "pick",
    "scores_and_labels",
]


class Threshold(BaseEstimator):
    """Turns scores into label sets; the base class of thresholds."""

    #: Whether `fit` reads scores; if not, they may be None.
    reads_scores = True

    @abstractmethod
    def fit(self, scores: Any, Y: Any) -> Threshold:
        """Learn from scores and labels; thresholds with nothing to learn only check them."""

    @abstractmethod
    def apply(self, scores: Any) -> sparse.csr_array:
        """The predicted labels as an indicator matrix (int8) of the shape of ``scores``."""


def scores_and_labels(scores: Any, Y: Any) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Both in canonical form, with the same labels but not necessarily the same rows."""
    matrix = canonical_scores(scores)
    return matrix, not_empty(check_labels(Y, n_columns=matrix.shape[1]))


def not_empty(labels: sparse.csr_array) -> sparse.csr_array:
    """Check that there are rows to learn from; return the labels."""
    if labels.shape[0] == 0:
        raise InputError("Y must have at least one row to learn a threshold from; got 0.")
    return labels


def cardinality(labels: sparse.csr_array) -> float:
    """Labels per row."""
    return not_empty(labels).nnz / labels.shape[0]


def lowest(scores: sparse.csr_array) -> float:
    """A threshold that every candidate reaches."""
    return float(scores.data.min()) if scores.nnz else 0.0


def give_above(
    scores: sparse.csr_array, thresholds: float | NDArray[np.float64], at_least_one: bool
) -> sparse.csr_array:
    """The entries that reach their label's threshold, as an indicator matrix."""
    from manylabel.kernels import thresholds as kernels

    cuts = np.atleast_1d(np.asarray(thresholds, np.float64))
    if cuts.size not in (1, scores.shape[1]):
        raise InputError(f"scores has {scores.shape[1]} columns, but {cuts.size} are expected.")
    given = kernels.reaches(*csr_parts(scores, scores.dtype), cuts, at_least_one)
    return pick(scores, given)


def pick(scores: sparse.csr_array, given: NDArray[np.bool_]) -> sparse.csr_array:
    """An indicator matrix of the marked entries."""
    indptr = np.concatenate([[0], np.cumsum(given)])[scores.indptr]
    ones = np.ones(int(indptr[-1]), np.int8)
    return sparse.csr_array((ones, scores.indices[given], indptr), shape=scores.shape)


def ones(matrix: sparse.csr_array) -> sparse.csr_array:
    """An indicator matrix of the stored entries."""
    return pick(matrix, np.ones(matrix.nnz, bool))
