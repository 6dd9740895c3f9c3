"""Score candidates by the labels of the documents in the same leaves of trees."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.evidence import Reason
from manylabel.predictions import values_at
from manylabel.scoring import Candidates, Documents, Scorer, Training
from manylabel.scoring.scorer import Reasons
from manylabel.scoring.training import FEW_PER_LABEL
from manylabel.trees.fastxml import FastXML

__all__ = ["TreeScorer"]

#: Forests, each grown without one fold of the documents, and the trees of each.
_FORESTS, _TREES = 5, 20
#: Trees that are tried first.
_TRIAL_TREES = 5
#: Trees are worth their time from this many documents on, up to this many: growing them then takes
#: longer than all other scorers together, and adds little. With effort "best", more do no harm.
_MIN_DOCUMENTS, _MAX_DOCUMENTS = 2_000, 6_000


class TreeScorer(Scorer):
    """FastXML, grown so that every training document has trees that have not seen it.

    Attributes
    ----------
    forests : list of FastXML
    """

    name: ClassVar[str] = "trees"
    title: ClassVar[str] = "groups of similar documents"
    sentence: ClassVar[str] = "Groups of documents that the text falls into."

    def __init__(self) -> None:
        self.forests: list[FastXML] = []

    def wants(self, training: Training) -> bool:
        """Whether the corpus is of medium size, where trees are fast and helpful."""
        n_documents, is_best = len(training.documents), training.settings.get("effort") == "best"
        is_few = n_documents <= _MAX_DOCUMENTS or is_best
        is_medium = n_documents >= _MIN_DOCUMENTS and is_few and training.is_small
        return is_medium and training.documents_per_label >= FEW_PER_LABEL

    def needs_trial(self, training: Training) -> bool:
        """Always: trees rarely help beside the other scorers."""
        return True

    def trial(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Grow a few trees without the first fold, and score its documents."""
        forest = _grown(training, training.folds, 0, _TRIAL_TREES)
        out = np.flatnonzero(training.folds[training.held] == 0)
        scores = forest.decision_function(training.shared.counts[training.held[out]])
        return out, values_at(scores, held.take(out).pattern)

    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Grow the forests; each document is scored by the forest that has not seen it."""
        n_rows = len(training.documents)
        folds = np.random.default_rng([training.seed, 1]).permutation(n_rows) % _FORESTS
        self.forests = [_grown(training, folds, fold, _TREES) for fold in range(_FORESTS)]
        of_held = folds[training.held]
        rows = np.repeat(of_held, np.diff(held.pattern.indptr))
        shared = training.shared.counts[training.held]
        values = np.zeros(held.pattern.nnz)
        for fold, forest in enumerate(self.forests):
            mine = np.flatnonzero(of_held == fold)
            scores = forest.decision_function(shared[mine])
            values[rows == fold] = values_at(scores, held.pattern[mine])
        return values

    def score(
        self, documents: Documents, candidates: Candidates, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """The mean share of each candidate in a document's leaves."""
        return np.mean(self._by_forest(documents, candidates), axis=0)

    def explaining(
        self, documents: Documents, candidates: Candidates
    ) -> tuple[NDArray[np.float64], Reasons]:
        """Scores, and what each forest adds to them."""
        scores = self._by_forest(documents, candidates)

        def reasons(position: int) -> list[Reason]:
            shares = [float(values[position]) / len(scores) for values in scores]
            return [Reason("tree", share, number) for number, share in enumerate(shares) if share]

        return np.mean(scores, axis=0), reasons

    def _by_forest(self, documents: Documents, candidates: Candidates) -> list[NDArray[np.float64]]:
        return [
            values_at(forest.decision_function(documents.counts), candidates.pattern)
            for forest in self.forests
        ]


def _grown(
    training: Training, folds: NDArray[np.signedinteger], fold: int, n_trees: int
) -> FastXML:
    """A forest that has not seen a fold."""
    rest = np.flatnonzero(folds != fold)
    forest = FastXML(
        n_trees,
        weighting=training.settings.get("weighting", "tfidf"),
        threshold="top",
        random_state=training.seed + fold,
        n_jobs=training.n_jobs,
    )
    return forest.fit(training.documents.counts[rest], training.Y[rest])
