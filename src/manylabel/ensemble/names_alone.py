"""Suggest labels by their names alone, from a vocabulary and no documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from manylabel.base import ExplainLabels, MultiLabelClassifier
from manylabel.estimators import check_is_fitted
from manylabel.evidence import Explanation, Reason
from manylabel.exceptions import InputError
from manylabel.kernels.logistic import expit
from manylabel.predictions import keep_top, values_at
from manylabel.scoring import Candidates, Documents
from manylabel.thresholds import make_threshold
from manylabel.validation import (
    check_incomplete,
    check_present,
    check_removable,
    join_incomplete,
)
from manylabel.vocabulary.name_clues import BLOCK, look_for_names, names_in
from manylabel.vocabulary.name_counts import NameCounts
from manylabel.vocabulary.name_words import Rarity, count_words
from manylabel.vocabulary.scorer import NameScorer
from manylabel.vocabulary.weights import N_STATIC, UNNAMED, fit_weights

__all__ = ["NamesAlone"]


class NamesAlone(MultiLabelClassifier):
    """Suggests labels whose names occur in a text; needs a vocabulary but no documents.

    The weights of clues come from other vocabularies. Every document given to :meth:`partial_fit`
    updates these weights, and the rate at which texts with a name have the label.

    Parameters
    ----------
    vocabulary : LabelNames
    threshold : str, float or threshold, default=0.5
    n_jobs : int, optional

    Examples
    --------
    >>> from manylabel.vocabulary import LabelNames
    >>> model = NamesAlone(LabelNames(["cats", "dogs"], [0, 1], [0, 0], 2, "english"))
    >>> model = model.begin(n_features=1)
    >>> texts = Documents(sparse.csr_array((1, 1)), texts=["My cat"])
    >>> model.decision_function(texts).indices.tolist()
    [0]
    """

    gives_probabilities = True
    can_learn = True
    can_forget = True
    can_explain = True
    reads_incomplete = True
    #: Which documents are incomplete; None if all are complete.
    incomplete_: NDArray[np.bool_] | None = None
    reads_views = True

    def __init__(
        self, vocabulary: Any = None, *, threshold: Any = 0.5, n_jobs: int | None = None
    ) -> None:
        self.vocabulary = vocabulary
        self.threshold = threshold
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        make_threshold(self.threshold)

    def begin(self, n_features: int) -> Self:
        """Set up the model without documents, for texts with ``n_features`` features."""
        n_labels = self.vocabulary.n_labels
        self.n_features_in_, self.n_labels_ = n_features, n_labels
        self.classes_, self.labels_dtype_ = np.arange(n_labels), np.dtype(np.int8)
        self.single_label_ = self.dense_labels_ = False
        self.threshold_ = make_threshold(self.threshold)
        nothing = sparse.csr_array((0, n_labels), dtype=np.int8)
        self.threshold_.fit(None, nothing)
        self._fit(Documents(sparse.csr_array((0, n_features)), texts=[]), nothing)
        return self

    def _fit(self, X: sparse.csr_array | Documents, Y: sparse.csr_array) -> None:
        self.scorer_ = NameScorer()
        self.scorer_.named = self.vocabulary
        # Without documents, the names alone tell how rare words are.
        self.scorer_.rarity = count_words(self.vocabulary, [])
        self.Y_ = sparse.csr_array((0, Y.shape[1]), dtype=np.int8)
        self.alive_ = np.empty(0, np.bool_)
        # For every label found in a document: clues, document, label.
        self.clues_ = np.empty((0, N_STATIC))
        self.found_rows_ = self.found_labels_ = np.empty(0, np.int64)
        self._learn(Documents.of(X), Y)

    def _learn(self, documents: Documents, Y: sparse.csr_array) -> None:
        """Add documents, and fit the weights of clues again."""
        texts, before = self._texts(documents), self.alive_.size
        rarity = self._rarity.of(self.vocabulary)
        for start in range(0, len(texts), BLOCK):
            looked = look_for_names(self.vocabulary, rarity, texts[start : start + BLOCK])
            pattern = looked.pattern
            best = values_at(looked.named.best, pattern) > 0
            rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr)) + before + start
            labels = pattern.indices.astype(np.int64)
            self.clues_ = np.concatenate([self.clues_, looked.clues[best]])
            self.found_rows_ = np.concatenate([self.found_rows_, rows[best]])
            self.found_labels_ = np.concatenate([self.found_labels_, labels[best]])
        old = self.Y_.copy()
        old.resize((old.shape[0], Y.shape[1]))
        self.Y_ = sparse.csr_array(sparse.vstack([old, Y], "csr"))
        self.alive_ = np.concatenate([self.alive_, np.ones(Y.shape[0], np.bool_)])
        self.incomplete_ = join_incomplete(self.incomplete_, before, self._incomplete, Y.shape[0])
        self._weigh()

    def _weigh(self) -> None:
        """Count how often a name in the text comes with the label, and fit the weights of clues."""
        there = self.alive_[self.found_rows_]
        rows, labels = self.found_rows_[there], self.found_labels_[there]
        truth = _entries(self.Y_, rows, labels)
        if self.incomplete_ is not None:
            is_known = truth | ~self.incomplete_[rows]
            there[there] = is_known
            labels, truth = labels[is_known], truth[is_known]
        scorer, n_labels = self.scorer_, self.n_labels_
        clues = self.clues_[there]
        kept = self.Y_[np.flatnonzero(self.alive_)]
        scorer.counts = NameCounts.of_matches(
            clues, labels, truth, np.bincount(kept.indices, minlength=n_labels)
        )
        if labels.size:
            scorer.weights = fit_weights(scorer.design(clues, labels, truth), truth)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, incomplete: Any = None) -> Self:
        """Learn more documents; new labels have no names."""
        check_is_fitted(self)
        X, Y = self._checked_more(X, y)
        self._incomplete = check_incomplete(incomplete, X.shape[0])
        self._grow(Y.shape[1])
        self._learn(Documents.of(X), Y)
        self.__dict__.pop("_incomplete", None)
        return self

    def _grow(self, n_labels: int) -> None:
        """Add labels that appear after ``begin``; they have no names."""
        if n_labels > self.n_labels_:
            self.n_labels_ = n_labels
            self.classes_ = np.arange(n_labels)
            self.vocabulary.grow(n_labels)

    def remove(self, numbers: ArrayLike, texts: Any = None) -> Self:
        """Forget documents, as if they had never been there."""
        check_is_fitted(self)
        gone = check_removable(numbers, self.alive_)
        self.alive_ = self.alive_.copy()
        self.alive_[gone] = False
        self._weigh()
        return self

    def relabel(self, numbers: ArrayLike, Y: sparse.csr_array, texts: Any = None) -> Self:
        """Give documents other labels, as if they had always had them."""
        check_is_fitted(self)
        changed = check_present(numbers, self.alive_)
        self._grow(Y.shape[1])
        old = self.Y_.copy()
        old.resize((old.shape[0], Y.shape[1]))
        order = np.arange(old.shape[0])
        order[changed] = old.shape[0] + np.arange(changed.size)
        self.Y_ = sparse.csr_array(sparse.vstack([old, Y], "csr"))[order]
        self._weigh()
        return self

    @property
    def not_updated_(self) -> tuple[str, ...]:
        """Only training learns that similar documents share labels."""
        return ("similar documents",)

    def _candidates(self, X: sparse.csr_array | Documents) -> tuple[Documents, Candidates]:
        documents = Documents.of(X)
        self._texts(documents)
        looked = names_in(documents, self.vocabulary, self._rarity, self.n_jobs)
        assert looked is not None
        return documents, Candidates(looked.best, vocabulary=self.vocabulary)

    @property
    def _rarity(self) -> Rarity:
        assert self.scorer_.rarity is not None
        return self.scorer_.rarity

    def _texts(self, documents: Documents) -> Sequence[str]:
        if documents.texts is None:
            raise InputError("label names are matched in texts; give documents with texts.")
        return documents.texts

    def _scores(self, X: sparse.csr_array | Documents, top: int | None) -> sparse.csr_array:
        documents, candidates = self._candidates(X)
        values = self.scorer_.score(documents, candidates, self.n_jobs) + UNNAMED
        scores = candidates.scores(expit(values))
        return scores if top is None else keep_top(scores, top)

    def _explaining(
        self, X: sparse.csr_array | Documents, top: int | None
    ) -> tuple[sparse.csr_array, ExplainLabels]:
        documents, candidates = self._candidates(X)
        scorer = self.scorer_
        values = scorer.score(documents, candidates, 1)

        def explain(labels: NDArray[np.int64]) -> list[Explanation]:
            return [explained(label) for label in labels.tolist()]

        def explained(label: int) -> Explanation:
            position = candidates.position(label)
            assert position is not None
            below = scorer.reasons(documents, candidates, position)
            share = float(values[position])
            name = Reason(
                scorer.name,
                share,
                reasons=tuple(below),
                title=scorer.title,
                sentence=below[0].sentence,
            )
            score = UNNAMED + share
            reasons = (name, Reason("prior", UNNAMED))
            return Explanation(
                0, label, score, reasons, float(expit(values[[position]] + UNNAMED)[0])
            )

        return candidates.scores(expit(values + UNNAMED)), explain

    def set_vocabulary(self, named: Any) -> None:
        """Replace the names; ``named`` has the known labels in the same columns, perhaps more."""
        self.vocabulary = self.scorer_.named = named
        self.n_labels_ = named.n_labels
        self.classes_ = np.arange(named.n_labels)
        self.Y_.resize((self.Y_.shape[0], named.n_labels))
        self._weigh()


def _entries(
    Y: sparse.csr_array, rows: NDArray[np.int64], labels: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether each row has the label at the same position in ``labels``."""
    if not rows.size:
        return np.empty(0, np.bool_)
    ptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=Y.shape[0]))])
    pattern = sparse.csr_array((np.ones(labels.size, np.int8), labels, ptr), shape=Y.shape)
    return values_at(Y, pattern) > 0
