"""Measures of predicted label sets.

Averages are *micro* (counts over everything), *macro* (mean over labels) or *example* (mean over
documents). A label or document with neither a true nor a predicted entry has no precision, recall
or F1; ``absent`` sets what it counts as: ``"zero"`` (scikit-learn's default), ``"one"`` (Mulan's,
which Feremans et al. follow) or ``"skip"`` (left out of the mean). Any other division by zero is
0: a label that is true but never predicted has precision 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from manylabel.exceptions import ParameterError
from manylabel.metrics.judge import check_truth, mean
from manylabel.validation import check_labels

__all__ = [
    "Absent",
    "Average",
    "Counts",
    "accuracy",
    "count",
    "f1",
    "hamming_loss",
    "precision",
    "recall",
    "subset_accuracy",
]

Average = Literal["micro", "macro", "example"]
Absent = Literal["zero", "one", "skip"]

_ABSENT_VALUES = {"zero": 0.0, "one": 1.0, "skip": np.nan}


@dataclass(frozen=True)
class Counts:
    """The numbers of correct, predicted and true labels of each item."""

    right: NDArray[np.int64]
    given: NDArray[np.int64]
    true: NDArray[np.int64]

    def pooled(self) -> Counts:
        """The sums over all items."""
        return Counts(*(each.sum(keepdims=True) for each in (self.right, self.given, self.true)))

    def precision(self, absent: Absent = "zero") -> NDArray[np.float64]:
        """Correct over predicted."""
        return self._share(self.right, self.given, absent)

    def recall(self, absent: Absent = "zero") -> NDArray[np.float64]:
        """Correct over true."""
        return self._share(self.right, self.true, absent)

    def f1(self, absent: Absent = "zero") -> NDArray[np.float64]:
        """Harmonic mean of precision and recall."""
        return self._share(2 * self.right, self.given + self.true, absent)

    def jaccard(self, absent: Absent = "zero") -> NDArray[np.float64]:
        """Correct over predicted or true."""
        return self._share(self.right, self.given + self.true - self.right, absent)

    def _share(
        self, part: NDArray[np.int64], whole: NDArray[np.int64], absent: Absent
    ) -> NDArray[np.float64]:
        if absent not in _ABSENT_VALUES:
            raise ParameterError(f"`absent` must be 'zero', 'one' or 'skip'; got {absent!r}.")
        share = part / np.maximum(whole, 1)
        share[self.given + self.true == 0] = _ABSENT_VALUES[absent]
        return share


@dataclass(frozen=True)
class SetCounts:
    """Counts by label and by document."""

    labels: Counts
    documents: Counts

    def averaged_over(self, average: Average | None) -> Counts:
        """The items to average over; None means labels, not averaged."""
        if average == "example":
            return self.documents
        if average == "micro":
            return self.documents.pooled()
        if average == "macro" or average is None:
            return self.labels
        raise ParameterError(
            f"`average` must be 'micro', 'macro', 'example' or None; got {average!r}."
        )


def count(Y_true: Any, Y_pred: Any) -> SetCounts:
    """Compare two indicator matrices once, for any number of measures."""
    given = check_labels(Y_pred, "Y_pred")
    true = check_truth(Y_true, given, "Y_pred")
    right = true.multiply(given).tocsr()
    n_labels = true.shape[1]
    return SetCounts(
        labels=Counts(*(np.bincount(m.indices, minlength=n_labels) for m in (right, given, true))),
        documents=Counts(*(np.diff(m.indptr).astype(np.int64) for m in (right, given, true))),
    )


def precision(
    Y_true: Any, Y_pred: Any, average: Average | None = "micro", *, absent: Absent = "zero"
) -> Any:
    """The share of the predicted labels that are correct.

    Parameters
    ----------
    Y_true, Y_pred : sparse or dense indicator matrices of shape (n_documents, n_labels)
    average : {"micro", "macro", "example"} or None
        None returns one value per label.
    absent : {"zero", "one", "skip"}
        What a label (or document, for "example") without a true or predicted entry counts as.

    Returns
    -------
    float or ndarray of shape (n_labels,)

    Examples
    --------
    >>> precision([[1, 0], [1, 1]], [[1, 1], [1, 0]], "macro")
    0.5
    """
    values = count(Y_true, Y_pred).averaged_over(average).precision(absent)
    return values if average is None else mean(values)


def recall(
    Y_true: Any, Y_pred: Any, average: Average | None = "micro", *, absent: Absent = "zero"
) -> Any:
    """The share of the true labels that are predicted. Parameters as in :func:`precision`.

    Examples
    --------
    >>> recall([[1, 0], [1, 1]], [[1, 1], [1, 0]], "example")
    0.75
    """
    values = count(Y_true, Y_pred).averaged_over(average).recall(absent)
    return values if average is None else mean(values)


def f1(
    Y_true: Any, Y_pred: Any, average: Average | None = "micro", *, absent: Absent = "zero"
) -> Any:
    """F1: the harmonic mean of precision and recall. Parameters as in :func:`precision`.

    Macro F1 is the mean of the labels' F1, not the F1 of macro precision and recall.

    Examples
    --------
    >>> f1([[1, 0, 0], [1, 0, 1]], [[1, 0, 0], [1, 0, 0]], None, absent="one").tolist()
    [1.0, 1.0, 0.0]
    """
    values = count(Y_true, Y_pred).averaged_over(average).f1(absent)
    return values if average is None else mean(values)


def accuracy(Y_true: Any, Y_pred: Any, *, absent: Absent = "zero") -> float:
    """Example-based accuracy: the mean Jaccard index of true and predicted sets.

    Examples
    --------
    >>> accuracy([[1, 0], [1, 1]], [[1, 1], [1, 1]])
    0.75
    """
    return mean(count(Y_true, Y_pred).documents.jaccard(absent))


def hamming_loss(Y_true: Any, Y_pred: Any) -> float:
    """The share of all document-label pairs that are wrong.

    Examples
    --------
    >>> hamming_loss([[1, 0], [1, 1]], [[1, 1], [1, 1]])
    0.25
    """
    return hamming_of(count(Y_true, Y_pred))


def subset_accuracy(Y_true: Any, Y_pred: Any) -> float:
    """The share of documents whose predicted set is exactly the true one.

    Examples
    --------
    >>> subset_accuracy([[1, 0], [1, 1]], [[1, 1], [1, 1]])
    0.5
    """
    return subset_accuracy_of(count(Y_true, Y_pred))


def hamming_of(counts: SetCounts) -> float:
    """Hamming loss of counted sets."""
    documents, n_labels = counts.documents, counts.labels.true.size
    wrong = (documents.given + documents.true - 2 * documents.right).sum()
    return float(wrong / (documents.true.size * n_labels))


def subset_accuracy_of(counts: SetCounts) -> float:
    """Subset accuracy of counted sets."""
    right, given, true = counts.documents.right, counts.documents.given, counts.documents.true
    return float(((right == given) & (right == true)).mean())
