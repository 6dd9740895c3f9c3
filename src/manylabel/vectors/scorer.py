"""Propose and score labels whose vectors are near that of a document."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.evidence import WordReasons
from manylabel.scoring import Candidates, CandidateSource, Documents, Scorer, Training
from manylabel.scoring.scorer import Reasons
from manylabel.scoring.training import FEW_PER_LABEL, MANY
from manylabel.vectors.training import Trainer, VectorSettings
from manylabel.vectors.vectors import Vectors

__all__ = ["VectorScorer", "VectorSource"]

#: With fewer documents, too few words occur with a label twice.
_MIN_DOCUMENTS = 1_000
#: With more labels, it takes too long to compare a document with each of them.
_MAX_LABELS = 100_000
#: Maximum labels that vectors propose.
_TOP = 50
#: Vectors propose labels if that raises the recall of candidates by at least this much.
_MIN_RECALL_GAIN = 0.01
#: Learning rates, first and last, of the epoch that adds the held-out documents.
_HELD_OUT_RATES = (0.3, 0.1)


@dataclass(frozen=True)
class TrainedVectors:
    """The vectors of one training.

    Parameters
    ----------
    kept : Vectors
        Learned from all documents.
    without : list of Vectors
        Learned without the documents of each fold.
    folds : ndarray of shape (n_documents,), int8
    """

    kept: Vectors
    without: list[Vectors]
    folds: NDArray[np.int8]

    def best(
        self, rows: sparse.csr_array, numbers: NDArray[np.int64], n_jobs: int | None
    ) -> sparse.csr_array:
        """The labels nearest to training documents, by vectors that have not seen them.

        Those of documents outside all folds have.
        """
        of = self.folds[numbers]
        parts, order = [], []
        for fold in np.unique(of):
            mine = np.flatnonzero(of == fold)
            vectors = self.kept if fold < 0 else self.without[fold]
            parts.append(vectors.best(rows[mine], _TOP, n_jobs))
            order.append(mine)
        if len(parts) == 1:
            return parts[0]
        stacked = sparse.csr_array(sparse.vstack(parts, "csr"))
        return stacked[np.argsort(np.concatenate(order), kind="stable")]


def trained_vectors(training: Training) -> TrainedVectors:
    """Vectors of these documents; learned once for the source and the scorer.

    Only documents whose labels are all known are learned from.
    """
    cache, complete = training.documents.cache, training.complete
    if "vectors" not in cache:
        if complete is training:
            cache["vectors"] = _learn(training)
        else:
            cache["vectors"] = replace(trained_vectors(complete), folds=training.folds)
    return cast(TrainedVectors, cache["vectors"])


def _learn(training: Training) -> TrainedVectors:
    """Learn vectors without each fold, and from all documents."""
    folds, n_folds = training.folds, training.n_folds
    without = []
    for fold in range(n_folds):
        trainer = Trainer(
            training.documents.rows, training.Y, VectorSettings(), training.seed + fold,
            training.n_jobs, training.verbose,
        )  # fmt: skip
        vectors = trainer.train(np.flatnonzero(folds != fold))
        if n_folds == 1:
            before = vectors.copy()
            return TrainedVectors(
                trainer.train(np.arange(folds.size), 1, _HELD_OUT_RATES), [before], folds
            )
        without.append(vectors)
    # The vectors of the other folds have seen each document.
    return TrainedVectors(_mean(without), without, folds)


def _mean(parts: list[Vectors]) -> Vectors:
    """Vectors whose scores are the mean of those of several."""
    share = np.float32(1 / len(parts))
    return replace(
        parts[0],
        features=np.concatenate([part.features * share for part in parts], axis=1),
        labels=np.concatenate([part.labels for part in parts], axis=1),
        constants=np.mean([part.constants for part in parts], axis=0, dtype=np.float32),
    )


def _are_wanted(training: Training) -> bool:
    """Whether there are enough documents to learn vectors from, and time to do so."""
    if training.is_quick and training.suits_regression:
        return False
    complete = training.complete
    n_documents, is_thin = len(complete.documents), complete.documents_per_label < FEW_PER_LABEL
    return n_documents >= _MIN_DOCUMENTS and not (is_thin and n_documents >= MANY)


def _of_documents(
    vectors: Vectors, documents: Documents, n_jobs: int | None
) -> NDArray[np.float32]:
    """The vectors of documents; computed once for the source and the scorer."""
    known = documents.cache.get("vectors of documents")
    if known is None or known[0] is not vectors.features or known[1] is not documents.rows:
        known = vectors.features, documents.rows, vectors.of_rows(documents.rows, n_jobs)
        documents.cache["vectors of documents"] = known
    hidden: NDArray[np.float32] = known[2]
    return hidden


class VectorSource(CandidateSource):
    """Proposes the labels whose vectors have the greatest products with a document's vector.

    Labels are found by words that occur with them in no training document, as long as other
    words connect them.
    """

    name: ClassVar[str] = "vectors"

    def __init__(self) -> None:
        self.vectors: Vectors | None = None

    def wants(self, training: Training) -> bool:
        """Whether there are enough documents, and not too many labels to compare with each."""
        return _are_wanted(training) and training.Y.shape[1] <= _MAX_LABELS

    def fit(self, training: Training) -> None:
        """Learn the vectors."""
        self.vectors = trained_vectors(training).kept

    def is_worthwhile(self, trial: Any) -> bool:
        """Whether enough true labels are found that have no vote of neighbours or words."""
        return bool(trial.recall_gained(self) >= _MIN_RECALL_GAIN)

    def propose(
        self,
        documents: Documents,
        leave_out: NDArray[np.int64] | None = None,
        n_jobs: int | None = None,
    ) -> Candidates:
        """The nearest labels of each document."""
        assert self.vectors is not None
        known = documents.cache.get("vectors")
        if leave_out is None or known is None:
            # Documents that were added after training have not been seen.
            hidden = _of_documents(self.vectors, documents, n_jobs)
            return Candidates(self.vectors.best(documents.rows, _TOP, n_jobs, hidden))
        return Candidates(known.best(documents.rows, leave_out, n_jobs))

    def grow(self, n_labels: int) -> None:
        """New labels have no vectors."""
        assert self.vectors is not None
        self.vectors = self.vectors.grown(n_labels)


class VectorScorer(Scorer):
    """Scores a label by the product of its vector and the document's, the sum of its words'."""

    name: ClassVar[str] = "vectors"
    effort: ClassVar[str] = "quick"
    title: ClassVar[str] = "related words"
    sentence: ClassVar[str] = "Words that are used like those of documents with the label."

    def __init__(self) -> None:
        self.vectors: Vectors | None = None

    def wants(self, training: Training) -> bool:
        """Whether there are enough documents."""
        return _are_wanted(training)

    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Learn vectors, and score the documents of each fold by those learned without it."""
        known = trained_vectors(training)
        self.vectors = known.kept
        rows, of = training.shared.rows[training.held], training.folds[training.held]
        scores = np.zeros(len(held))
        for fold, vectors in enumerate(known.without):
            mine = np.flatnonzero(of == fold)
            there = np.repeat(of == fold, np.diff(held.pattern.indptr))
            scores[there] = vectors.scores(rows[mine], held.take(mine).pattern, training.n_jobs)
        return scores

    def score(
        self, documents: Documents, candidates: Candidates, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """The product of the vectors, plus the label's constant; 0 for unknown labels."""
        assert self.vectors is not None
        hidden = _of_documents(self.vectors, documents, n_jobs)
        scores = self.vectors.products(hidden, candidates.pattern, n_jobs)
        return np.where(self.vectors.is_trained[candidates.labels], scores, 0.0)

    def explaining(
        self, documents: Documents, candidates: Candidates
    ) -> tuple[NDArray[np.float64], Reasons]:
        """Scores, and the share of each word in them."""
        vectors = self.vectors
        assert vectors is not None
        shares = vectors.shares(documents.rows, 0)

        def reasons(position: int) -> WordReasons:
            label = int(candidates.labels[position])
            if not vectors.is_trained[label]:
                return WordReasons([], [])
            words, parts, constant = shares(label)
            return WordReasons.with_bias(constant, words, parts)

        return self.score(documents, candidates, 1), reasons

    def grow(self, n_labels: int) -> None:
        """New labels have no vectors."""
        assert self.vectors is not None
        self.vectors = self.vectors.grown(n_labels)
