"""Learn and forget documents after an ensemble was fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from manylabel.base import MultiLabelClassifier
from manylabel.ensemble.curves import Combination
from manylabel.estimators import check_is_fitted
from manylabel.exceptions import InputError
from manylabel.neighbors.source import NeighborSource
from manylabel.scoring import CandidateSource, Documents, Scorer
from manylabel.validation import check_incomplete, check_present, check_removable
from manylabel.vocabulary.label_names import LabelNames
from manylabel.vocabulary.scorer import NameScorer, NameSource

__all__ = ["Updating"]


class Updating(MultiLabelClassifier):
    """The methods of an ensemble that add, remove and relabel documents."""

    can_learn = True
    can_forget = True
    can_compact = True
    vocabulary: Any
    source_: NeighborSource
    sources_: list[CandidateSource]
    scorers_: dict[str, Scorer]
    combination_: Combination
    weighting_: Any
    counts_: NDArray[np.int64]
    known_labels_: NDArray[np.bool_]
    alive_: NDArray[np.bool_]

    @property
    def frozen_parts_(self) -> tuple[str, ...]:
        """Scorers that ignore documents added or removed after ``fit``."""
        check_is_fitted(self)
        return tuple(
            name for name in self.combination_.curves if not self.scorers_[name].learns_at_once
        )

    @property
    def not_updated_(self) -> tuple[str, ...]:
        """The frozen scorers and, if they depend on all documents, the weights of words."""
        stale = self.weighting_.scheme in ("tfidf", "bm25")
        return (*self.frozen_parts_, *(("word weights",) if stale else ()))

    def _check_stored(self) -> None:
        """Refuse counts of other labels."""
        if hasattr(self, "counts_") and self.counts_.shape != (self.n_labels_,):
            raise InputError("the ensemble is damaged: the counts of some labels are missing.")

    def partial_fit(self, X: Any, y: Any, classes: Any = None, incomplete: Any = None) -> Self:
        """Learn more documents without training again.

        Neighbours and words treat them as if they had been there from the start, except that the
        weighting of features stays the same; in large collections, words are updated after every
        thousandth of the documents. Curves and the scorers in ``frozen_parts_`` stay as ``fit``
        left them: fit again from time to time. Until then, only neighbours and names judge a new
        label.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
        y : sparse matrix or array-like of shape (n_samples, n_labels)
            May have more columns than before: new labels.
        classes : array, optional
            If y is a vector of classes: all possible classes, needed only at the first call.
        incomplete : array of bool, optional
            As in ``fit``.
        """
        if not hasattr(self, "source_"):
            return self._fit_checked(X, y, classes, incomplete)
        X, Y = self._checked_more(X, y)
        are_open = check_incomplete(incomplete, X.shape[0])
        documents = Documents.of(X).weighted(self.weighting_)
        documents.numbers = np.arange(self.alive_.size, self.alive_.size + len(documents))
        for each in self._sources_and_scorers():
            each.check(documents)
        if Y.shape[1] > self.n_labels_:
            self._grow(Y.shape[1])
        self.source_.add(documents, Y, are_open)
        for source in self.sources_:
            source.add(documents, Y)
        self._change_scorers("add", documents, are_open, Y)
        self.counts_ = self.counts_ + np.bincount(Y.indices, minlength=self.n_labels_)
        self.alive_ = np.concatenate([self.alive_, np.ones(Y.shape[0], np.bool_)])
        return self

    def _change_scorers(
        self,
        change: str,
        documents: Documents,
        incomplete: NDArray[np.bool_] | None,
        *labels: sparse.csr_array,
    ) -> None:
        """Let scorers add, remove or relabel documents; some use only complete ones."""
        for scorer in self.scorers_.values():
            if incomplete is None:
                getattr(scorer, change)(documents, *labels)
            elif scorer.reads_incomplete:
                getattr(scorer, change)(documents, *labels, incomplete)
            elif not incomplete.all():
                known = np.flatnonzero(~incomplete)
                getattr(scorer, change)(documents[known], *(Y[known] for Y in labels))

    def _grow(self, n_labels: int) -> None:
        """Extend the arrays for labels that appear after ``fit``."""
        n_new = n_labels - self.n_labels_
        self.counts_ = np.pad(self.counts_, (0, n_new))
        self.known_labels_ = np.pad(self.known_labels_, (0, n_new))
        self.n_labels_ = n_labels
        self.classes_ = np.arange(n_labels)
        for each in self._sources_and_scorers():
            each.grow(n_labels)

    def set_vocabulary(self, named: LabelNames) -> None:
        """Replace the names of labels without training again.

        Parameters
        ----------
        named : LabelNames
            The known labels in the same columns, and perhaps more labels.
        """
        check_is_fitted(self)
        self.vocabulary = named
        for each in self._sources_and_scorers():
            if isinstance(each, NameSource | NameScorer):
                each.named = named
        if named.n_labels > self.n_labels_:
            self._grow(named.n_labels)

    def _sources_and_scorers(self) -> list[CandidateSource | Scorer]:
        """All sources and scorers."""
        return [self.source_, *self.sources_, *self.scorers_.values()]

    def remove(self, numbers: ArrayLike, texts: Sequence[str] | None = None) -> Self:
        """Forget training documents.

        Neighbours and words forget them entirely; the scorers in ``frozen_parts_`` forget them when
        the model is fitted again.

        Parameters
        ----------
        numbers : array of int
            Their positions in the order in which ``fit`` and ``partial_fit`` received them.
        texts : list of str, optional
            Their texts. Without them, the statistics of names in texts are not updated.
        """
        check_is_fitted(self)
        gone = check_removable(numbers, self.alive_)
        if gone.size == 0:
            return self
        self.alive_ = self.alive_.copy()
        self.alive_[gone] = False
        lost, rows = self.source_.Y[gone], self.source_.rows(gone)
        are_open = self.source_.open_rows(gone)
        self.counts_ = self.counts_ - np.bincount(lost.indices, minlength=self.n_labels_)
        for source in (self.source_, *self.sources_):
            source.remove(gone)
        rows.texts, rows.numbers = texts, gone
        self._change_scorers("remove", rows, are_open, lost)
        return self

    def relabel(
        self, numbers: ArrayLike, Y: sparse.csr_array, texts: Sequence[str] | None = None
    ) -> Self:
        """Replace the labels of training documents.

        Neighbours and words change as if the documents had always had the new labels; the scorers
        in ``frozen_parts_`` change when the model is fitted again.

        Parameters
        ----------
        numbers : array of int
            Their positions in the order in which ``fit`` and ``partial_fit`` received them.
        Y : csr_array of shape (n_numbers, n_labels)
            May have more columns than before: new labels.
        texts : list of str, optional
            Their texts. Without them, the statistics of names in texts are not updated.
        """
        check_is_fitted(self)
        changed = check_present(numbers, self.alive_)
        if Y.shape[1] > self.n_labels_:
            self._grow(Y.shape[1])
        before, rows = self.source_.Y[changed], self.source_.rows(changed)
        for source in (self.source_, *self.sources_):
            source.relabel(changed, Y)
        for labels, sign in ((before, -1), (Y, 1)):
            self.counts_ = self.counts_ + sign * np.bincount(
                labels.indices, minlength=self.n_labels_
            )
        rows.texts, rows.numbers = texts, changed
        are_open = self.source_.open_rows(changed)
        self._change_scorers("relabel", rows, are_open, before, Y)
        return self

    def compact(self) -> NDArray[np.int64]:
        """Rebuild the index from the remaining documents: search is as fast as after ``fit``.

        Scores stay the same, except that pending updates of words take effect.

        Returns
        -------
        numbers : ndarray of int64
            The old number of each document, by its new number.
        """
        check_is_fitted(self)
        kept = self.source_.compact()
        for source in self.sources_:
            source.compact()
        for scorer in self.scorers_.values():
            scorer.compact()
        self.alive_ = np.ones(kept.size, np.bool_)
        return kept
