"""A fitted model that documents come to and go from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.tagger.documents import indicator

__all__ = ["Learner"]


class Learner:
    """Collects changes, and tells the model of them all at once when somebody asks it something.

    Parameters
    ----------
    estimator : MultiLabelClassifier
        Fitted.
    n_labels : int
        How many labels its threshold was fitted for.
    """

    def __init__(self, estimator: Any, n_labels: int) -> None:
        self.estimator = estimator
        self.n_fitted_labels = n_labels
        self._rows: list[sparse.csr_array] = []
        self._columns: list[list[int]] = []
        self._gone: list[int] = []

    @property
    def can_learn(self) -> bool:
        """Whether single documents can be learnt at all."""
        return hasattr(self.estimator, "partial_fit")

    @property
    def can_forget(self) -> bool:
        """Whether single documents can be forgotten by the model itself."""
        return hasattr(self.estimator, "remove")

    @property
    def is_behind(self) -> bool:
        """Whether there are changes that the model does not know of."""
        return bool(self._rows or self._gone)

    def not_updated(self, name: str, forgetting: bool) -> tuple[str, ...]:
        """The parts of the model that changes do not reach before it is trained again."""
        if forgetting and not self.can_forget:
            return (name,)
        parts = tuple(getattr(self.estimator, "frozen_parts_", ()))
        scheme = getattr(getattr(self.estimator, "weighting_", None), "scheme", None)
        if scheme in ("tfidf", "bm25") and not getattr(self.estimator, "update_weights", False):
            parts += ("word weights",)
        return parts

    def add(self, rows: sparse.csr_array, columns: list[list[int]]) -> None:
        """Documents came: their counts, and the columns of their labels."""
        self._rows.append(rows)
        self._columns.extend(columns)

    def remove(self, number: int) -> None:
        """A document went."""
        self._gone.append(number)

    def catch_up(self, n_labels: int) -> None:
        """Tell the model."""
        if self._rows:
            rows = sparse.csr_array(sparse.vstack(self._rows, "csr"))
            self.estimator.partial_fit(rows, indicator(self._columns, n_labels))
            self._rows, self._columns = [], []
        if self._gone:
            if self.can_forget:
                self.estimator.remove(np.array(self._gone, np.int64))
            self._gone = []

    def warm_up(self) -> None:
        """Compile what changes need, by changing an index that nobody knows."""
        if not self.can_forget:
            return
        from manylabel.neighbors import NeighborIndex

        for dtype in (np.float32, np.float64):
            rows = sparse.csr_array(np.eye(3, dtype=dtype))
            index = NeighborIndex(rows)
            index.add(rows[:1])
            index.remove([0])
            index.search(rows, 1)

    def given(self, counts: sparse.csr_array, scores: sparse.csr_array) -> sparse.csr_array:
        """The labels that the model's own threshold gives."""
        if scores.shape[1] == self.n_fitted_labels:
            return self.estimator.threshold_.apply(scores)
        return self.estimator.predict(counts)

    def rebuild(self) -> bool:
        """Train anew on the documents that are left, or index them anew, as the model can.

        Returns
        -------
        bool
            Whether documents may be numbered anew: not if the model still knows the old numbers.
        """
        model = self.estimator
        if hasattr(model, "compact"):
            model.compact()
            return True
        if not hasattr(model, "X_"):
            return not self.can_forget
        kept, threshold, fitted = model.alive_, model.threshold, model.threshold_
        # The threshold of before stays: to learn it again takes longer than everything else.
        model.set_params(threshold="top").fit(model.X_[kept], model.Y_[kept])
        model.set_params(threshold=threshold)
        model.threshold_, model.threshold_stale_ = fitted, True
        return True

    def rows(self, numbers: NDArray[np.int64] | None) -> sparse.csr_array | None:
        """The counts of training documents, or of all, if the model keeps them."""
        kept = getattr(self.estimator, "X_", None)
        return kept if kept is None or numbers is None else kept[numbers]
