"""Score each candidate label by kernel ridge regression, and by what it expects of all labels."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.evidence import WordReasons
from manylabel.metrics import ndcg_at
from manylabel.regression.landmarks import LandmarkSolution, solve_landmarks
from manylabel.regression.profiles import (
    Profiles,
    compare_profiles,
    learn_profiles,
    profiles_of,
)
from manylabel.regression.training import (
    Regression,
    Solution,
    Solved,
    kernel_of,
    solve,
    solve_kernel,
)
from manylabel.scoring import Candidates, Documents, Scorer, Training
from manylabel.scoring.scorer import Reasons
from manylabel.scoring.training import MANY
from manylabel.validation import trusted_csr

__all__ = ["ProfileScorer", "RegressionScorer"]

#: The solution for all documents, in their cache, for a scorer that builds on it.
_SOLVED = "regression"
#: The ridge that was found best for candidates and labels, with both, in the same cache.
_RIDGE = "ridge of the regression"
#: Ridges to try, and the number of documents to try them on.
_RIDGES, _SAMPLE = (0.1, 0.3, 1.0, 3.0), 1_500
#: A trial learns from this share of the documents: 3 % of the time. Fewer would say little about
#: all, since a regression gains more from documents than other models.
_TRIED = 1 / 3
#: With effort "quick" and more than `MANY` documents, texts are compared with this many only, with
#: this ridge.
_QUICK_LANDMARKS, _QUICK_RIDGE = 1_500, 1.0
#: Ridges to try for profiles, and the documents whose profiles others are compared with: more take
#: longer and add nothing.
_PROFILE_RIDGES, _LANDMARKS = (0.3, 1.0, 3.0), 1_000
#: Every label is part of a profile.
_MAX_LABELS = 2_000


class RegressionScorer(Scorer):
    """Scores candidates by a regression on words and on pairs of words in the same document.

    The kernel compares a document with all training documents, not only with the nearest. The
    ridge is chosen by leave-one-out nDCG@5 on a sample of the documents.

    Attributes
    ----------
    model : Regression
    ridge : float
    """

    name: ClassVar[str] = "regression"
    effort: ClassVar[str] = "quick"
    title: ClassVar[str] = "words in common with all documents"
    sentence: ClassVar[str] = (
        "Words shared with training documents; the more a document shares, the more it counts."
    )

    def __init__(self) -> None:
        self.model: Regression
        self.ridge = 0.0

    def wants(self, training: Training) -> bool:
        """Whether there are enough documents, and few enough of them and of the labels."""
        return training.suits_regression

    def needs_trial(self, training: Training) -> bool:
        """With many documents, a regression on a sample is tried first."""
        return training.Y.shape[0] > MANY and not training.is_quick

    def trial(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Learn from a sample without the first fold, and score the documents of the fold."""
        sample, out = self._tried(training)
        rows, Y = training.documents.rows[sample], training.Y[sample]
        model = solve(rows, Y, _best_ridge(training, candidates)).regression()
        asked = held.take(out).pattern
        return out, model.scores(training.shared.rows[training.held[out]], asked, training.n_jobs)

    def _tried(self, training: Training) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The documents that a trial learns from, and the places of the held-out ones it scores."""
        hidden = training.folds == 0
        sample = _sample_of(np.flatnonzero(~hidden), int(_TRIED * hidden.size), training.seed)
        return sample, np.flatnonzero(hidden[training.held])

    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Solve for all documents, and leave out each held-out one exactly."""
        if training.is_quick and training.Y.shape[0] > MANY:
            return self._fit_quickly(training, held)
        self.ridge = _best_ridge(training, candidates)
        solved = solve(training.documents.rows, training.Y, self.ridge)
        self.model = solved.regression()
        training.documents.cache[_SOLVED] = solved
        return solved.left_out(training.held, held.pattern)

    def _fit_quickly(self, training: Training, held: Candidates) -> NDArray[np.float64]:
        """Learn from all documents, but compare them with a sample only."""
        chosen = _sample_of(np.arange(training.Y.shape[0]), _QUICK_LANDMARKS, training.seed)
        self.ridge = _QUICK_RIDGE
        solved = solve_landmarks(training.documents.rows, training.Y, chosen, self.ridge)
        self.model = solved.regression()
        return solved.solution.left_out(training.held, held.pattern)

    def score(
        self, documents: Documents, candidates: Candidates, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """The sums over all training documents; 0 for labels that were not trained."""
        return self.model.scores(documents.rows, candidates.pattern, n_jobs)

    def explaining(
        self, documents: Documents, candidates: Candidates
    ) -> tuple[NDArray[np.float64], Reasons]:
        """Scores, and the share of each word in them."""
        rows, model = documents.rows, self.model

        def reasons(position: int) -> WordReasons:
            label = int(candidates.labels[position])
            if not model.is_trained[label]:
                return WordReasons([], [])
            shares = model.shares(rows, label)
            return WordReasons.with_bias(float(model.constants[label]), rows.indices, shares)

        return self.score(documents, candidates, 1), reasons

    def remove(
        self,
        documents: Documents,
        Y: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Drop the words of documents; those that were not there at training are ignored."""
        self.model = self.model.without(documents.rows)

    def grow(self, n_labels: int) -> None:
        """New labels have no weights."""
        self.model = self.model.grown(n_labels)


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
        return super().needs_trial(training) and _SOLVED not in training.documents.cache

    def trial(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Learn from a sample without the first fold, and score the documents of the fold."""
        sample, out = self._tried(training)
        ridge = _best_ridge(training, candidates)
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
        solved = training.documents.cache.pop(_SOLVED, None)
        if solved is None:
            ridge = _best_ridge(training, candidates)
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
        chosen = _sample_of(everything, _LANDMARKS, seed)
        compared = compare_profiles(units, chosen, solved.Y)
        sample = _sample_of(everything, _SAMPLE, seed)
        solutions = {ridge: compared.solve(ridge) for ridge in _PROFILE_RIDGES}
        self.ridge = max(
            _PROFILE_RIDGES,
            key=lambda ridge: _quality(solutions[ridge], candidates[sample], sample),
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


def _best_ridge(training: Training, candidates: sparse.csr_array) -> float:
    """The ridge that ranks the candidates of left-out documents of a sample best."""
    cache = training.documents.cache
    known = cache.get(_RIDGE)
    if known is None or known[0] is not candidates or known[1] is not training.Y:
        # A quick training has candidates of the held-out documents only.
        there = np.flatnonzero(np.diff(candidates.indptr))
        there = there if there.size else np.arange(training.Y.shape[0])
        sample = _sample_of(there, _SAMPLE, training.seed)
        Y, asked = training.Y[sample], candidates[sample]
        kernel = kernel_of(training.documents.rows[sample])
        everything = np.arange(sample.size)
        qualities = {
            ridge: _quality(solve_kernel(kernel.copy("F"), Y, ridge), asked, everything)
            for ridge in _RIDGES
        }
        known = candidates, training.Y, max(_RIDGES, key=qualities.__getitem__)
        cache[_RIDGE] = known
    return float(known[2])


def _quality(
    solution: Solution | LandmarkSolution, asked: sparse.csr_array, documents: NDArray[np.int64]
) -> float:
    """The nDCG@5 of some labels of some documents, by the others alone."""
    Y = solution.Y[documents]
    scores = solution.left_out(documents, asked)
    # Rankings have no place for scores below 0.
    above = scores - scores.min(initial=0) + 1
    return float(ndcg_at(Y, trusted_csr(above, asked.indices, asked.indptr, Y.shape), 5))


def _sample_of(numbers: NDArray[np.int64], n: int, seed: int) -> NDArray[np.int64]:
    """A random sample of some documents, ascending."""
    return np.sort(np.random.default_rng([seed, 3]).permutation(numbers)[:n])
