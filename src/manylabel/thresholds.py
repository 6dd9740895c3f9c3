"""From scores to label sets.

Every threshold has ``fit(scores, Y)`` and ``apply(scores)``. Scores are sparse; only a stored
entry, a candidate, can become a predicted label. Fit on scores of documents that the model has not
seen: a model knows its own training documents too well.

:class:`Cardinality`, :class:`PerLabel`, :class:`Proportional` and :class:`TopK` read only
statistics of ``Y``, so its rows need not be the rows of the scores: training labels may be set
against the scores of other documents. :class:`Best` compares row by row.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from manylabel.exceptions import InputError, ParameterError
from manylabel.metrics.cutoffs import proportional_cuts
from manylabel.metrics.judge import check_truth, judge_matrices
from manylabel.predictions import canonical_scores, keep_top, rank_order
from manylabel.validation import check_labels, check_real, check_whole

__all__ = [
    "Best",
    "Cardinality",
    "Fixed",
    "PerLabel",
    "Proportional",
    "Threshold",
    "TopK",
    "make_threshold",
]


class Threshold(BaseEstimator):
    """Turns scores into label sets; the base of every threshold."""

    def fit(self, scores: Any, Y: Any) -> Threshold:
        """Learn from scores and labels; thresholds with nothing to learn only check them."""
        raise NotImplementedError

    def apply(self, scores: Any) -> sparse.csr_array:
        """The predicted labels as an indicator matrix (int8) of the shape of ``scores``."""
        raise NotImplementedError


class Fixed(Threshold):
    """Give every candidate whose score is at least ``threshold``.

    Parameters
    ----------
    threshold : float
    at_least_one : bool
        Give a document's best candidate even where it is below the threshold. A document without
        candidates still gets nothing.

    Examples
    --------
    >>> Fixed(0.5).apply([[0.7, 0.5, 0.1], [0.2, 0.1, 0.3]]).toarray().tolist()
    [[1, 1, 0], [0, 0, 1]]
    """

    def __init__(self, threshold: float = 0.5, at_least_one: bool = True) -> None:
        self.threshold = threshold
        self.at_least_one = at_least_one

    def fit(self, scores: Any = None, Y: Any = None) -> Fixed:
        """Learn nothing."""
        return self

    def apply(self, scores: Any) -> sparse.csr_array:
        """The predicted labels as an indicator matrix (int8) of the shape of ``scores``."""
        threshold = check_real("threshold", self.threshold, -np.inf)
        return _above(canonical_scores(scores), threshold, self.at_least_one)


class TopK(Threshold):
    """Give each document its ``k`` best candidates (rcut).

    Parameters
    ----------
    k : int, optional
        None takes the training labels' cardinality, rounded, at least 1.

    Attributes
    ----------
    k_ : int

    Examples
    --------
    >>> TopK(2).fit().apply([[0.7, 0.5, 0.1]]).toarray().tolist()
    [[1, 1, 0]]
    """

    def __init__(self, k: int | None = None) -> None:
        self.k = k

    def fit(self, scores: Any = None, Y: Any = None) -> TopK:
        """Learn the cardinality of ``Y`` where ``k`` is None."""
        if self.k is not None:
            self.k_ = check_whole("k", self.k, 1)
        elif Y is None:
            raise InputError("TopK() needs labels to learn k from: call fit(scores, Y).")
        else:
            self.k_ = max(1, round(_cardinality(check_labels(Y))))
        return self

    def apply(self, scores: Any) -> sparse.csr_array:
        """The predicted labels as an indicator matrix (int8) of the shape of ``scores``."""
        if self.k is None:
            check_is_fitted(self, "k_")
        k = check_whole("k", self.k_ if self.k is None else self.k, 1)
        return _ones(keep_top(canonical_scores(scores), k))


class Cardinality(Threshold):
    """One threshold, at which documents get as many labels on average as training documents have.

    The search is exact. Of two thresholds equally near the cardinality the higher is taken; it
    lies half-way between the lowest score that is given and the highest that is not.

    Parameters
    ----------
    at_least_one : bool
        Give a document's best candidate even where it is below the threshold; the search takes
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
        matrix, labels = _scores_and_labels(scores, Y)
        self.threshold_ = _cardinality_threshold(matrix, _cardinality(labels), self.at_least_one)
        return self

    def apply(self, scores: Any) -> sparse.csr_array:
        """The predicted labels as an indicator matrix (int8) of the shape of ``scores``."""
        check_is_fitted(self, "threshold_")
        return _above(canonical_scores(scores), self.threshold_, self.at_least_one)


