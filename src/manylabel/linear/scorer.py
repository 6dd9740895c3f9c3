"""Score each candidate label with a linear SVM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.evidence import Reason, WordReasons
from manylabel.linear.candidates import candidate_scores, train_on_candidates
from manylabel.linear.model import LinearModel
from manylabel.linear.training import Settings
from manylabel.scoring import Candidates, Documents, Scorer, Training
from manylabel.scoring.candidates import all_pairs
from manylabel.scoring.scorer import Reasons
from manylabel.scoring.training import FEW_PER_LABEL, MANY, without_unique
from manylabel.text.weighting import Weighting, make_weighting
from manylabel.validation import trusted_csr, widened

__all__ = ["LinearScorer"]

#: Every label is trained on every document if there are no more pairs than this. With more,
#: candidates alone rank as well and take a fifth of the time.
_ALL_PAIRS = 2_000_000
#: Weights whose absolute value is below this are dropped.
_PRUNE = 0.03
#: With this many documents and labels, and fewer documents per label, this share of the labels is
#: tried first.
_MIN_TO_TRY, _MANY_LABELS, _MANY_PER_LABEL, _TRIED = 2_000, 1_000, 30, 0.2
#: Factor of the tolerance in a trial.
_TIMES_TOL = 3
#: Texts with fewer different words, on average, are short: a linear model has little to add up.
_SHORT = 30


class LinearScorer(Scorer):
    """A linear SVM for each label, trained on the documents that have it as a candidate.

    Parameters
    ----------
    settings : Settings, optional
        How to train; by default with the classifier's ``C`` and fixed settings.
    all_pairs : int
        Train every label on every document if there are no more pairs than this.

    Attributes
    ----------
    model : LinearModel
    n_iter : int
        The maximum number of sweeps over all labels.
    weighting : Weighting or None
        Of a view other than the classifier's own rows.
    """

    name: ClassVar[str] = "linear"
    reads_incomplete: ClassVar[bool] = True
    effort: ClassVar[str] = "quick"
    learns_from_candidates: ClassVar[bool] = True
    trials: ClassVar[str] = "labels"
    title: ClassVar[str] = "words for and against"
    sentence: ClassVar[str] = "Words of the text, each with the weight it has for the label."

    weighting: Weighting | None = None

    def __init__(self, settings: Settings | None = None, all_pairs: int = _ALL_PAIRS) -> None:
        self.settings = settings
        self.all_pairs = all_pairs
        self.model: LinearModel
        self.n_iter = 0

    def wants(self, training: Training) -> bool:
        """Whether documents have the view that it reads.

        If a regression suits the corpus, it takes the place of the model of words, whose weight
        beside it was always 0. A quick training of short texts with many labels has vectors of
        words instead.
        """
        if not training.documents.has_view(self.view):
            return False
        is_usual = training.settings.get("effort") != "best" and training.incomplete is None
        if is_usual and self.view == "rows" and training.suits_regression:
            return False
        n_words = training.documents.counts.nnz / max(len(training.documents), 1)
        has_vectors = n_words < _SHORT and training.documents_per_label >= FEW_PER_LABEL
        is_large = len(training.documents) >= MANY
        return not (training.is_quick and is_large and has_vectors and _has_many_labels(training))

    def _rows(self, documents: Documents) -> sparse.csr_array:
        """Weighted rows of the view."""
        if self.weighting is None:
            return documents.rows
        counts = documents.view(self.view)
        if not documents.trusted:
            return self.weighting.transform(counts)
        # `transform` returns this type too; views store narrower ones.
        data = counts.data.astype(np.float64, copy=False)
        return self.weighting.weigh(trusted_csr(data, counts.indices, counts.indptr, counts.shape))

    def needs_trial(self, training: Training) -> bool:
        """With many labels of few documents, training takes long and often adds nothing."""
        return len(training.documents) >= _MIN_TO_TRY and _has_many_labels(training)

    def trial(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Train a random sample of the labels; each is trained apart from the others anyway."""
        n_labels = training.Y.shape[1]
        is_tried = np.random.default_rng([training.seed, 2]).random(n_labels) < _TRIED
        labels = np.flatnonzero(is_tried)
        some = replace(training, Y=training.Y[:, labels])
        scores = np.full(len(held), np.nan)
        asked = held.keep(is_tried[held.labels])
        asked = replace(asked, pattern=asked.pattern[:, labels])
        settings = self._settings(training)
        settings = replace(settings, tol=_TIMES_TOL * settings.tol)
        scores[is_tried[held.labels]] = self._fitted(some, candidates[:, labels], asked, settings)
        return np.arange(training.held.size), scores

    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Train, and score rows by weights trained without their fold."""
        return self._fitted(training, candidates, held, self._settings(training))

    def _settings(self, training: Training) -> Settings:
        """How to train."""
        return self.settings or Settings(
            C=float(training.settings.get("C", 1.0)),
            bias=True,
            prune=_PRUNE,
            max_iter=1000,
            tol=0.1,
            seed=training.seed,
            n_jobs=training.n_jobs,
            verbose=training.verbose,
        )

    def _fitted(
        self,
        training: Training,
        candidates: sparse.csr_array,
        held: Candidates,
        settings: Settings,
    ) -> NDArray[np.float64]:
        if self.view != "rows":
            scheme = training.settings.get("weighting", "tfidf")
            self.weighting = make_weighting(scheme, np.float32)
            self.weighting.fit(training.documents.view(self.view))
        rows, Y = self._rows(training.documents), training.Y
        n_rows, n_labels = Y.shape
        pairs = candidates
        if n_rows * n_labels <= self.all_pairs:
            pairs = training.known(all_pairs(n_rows, n_labels))
        folds = training.folds if training.held.size else None
        asked = training.spread(held.pattern)
        self.model, scores, self.n_iter = train_on_candidates(
            rows, Y, pairs, settings, folds, training.sample_weight, asked
        )
        # Only the held-out documents have scores, in the order of their candidates.
        margins = self._rescaled(scores.data, rows, training, held)
        # A label without documents is not trained: it scores as if all documents were negative.
        return np.where(np.isfinite(margins), margins, -1.0)

    def _rescaled(
        self,
        margins: NDArray[np.float64],
        rows: sparse.csr_array,
        training: Training,
        held: Candidates,
    ) -> NDArray[np.float64]:
        """Scores without features that no other document has, rescaled to rows of unit length."""
        if not training.hides_unique:
            return margins
        shared = without_unique(rows)
        if shared is rows:
            return margins
        shrunk = _lengths(shared[training.held]) / _lengths(rows[training.held])
        intercepts = self.model.intercept[held.labels]
        each = np.repeat(shrunk, np.diff(held.pattern.indptr))
        with np.errstate(invalid="ignore"):
            rescaled = margins - intercepts
            rescaled /= each
            rescaled += intercepts
        return rescaled

    def score(
        self, documents: Documents, candidates: Candidates, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """The weighted sums; 0 for labels that were not trained."""
        return self._margins(self._rows(documents), candidates, n_jobs)

    def _margins(
        self, rows: sparse.csr_array, candidates: Candidates, n_jobs: int | None
    ) -> NDArray[np.float64]:
        margins = candidate_scores(self.model, rows, candidates.pattern, n_jobs)
        return np.where(np.isfinite(margins), margins, 0.0)

    def explaining(
        self, documents: Documents, candidates: Candidates
    ) -> tuple[NDArray[np.float64], Reasons]:
        """Scores, and the words and the intercept behind each."""
        rows, view = self._rows(documents), "" if self.weighting is None else self.view
        explain = reasons_of_row(self.model, rows, 0, view=view)
        scores = self._margins(rows, candidates, 1)
        return scores, lambda position: explain(int(candidates.labels[position]))

    def grow(self, n_labels: int) -> None:
        """New labels have no weights, and an intercept of minus infinity."""
        n_new = n_labels - self.model.intercept.size
        if n_new > 0:
            coef = widened(self.model.coef, n_labels)
            intercept = np.pad(self.model.intercept, (0, n_new), constant_values=-np.inf)
            self.model = LinearModel(coef, intercept)


def label_reasons(
    model: LinearModel, rows: sparse.csr_array, row: int, label: int, bias: bool = True
) -> list[Reason]:
    """The share of each feature of a weighted row, and of the intercept, in a label's score."""
    return list(reasons_of_row(model, rows, row, bias)(label))


