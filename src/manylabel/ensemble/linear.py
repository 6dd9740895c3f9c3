"""The linear part: an SVM for each label, trained where the label is a candidate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.linear.base import candidate_scores
from manylabel.linear.subset import train_on_candidates
from manylabel.linear.training import LinearModel, Settings
from manylabel.predictions import values_at

__all__ = ["LinearPart"]

_PRUNE = 0.03
#: With no more pairs of documents and labels it is trained on all of them.
_EVERY = 20_000_000


class LinearPart:
    """Weights and an intercept for each label; minus infinity for labels that it does not know.

    Parameters
    ----------
    model : LinearModel
    """

    def __init__(self, model: LinearModel) -> None:
        self.model = model

    @classmethod
    def train(
        cls,
        rows: sparse.csr_array,
        Y: sparse.csr_array,
        candidates: sparse.csr_array,
        folds: NDArray[np.int8],
        *,
        C: float,
        seed: int,
        n_jobs: int | None,
        verbose: bool | int,
    ) -> tuple[LinearPart, sparse.csr_array]:
        """Train on weighted rows.

        Returns
        -------
        part : LinearPart
        scores : csr_array of shape (n_rows, n_labels)
            Of the pairs that it was trained on, by weights that come out without the row's fold;
            zeros for rows of fold -1.
        """
        settings = Settings(
            C=C,
            bias=True,
            prune=_PRUNE,
            max_iter=1000,
            tol=0.1,
            seed=seed,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        n_rows, n_labels = Y.shape
        pairs = candidates
        if n_rows * n_labels <= _EVERY:
            ptr = np.arange(n_rows + 1) * n_labels
            labels = np.tile(np.arange(n_labels, dtype=np.int32), n_rows)
            pairs = sparse.csr_array((np.ones(labels.size, np.int8), labels, ptr), shape=Y.shape)
        model, scores, _ = train_on_candidates(rows, Y, pairs, settings, folds)
        return cls(model), scores

    def rescaled(
        self,
        scores: sparse.csr_array,
        candidates: sparse.csr_array,
        shrunk: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Scores of rows of which some words are left out, as if they had unit length again.

        ``shrunk`` is the length that is left of each row.
        """
        margins = values_at(scores, candidates)
        intercepts = self.model.intercept[candidates.indices]
        return intercepts + (margins - intercepts) / np.repeat(shrunk, np.diff(candidates.indptr))

    def scores(
        self, rows: sparse.csr_array, candidates: sparse.csr_array, n_jobs: int | None
    ) -> NDArray[np.float64]:
        """Of candidates of weighted rows; 0 for labels that it does not know."""
        margins = candidate_scores(self.model, rows, candidates, n_jobs).data
        return np.where(np.isfinite(margins), margins, 0.0)

    def knows(self, labels: NDArray[np.int32] | NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which labels were there when it was trained."""
        return np.isfinite(self.model.intercept[labels])

    def with_labels(self, n_labels: int) -> LinearPart:
        """With room for labels that it does not know."""
        coef = self.model.coef.copy()
        coef.resize((coef.shape[0], n_labels))
        n_new = n_labels - self.model.intercept.size
        intercept = np.pad(self.model.intercept, (0, n_new), constant_values=-np.inf)
        return LinearPart(LinearModel(coef, intercept))