class PerLabel(Threshold):
    """A threshold for each label, at which it is given as often as it occurs in training.

    A label's target is its share of the rows of ``Y`` times the rows of the scores, and at least
    one. A label with fewer candidates than its target gets the score of its last one; a label of
    ``Y`` that is nobody's candidate gets the threshold of :class:`Cardinality`. A label that does
    not occur in ``Y`` is never given.

    Parameters
    ----------
    at_least_one : bool
        Give a document's best candidate even where it is below its threshold. These come on top
        of the targets.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_labels,)
        Infinite for labels that are never given.

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

        matrix, labels = _scores_and_labels(scores, Y)
        frequency = np.bincount(labels.indices, minlength=labels.shape[1])
        targets = np.maximum(1.0, frequency * (matrix.shape[0] / labels.shape[0]))
        columns = sparse.csr_array(matrix.T)
        indptr = columns.indptr.astype(np.int64, copy=False)
        ranked = columns.data[rank_order(columns)]
        cuts = kernels.cuts_between(indptr, ranked, kernels.nearest_counts(indptr, ranked, targets))
        spare = _cardinality_threshold(matrix, _cardinality(labels), self.at_least_one)
        cuts[np.diff(indptr) == 0] = spare
        cuts[frequency == 0] = np.inf
        self.thresholds_ = cuts
        return self

    def apply(self, scores: Any) -> sparse.csr_array:
        """The predicted labels as an indicator matrix (int8) of the shape of ``scores``."""
        check_is_fitted(self, "thresholds_")
        return _above(canonical_scores(scores), self.thresholds_, self.at_least_one)


class Proportional(Threshold):
    """Rubin's proportional cut-off, by rank instead of by score.

    Label-pivoted, each label goes to its ``ceil(n_scored / n_train * frequency)`` best documents
    among those scored together, so the answer for a document depends on its company.
    Document-pivoted, each document gets the median number of labels of a training document,
    rounded up.

    Parameters
    ----------
    pivot : {"label", "document"}
    at_least_one : bool
        Give each document its best candidate as well.

    Attributes
    ----------
    frequency_ : ndarray of shape (n_labels,)
        Training documents of each label.
    n_train_ : int
        Training documents.
    median_ : int
        Labels for each document in the document-pivoted form.

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

    def __init__(self, pivot: str = "label", at_least_one: bool = True) -> None:
        self.pivot = pivot
        self.at_least_one = at_least_one

    def fit(self, scores: Any, Y: Any) -> Proportional:
        """Learn the labels' frequencies; the scores are not used and may be None."""
        if self.pivot not in ("label", "document"):
            raise ParameterError(f"`pivot` must be 'label' or 'document'; got {self.pivot!r}.")
        labels = _not_empty(check_labels(Y))
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
        place = np.arange(ranked.nnz) - np.repeat(ranked.indptr[:-1], np.diff(ranked.indptr))
        given = np.zeros(ranked.nnz, bool)
        given[rank_order(ranked)] = place < np.repeat(cuts, np.diff(ranked.indptr))
        labels = _pick(ranked, given)
        if self.pivot == "label":
            labels = sparse.csr_array(labels.T)
        if self.at_least_one:
            labels = _ones(sparse.csr_array(labels + _ones(keep_top(matrix, 1))))
        return labels


#: Set measure -> (kind of value in the sweep, whose mean it is, value of an absent one).
_SWEEPS: dict[str, tuple[int, str, float]] = {
    "accuracy": (1, "example", 0.0),
    "subset-accuracy": (4, "example", 1.0),
    "hamming-loss": (5, "micro", 0.0),
    "macro-f1-one": (0, "macro", 1.0),
    "macro-f1-skip": (0, "macro", np.nan),
    **{
        f"{average}-{name}": (kind, average, 0.0)
        for average in ("micro", "macro", "example")
        for kind, name in ((0, "f1"), (2, "precision"), (3, "recall"))
    },
}


