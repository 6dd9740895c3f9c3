"""Score each candidate label by what is expected of all labels together."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.evidence import WordReasons
from manylabel.regression.profiles import (
    Profiles,
    compare_profiles,
    learn_profiles,
    profiles_of,
)
from manylabel.regression.scorer import (
    SOLVED,
    RegressionScorer,
    best_ridge,
    quality,
    sample_of,
)
from manylabel.regression.training import Solved, solve
from manylabel.scoring import Candidates, Documents, Training
from manylabel.scoring.scorer import Reasons

__all__ = ["ProfileScorer"]

#: Ridges to try, and the number of documents to try them on.
_RIDGES, _SAMPLE = (0.3, 1.0, 3.0), 1_500
#: Profiles are compared with those of this many documents only: more take longer and add nothing.
_LANDMARKS = 1_000
#: Every label is part of a profile.
_MAX_LABELS = 2_000


class ProfileScorer(RegressionScorer):
    """Scores candidates by a regression on the profile of a document.

    The profile is what the regression on words expects of all labels: labels that occur together,
    or never do, help each other. Training documents have the profile that the others give them, and
    are compared with a sample of them only.

    Attributes
    ----------
    profiles : Profiles
    ridge : float
    """

    name: ClassVar[str] = "profile"
    effort: ClassVar[str] = "normal"
    # It ranks better than the regression, even where it makes single labels no more probable.
    builds_on: ClassVar[str] = "regression"
    title: ClassVar[str] = "labels that go together"
    sentence: ClassVar[str] = (
        "Words that make other labels likely, which training documents have together with this one."
    )

    def __init__(self) -> None:
        self.profiles: Profiles
        self.ridge = 0.0

    def wants(self, training: Training) -> bool:
        """Whether a regression suits the corpus, and there are few enough labels."""
        return super().wants(training) and 1 < training.Y.shape[1] <= _MAX_LABELS

    def needs_trial(self, training: Training) -> bool:
        """Not if there is a regression to build on, which takes most of the time."""
        return super().needs_trial(training) and SOLVED not in training.documents.cache

    def trial(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Learn from a sample without the first fold, and score the documents of the fold."""
        sample, out = self._tried(training)
        ridge = best_ridge(training, candidates)
        profiles, _ = self._learn(
            solve(training.documents.rows[sample], training.Y[sample], ridge),
            candidates[sample],
            training.seed,
        )
        rows = training.shared.rows[training.held[out]]
        return out, profiles.scores(rows, held.take(out).pattern, training.n_jobs)

    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Solve for the profiles of all documents, and leave out each held-out one exactly."""
        solved = training.documents.cache.pop(SOLVED, None)
        if solved is None:
            ridge = best_ridge(training, candidates)
            solved = solve(training.documents.rows, training.Y, ridge)
        self.profiles, scores = self._learn(solved, candidates, training.seed, training.held, held)
        return scores

    def _learn(
        self,
        solved: Solved,
        candidates: sparse.csr_array,
        seed: int,
        documents: NDArray[np.int64] | None = None,
        held: Candidates | None = None,
    ) -> tuple[Profiles, NDArray[np.float64]]:
        """Profiles, and scores of held-out documents by all others."""
        units, axes = profiles_of(solved)
        everything = np.arange(len(units))
        chosen = sample_of(everything, _LANDMARKS, seed)
        compared = compare_profiles(units, chosen, solved.Y)
        sample = sample_of(everything, _SAMPLE, seed)
        solutions = {ridge: compared.solve(ridge) for ridge in _RIDGES}
        self.ridge = max(
            _RIDGES, key=lambda ridge: quality(solutions[ridge], candidates[sample], sample)
        )
        solution, scores = solutions[self.ridge], np.empty(0)
        if documents is not None and held is not None:
            scores = solution.left_out(documents, held.pattern)
        return learn_profiles(solved, units, axes, solution, chosen), scores

    def score(
        self, documents: Documents, candidates: Candidates, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """The sums over all training documents; 0 for labels that were not trained."""
        return self.profiles.scores(documents.rows, candidates.pattern, n_jobs)

    def explaining(
        self, documents: Documents, candidates: Candidates
    ) -> tuple[NDArray[np.float64], Reasons]:
        """Scores, and the share of each word in them."""
        rows, profiles = documents.rows, self.profiles
        scores = self.score(documents, candidates, 1)

        def reasons(position: int) -> WordReasons:
            label = int(candidates.labels[position])
            if not profiles.is_trained[label]:
                return WordReasons([], [])
            shares, _ = profiles.shares(rows, label)
            # Not the constant of `shares`, so that rounding is not lost.
            rest = float(scores[position] - shares.sum())
            return WordReasons.with_bias(rest, rows.indices, shares)

        return scores, reasons

    def remove(
        self,
        documents: Documents,
        Y: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Drop documents; those that were not there at training are ignored."""
        self.profiles = self.profiles.without(documents.rows)

    def grow(self, n_labels: int) -> None:
        """New labels have no weights."""
        self.profiles = self.profiles.grown(n_labels)
