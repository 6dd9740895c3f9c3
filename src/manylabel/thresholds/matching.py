"""Thresholds that make predicted labels as frequent as training labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from manylabel.estimators import check_is_fitted
from manylabel.exceptions import InputError, ParameterError
from manylabel.metrics.cutoffs import proportional_cuts
from manylabel.predictions import canonical_scores, keep_top, rank_order
from manylabel.thresholds.base import (
    Threshold,
    cardinality,
    give_above,
    lowest,
    not_empty,
    ones,
    pick,
    scores_and_labels,
)
from manylabel.validation import check_labels

__all__ = ["Cardinality", "PerLabel", "Proportional"]


class Cardinality(Threshold):
    """One threshold, at which documents get as many labels on average as training documents have.

    The search is exact. Of two thresholds equally near the cardinality the higher is chosen. It
    lies half-way between the lowest score that is predicted and the highest that is not.

    Parameters
    ----------
    at_least_one : bool
        Predict a document's best candidate even if it is below the threshold; the search takes
        this into account.

    Attributes
    ----------
    threshold_ : float

    References
    ----------
    Feremans et al. (2020), definition 10.

    Examples
    --------
    >>> scores = [[0.9, 0.6, 0.1], [0.8, 0.2, 0.0]]
    >>> cut = Cardinality().fit(scores, [[1, 1, 0], [1, 0, 0]])
    >>> cut.threshold_
    0.4
    >>> cut.apply(scores).toarray().tolist()
    [[1, 1, 0], [1, 0, 0]]
    """

    def __init__(self, at_least_one: bool = True) -> None:
        self.at_least_one = at_least_one

    def fit(self, scores: Any, Y: Any) -> Cardinality:
        """Find the threshold; only the cardinality of ``Y`` is used."""
        matrix, labels = scores_and_labels(scores, Y)
        self.threshold_ = _cardinality_threshold(matrix, cardinality(labels), self.at_least_one)
        return self

    def apply(self, scores: Any) -> sparse.csr_array:
        """The predicted labels as an indicator matrix (int8) of the shape of ``scores``."""
        check_is_fitted(self, "threshold_")
        return give_above(canonical_scores(scores), self.threshold_, self.at_least_one)


class PerLabel(Threshold):
    """A threshold for each label, at which it is predicted as often as it occurs in training.

    A label's target is its share of the rows of ``Y`` times the rows of the scores, and at least
    one. The threshold of a label with fewer candidates than its target is the lowest of their
    scores; a label of ``Y`` without candidates gets the threshold of :class:`Cardinality`. A label
    that does not occur in ``Y`` is never predicted.

    Parameters
    ----------
    at_least_one : bool
        Predict a document's best candidate even if it is below its threshold, in addition to the
        targets.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_labels,)
        Infinite for labels that are never predicted.

    References
    ----------
    Feremans et al. (2020), definition 11.

    Examples
    --------
    >>> scores = [[0.9, 0.3], [0.8, 0.2], [0.1, 0.1]]
    >>> cut = PerLabel(at_least_one=False).fit(scores, [[1, 0], [1, 0], [0, 1]])
    >>> cut.apply(scores).toarray().tolist()
    [[1, 1], [1, 0], [0, 0]]
    """

    def __init__(self, at_least_one: bool = True) -> None:
        self.at_least_one = at_least_one

    def fit(self, scores: Any, Y: Any) -> PerLabel:
        """Find the thresholds; only the labels' frequencies in ``Y`` are used."""
        from manylabel.kernels import thresholds as kernels

        matrix, labels = scores_and_labels(scores, Y)
        frequency = np.bincount(labels.indices, minlength=labels.shape[1])
        targets = np.maximum(1.0, frequency * (matrix.shape[0] / labels.shape[0]))
        columns = sparse.csr_array(matrix.T)
        indptr = columns.indptr.astype(np.int64, copy=False)
        ranked = columns.data[rank_order(columns)]
        cuts = kernels.cuts_between(indptr, ranked, kernels.nearest_counts(indptr, ranked, targets))
        spare = _cardinality_threshold(matrix, cardinality(labels), self.at_least_one)
        cuts[np.diff(indptr) == 0] = spare
        cuts[frequency == 0] = np.inf
        self.thresholds_ = cuts
        return self

    def apply(self, scores: Any) -> sparse.csr_array:
        """The predicted labels as an indicator matrix (int8) of the shape of ``scores``."""
        check_is_fitted(self, "thresholds_")
        return give_above(canonical_scores(scores), self.thresholds_, self.at_least_one)