class Best(Threshold):
    """The threshold that is best for a measure on validation scores.

    One sweep over the sorted scores updates the measure entry by entry, so every distinct
    threshold is tried and the answer is exact. Of equally good thresholds the highest is taken.

    Parameters
    ----------
    metric : str
        The name of a measure of label sets, such as "micro-f1", "example-f1" or "hamming-loss".
    per_label : bool
        A threshold for each label, at which its own F1 is highest (SCut); only for "macro-f1". A
        label without a true candidate gets the single threshold.
    at_least_one : bool
        Give a document's best candidate even where it is below the threshold; the search for a
        single threshold takes this into account.

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
        self, metric: str = "micro-f1", per_label: bool = False, at_least_one: bool = True
    ) -> None:
        self.metric = metric
        self.per_label = per_label
        self.at_least_one = at_least_one

    def fit(self, scores: Any, Y: Any) -> Best:
        """Find the threshold; row by row, ``Y`` holds the true labels of ``scores``."""
        if self.metric not in _SWEEPS:
            raise ParameterError(
                f"`metric` must be one of {', '.join(sorted(_SWEEPS))}; got {self.metric!r}."
            )
        if self.per_label and self.metric != "macro-f1":
            raise ParameterError(f"`per_label` needs the metric 'macro-f1'; got {self.metric!r}.")
        matrix = canonical_scores(scores)
        truth = check_truth(Y, matrix, "scores")
        self.threshold_ = self._single(truth, matrix)
        if self.per_label:
            self.thresholds_ = self._by_label(truth, matrix)
        return self

    def apply(self, scores: Any) -> sparse.csr_array:
        """The predicted labels as an indicator matrix (int8) of the shape of ``scores``."""
        check_is_fitted(self, "threshold_")
        cuts = self.thresholds_ if self.per_label else self.threshold_
        return _above(canonical_scores(scores), cuts, self.at_least_one)

    def _single(self, truth: sparse.csr_array, scores: sparse.csr_array) -> float:
        from manylabel.kernels import thresholds as kernels

        kind, average, absent = _SWEEPS[self.metric]
        judged = judge_matrices(truth, scores)
        lengths = np.diff(judged.indptr)
        if average == "example":
            groups = np.repeat(np.arange(judged.n_rows), lengths)
            true = judged.n_true
        elif average == "macro":
            groups, true = judged.items.astype(np.int64), judged.item_frequency
        else:
            groups, true = np.zeros(judged.hits.size, np.int64), judged.n_true.sum(keepdims=True)
        forced = np.zeros(judged.hits.size, bool)
        if self.at_least_one:
            forced[judged.indptr[:-1][lengths > 0]] = True
        right = np.bincount(groups[forced & (judged.hits == 1)], minlength=true.size)
        given = np.bincount(groups[forced], minlength=true.size)
        free = np.flatnonzero(~forced)
        order = free[np.argsort(-judged.scores[free], kind="stable")]
        if not order.size:
            return _lowest(scores)
        ranked = judged.scores[order]
        skip = bool(np.isnan(absent))
        best = kernels.sweep(
            ranked,
            groups[order],
            judged.hits[order],
            right,
            given,
            true,
            kind,
            0.0 if skip else absent,
            skip,
        )
        return float(kernels.between(ranked, 0, ranked.size, best))

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


_NAMED = {
    "cardinality": Cardinality,
    "per-label": PerLabel,
    "proportional": Proportional,
    "top": TopK,
}


def make_threshold(spec: Any) -> Threshold:
    """Turn a short name into a threshold.

    Parameters
    ----------
    spec : str, float or threshold
        ``"cardinality"``, ``"per-label"``, ``"proportional"``, ``"top"`` (as many labels as
        training documents have), ``"top-5"``, a number such as ``"0.3"`` or ``0.3``,
        ``"best:micro-f1"``, ``"best:macro-f1:per-label"``; a threshold is given back as it is.

    Examples
    --------
    >>> make_threshold("top-5")
    TopK(k=5)
    >>> make_threshold(0.3)
    Fixed(threshold=0.3)
    """
    if hasattr(spec, "fit") and hasattr(spec, "apply"):
        return spec
    if isinstance(spec, int | float | np.number) and not isinstance(spec, bool):
        return Fixed(float(spec))
    if isinstance(spec, str):
        if spec in _NAMED:
            return _NAMED[spec]()
        if match := re.fullmatch(r"top-(\d+)", spec):
            return TopK(check_whole("k", int(match[1]), 1))
        kind, _, rest = spec.partition(":")
        metric, _, option = rest.partition(":")
        if kind == "best" and metric in _SWEEPS and option in ("", "per-label"):
            return Best(metric, per_label=option == "per-label")
        try:
            return Fixed(check_real("threshold", float(spec), -np.inf))
        except ValueError:
            pass
    raise ParameterError(
        "`threshold` must be 'cardinality', 'per-label', 'proportional', 'top', 'top-<k>', "
        f"'best:<measure>', a number or a threshold; got {spec!r}.{_nearest_spec(spec)}"
    )


def _nearest_spec(spec: Any) -> str:
    """A sentence that names the likeliest meaning, or nothing."""
    known = [*_NAMED, *(f"best:{metric}" for metric in _SWEEPS)]
    near = get_close_matches(spec, known, n=1) if isinstance(spec, str) else []
    return f" Did you mean {near[0]!r}?" if near else ""


def _scores_and_labels(scores: Any, Y: Any) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Both in canonical form, with the same labels but not necessarily the same rows."""
    matrix = canonical_scores(scores)
    return matrix, _not_empty(check_labels(Y, n_columns=matrix.shape[1]))


