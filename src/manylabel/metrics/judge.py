"""Rankings with each entry marked correct or not: the input of every ranking measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError, ParameterError
from manylabel.predictions import FEW, canonical_scores, rank_order, values_at
from manylabel.validation import check_labels, csr_parts

__all__ = ["Judged", "Pivot", "check_truth", "head", "judge", "judge_matrices", "mean"]

Pivot = Literal["document", "label"]


@dataclass(frozen=True)
class Judged:
    """One ranking per row, best first; ties go to the lower column.

    A row is a document that ranks labels, or in the label-pivoted view a label that ranks
    documents. Items are what is ranked.
    """

    indptr: NDArray[np.int64]
    items: NDArray[Any]
    scores: NDArray[Any]
    hits: NDArray[np.uint8]
    n_true: NDArray[np.int64]
    item_frequency: NDArray[np.int64]
    #: A mask of the rows to measure; the others become NaN.
    measured: NDArray[np.bool_]

    @property
    def n_rows(self) -> int:
        """The number of rankings."""
        return self.n_true.size

    @property
    def n_items(self) -> int:
        """The number of items to rank, stored or not."""
        return self.item_frequency.size

    def head(self, k: int) -> NDArray[np.uint8]:
        """Hits among the first ``k`` items of each row; see :func:`head`."""
        return head(self.indptr, self.hits, k)


def head(indptr: NDArray[Any], values: NDArray[Any], k: int) -> NDArray[Any]:
    """The first ``k`` values of each row, padded with zeros; never wider than the longest row."""
    sizes = np.diff(indptr)
    width = min(k, int(sizes.max(initial=0)))
    if values.size < FEW:
        # A kernel takes half a second to compile after an installation.
        top = np.zeros((sizes.size, width), values.dtype)
        places = np.arange(width)
        there = places < sizes[:, None]
        top[there] = values[(indptr[:-1, None] + places)[there]]
        return top
    from manylabel.kernels import measures

    return measures.head(indptr.astype(np.int64, copy=False), values, width)


def judge(
    Y_true: Any, scores: Any, pivot: Pivot = "document", Y_train: Any | None = None
) -> Judged:
    """Check, rank and judge what a user passes."""
    matrix = canonical_scores(scores)
    truth = check_truth(Y_true, matrix, "scores")
    train = None if Y_train is None else check_labels(Y_train, "Y_train", n_columns=truth.shape[1])
    return judge_matrices(truth, matrix, pivot, train)


def judge_matrices(
    truth: sparse.csr_array,
    scores: sparse.csr_array,
    pivot: Pivot = "document",
    train: sparse.csr_array | None = None,
) -> Judged:
    """Rank and judge canonical matrices.

    In the label-pivoted view the measured rows are the labels that occur in the truth and, if
    given, in the training labels.
    """
    if pivot not in ("document", "label"):
        raise ParameterError(f"`pivot` must be 'document' or 'label'; got {pivot!r}.")
    if pivot == "label":
        truth, scores = sparse.csr_array(truth.T), sparse.csr_array(scores.T)
    n_true = np.diff(truth.indptr).astype(np.int64)
    measured = np.ones(n_true.size, bool) if pivot == "document" else n_true > 0
    if pivot == "label" and train is not None:
        measured &= np.bincount(train.indices, minlength=n_true.size) > 0
    indptr, items, values = csr_parts(scores, scores.dtype)
    hits, order = _are_true(scores, truth), rank_order(scores)
    return Judged(
        indptr=indptr,
        items=items[order],
        scores=values[order],
        hits=hits[order],
        n_true=n_true,
        item_frequency=np.bincount(truth.indices, minlength=truth.shape[1]),
        measured=measured,
    )


def _are_true(scores: sparse.csr_array, truth: sparse.csr_array) -> NDArray[np.uint8]:
    """Which entries of the scores are labels in the truth: ones, and zeros elsewhere."""
    if scores.nnz < FEW:
        # A kernel takes half a second to compile after an installation.
        return (values_at(truth, scores) != 0).astype(np.uint8)
    from manylabel.kernels import measures

    indptr, items, _ = csr_parts(scores, scores.dtype)
    true_indptr, true_items, _ = csr_parts(truth, truth.dtype)
    return measures.membership(indptr, items, true_indptr, true_items)


def check_truth(Y_true: Any, other: sparse.csr_array, name: str) -> sparse.csr_array:
    """Check true labels, which must have the shape of ``other``; return them in canonical form."""
    truth = check_labels(Y_true, "Y_true")
    if truth.shape != other.shape:
        raise InputError(
            f"Y_true and {name} must have the same shape; got {truth.shape} and {other.shape}."
        )
    if 0 in truth.shape:
        raise InputError(
            f"Y_true must have at least one row and one label; got the shape {truth.shape}."
        )
    return truth


def mean(values: NDArray[np.float64]) -> float:
    """The mean of the values that are not NaN; NaN if there are none."""
    kept = values[~np.isnan(values)]
    return float(kept.mean()) if kept.size else float("nan")
