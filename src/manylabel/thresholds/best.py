"""The threshold that is best for a measure."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.estimators import check_is_fitted
from manylabel.exceptions import ParameterError
from manylabel.metrics.judge import Judged, check_truth, judge_matrices
from manylabel.predictions import canonical_scores
from manylabel.thresholds.base import Threshold, give_above, lowest

__all__ = ["SWEEPS", "Best"]

# Kinds of value, as numbered in the kernel `sweep`.
_F1, _JACCARD, _PRECISION, _RECALL, _SAME_SET, _MINUS_ERRORS = range(6)

#: Set measure -> (kind of value, average, value of an absent one; NaN leaves it out).
SWEEPS: dict[str, tuple[int, str, float]] = {
    "accuracy": (_JACCARD, "example", 0.0),
    "subset-accuracy": (_SAME_SET, "example", 1.0),
    "hamming-loss": (_MINUS_ERRORS, "micro", 0.0),
    "macro-f1-one": (_F1, "macro", 1.0),
    "macro-f1-skip": (_F1, "macro", np.nan),
    **{
        f"{average}-{name}": (kind, average, 0.0)
        for average in ("micro", "macro", "example")
        for kind, name in ((_F1, "f1"), (_PRECISION, "precision"), (_RECALL, "recall"))
    },
}


class Best(Threshold):
    """The threshold that is best for a measure on validation scores.

    One sweep over the sorted scores updates the measure entry by entry, so every distinct
    threshold is tried and the answer is exact. Ties go to the highest threshold.

    Parameters
    ----------
    metric : str
        The name of a measure of label sets, such as "micro-f1", "example-f1" or "hamming-loss".
    per_label : bool
        A threshold for each label, at which its own F1 is highest (SCut); only for "macro-f1". A
        label without a true candidate gets the single threshold.
    at_least_one : bool
        Predict a document's best candidate even if it is below the threshold; the search for a
        single threshold takes this into account. Without it a document may get no label at all.
    back_off : int
        With ``per_label``: labels with fewer true documents than this are grouped by frequency,
        and each group gets the threshold with its best micro F1. A threshold found on one or two
        documents is unreliable.

    Attributes
    ----------
    threshold_ : float
    thresholds_ : ndarray of shape (n_labels,)
        With ``per_label`` only.

    Examples
    --------
    >>> scores = [[0.9, 0.6, 0.1], [0.8, 0.5, 0.3]]
    >>> cut = Best("micro-f1").fit(scores, [[1, 1, 0], [1, 0, 0]])
    >>> cut.threshold_
    0.55
    """

    def __init__(
        self,
        metric: str = "micro-f1",
        per_label: bool = False,
        at_least_one: bool = True,
        back_off: int = 0,
    ) -> None:
        self.metric = metric
        self.per_label = per_label
        self.at_least_one = at_least_one
        self.back_off = back_off

    def fit(self, scores: Any, Y: Any) -> Best:
        """Find the threshold; each row of ``Y`` has the true labels of a row of ``scores``."""
        if self.metric not in SWEEPS:
            raise ParameterError(
                f"`metric` must be one of {', '.join(sorted(SWEEPS))}; got {self.metric!r}."
            )
        if self.per_label and self.metric != "macro-f1":
            raise ParameterError(f"`per_label` needs the metric 'macro-f1'; got {self.metric!r}.")
        matrix = canonical_scores(scores)
        truth = check_truth(Y, matrix, "scores")
        self.threshold_ = self._single(truth, matrix)
        if self.per_label:
            self.thresholds_ = self._by_label(truth, matrix)
            self._back_off(truth, matrix)
        return self

    def apply(self, scores: Any) -> sparse.csr_array:
        """The predicted labels as an indicator matrix (int8) of the shape of ``scores``."""
        check_is_fitted(self, "threshold_")
        cuts = self.thresholds_ if self.per_label else self.threshold_
        return give_above(canonical_scores(scores), cuts, self.at_least_one)

    def _single(self, truth: sparse.csr_array, scores: sparse.csr_array) -> float:
        from manylabel.kernels import thresholds as kernels

        kind, average, absent = SWEEPS[self.metric]
        judged = judge_matrices(truth, scores)
        groups, true = _groups(judged, average)
        forced = np.zeros(judged.hits.size, bool)
        if self.at_least_one:
            forced[judged.indptr[:-1][np.diff(judged.indptr) > 0]] = True
        free = np.flatnonzero(~forced)
        if not free.size:
            return lowest(scores)
        order = free[np.argsort(-judged.scores[free], kind="stable")]
        ranked = judged.scores[order]
        skip = bool(np.isnan(absent))
        count = kernels.sweep(
            ranked,
            groups[order],
            judged.hits[order],
            np.bincount(groups[forced & (judged.hits == 1)], minlength=true.size),
            np.bincount(groups[forced], minlength=true.size),
            true,
            kind,
            0.0 if skip else absent,
            skip,
        )
        return float(kernels.between(ranked, 0, ranked.size, count))

    def _by_label(self, truth: sparse.csr_array, scores: sparse.csr_array) -> NDArray[np.float64]:
        from manylabel.kernels import measures
        from manylabel.kernels import thresholds as kernels

        judged = judge_matrices(truth, scores, "label")
        counts = measures.best_f1_cut(
            judged.indptr, judged.scores, judged.hits, judged.n_true, True
        )
        cuts = kernels.cuts_between(judged.indptr, judged.scores, counts)
        cuts[counts == 0] = self.threshold_
        return cuts

    def _back_off(self, truth: sparse.csr_array, scores: sparse.csr_array) -> None:
        """Give rare labels the threshold of their frequency group."""
        counts = np.bincount(truth.indices, minlength=truth.shape[1])
        for labels in _frequencies(counts, self.back_off) if self.back_off else []:
            mine = truth[:, labels]
            if mine.nnz:
                group = Best("micro-f1", at_least_one=False).fit(scores[:, labels], mine)
                self.thresholds_[labels] = group.threshold_
            else:
                self.thresholds_[labels] = self.threshold_


def _frequencies(counts: NDArray[np.int64], least: int) -> list[NDArray[np.int64]]:
    """The labels with fewer documents than ``least``, in groups of similar frequency."""
    bounds = [0, 1, *(2**power for power in range(1, 32) if 2**power < least), least]
    return [np.flatnonzero((counts >= low) & (counts < high)) for low, high in pairwise(bounds)]


def _groups(judged: Judged, average: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The group of each entry, and the number of true labels of each group."""
    if average == "example":
        return np.repeat(np.arange(judged.n_rows), np.diff(judged.indptr)), judged.n_true
    if average == "macro":
        return judged.items.astype(np.int64), judged.item_frequency
    return np.zeros(judged.hits.size, np.int64), judged.n_true.sum(keepdims=True)
