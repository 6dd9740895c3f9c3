"""The training data of sources and scorers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.predictions import values_at
from manylabel.scoring.documents import Documents
from manylabel.validation import pointers, trusted_csr

__all__ = ["Training", "without_unique"]

#: A corpus with at most this many non-zeros is small, so slow scorers can be tried.
SMALL = 500_000
#: With fewer documents per label, on average, networks and trees learn nothing, and vectors little.
FEW_PER_LABEL = 8
#: A regression needs this many documents to learn about pairs of words, and learns from at most so
#: many: time grows with the third power of their number, and memory with the second.
MIN_REGRESSION, MAX_REGRESSION = 1_000, 15_000
#: Maximum number of documents times labels of a regression: each pair has a weight.
_MAX_WEIGHTS = 20_000_000
#: From this many documents on, a scorer that adds little costs more time than it is worth.
MANY = 5_000


@dataclass(frozen=True)
class Training:
    """Documents with labels, and which of them are held out.

    Parameters
    ----------
    documents : Documents
        With weighted rows.
    Y : csr_array of shape (n_documents, n_labels)
    folds : ndarray of shape (n_documents,), int8
        A document is scored by models trained without the documents of its fold; those of fold -1
        are not scored.
    seed : int
    n_jobs : int, optional
    verbose : bool or int
    settings : mapping
        The parameters of the classifier; a scorer reads those that it needs.
    vocabulary : object, optional
        Names and other information on the labels.
    hides_unique : bool
        Whether to drop features that no other document has from held-out documents; see
        ``shared``.
    incomplete : ndarray of bool, optional
        Documents that may have more labels than are known; None if all are complete.
    sample_weight : ndarray of float64, optional
        Weight of each document, above 0; None if all are 1. A scorer may ignore it.
    """

    documents: Documents
    Y: sparse.csr_array
    folds: NDArray[np.int8]
    seed: int = 0
    n_jobs: int | None = None
    verbose: bool | int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    vocabulary: Any = None
    hides_unique: bool = True
    incomplete: NDArray[np.bool_] | None = None
    sample_weight: NDArray[np.float64] | None = None

    @cached_property
    def held(self) -> NDArray[np.int64]:
        """The numbers of the held-out documents, ascending."""
        return np.flatnonzero(self.folds >= 0)

    @property
    def judged(self) -> NDArray[np.int64]:
        """The held-out documents whose labels are all known; models are judged on these."""
        return self.held if self.incomplete is None else self.held[~self.incomplete[self.held]]

    @cached_property
    def complete(self) -> Training:
        """The documents whose labels are all known, with the same folds."""
        if self.incomplete is None:
            return self
        rows = np.flatnonzero(~self.incomplete)
        part = replace(
            self,
            documents=self.documents[rows],
            Y=self.Y[rows],
            folds=self.folds[rows],
            incomplete=None,
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
        )
        # Whether a feature is unique depends on all documents.
        part.__dict__["shared"] = self.shared[rows]
        return part

    def spread(
        self, pattern: sparse.csr_array, rows: NDArray[np.int64] | None = None
    ) -> sparse.csr_array:
        """Labels of some documents, ascending, by default those held out, among all documents."""
        lengths = np.zeros(len(self.documents), np.int64)
        lengths[self.held if rows is None else rows] = np.diff(pattern.indptr)
        shape = lengths.size, pattern.shape[1]
        return trusted_csr(pattern.data, pattern.indices, pointers(lengths), shape)

    def known(self, pairs: sparse.csr_array) -> sparse.csr_array:
        """The pairs of documents and labels whose truth is known."""
        if self.incomplete is None:
            return pairs
        given = values_at(self.Y, pairs) > 0
        kept = given | np.repeat(~self.incomplete, np.diff(pairs.indptr))
        ptr = np.concatenate([[0], np.cumsum(kept)])[pairs.indptr]
        return sparse.csr_array((pairs.data[kept], pairs.indices[kept], ptr), shape=pairs.shape)

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return int(self.folds.max()) + 1

    @cached_property
    def shared(self) -> Documents:
        """The documents without features that no other document has.

        A new document has no such features, so a training document that is scored as if it were
        new must not have them either.
        """
        if not self.hides_unique:
            return self.documents
        X, rows = self.documents.counts, self.documents.rows
        shared = without_unique(X)
        if shared is X:
            return self.documents
        return self.documents.replaced(shared, without_unique(rows))

    @property
    def documents_per_label(self) -> float:
        """The mean number of documents of a label that has any."""
        return self.Y.nnz / max(np.unique(self.Y.indices).size, 1)

    @property
    def is_quick(self) -> bool:
        """Whether little time is to be spent."""
        return self.settings.get("effort") == "quick"

    @property
    def suits_regression(self) -> bool:
        """Whether there are enough documents for a regression, and not too many, nor labels."""
        n_rows, n_labels = self.Y.shape
        return MIN_REGRESSION <= n_rows <= MAX_REGRESSION and n_rows * n_labels <= _MAX_WEIGHTS

    @property
    def is_small(self) -> bool:
        """Whether the corpus is small enough for slow scorers."""
        return self.documents.counts.nnz <= SMALL


def without_unique(X: sparse.csr_array) -> sparse.csr_array:
    """The same rows without features that only one row has; X itself if there are none."""
    unique = np.bincount(X.indices, minlength=X.shape[1]) == 1
    if not unique.any():
        return X
    keep = ~unique[X.indices]
    ptr = np.concatenate([[0], np.cumsum(keep)])[X.indptr]
    return sparse.csr_array((X.data[keep], X.indices[keep], ptr), shape=X.shape)
