"""Score each candidate label by kernel ridge regression."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.evidence import WordReasons
from manylabel.metrics import ndcg_at
from manylabel.regression.landmarks import LandmarkSolution, solve_landmarks
from manylabel.regression.training import Regression, Solution, kernel_of, solve, solve_kernel
from manylabel.scoring import Candidates, Documents, Scorer, Training
from manylabel.scoring.scorer import Reasons
from manylabel.scoring.training import MANY
from manylabel.validation import trusted_csr

__all__ = ["SOLVED", "RegressionScorer", "best_ridge", "quality", "sample_of"]

#: The solution for all documents, in their cache, for a scorer that builds on it.
SOLVED = "regression"
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
        model = solve(rows, Y, best_ridge(training, candidates)).regression()
        asked = held.take(out).pattern
        return out, model.scores(training.shared.rows[training.held[out]], asked, training.n_jobs)

    def _tried(self, training: Training) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The documents that a trial learns from, and the places of the held-out ones it scores."""
        hidden = training.folds == 0
        sample = sample_of(np.flatnonzero(~hidden), int(_TRIED * hidden.size), training.seed)
        return sample, np.flatnonzero(hidden[training.held])

    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Solve for all documents, and leave out each held-out one exactly."""
        if training.is_quick and training.Y.shape[0] > MANY:
            return self._fit_quickly(training, held)
        self.ridge = best_ridge(training, candidates)
        solved = solve(training.documents.rows, training.Y, self.ridge)
        self.model = solved.regression()
        training.documents.cache[SOLVED] = solved
        return solved.left_out(training.held, held.pattern)

    def _fit_quickly(self, training: Training, held: Candidates) -> NDArray[np.float64]:
        """Learn from all documents, but compare them with a sample only."""
        chosen = sample_of(np.arange(training.Y.shape[0]), _QUICK_LANDMARKS, training.seed)
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


def best_ridge(training: Training, candidates: sparse.csr_array) -> float:
    """The ridge that ranks the candidates of left-out documents of a sample best."""
    cache = training.documents.cache
    known = cache.get(_RIDGE)
    if known is None or known[0] is not candidates or known[1] is not training.Y:
        # A quick training has candidates of the held-out documents only.
        there = np.flatnonzero(np.diff(candidates.indptr))
        there = there if there.size else np.arange(training.Y.shape[0])
        sample = sample_of(there, _SAMPLE, training.seed)
        Y, asked = training.Y[sample], candidates[sample]
        kernel = kernel_of(training.documents.rows[sample])
        everything = np.arange(sample.size)
        qualities = {
            ridge: quality(solve_kernel(kernel.copy("F"), Y, ridge), asked, everything)
            for ridge in _RIDGES
        }
        known = candidates, training.Y, max(_RIDGES, key=qualities.__getitem__)
        cache[_RIDGE] = known
    return float(known[2])


def quality(
    solution: Solution | LandmarkSolution, asked: sparse.csr_array, documents: NDArray[np.int64]
) -> float:
    """The nDCG@5 of some labels of some documents, by the others alone."""
    Y = solution.Y[documents]
    scores = solution.left_out(documents, asked)
    # Rankings have no place for scores below 0.
    above = scores - scores.min(initial=0) + 1
    return float(ndcg_at(Y, trusted_csr(above, asked.indices, asked.indptr, Y.shape), 5))


def sample_of(numbers: NDArray[np.int64], n: int, seed: int) -> NDArray[np.int64]:
    """A random sample of some documents, ascending."""
    return np.sort(np.random.default_rng([seed, 3]).permutation(numbers)[:n])
