"""Candidate labels of documents, and the sources that propose them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.scoring.documents import Documents
from manylabel.scoring.training import Training
from manylabel.validation import distinct, trusted_csr

__all__ = [
    "AllLabels",
    "CandidateSource",
    "Candidates",
    "all_pairs",
    "recall",
    "stacked",
    "union",
]

#: With fewer documents per label, on average, candidates that no neighbour has make rankings worse.
_MANY_PER_LABEL = 20


@dataclass(frozen=True)
class Candidates:
    """Candidate labels of documents, with the evidence of their sources.

    Parameters
    ----------
    pattern : csr_array of shape (n_documents, n_labels), int8
        Ones at the candidates.
    evidence : dict of str to ndarray
        Numbers that the source has computed, one per candidate in the order of ``pattern``, such
        as the share of the neighbours that vote for it. Scorers need not compute them again.
    source : CandidateSource, optional
        The source that proposed them; scorers use it to explain its numbers.
    neighbors : manylabel.neighbors.Neighbors, optional
        The nearest training documents, if they have been searched for.
    vocabulary : object, optional
        Names and other information on the labels, by column.

    Examples
    --------
    >>> pattern = sparse.csr_array(np.array([[1, 0, 1], [0, 1, 0]], np.int8))
    >>> candidates = Candidates(pattern, {"votes": np.array([0.7, 0.3, 1.0])})
    >>> candidates.take(np.array([1])).evidence["votes"].tolist()
    [1.0]
    """

    pattern: sparse.csr_array
    evidence: dict[str, NDArray[Any]] = field(default_factory=dict)
    source: Any = None
    neighbors: Any = None
    vocabulary: Any = None
    #: Shared by scorers that explain the same candidates.
    cache: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def labels(self) -> NDArray[np.int32]:
        """The label of each candidate."""
        return self.pattern.indices

    @property
    def rows(self) -> NDArray[np.int64]:
        """The document of each candidate."""
        return np.repeat(np.arange(self.pattern.shape[0]), np.diff(self.pattern.indptr))

    def __len__(self) -> int:
        return self.pattern.nnz

    def scores(self, values: NDArray[np.float64]) -> sparse.csr_array:
        """Values of the candidates as a matrix of scores."""
        pattern = self.pattern
        return trusted_csr(values, pattern.indices, pattern.indptr, pattern.shape)

    def take(self, rows: NDArray[np.int64]) -> Candidates:
        """The candidates of some documents."""
        ptr = self.pattern.indptr
        lengths = ptr[rows + 1] - ptr[rows]
        starts = np.repeat(ptr[rows] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
        positions = starts + np.arange(lengths.sum())
        near = self.neighbors
        if near is not None:
            near = replace(near, indices=near.indices[rows], similarities=near.similarities[rows])
        return replace(
            self,
            pattern=self.pattern[rows],
            evidence={name: values[positions] for name, values in self.evidence.items()},
            neighbors=near,
            cache={},
        )

    def keep(self, which: NDArray[np.bool_]) -> Candidates:
        """A subset of the candidates, of the same documents."""
        pattern = self.pattern
        ptr = np.concatenate([[0], np.cumsum(which)])[pattern.indptr]
        return replace(
            self,
            pattern=sparse.csr_array(
                (pattern.data[which], pattern.indices[which], ptr), shape=pattern.shape
            ),
            evidence={name: values[which] for name, values in self.evidence.items()},
            cache={},
        )

    def position(self, label: int) -> int | None:
        """The position of a label among the candidates of a single document; None if not there."""
        at = int(np.searchsorted(self.labels, label))
        return at if at < self.labels.size and self.labels[at] == label else None


class CandidateSource(ABC):
    """Proposes labels for documents.

    A source knows the training documents of :meth:`fit`; :meth:`add` and :meth:`remove` change
    them. Documents are numbered in the order in which they were added, and the number of a removed
    one is not used again before :meth:`compact`.
    """

    #: A unique name.
    name: ClassVar[str]
    #: The view of documents that it reads.
    view: ClassVar[str] = "rows"
    #: Whether it proposes labels for every document, so that linear models can learn from these
    #: alone.
    reaches_all: ClassVar[bool] = True

    def wants(self, training: Training) -> bool:
        """Whether the source has anything to propose for documents like these."""
        return True

    def fit(self, training: Training) -> None:  # noqa: B027
        """Learn from training documents."""

    def is_worthwhile(self, trial: Any) -> bool:
        """Whether enough of what it proposes is true and new, after ``fit``.

        ``trial.recall_gained(source)`` measures that on held-out documents.
        """
        return True

    @abstractmethod
    def propose(
        self,
        documents: Documents,
        leave_out: NDArray[np.int64] | None = None,
        n_jobs: int | None = None,
    ) -> Candidates:
        """Candidates of documents.

        Parameters
        ----------
        documents : Documents
        leave_out : ndarray, optional
            If these are training documents: their numbers. Labels are then proposed as if each
            document were not among the training documents.
        n_jobs : int, optional
        """

    def check(self, documents: Documents) -> None:  # noqa: B027
        """Refuse documents that :meth:`add` would refuse, before anything changes."""

    def add(self, documents: Documents, Y: sparse.csr_array) -> None:  # noqa: B027
        """Learn more documents; ``Y`` may have more labels."""

    def remove(self, numbers: NDArray[np.int64]) -> None:  # noqa: B027
        """Forget training documents."""

    def relabel(self, numbers: NDArray[np.int64], Y: sparse.csr_array) -> None:  # noqa: B027
        """Replace the labels of training documents."""

    def grow(self, n_labels: int) -> None:  # noqa: B027
        """Extend to new labels."""

    def compact(self) -> NDArray[np.int64] | None:
        """Renumber the remaining documents; return their old numbers, if the source numbers any."""
        return None


class AllLabels(CandidateSource):
    """Proposes every label, so that none is missed; by default for small label sets.

    Examples
    --------
    >>> source = AllLabels()
    >>> source.n_labels = 3
    >>> source.propose(Documents(sparse.csr_array([[1], [2]]))).pattern.toarray().tolist()
    [[1, 1, 1], [1, 1, 1]]
    """

    name: ClassVar[str] = "all"

    def __init__(self) -> None:
        self.n_labels = 0

    def wants(self, training: Training) -> bool:
        """Whether labels are few and have many documents, or the user asks for it."""
        is_small = training.Y.shape[1] <= training.settings.get("n_candidates", 0)
        is_known = training.documents_per_label >= _MANY_PER_LABEL
        return (is_small and is_known) or training.settings.get("sources", "auto") != "auto"

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


def union(patterns: list[sparse.csr_array]) -> sparse.csr_array:
    """The candidates of any of several sources."""
    if patterns[0].shape[0] == 1:
        # SciPy checks each of the matrices on the way, which takes longer than all the rest.
        labels = distinct(np.concatenate([pattern.indices for pattern in patterns]))
        ptr = np.array([0, labels.size], labels.dtype)
        return trusted_csr(np.ones(labels.size, np.int8), labels, ptr, patterns[0].shape)
    total = patterns[0].astype(np.int8)
    for pattern in patterns[1:]:
        total = total + pattern.astype(np.int8)
    total = sparse.csr_array(total)
    total.data = np.ones(total.nnz, np.int8)
    total.sort_indices()
    return total


def stacked(blocks: list[sparse.csr_array]) -> sparse.csr_array:
    """Matrices stacked vertically."""
    return blocks[0] if len(blocks) == 1 else sparse.csr_array(sparse.vstack(blocks, "csr"))


def recall(candidates: sparse.csr_array, Y: sparse.csr_array) -> float:
    """The share of true labels that are among the candidates."""
    return float(candidates.multiply(Y).nnz / max(Y.nnz, 1))
