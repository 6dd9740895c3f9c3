"""Measures of a whole ranking: of all labels for a document, or of all documents for a label.

Items that are not stored are tied below the candidates. How ties count:

- area under ROC and ranking loss: a tied pair counts half, as in scikit-learn's
  ``roc_auc_score``. So ranking loss is always one minus the area under ROC, as Rubin et al. (2012)
  define it. scikit-learn's ``label_ranking_loss`` counts a tied pair fully;
- area under precision-recall: tied items are one step, interpolated inside;
- average precision, coverage error, is-error and margin: ties count against the ranking, as in
  scikit-learn's ``label_ranking_average_precision_score`` and ``coverage_error``;
- one-error: the tie rule decides which item is first, as in precision at 1.

Errors and losses are shares from 0 to 1, where Rubin et al. print percentages; margin and coverage
error are counted in ranks.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from manylabel.exceptions import ParameterError
from manylabel.metrics.judge import Judged, Pivot, judge, mean

__all__ = [
    "FULL_MEASURES",
    "auc_pr",
    "auc_roc",
    "average_precision",
    "coverage_error",
    "is_error",
    "margin",
    "one_error",
    "rank_values",
    "ranking_loss",
]

Empty = Literal["perfect", "skip"]

#: The columns of :func:`rank_values`.
FULL_MEASURES = (
    "auc-roc",
    "auc-pr",
    "average-precision",
    "one-error",
    "is-error",
    "margin",
    "ranking-loss",
    "coverage-error",
)


def rank_values(judged: Judged, empty: Empty = "perfect") -> NDArray[np.float64]:
    """Every measure of every row, in the order of ``FULL_MEASURES``; NaN for rows left out."""
    from manylabel.kernels import measures

    if empty not in ("perfect", "skip"):
        raise ParameterError(f"`empty` must be 'perfect' or 'skip'; got {empty!r}.")
    values = measures.full_ranking(
        judged.indptr, judged.scores, judged.hits, judged.n_true, judged.n_items
    )
    left_out = ~judged.measured
    if empty == "skip":
        left_out |= (judged.n_true == 0) | (judged.n_true == judged.n_items)
    values[left_out] = np.nan
    return values


def auc_roc(
    Y_true: Any,
    scores: Any,
    *,
    pivot: Pivot = "document",
    Y_train: Any | None = None,
    empty: Empty = "perfect",
    average: bool = True,
) -> Any:
    """Area under the ROC curve: the share of true-false pairs in the right order; ties count half.

    Parameters
    ----------
    Y_true : sparse or dense indicator matrix of shape (n_documents, n_labels)
    scores : sparse or dense matrix of shape (n_documents, n_labels)
        A stored entry is a candidate; the others are tied below.
    pivot : {"document", "label"}
        Each document ranks labels, or each label ranks documents. The labels measured are those
        that occur in ``Y_true`` and, if given, in ``Y_train``.
    Y_train : indicator matrix, optional
        Only read in the label-pivoted view.
    empty : {"perfect", "skip"}
        Whether a row with nothing to order, because none or all of its items are true, counts as
        a perfect ranking (scikit-learn's rule) or is left out.
    average : bool
        Return the mean; False returns one value per row, NaN for those left out.

    Returns
    -------
    float or ndarray of shape (n_documents,) or (n_labels,)

    Examples
    --------
    >>> auc_roc([[1, 0, 1]], [[0.9, 0.5, 0.5]])
    0.75
    """
    return _measure("auc-roc", Y_true, scores, pivot, Y_train, empty, average)


def auc_pr(
    Y_true: Any,
    scores: Any,
    *,
    pivot: Pivot = "document",
    Y_train: Any | None = None,
    empty: Empty = "perfect",
    average: bool = True,
) -> Any:
    """Area under the precision-recall curve. Parameters as in :func:`auc_roc`.

    Between two points of the curve false positives grow linearly with true positives, which bends
    precision (Davis & Goadrich 2006); the area is that of the trapezia between the points with
    whole numbers of true positives. The curve begins at recall 0 with the precision of the first
    point that has a true positive, and is flat up to that point, as in the authors' program.

    Examples
    --------
    >>> round(auc_pr([[1, 0, 1]], [[0.9, 0.5, 0.1]]), 4)
    0.7917
    >>> auc_pr([[0, 1, 0]], [[0.9, 0.5, 0.1]])
    0.5
    """
    return _measure("auc-pr", Y_true, scores, pivot, Y_train, empty, average)


def average_precision(
    Y_true: Any,
    scores: Any,
    *,
    pivot: Pivot = "document",
    Y_train: Any | None = None,
    empty: Empty = "perfect",
    average: bool = True,
) -> Any:
    """Mean over the true items of the precision at their rank. Parameters as in :func:`auc_roc`.

    Examples
    --------
    >>> round(average_precision([[1, 0, 1]], [[0.9, 0.5, 0.1]]), 4)
    0.8333
    """
    return _measure("average-precision", Y_true, scores, pivot, Y_train, empty, average)


def one_error(
    Y_true: Any,
    scores: Any,
    *,
    pivot: Pivot = "document",
    Y_train: Any | None = None,
    empty: Empty = "perfect",
    average: bool = True,
) -> Any:
    """The share of rows whose first item is wrong or missing. Parameters as in :func:`auc_roc`.

    Examples
    --------
    >>> one_error([[1, 0], [1, 0]], [[0.9, 0.1], [0.1, 0.9]])
    0.5
    """
    return _measure("one-error", Y_true, scores, pivot, Y_train, empty, average)


def is_error(
    Y_true: Any,
    scores: Any,
    *,
    pivot: Pivot = "document",
    Y_train: Any | None = None,
    empty: Empty = "perfect",
    average: bool = True,
) -> Any:
    """The share of rows whose ranking is not perfect. Parameters as in :func:`auc_roc`.

    Examples
    --------
    >>> is_error([[1, 0], [1, 0]], [[0.9, 0.1], [0.5, 0.5]])
    0.5
    """
    return _measure("is-error", Y_true, scores, pivot, Y_train, empty, average)


def margin(
    Y_true: Any,
    scores: Any,
    *,
    pivot: Pivot = "document",
    Y_train: Any | None = None,
    empty: Empty = "perfect",
    average: bool = True,
) -> Any:
    """Ranks from the best false item down to the worst true one. Parameters as in :func:`auc_roc`.

    0 for a perfect ranking, as in Loza Mencía & Fürnkranz (2008).

    Examples
    --------
    >>> margin([[1, 0, 0]], [[0.1, 0.9, 0.5]])
    2.0
    """
    return _measure("margin", Y_true, scores, pivot, Y_train, empty, average)


def ranking_loss(
    Y_true: Any,
    scores: Any,
    *,
    pivot: Pivot = "document",
    Y_train: Any | None = None,
    empty: Empty = "perfect",
    average: bool = True,
) -> Any:
    """The share of true-false pairs in the wrong order; ties count half.

    Always one minus the area under the ROC curve. Parameters as in :func:`auc_roc`.

    Examples
    --------
    >>> ranking_loss([[1, 0, 1]], [[0.9, 0.5, 0.5]])
    0.25
    """
    return _measure("ranking-loss", Y_true, scores, pivot, Y_train, empty, average)


def coverage_error(
    Y_true: Any,
    scores: Any,
    *,
    pivot: Pivot = "document",
    Y_train: Any | None = None,
    empty: Empty = "perfect",
    average: bool = True,
) -> Any:
    """The rank of the last true item. Parameters as in :func:`auc_roc`.

    A row without true items counts as 0 (``empty="perfect"``).

    Examples
    --------
    >>> coverage_error([[1, 0, 1]], [[0.9, 0.5, 0.1]])
    3.0
    """
    return _measure("coverage-error", Y_true, scores, pivot, Y_train, empty, average)


def _measure(
    name: str,
    Y_true: Any,
    scores: Any,
    pivot: Pivot,
    Y_train: Any | None,
    empty: Empty,
    average: bool,
) -> Any:
    judged = judge(Y_true, scores, pivot, Y_train)
    values = rank_values(judged, empty)[:, FULL_MEASURES.index(name)]
    return mean(values) if average else values
