"""Add, remove and relabel the training documents of a source of candidates."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from manylabel.neighbors.features import FeatureSimilarity
from manylabel.neighbors.index import NeighborIndex
from manylabel.scoring import CandidateSource, Documents
from manylabel.scoring.candidates import stacked
from manylabel.validation import join_incomplete, widened

__all__ = ["ChangingSource"]


class ChangingSource(CandidateSource):
    """A source whose index, labels and similarities follow changes of its documents."""

    index: NeighborIndex | None
    features: FeatureSimilarity | None
    Y: sparse.csr_array
    incomplete: NDArray[np.bool_] | None
    lag: int | None
    _pending: list[tuple[sparse.csr_array, sparse.csr_array, NDArray[np.bool_] | None]]

    @property
    @abstractmethod
    def n_labels(self) -> int:
        """The number of labels."""

    @abstractmethod
    def set_labels(self, Y: sparse.csr_array) -> None:
        """Set the labels of all documents, removed ones included."""

    @abstractmethod
    def open_rows(self, numbers: Any) -> NDArray[np.bool_] | None:
        """Which of some training documents are incomplete; None if no document is."""

    def add(
        self,
        documents: Documents,
        Y: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Learn more documents; ``Y`` may have more labels, some documents may be incomplete."""
        before = self.Y
        self.incomplete = join_incomplete(self.incomplete, before.shape[0], incomplete, Y.shape[0])
        if Y.shape[1] > before.shape[1]:
            before = widened(before, Y.shape[1])
        self.set_labels(stacked([before, Y]))
        if self.index is not None:
            self.index.add(documents.rows)
        if self.features is None:
            return
        self._pending.append((documents.rows, Y, incomplete))
        waiting = sum(rows.shape[0] for rows, *_ in self._pending)
        if self.lag is None or waiting * self.lag >= self.Y.shape[0]:
            self._update_similarities()
        else:
            self.features.grow(self.n_labels)

    def remove(self, numbers: ArrayLike, rows: sparse.csr_array | None = None) -> None:
        """Forget documents at once; without an index, their weighted rows are required."""
        gone = np.asarray(numbers, np.int64)
        if self.features is not None:
            if rows is None:
                assert self.index is not None
                rows = self.index.rows(gone)
            self._update_similarities()
            self.features.update(rows, self.Y[gone], -1, self.open_rows(gone))
        if self.index is not None:
            self.index.remove(gone)

    def relabel(
        self, numbers: ArrayLike, Y: sparse.csr_array, rows: sparse.csr_array | None = None
    ) -> None:
        """Replace the labels of documents, as if they had always been so.

        ``Y`` may have new labels; without an index, the weighted rows are required.
        """
        changed = np.asarray(numbers, np.int64)
        self.grow(Y.shape[1])
        if self.features is not None and changed.size:
            if rows is None:
                assert self.index is not None
                rows = self.index.rows(changed)
            self._update_similarities()
            before, after = self.Y[changed].astype(np.int8), Y.astype(np.int8)
            kept = before.multiply(after)
            self.features.relabel(
                rows, _ones(before - kept), _ones(after - kept), self.open_rows(changed)
            )
        order = np.arange(self.Y.shape[0])
        order[changed] = self.Y.shape[0] + np.arange(changed.size)
        self.set_labels(stacked([self.Y, Y])[order])

    def rows(self, numbers: ArrayLike) -> Documents:
        """Weighted rows of training documents; nothing else is stored."""
        assert self.index is not None
        return Documents(self.index.rows(numbers))

    def grow(self, n_labels: int) -> None:
        """Extend the labels."""
        if n_labels > self.n_labels:
            self.set_labels(widened(self.Y, n_labels))
            if self.features is not None:
                self.features.grow(n_labels)

    def compact(self) -> NDArray[np.int64]:
        """Rebuild the index from the remaining documents; return their old numbers, in order."""
        assert self.index is not None
        self._update_similarities()
        if self.features is not None:
            self.features.catch_up()
        kept = self.index.compact()
        self.set_labels(self.Y[kept])
        if self.incomplete is not None:
            self.incomplete = self.incomplete[kept] if self.incomplete[kept].any() else None
        return kept

    def _update_similarities(self) -> None:
        """Update the words' similarities with the pending documents."""
        if self.features is not None:
            for rows, Y, incomplete in self._pending:
                self.features.update(rows, Y, 1, incomplete)
        self._pending.clear()


def _ones(matrix: sparse.csr_array) -> sparse.csr_array:
    """The entries of a difference of label matrices."""
    ones = sparse.csr_array(matrix)
    ones.eliminate_zeros()
    return ones
