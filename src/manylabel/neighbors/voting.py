"""The base class of the classifiers of the LCIF paper: votes, and updates of training data."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from manylabel.base import ExplainLabels, Grid, MultiLabelClassifier, SharedWork
from manylabel.estimators import Tags, check_is_fitted
from manylabel.evidence import Explanation
from manylabel.exceptions import InputError, ParameterError
from manylabel.neighbors.automatic import AUTO, SETTINGS, first_settings, values_of
from manylabel.neighbors.features import FeatureSimilarity
from manylabel.neighbors.index import NeighborIndex
from manylabel.neighbors.scorers import NeighborVotes, WordVotes
from manylabel.neighbors.source import ALL, WORDS, NeighborSource
from manylabel.predictions import keep_top
from manylabel.scoring import Candidates, Documents
from manylabel.text.weighting import Weighting, make_weighting
from manylabel.thresholds import make_threshold
from manylabel.validation import (
    check_incomplete,
    check_labels,
    check_present,
    check_real,
    check_removable,
    check_unless_auto,
    check_whole,
    join_incomplete,
)

__all__ = ["VotingClassifier", "combined"]

#: Documents whose candidates are in memory at a time.
ROUND = 8_192
#: Maximum training documents to fit a threshold on.
HELD_OUT = 20_000


class VotingClassifier(MultiLabelClassifier):
    """Base class of InstanceKNN, FeatureKNN and LCIF.

    Documents are numbered in the order of ``fit`` and every ``partial_fit``; the number of a
    removed document is not used again.
    """

    can_learn = True
    can_forget = True
    can_explain = True
    _round = ROUND
    can_compact = True
    keeps_rows = True
    reads_incomplete = True
    #: Which documents are incomplete; None if all are complete.
    incomplete_: NDArray[np.bool_] | None = None
    #: Of a model folder from before settings could be "auto".
    settings_: dict[str, Any] | None = None
    shared_parameters = ("k", "alpha", "beta", "lam", "threshold")

    # Parameters; the value here is for subclasses without the parameter.
    k: int | str = 1
    alpha: float | str = 1.0
    beta: float | str = 1.0
    lam: float | str
    second_order: float = 0.0
    labels_per_feature: int | None = None
    candidates: int = 100
    weighting: Any
    update_weights: bool
    strategy: str = "auto"
    n_jobs: int | None
    verbose: int

    def __sklearn_tags__(self) -> Tags:
        """As in the base class; scores on dense blobs, where every angle is small, are poor."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _check_parameters(self) -> None:
        check_unless_auto(check_whole, "k", self.k, 1)
        for name, most in (("alpha", np.inf), ("beta", np.inf), ("lam", 1.0)):
            check_unless_auto(check_real, name, getattr(self, name), 0, most)
        check_real("second_order", self.second_order, 0, 1)
        check_whole("candidates", self.candidates, 1)
        if self.labels_per_feature is not None:
            check_whole("labels_per_feature", self.labels_per_feature, 1)
        make_weighting(self.weighting)

    def _check_stored(self) -> None:
        """Refuse documents without features, labels or a flag."""
        if hasattr(self, "X_") and not (
            self.X_.shape[:1] == self.Y_.shape[:1] == self.alive_.shape
            and self.alive_.dtype == np.bool_
        ):
            raise InputError("the training documents are damaged: some are missing.")

    def _fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.X_, self.Y_ = X, Y
        self.incomplete_ = self._incomplete
        self._check_second_order()
        self.alive_ = np.ones(X.shape[0], np.bool_)
        self.threshold_stale_ = False
        self.settings_ = None
        self._learn()

    def _setting(self, name: str) -> Any:
        """The value of a parameter, as chosen in `fit` if it is "auto"."""
        return getattr(self, name) if self.settings_ is None else self.settings_[name]

    def _learn(self) -> None:
        """Learn from all documents that have not been removed."""
        X, Y = self.X_[self.alive_], self.Y_[self.alive_]
        self.weighting_: Weighting = make_weighting(self.weighting).fit(X)
        lam, index, features = self._setting("lam"), None, None
        if lam != 0:
            index = NeighborIndex(self.weighting_.transform(self.X_))
            index.remove(np.flatnonzero(~self.alive_))
        if lam != 1:
            are_open = None if self.incomplete_ is None else self.incomplete_[self.alive_]
            features = FeatureSimilarity(
                self.weighting_.transform(X), Y, self.labels_per_feature, are_open
            )
        if self.settings_ is None:
            self.settings_ = self._chosen_settings(index, features)
        lam = self._setting("lam")
        self.source_ = NeighborSource(
            index if lam > 0 else None,
            self.Y_,
            k=self._setting("k"),
            alpha=self._setting("alpha"),
            weight=lam,
            features=features if lam < 1 else None,
            beta=self._setting("beta"),
            top_words=self.candidates,
            strategy=self.strategy,
            incomplete=self.incomplete_,
        )
        self._refresh_votes()

    def _chosen_settings(
        self, index: NeighborIndex | None, features: FeatureSimilarity | None
    ) -> dict[str, Any]:
        """Numbers for the parameters that are "auto", and the values of the others."""
        from manylabel.neighbors.sharing import SharedNeighbors

        parameters = {name: getattr(self, name) for name in SETTINGS}
        if AUTO not in parameters.values():
            return parameters
        rows = self.weighting_.transform(self.X_)
        largest = max(values_of("k", [self.k]))
        work = SharedNeighbors.sampled(
            self, rows, self.Y_, index, features, largest, self._judges(), self.incomplete_
        )
        return first_settings(parameters) if work is None else work.choose(parameters)

    def _judges(self) -> NDArray[np.bool_]:
        """The documents that settings and thresholds may be judged by: all labels are known."""
        return self.alive_ if self.incomplete_ is None else self.alive_ & ~self.incomplete_

    def _check_second_order(self) -> None:
        """Refuse second-order votes, which compare labels, for incomplete documents."""
        if self.incomplete_ is not None and self.second_order > 0:
            raise ParameterError(
                "`second_order` compares the labels of documents, so all must be complete; set it "
                "to 0 to learn incomplete documents."
            )

    def _refresh_votes(self) -> None:
        """Set the votes of training documents, where they differ from their labels."""
        if self.second_order > 0 and self._setting("lam") > 0:
            labels = self.Y_.astype(np.float64)
            labels = (1 - self.second_order) * labels + self.second_order * self._second_order()
            labels = sparse.csr_array(labels)
            labels.eliminate_zeros()
            labels.sort_indices()
            self.source_.set_votes(labels)

    def _second_order(self) -> sparse.csr_array:
        """Labels of each document's nearest documents in label space, weighted by similarity."""
        index = NeighborIndex(self.Y_)
        index.remove(np.flatnonzero(~self.alive_))
        near = index.search_self(self._setting("k"), n_jobs=self.n_jobs)
        exists = near.indices >= 0
        weights = near.similarities.astype(np.float64)
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        ptr = np.concatenate([[0], np.cumsum(exists.sum(axis=1))])
        n = self.Y_.shape[0]
        around = sparse.csr_array((weights[exists], near.indices[exists], ptr), shape=(n, n))
        return around @ self.Y_.astype(np.float64)

    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        documents = Documents(X, weighting=self.weighting_)
        candidates = self.source_.propose(documents, n_jobs=self.n_jobs)
        scores = candidates.scores(combined(candidates, self._setting("lam")))
        return scores if top is None else keep_top(scores, top)

    def _explaining(
        self, X: sparse.csr_array, top: int | None
    ) -> tuple[sparse.csr_array, ExplainLabels]:
        """Reasons are neighbours and words.

        A reason of kind ``"neighbour"`` is a training document with the words that it shares with
        the sample; the words' shares add up to the similarity. A reason of kind ``"word"`` is a
        feature that counts for the label.
        """
        documents = Documents(X, weighting=self.weighting_)
        candidates = self.source_.propose(documents, n_jobs=1)
        scores = combined(candidates, self._setting("lam"))
        lam = self._setting("lam")
        parts = [
            (weight, scorer.explaining(documents, candidates)[1])
            for scorer, weight in ((NeighborVotes(), lam), (WordVotes(), 1 - lam))
            if scorer.name in candidates.evidence
        ]

        def explain(labels: NDArray[np.int64]) -> list[Explanation]:
            explanations = []
            for label in labels.tolist():
                position = candidates.position(label)
                assert position is not None
                reasons = [
                    reason.scaled(weight) for weight, part in parts for reason in part(position)
                ]
                reasons.sort(key=lambda reason: -reason.share)
                explanations.append(Explanation(0, label, float(scores[position]), tuple(reasons)))
            return explanations

        return candidates.scores(scores), explain

    def _held_out_scores(
        self, X: sparse.csr_array, Y: sparse.csr_array
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Leave-one-out scores of the training documents, evenly sampled if there are many."""
        numbers = np.flatnonzero(self._judges())
        if numbers.size > HELD_OUT:
            numbers = numbers[np.linspace(0, numbers.size - 1, HELD_OUT).astype(np.int64)]
        documents = Documents(self.X_[numbers], weighting=self.weighting_)
        candidates = self.source_.propose(documents, leave_out=numbers, n_jobs=self.n_jobs)
        return candidates.scores(combined(candidates, self._setting("lam"))), self.Y_[numbers]

    def _shares_work(self) -> bool:
        """False with second-order votes, which depend on k and on the left-out document."""
        return self.second_order == 0

    def _share_work(
        self,
        X: sparse.csr_array,
        Y: sparse.csr_array,
        grid: Grid,
        held_out: sparse.csr_array | NDArray[np.int64],
    ) -> SharedWork:
        from manylabel.neighbors.sharing import SharedNeighbors

        return SharedNeighbors.of(self, X, Y, grid, held_out)

    def predict(self, X: Any) -> Any:
        """Predict the labels of each sample; see the base class."""
        check_is_fitted(self)
        if self.threshold_stale_ and not self.single_label_:
            threshold, left = make_threshold(self.threshold), self.alive_
            self.threshold_ = self._fitted_threshold(threshold, self.X_[left], self.Y_[left])
            self.threshold_stale_ = False
        return super().predict(X)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, incomplete: Any = None) -> Self:
        """Learn more documents exactly, as if they had been in ``fit``.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
        y : sparse matrix or array-like of shape (n_samples, n_labels)
            May have more columns than before: new labels.
        classes : array, optional
            If y is a vector of classes: all possible classes, needed only at the first call.
        incomplete : array of bool, optional
            As in ``fit``.

        Notes
        -----
        Weights such as tf-idf depend on all documents, so with ``update_weights`` all weights are
        recomputed, in time proportional to the whole training set. Without it the weights do not
        change and the cost is proportional to the documents added.
        """
        if not hasattr(self, "X_"):
            return self._fit_checked(X, y, classes, incomplete)
        X, Y = self._checked_more(X, y)
        are_open = check_incomplete(incomplete, X.shape[0])
        self.incomplete_ = join_incomplete(self.incomplete_, self.X_.shape[0], are_open, X.shape[0])
        self._check_second_order()
        if Y.shape[1] > self.n_labels_:
            self.n_labels_ = Y.shape[1]
            self.classes_ = np.arange(self.n_labels_)
            self.Y_ = self.Y_.copy()
            self.Y_.resize((self.Y_.shape[0], self.n_labels_))
        self.X_ = sparse.csr_array(sparse.vstack([self.X_, X], "csr"))
        self.Y_ = sparse.csr_array(sparse.vstack([self.Y_, Y], "csr"))
        self.alive_ = np.concatenate([self.alive_, np.ones(X.shape[0], np.bool_)])
        self._change(X, Y, incomplete=are_open)
        return self

    def remove(self, numbers: ArrayLike) -> Self:
        """Forget training documents exactly, as if they had never been learned.

        Parameters
        ----------
        numbers : array of int
            Their positions, from 0, in the order of ``fit`` and ``partial_fit``.
        """
        check_is_fitted(self)
        gone = check_removable(numbers, self.alive_)
        if gone.size == 0:
            return self
        self.alive_[gone] = False
        self._change(self.X_[gone], self.Y_[gone], gone)
        return self

    def relabel(self, numbers: ArrayLike, Y: Any) -> Self:
        """Replace the labels of training documents exactly, as if they had always been so.

        Parameters
        ----------
        numbers : array of int
            Their positions, from 0, in the order of ``fit`` and ``partial_fit``.
        Y : sparse matrix of shape (n_numbers, n_labels)
            May have more columns than before: new labels.
        """
        check_is_fitted(self)
        changed = check_present(numbers, self.alive_)
        Y = check_labels(Y)
        self.n_labels_ = max(self.n_labels_, Y.shape[1])
        self.classes_ = np.arange(self.n_labels_)
        self.threshold_stale_ = True
        rows = Documents(self.X_[changed], weighting=self.weighting_).rows
        self.source_.relabel(changed, Y, rows)
        self.Y_ = self.source_.Y
        self._refresh_votes()
        return self

    def _change(
        self,
        X: sparse.csr_array,
        Y: sparse.csr_array,
        gone: NDArray[np.int64] | None = None,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Update the model after documents were added, or those in ``gone`` removed."""
        self.threshold_stale_ = True
        if self.update_weights and self.weighting_.scheme in ("tfidf", "bm25"):
            self._learn()
            return
        documents = Documents(X, weighting=self.weighting_)
        if gone is None:
            self.source_.add(documents, Y, incomplete)
            self.Y_ = self.source_.Y
        else:
            self.source_.remove(gone, documents.rows)
        self._refresh_votes()

    @property
    def not_updated_(self) -> tuple[str, ...]:
        """The word weights, if they depend on all documents and are not updated."""
        stale = self.weighting_.scheme in ("tfidf", "bm25") and not self.update_weights
        return ("word weights",) if stale else ()

    def compact(self) -> NDArray[np.int64]:
        """Train again on the remaining documents.

        The threshold is fitted by the next `predict`, because that takes longer than the rest.

        Returns
        -------
        numbers : ndarray of int64
            The old number of each document, in the order of the new numbers.
        """
        check_is_fitted(self)
        kept = np.flatnonzero(self.alive_)
        self.X_, self.Y_ = self.X_[kept], self.Y_[kept]
        if self.incomplete_ is not None:
            self.incomplete_ = self.incomplete_[kept] if self.incomplete_[kept].any() else None
        self.alive_ = np.ones(kept.size, np.bool_)
        self.threshold_stale_ = True
        self._learn()
        return kept


def combined(candidates: Candidates, lam: float) -> NDArray[np.float64]:
    """Scores by definition 9: ``lam`` for the neighbours' votes and the rest for the words'."""
    scores = np.zeros(len(candidates))
    for name, weight in ((ALL, lam), (WORDS, 1 - lam)):
        if name in candidates.evidence:
            scores += weight * candidates.evidence[name]
    return scores