def reasons_of_row(
    model: LinearModel, rows: sparse.csr_array, row: int, bias: bool = True, view: str = ""
) -> Callable[[int], WordReasons]:
    """A function from a label to the shares of a weighted row's features and of the intercept."""
    from manylabel.kernels import svm

    start, stop = rows.indptr[row], rows.indptr[row + 1]
    features, coef = rows.indices[start:stop].astype(np.int32, copy=False), model.rows
    values = rows.data[start:stop].astype(np.float32).astype(np.float64)
    positions, lookup = np.empty(features.size, np.int64), model.lookups.after(0)

    def explain(label: int) -> WordReasons:
        if model.intercept[label] == -np.inf:
            return WordReasons([], [])
        svm.find_weights(coef, lookup, features, label, positions)
        mine = np.flatnonzero(positions >= 0)
        shares = values[mine] * coef.values[positions[mine]]
        words = features[mine]
        if not bias:
            return WordReasons(words, shares, view)
        return WordReasons.with_bias(model.intercept[label], words, shares, view)

    return explain


def _has_many_labels(training: Training) -> bool:
    """Whether there are many labels of few documents."""
    is_many = training.Y.shape[1] >= _MANY_LABELS
    return is_many and training.documents_per_label < _MANY_PER_LABEL


def _lengths(X: sparse.csr_array) -> NDArray[np.float64]:
    """Lengths of the rows; 1 for rows of zeros."""
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel())
    return np.where(lengths > 0, lengths, 1.0)