class Proportional(Threshold):
    """Rubin's proportional cut-off, by rank instead of by score.

    Label-pivoted, each label goes to its ``ceil(n_scored / n_train * frequency)`` best documents
    among those scored together, so the answer for a document depends on the others.
    Document-pivoted, each document gets the median number of labels of a training document,
    rounded up.

    Parameters
    ----------
    pivot : {"label", "document"}
    at_least_one : bool
        Also predict each document's best candidate.

    Attributes
    ----------
    frequency_ : ndarray of shape (n_labels,)
        Training documents per label.
    n_train_ : int
        Training documents.
    median_ : int
        Labels per document in the document-pivoted form.

    References
    ----------
    Rubin et al. (2012), section 5.5.

    Examples
    --------
    >>> scores = [[0.9, 0.3], [0.8, 0.2], [0.1, 0.1]]
    >>> cut = Proportional(at_least_one=False).fit(scores, [[1, 0], [1, 0], [0, 1]])
    >>> cut.apply(scores).toarray().tolist()
    [[1, 1], [1, 0], [0, 0]]
    """

    reads_scores = False

    def __init__(self, pivot: str = "label", at_least_one: bool = True) -> None:
        self.pivot = pivot
        self.at_least_one = at_least_one

    def fit(self, scores: Any, Y: Any) -> Proportional:
        """Learn the labels' frequencies; the scores are not used and may be None."""
        if self.pivot not in ("label", "document"):
            raise ParameterError(f"`pivot` must be 'label' or 'document'; got {self.pivot!r}.")
        labels = not_empty(check_labels(Y))
        self.n_train_ = labels.shape[0]
        self.frequency_ = np.bincount(labels.indices, minlength=labels.shape[1])
        self.median_ = int(np.ceil(np.median(np.diff(labels.indptr))))
        return self

    def apply(self, scores: Any) -> sparse.csr_array:
        """The predicted labels as an indicator matrix (int8) of the shape of ``scores``."""
        check_is_fitted(self, "frequency_")
        matrix = canonical_scores(scores)
        if matrix.shape[1] != self.frequency_.size:
            raise InputError(
                f"scores has {matrix.shape[1]} columns, but {self.frequency_.size} are expected."
            )
        if self.pivot == "document":
            ranked, cuts = matrix, np.full(matrix.shape[0], self.median_)
        else:
            ranked = sparse.csr_array(matrix.T)
            cuts = proportional_cuts(self.frequency_, self.n_train_, matrix.shape[0])
        position = np.arange(ranked.nnz) - np.repeat(ranked.indptr[:-1], np.diff(ranked.indptr))
        given = np.zeros(ranked.nnz, bool)
        given[rank_order(ranked)] = position < np.repeat(cuts, np.diff(ranked.indptr))
        labels = pick(ranked, given)
        if self.pivot == "label":
            labels = sparse.csr_array(labels.T)
        if self.at_least_one:
            labels = ones(sparse.csr_array(labels + ones(keep_top(matrix, 1))))
        return labels


def _cardinality_threshold(
    scores: sparse.csr_array, cardinality: float, at_least_one: bool
) -> float:
    """The threshold at which the rows of ``scores`` get nearest to ``cardinality`` labels."""
    from manylabel.kernels import thresholds as kernels

    target = cardinality * scores.shape[0]
    ranked = scores.data
    if at_least_one:
        # Each row's best label is always predicted, so only the others count.
        best = rank_order(scores)[scores.indptr[:-1][np.diff(scores.indptr) > 0]]
        ranked = np.delete(ranked, best)
        target = max(0.0, target - best.size)
    if not ranked.size:
        return lowest(scores)
    ranked = np.ascontiguousarray(np.sort(ranked)[::-1])
    whole = np.array([0, ranked.size])
    count = kernels.nearest_counts(whole, ranked, np.array([target]))[0]
    return float(kernels.between(ranked, 0, ranked.size, count))
