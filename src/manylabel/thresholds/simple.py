"""Thresholds that need little or no learning."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from manylabel.estimators import check_is_fitted
from manylabel.exceptions import InputError
from manylabel.predictions import canonical_scores, keep_top
from manylabel.thresholds.base import Threshold, cardinality, give_above, ones
from manylabel.validation import check_labels, check_real, check_whole

__all__ = ["Fixed", "TopK"]


class Fixed(Threshold):
    """Predict every candidate whose score is at least ``threshold``.

    Parameters
    ----------
    threshold : float
    at_least_one : bool
        Predict a document's best candidate even if it is below the threshold. A document without
        candidates still gets no label.

    Examples
    --------
    >>> Fixed(0.5).apply([[0.7, 0.5, 0.1], [0.2, 0.1, 0.3]]).toarray().tolist()
    [[1, 1, 0], [0, 0, 1]]
    """

    reads_scores = False

    def __init__(self, threshold: float = 0.5, at_least_one: bool = True) -> None:
        self.threshold = threshold
        self.at_least_one = at_least_one

    def fit(self, scores: Any = None, Y: Any = None) -> Fixed:
        """Learn nothing."""
        return self

    def apply(self, scores: Any) -> sparse.csr_array:
        """The predicted labels as an indicator matrix (int8) of the shape of ``scores``."""
        threshold = check_real("threshold", self.threshold, -np.inf)
        return give_above(canonical_scores(scores), threshold, self.at_least_one)


class TopK(Threshold):
    """Predict the ``k`` best candidates of each document (rcut).

    Parameters
    ----------
    k : int, optional
        By default the cardinality of the training labels, rounded, at least 1.

    Attributes
    ----------
    k_ : int

    Examples
    --------
    >>> TopK(2).fit().apply([[0.7, 0.5, 0.1]]).toarray().tolist()
    [[1, 1, 0]]
    """

    reads_scores = False

    def __init__(self, k: int | None = None) -> None:
        self.k = k

    def fit(self, scores: Any = None, Y: Any = None) -> TopK:
        """Learn the cardinality of ``Y`` if ``k`` is None."""
        if self.k is not None:
            self.k_ = check_whole("k", self.k, 1)
        elif Y is None:
            raise InputError("TopK() needs labels to learn k from; call fit(scores, Y).")
        else:
            self.k_ = max(1, round(cardinality(check_labels(Y))))
        return self

    def apply(self, scores: Any) -> sparse.csr_array:
        """The predicted labels as an indicator matrix (int8) of the shape of ``scores``."""
        if self.k is None:
            check_is_fitted(self, "k_")
        k = check_whole("k", self.k_ if self.k is None else self.k, 1)
        return ones(keep_top(canonical_scores(scores), k))
