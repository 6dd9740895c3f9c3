"""Thresholds that keep a promise: precision, recall or false discovery rate on new documents."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.estimators import check_is_fitted
from manylabel.exceptions import InputError, ParameterError
from manylabel.metrics.judge import Judged, check_truth, judge_matrices
from manylabel.predictions import canonical_scores
from manylabel.thresholds.base import Threshold, give_above
from manylabel.validation import check_real

__all__ = ["PROMISES", "Promise"]

#: Measure -> what is promised, in words.
PROMISES = {
    "precision": "at least this share of a document's predicted labels is correct, on average over "
    "the documents that get any",
    "recall": "at least this share of a document's true labels is predicted, on average over the "
    "documents that have any",
    "fdr": "at most this share of a document's predicted labels is wrong, on average; a document "
    "without predicted labels has no errors",
}
#: One document in this many only decides where testing begins; the others test.
_BEGIN = 5
#: Maximum thresholds to test.
_TESTED = 200
#: Bounds of the frequency groups: a label with this many held-out documents is in the next group.
_FREQUENCIES = np.array([2, 5, 20, 100, 500])
#: Minimum documents per group.
_MIN_DOCUMENTS = 200


class Promise(Threshold):
    r"""The threshold that predicts the most labels while a promise is kept on new documents.

    ``"recall"`` and ``"fdr"`` use conformal risk control. If the documents of ``fit`` and a new one
    are exchangeable, the expected loss of the new one is at most ``level`` (for recall, the loss is
    the share of true labels that are missed, and at most ``1 - level``). The false discovery
    proportion may fall when more labels are predicted; it is replaced by its maximum over all
    stricter thresholds, which cannot fall.

    ``"precision"`` is the expected share of correct labels in a set that is not empty. That is a
    ratio of two expectations, to which conformal risk control does not apply. Instead, thresholds
    are tested one after another, from strict to loose, until the first at which the Hoeffding-
    Bentkus inequality cannot exclude that the promise is broken (learn then test). If the documents
    are independent and identically distributed, the promise is kept with probability
    ``confidence``. One document in five only decides at which threshold testing begins.

    A document may get no labels; a person can then assign them.

    Parameters
    ----------
    measure : {"precision", "recall", "fdr"}
    level : float
        At least this precision or recall, or at most this false discovery rate.
    grouped : bool
        Keep the promise separately for rare and frequent labels, with a threshold for each group
        of labels. A group with too few documents is merged with the next.
    confidence : float
        For a promise of precision.

    Attributes
    ----------
    threshold_ : float
        Infinite if the promise can only be kept without any label.
    thresholds_ : ndarray of shape (n_labels,)
        With ``grouped`` only.
    is_kept_ : bool
        False if no threshold can be shown to keep the promise, because there are too few documents
        or none is scored well enough. Then precision and ``"fdr"`` predict no label, and recall
        predicts every candidate.

    References
    ----------
    Angelopoulos, Bates, Fisch, Lei and Schuster (2024), Conformal risk control, theorem 1.
    Angelopoulos, Bates, Candès, Jordan and Lei (2021), Learn then test, section 3.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random((1000, 4))
    >>> Y = rng.random((1000, 4)) < scores
    >>> promise = Promise("precision", 0.8).fit(scores, Y)
    >>> 0.6 < promise.threshold_ < 0.9
    True
    """

    def __init__(
        self,
        measure: str = "precision",
        level: float = 0.9,
        grouped: bool = False,
        confidence: float = 0.9,
    ) -> None:
        self.measure = measure
        self.level = level
        self.grouped = grouped
        self.confidence = confidence

    def fit(self, scores: Any, Y: Any) -> Promise:
        """Find the threshold; each row of ``Y`` has the true labels of a row of ``scores``."""
        if self.measure not in PROMISES:
            raise ParameterError(
                f"`measure` must be one of {', '.join(PROMISES)}; got {self.measure!r}."
            )
        for name in ("level", "confidence"):
            if not 0 < check_real(name, getattr(self, name), 0) < 1:
                raise ParameterError(
                    f"`{name}` must be above 0 and below 1; got {getattr(self, name)}."
                )
        matrix = canonical_scores(scores)
        truth = check_truth(Y, matrix, "scores")
        self.threshold_, self.is_kept_ = self._single(truth, matrix)
        if self.grouped:
            self._by_group(truth, matrix)
        if not self.is_kept_:
            warnings.warn(
                f"{self} cannot be kept with {matrix.shape[0]:,} held-out documents: "
                + (
                    "every candidate is predicted."
                    if self.measure == "recall"
                    else "no label is predicted. Lower the level, or fit with more documents."
                ),
                stacklevel=2,
            )
        return self

    def apply(self, scores: Any) -> sparse.csr_array:
        """The predicted labels as an indicator matrix (int8) of the shape of ``scores``."""
        check_is_fitted(self, "threshold_")
        matrix = canonical_scores(scores)
        if not self.grouped:
            return give_above(matrix, self.threshold_, False)
        n_new = matrix.shape[1] - self.thresholds_.size
        if n_new < 0:
            raise InputError(
                f"scores has {matrix.shape[1]} columns, but {self.thresholds_.size} are expected."
            )
        # Labels that were added later count as rare.
        cuts = np.pad(self.thresholds_, (0, n_new), constant_values=self.rarest_)
        return give_above(matrix, cuts, False)

    def __str__(self) -> str:
        return f"{self.measure}:{self.level:g}" + (":grouped" if self.grouped else "")

    def _single(self, truth: sparse.csr_array, scores: sparse.csr_array) -> tuple[float, bool]:
        """The threshold for all labels, and whether it keeps the promise."""
        judged = judge_matrices(truth, scores)
        if self.measure == "recall":
            return _recall_threshold(judged, 1 - self.level)
        if self.measure == "fdr":
            return _fdr_threshold(judged, self.level)
        return _precision_threshold(judged, 1 - self.level, 1 - self.confidence)

    def _by_group(self, truth: sparse.csr_array, scores: sparse.csr_array) -> None:
        """A threshold for each group of labels of similar frequency."""
        groups = _groups(truth)
        self.thresholds_ = np.full(truth.shape[1], np.inf)
        self.is_kept_ = True
        for group in range(groups.max(initial=0), -1, -1):
            labels = np.flatnonzero(groups == group)
            cut, kept = self._single(
                sparse.csr_array(truth[:, labels]), sparse.csr_array(scores[:, labels])
            )
            self.thresholds_[labels] = self.rarest_ = cut
            self.is_kept_ &= kept


def _groups(truth: sparse.csr_array) -> NDArray[np.int64]:
    """The group of each label, 0 for the rarest. Groups with few documents join the next."""
    counts = np.bincount(truth.indices, minlength=truth.shape[1])
    group = np.searchsorted(_FREQUENCIES, counts, side="right")
    documents = [
        int((np.diff(truth[:, np.flatnonzero(group == g)].indptr) > 0).sum())
        for g in range(_FREQUENCIES.size + 1)
    ]
    names = np.zeros(_FREQUENCIES.size + 1, np.int64)
    name, gathered = 0, 0
    for g, n_documents in enumerate(documents):
        names[g] = name
        gathered += n_documents
        if (
            gathered >= _MIN_DOCUMENTS
            and g + 1 < len(documents)
            and sum(documents[g + 1 :]) >= _MIN_DOCUMENTS
        ):
            name, gathered = name + 1, 0
    return names[group]


def _recall_threshold(judged: Judged, alpha: float) -> tuple[float, bool]:
    """The strictest threshold at which few enough true labels are missed.

    Documents without true labels have no recall, and are left out.
    """
    rows = np.repeat(np.arange(judged.n_rows), np.diff(judged.indptr))
    n = int((judged.n_true > 0).sum())
    order = np.argsort(-judged.scores, kind="stable")
    ranked = judged.scores[order].astype(np.float64)
    recalled = judged.hits[order] / np.maximum(judged.n_true, 1)[rows[order]]
    missed = n - np.concatenate([[0.0], np.cumsum(recalled)])
    # The bound of the loss is 1: n/(n + 1) mean loss + 1/(n + 1) <= alpha.
    kept = np.flatnonzero((missed + 1) / (n + 1) <= alpha + 1e-12)
    if not kept.size:
        return -np.inf, False
    count = int(kept[0])
    return (float(ranked[count - 1]) if count else np.inf), True


def _fdr_threshold(judged: Judged, alpha: float) -> tuple[float, bool]:
    """The loosest threshold at which few enough of the predicted labels are wrong."""
    from manylabel.kernels import thresholds as kernels

    n = judged.n_rows
    rises = kernels.rises_of_worst_share(judged.indptr, judged.scores, judged.hits)
    order = np.argsort(-judged.scores, kind="stable")
    ranked = judged.scores[order].astype(np.float64)
    loss = np.concatenate([[0.0], np.cumsum(rises[order])])
    kept = (loss + 1) / (n + 1) <= alpha + 1e-12
    # Equal scores are predicted together.
    kept[1:-1] &= ranked[1:] != ranked[:-1]
    counts = np.flatnonzero(kept)
    if not counts.size or counts[-1] == 0:
        return np.inf, bool(counts.size)
    return float(kernels.between(ranked, 0, ranked.size, int(counts[-1]))), True


def _precision_threshold(judged: Judged, alpha: float, delta: float) -> tuple[float, bool]:
    """The loosest threshold before the first failure, testing from strict to loose."""
    rows = np.repeat(np.arange(judged.n_rows), np.diff(judged.indptr))
    begins = rows % _BEGIN == 0
    begin, test = (
        _Ranked(rows[used], judged.scores[used], judged.hits[used]) for used in (begins, ~begins)
    )
    cuts = _tested_thresholds(begin.scores)
    if not cuts.size:
        return np.inf, False
    first = int(np.argmin([begin.p_value(cut, alpha) for cut in cuts]))
    passed = np.inf
    for cut in cuts[first:]:
        if test.p_value(cut, alpha) > delta:
            break
        passed = cut
    return float(passed), bool(np.isfinite(passed))


def _tested_thresholds(ranked: NDArray[np.float64]) -> NDArray[np.float64]:
    """Thresholds from strict to loose, chosen among the descending scores."""
    if not ranked.size:
        return np.empty(0)
    positions = np.unique(np.geomspace(1, ranked.size, _TESTED).astype(np.int64)) - 1
    return np.unique(ranked[positions])[::-1]


class _Ranked:
    """Candidates of some documents, by descending score."""

    def __init__(
        self, rows: NDArray[np.int64], scores: NDArray[Any], hits: NDArray[np.uint8]
    ) -> None:
        order = np.argsort(-scores, kind="stable")
        self.scores = scores[order].astype(np.float64)
        self._rows, self._hits = rows[order], hits[order]

    def p_value(self, cut: float, alpha: float) -> float:
        """The p-value of the hypothesis that more than ``alpha`` of a non-empty set is wrong.

        Given which documents have labels at a threshold, their shares of wrong labels are
        independent and lie between 0 and 1.
        """
        count = int(np.searchsorted(-self.scores, -cut, side="right"))
        n_given = np.bincount(self._rows[:count])
        n_right = np.bincount(self._rows[:count], self._hits[:count])
        some = n_given > 0
        wrong = float((1 - n_right[some] / n_given[some]).sum())
        return hoeffding_bentkus(wrong, int(some.sum()), alpha)


def hoeffding_bentkus(total: float, n: int, alpha: float) -> float:
    """A p-value of the hypothesis that the mean is above ``alpha``, from a sum of ``n`` shares."""
    from scipy.special import bdtr, xlogy

    if n == 0 or total >= alpha * n:
        return 1.0
    mean = total / n
    gap = xlogy(mean, mean / alpha) + xlogy(1 - mean, (1 - mean) / (1 - alpha))
    bentkus = math.e * float(bdtr(np.ceil(total - 1e-9), n, alpha))
    return float(min(1.0, np.exp(-n * gap), bentkus))