def _not_empty(labels: sparse.csr_array) -> sparse.csr_array:
    if labels.shape[0] == 0:
        raise InputError("Y must have at least one row to learn a threshold from; got 0.")
    return labels


def _cardinality(labels: sparse.csr_array) -> float:
    """Labels a row."""
    return _not_empty(labels).nnz / labels.shape[0]


def _cardinality_threshold(
    scores: sparse.csr_array, cardinality: float, at_least_one: bool
) -> float:
    """The threshold at which the rows of ``scores`` get nearest to ``cardinality`` labels."""
    from manylabel.kernels import thresholds as kernels

    target = cardinality * scores.shape[0]
    ranked = scores.data
    if at_least_one:
        # Each row's best is given whatever the threshold: only the others are to be chosen from.
        best = rank_order(scores)[scores.indptr[:-1][np.diff(scores.indptr) > 0]]
        ranked = np.delete(ranked, best)
        target = max(0.0, target - best.size)
    if not ranked.size:
        return _lowest(scores)
    ranked = np.sort(ranked)[::-1]
    whole = np.array([0, ranked.size])
    count = kernels.nearest_counts(whole, ranked, np.array([target]))[0]
    return float(kernels.between(ranked, 0, ranked.size, count))


def _lowest(scores: sparse.csr_array) -> float:
    """A threshold that every candidate reaches."""
    return float(scores.data.min()) if scores.nnz else 0.0


def _above(
    scores: sparse.csr_array, thresholds: float | NDArray[np.float64], at_least_one: bool
) -> sparse.csr_array:
    """The entries that reach their label's threshold, as an indicator matrix."""
    from manylabel.kernels import thresholds as kernels

    cuts = np.atleast_1d(np.asarray(thresholds, np.float64))
    if cuts.size not in (1, scores.shape[1]):
        raise InputError(f"scores has {scores.shape[1]} columns, but {cuts.size} are expected.")
    given = kernels.reaches(
        scores.indptr.astype(np.int64, copy=False), scores.indices, scores.data, cuts, at_least_one
    )
    return _pick(scores, given)


def _pick(scores: sparse.csr_array, given: NDArray[np.bool_]) -> sparse.csr_array:
    """An indicator matrix of the marked entries."""
    indptr = np.concatenate([[0], np.cumsum(given)])[scores.indptr]
    ones = np.ones(int(indptr[-1]), np.int8)
    return sparse.csr_array((ones, scores.indices[given], indptr), shape=scores.shape)


def _ones(matrix: sparse.csr_array) -> sparse.csr_array:
    """An indicator matrix of the stored entries."""
    return _pick(matrix, np.ones(matrix.nnz, bool))
