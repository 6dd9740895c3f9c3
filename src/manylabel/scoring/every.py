"""A source that proposes every label, for small label sets."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.scoring.candidates import Candidates, CandidateSource
from manylabel.scoring.documents import Documents
from manylabel.scoring.training import Training

__all__ = ["EveryLabel", "all_pairs"]


class EveryLabel(CandidateSource):
    """Proposes every label, so that none is missed; for small label sets.

    Examples
    --------
    >>> source = EveryLabel()
    >>> source.n_labels = 3
    >>> source.propose(Documents(sparse.csr_array([[1], [2]]))).pattern.toarray().tolist()
    [[1, 1, 1], [1, 1, 1]]
    """

    name: ClassVar[str] = "every"

    def __init__(self) -> None:
        self.n_labels = 0

    def wants(self, training: Training) -> bool:
        """Only if the user asks for it: it did not help on the corpora tried."""
        return training.settings.get("sources", "auto") != "auto"

    def fit(self, training: Training) -> None:
        """Learn the number of labels."""
        self.n_labels = training.Y.shape[1]

    def grow(self, n_labels: int) -> None:
        """Include new labels."""
        self.n_labels = max(self.n_labels, n_labels)

    def propose(
        self,
        documents: Documents,
        leave_out: NDArray[np.int64] | None = None,
        n_jobs: int | None = None,
    ) -> Candidates:
        """Every label of every document."""
        return Candidates(all_pairs(len(documents), self.n_labels))


def all_pairs(n_documents: int, n_labels: int) -> sparse.csr_array:
    """A matrix of ones."""
    ptr = np.arange(n_documents + 1) * n_labels
    labels = np.tile(np.arange(n_labels, dtype=np.int32), n_documents)
    ones = np.ones(labels.size, np.int8)
    return sparse.csr_array((ones, labels, ptr), shape=(n_documents, n_labels))
