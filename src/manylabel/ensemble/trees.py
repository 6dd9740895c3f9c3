"""The tree part: what the documents in the same leaves are about."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.predictions import values_at
from manylabel.trees import FastXML

__all__ = ["TreePart"]

#: Forests, each grown without one fold of the documents, and the trees of each.
_FORESTS, _TREES = 5, 20


class TreePart:
    """FastXML, grown so that every training document has trees that have not seen it.

    Parameters
    ----------
    forests : list of FastXML
        Fitted.
    folds : ndarray of shape (n_documents,)
        The forest that each training document can be judged by.
    """

    def __init__(self, forests: list[FastXML], folds: NDArray[np.int8]) -> None:
        self.forests = forests
        self.folds = folds

    @classmethod
    def train(
        cls,
        X: sparse.csr_array,
        Y: sparse.csr_array,
        weighting: Any,
        seed: int,
        n_jobs: int | None,
    ) -> TreePart:
        """Grow the forests."""
        folds = np.random.default_rng([seed, 1]).permutation(X.shape[0]) % _FORESTS
        forests = []
        for fold in range(_FORESTS):
            rest = np.flatnonzero(folds != fold)
            forest = FastXML(
                _TREES,
                weighting=weighting,
                threshold="top",
                random_state=seed + fold,
                n_jobs=n_jobs,
            )
            forests.append(forest.fit(X[rest], Y[rest]))
        return cls(forests, folds.astype(np.int8))

    def scores(self, X: sparse.csr_array, candidates: sparse.csr_array) -> NDArray[np.float64]:
        """The mean share of a document's leaves that has each candidate."""
        return np.mean(
            [values_at(f.decision_function(X), candidates) for f in self.forests], axis=0
        )

    def held_out_scores(
        self, X: sparse.csr_array, numbers: NDArray[np.int64], candidates: sparse.csr_array
    ) -> NDArray[np.float64]:
        """The same of training documents, by trees that have not seen them.

        Parameters
        ----------
        X : csr_array
            The rows of those documents.
        numbers : ndarray
            Their places among all training documents.
        candidates : csr_array
        """
        values = np.zeros(candidates.nnz)
        rows = np.repeat(self.folds[numbers], np.diff(candidates.indptr))
        for fold, forest in enumerate(self.forests):
            mine = np.flatnonzero(self.folds[numbers] == fold)
            scores = forest.decision_function(X[mine])
            values[rows == fold] = values_at(scores, candidates[mine])
        return values
