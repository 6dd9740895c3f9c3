"""F1 at cut-offs by rank, which measures a ranking independently of a threshold.

Rubin et al. (2012), section 5.5. The cut-off of an item (a document, or a label in the
label-pivoted view) is

- *proportional*: the number expected from the training labels;
- *calibrated*: its true number, as if the number were known but not the labels;
- *break-even*: the number with the highest F1 for this item.

The last two read the truth, so they compare rankings and do not estimate performance. Only
candidates are predicted, so an item with fewer candidates than its cut-off gets fewer. Equal scores
are ordered by the tie rule.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError, ParameterError
from manylabel.metrics.judge import Judged, Pivot, judge, mean
from manylabel.metrics.sets import Counts
from manylabel.validation import check_labels

__all__ = ["Cutoff", "cut_counts", "f1_at_cutoff", "proportional_cuts"]

Cutoff = Literal["proportional", "calibrated", "break-even"]


def f1_at_cutoff(
    Y_true: Any,
    scores: Any,
    cutoff: Cutoff = "proportional",
    average: Literal["micro", "macro"] = "micro",
    *,
    pivot: Pivot = "document",
    Y_train: Any | None = None,
) -> float:
    """Micro or macro F1 when each item's ranking is cut at a given rank.

    Parameters
    ----------
    Y_true : sparse or dense indicator matrix of shape (n_documents, n_labels)
    scores : sparse or dense matrix of shape (n_documents, n_labels)
    cutoff : {"proportional", "calibrated", "break-even"}
        Proportional needs ``Y_train``: the median number of labels of a training document,
        rounded up, or for a label ``ceil(n_documents / n_train * training frequency)``. At the
        break-even point ties go to the shortest cut, which is empty if nothing is correct.
    average : {"micro", "macro"}
        Over the items: macro is the mean of their F1. A document without true labels has F1 0.
    pivot : {"document", "label"}
        The label-pivoted view ranks documents for each label that occurs in ``Y_true`` and, if
        given, in ``Y_train``.
    Y_train : indicator matrix, optional

    Examples
    --------
    >>> f1_at_cutoff([[1, 1, 0]], [[0.9, 0.1, 0.5]], "calibrated")
    0.5
    >>> f1_at_cutoff([[1, 1, 0]], [[0.9, 0.1, 0.5]], "break-even")
    0.8
    """
    train = None if Y_train is None else check_labels(Y_train, "Y_train")
    judged = judge(Y_true, scores, pivot, train)
    return f1_of(cut_counts(judged, cutoff, pivot, train), average)


def f1_of(counts: Counts, average: str) -> float:
    """F1 of counts by item."""
    if average not in ("micro", "macro"):
        raise ParameterError(f"`average` must be 'micro' or 'macro'; got {average!r}.")
    return mean((counts.pooled() if average == "micro" else counts).f1())


def cut_counts(judged: Judged, cutoff: str, pivot: Pivot, train: sparse.csr_array | None) -> Counts:
    """Correct, predicted and true labels of each measured item when its ranking is cut."""
    lengths = np.diff(judged.indptr)
    given = np.minimum(_cuts(judged, cutoff, pivot, train), lengths)
    hits_before = np.concatenate([[0], np.cumsum(judged.hits, dtype=np.int64)])
    start = judged.indptr[:-1]
    right = hits_before[start + given] - hits_before[start]
    kept = judged.measured
    return Counts(right[kept], given[kept], judged.n_true[kept])


def proportional_cuts(
    frequency: NDArray[np.int64], n_train: int, n_documents: int
) -> NDArray[np.int64]:
    """The number of ``n_documents`` expected to have each label: its training share, rounded up."""
    return -(-frequency.astype(np.int64) * n_documents // n_train)


def _cuts(
    judged: Judged, cutoff: str, pivot: Pivot, train: sparse.csr_array | None
) -> NDArray[np.int64]:
    """The rank after which each item's ranking is cut."""
    from manylabel.kernels import measures

    if cutoff == "calibrated":
        return judged.n_true
    if cutoff == "break-even":
        return measures.best_f1_cut(judged.indptr, judged.scores, judged.hits, judged.n_true, False)
    if cutoff != "proportional":
        raise ParameterError(
            f"`cutoff` must be 'proportional', 'calibrated' or 'break-even'; got {cutoff!r}."
        )
    if train is None or not train.shape[0]:
        raise InputError("the proportional cut-off needs training labels: pass Y_train.")
    if pivot == "document":
        median = int(np.ceil(np.median(np.diff(train.indptr))))
        return np.full(judged.n_rows, median)
    frequency = np.bincount(train.indices, minlength=judged.n_rows)
    return proportional_cuts(frequency, train.shape[0], judged.n_items)
