"""What the classifiers of the LCIF paper share: votes, and training data that comes and goes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from manylabel.base import MultiLabelClassifier
from manylabel.evidence import Explanation
from manylabel.kernels import votes
from manylabel.kernels.votes import Csr
from manylabel.neighbors import reasons
from manylabel.neighbors.features import FeatureSimilarity
from manylabel.neighbors.index import NeighborIndex, Neighbors
from manylabel.parallel import run_blocks
from manylabel.predictions import keep_top
from manylabel.text.weighting import Weighting, make_weighting
from manylabel.thresholds import make_threshold
from manylabel.validation import check_gone, check_real, check_whole, csr_parts

__all__ = ["VotingClassifier", "as_csr", "combined_scores"]

#: Documents a task.
BLOCK = 256
#: Thresholds are fitted on at most so many training documents.
HELD_OUT = 20_000


def as_csr(matrix: sparse.csr_array) -> Csr:
    """The arrays of a matrix in the types that the kernels take."""
    return Csr(*csr_parts(matrix, np.float64))


def combined_scores(
    weight: float,
    neighbors: Neighbors | None,
    alpha: float,
    labels: Csr,
    queries: Csr,
    features: FeatureSimilarity | None,
    beta: float,
    candidates: int,
    n_labels: int,
    top: int | None = None,
    own: Csr | None = None,
    n_jobs: int | None = None,
) -> sparse.csr_array:
    """Scores by definition 9, for neighbours found before.

    Parameters
    ----------
    weight : float
        Lambda: the share of the neighbours' votes.
    neighbors : Neighbors, optional
        Not needed with weight 0.
    alpha, beta : float
        The powers of the two similarities.
    labels : Csr
        What each training document gives to each label.
    queries : Csr
        The documents to score.
    features : FeatureSimilarity, optional
        Not needed with weight 1.
    candidates : int
        How many of the best labels by features are candidates.
    n_labels : int
    top : int, optional
        Keep only so many labels a document.
    own : Csr, optional
        The labels of the documents, if they are training documents to be scored as if they were
        not.
    n_jobs : int, optional
    """
    n_rows = queries.ptr.size - 1
    if neighbors is None:
        indices, similarities = np.empty((n_rows, 0), np.int32), np.empty((n_rows, 0), np.float32)
    else:
        indices, similarities = neighbors.indices, neighbors.similarities
    none = Csr(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0))
    held_out = own is not None
    if features is None:
        similar, feature_lengths, label_lengths = none, np.empty(0), np.empty(n_labels)
    else:
        similar = features.plain if held_out else features.to_power(beta)
        feature_lengths, label_lengths = features.feature_lengths, features.label_lengths
    counts = np.diff(labels.ptr)
    blocks: dict[int, sparse.csr_array] = {}

    def work(first: int, last: int) -> None:
        size = (last - first) * candidates if weight < 1 else 0
        if weight > 0:
            near = indices[first:last]
            size += int(counts[near[near >= 0]].sum())
        lengths = np.zeros(last - first, np.int64)
        out_labels, out_scores = np.empty(size, np.int32), np.empty(size)
        votes.combine(
            first, last, weight, indices, similarities, alpha, labels,
            queries, similar, candidates, held_out, own if held_out else none, beta,
            feature_lengths, label_lengths, lengths, out_labels, out_scores,
        )  # fmt: skip
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        block = sparse.csr_array(
            (out_scores[: ptr[-1]], out_labels[: ptr[-1]], ptr), shape=(last - first, n_labels)
        )
        # A copy, or the whole room for candidates would stay in use.
        blocks[first] = block.copy() if top is None else keep_top(block, top)

    run_blocks(work, n_rows, BLOCK, n_jobs)
    if not blocks:
        return sparse.csr_array((n_rows, n_labels))
    return sparse.csr_array(sparse.vstack([blocks[first] for first in sorted(blocks)], "csr"))


class VotingClassifier(MultiLabelClassifier):
    """Base of InstanceKNN, FeatureKNN and LCIF.

    Documents keep the numbers in which they came, over ``fit`` and every ``partial_fit``; the
    number of a removed document is not used again.
    """

    can_learn = True
    can_forget = True
    can_explain = True

    # Parameters; a subclass that has no use for one fixes it here.
    k: int = 1
    alpha: float = 1.0
    beta: float = 1.0
    lam: float
    second_order: float = 0.0
    labels_per_feature: int | None = None
    candidates: int = 100
    weighting: Any
    update_weights: bool
    strategy: str = "auto"
    n_jobs: int | None
    verbose: int

    def __sklearn_tags__(self) -> Tags:
        """As the base class; on dense blobs, where every angle is small, cosines tell little."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _check_parameters(self) -> None:
        check_whole("k", self.k, 1)
        check_real("alpha", self.alpha, 0)
        check_real("beta", self.beta, 0)
        check_real("lam", self.lam, 0, 1)
        check_real("second_order", self.second_order, 0, 1)
        check_whole("candidates", self.candidates, 1)
        if self.labels_per_feature is not None:
            check_whole("labels_per_feature", self.labels_per_feature, 1)
        make_weighting(self.weighting)

    def _fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.X_, self.Y_ = X, Y
        self.alive_ = np.ones(X.shape[0], np.bool_)
        self.threshold_stale_ = False
        self._learn()

    def _learn(self) -> None:
        """Learn from all documents that have not been removed."""
        X, Y = self.X_[self.alive_], self.Y_[self.alive_]
        self.weighting_: Weighting = make_weighting(self.weighting).fit(X)
        if self.lam > 0:
            self.index_ = NeighborIndex(self.weighting_.transform(self.X_))
            self.index_.remove(np.flatnonzero(~self.alive_))
        if self.lam < 1:
            self.features_ = FeatureSimilarity(
                self.weighting_.transform(X), Y, self.labels_per_feature
            )
        self._refresh_votes()

    def _refresh_votes(self) -> None:
        """What each training document gives to each label."""
        labels = self.Y_.astype(np.float64)
        if self.second_order > 0 and self.lam > 0:
            labels = (1 - self.second_order) * labels + self.second_order * self._second_order()
        labels = sparse.csr_array(labels)
        labels.eliminate_zeros()
        labels.sort_indices()
        self.votes_ = as_csr(labels)

    def _second_order(self) -> sparse.csr_array:
        """Labels of each document's nearest documents in label space, weighed by similarity."""
        index = NeighborIndex(self.Y_)
        index.remove(np.flatnonzero(~self.alive_))
        found = index.search_self(self.k, n_jobs=self.n_jobs)
        near = found.indices >= 0
        weights = found.similarities.astype(np.float64)
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        ptr = np.concatenate([[0], np.cumsum(near.sum(axis=1))])
        n = self.Y_.shape[0]
        around = sparse.csr_array((weights[near], found.indices[near], ptr), shape=(n, n))
        return around @ self.Y_.astype(np.float64)

    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        weighted = self.weighting_.transform(X)
        return self._combined(self._neighbors(weighted), as_csr(weighted), top)

    def _neighbors(self, weighted: sparse.csr_array) -> Neighbors | None:
        """The nearest documents of weighted rows."""
        if self.lam == 0:
            return None
        return self.index_.search(
            weighted,
            self.k,
            strategy=self.strategy,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _combined(
        self, neighbors: Neighbors | None, queries: Csr, top: int | None, own: Csr | None = None
    ) -> sparse.csr_array:
        return combined_scores(
            self.lam, neighbors, self.alpha, self.votes_, queries,
            self.features_ if self.lam < 1 else None, self.beta, self.candidates,
            self.n_labels_, top, own, self.n_jobs,
        )  # fmt: skip

    def _held_out_scores(
        self, X: sparse.csr_array, Y: sparse.csr_array
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Leave-one-out scores of the training documents, evenly chosen if there are many."""
        numbers = np.flatnonzero(self.alive_)
        if numbers.size > HELD_OUT:
            numbers = numbers[np.linspace(0, numbers.size - 1, HELD_OUT).astype(np.int64)]
        neighbors = None
        if self.lam > 0:
            neighbors = self.index_.search_self(
                self.k,
                rows=numbers,
                strategy=self.strategy,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            )
        labels = self.Y_[numbers]
        queries = as_csr(self.weighting_.transform(self.X_[numbers]))
        return self._combined(neighbors, queries, None, as_csr(labels)), labels

    def predict(self, X: Any) -> Any:
        """Give each sample its labels; see the base class."""
        check_is_fitted(self)
        if self.threshold_stale_ and not self.single_label_:
            threshold, left = make_threshold(self.threshold), self.alive_
            self.threshold_ = self._fitted_threshold(threshold, self.X_[left], self.Y_[left])
            self.threshold_stale_ = False
        return super().predict(X)

    def partial_fit(self, X: Any, Y: Any, classes: Any = None) -> Self:
        """Learn more documents, exactly: as if they had been there from the start.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
        Y : sparse matrix or array-like of shape (n_samples, n_labels)
            May have more columns than before: new labels.
        classes : array, optional
            If Y is a vector of classes: all that will ever come, at the first call.

        Notes
        -----
        Weights such as tf-idf depend on all documents, so with ``update_weights`` everything is
        weighed again, in time proportional to the whole training set. Without it the weights stay
        as they are and the cost is in proportion to what is added.
        """
        if not hasattr(self, "X_"):
            return self._fit_checked(X, Y, classes)
        X, Y = self._checked_more(X, Y)
        if Y.shape[1] > self.n_labels_:
            self.n_labels_ = Y.shape[1]
            self.classes_ = np.arange(self.n_labels_)
            self.Y_ = self.Y_.copy()
            self.Y_.resize((self.Y_.shape[0], self.n_labels_))
        self.X_ = sparse.csr_array(sparse.vstack([self.X_, X], "csr"))
        self.Y_ = sparse.csr_array(sparse.vstack([self.Y_, Y], "csr"))
        self.alive_ = np.concatenate([self.alive_, np.ones(X.shape[0], np.bool_)])
        self._change(X, Y, 1)
        return self

    def remove(self, numbers: ArrayLike) -> Self:
        """Forget training documents, exactly: as if they had never been there.

        Parameters
        ----------
        numbers : array of int
            Their places in the order in which ``fit`` and ``partial_fit`` were given them.
        """
        check_is_fitted(self)
        gone = check_gone(numbers, self.alive_)
        if gone.size == 0:
            return self
        self.alive_[gone] = False
        if self.lam > 0:
            self.index_.remove(gone)
        self._change(self.X_[gone], self.Y_[gone], -1)
        return self

    def _change(self, X: sparse.csr_array, Y: sparse.csr_array, sign: int) -> None:
        """Bring what was learned up to date after documents came (sign 1) or went (sign -1)."""
        self.threshold_stale_ = True
        if self.update_weights and self.weighting_.scheme in ("tfidf", "bm25"):
            self._learn()
            return
        weighted = self.weighting_.transform(X)
        if self.lam > 0 and sign > 0:
            self.index_.add(weighted)
        if self.lam < 1:
            self.features_.update(weighted, Y, sign)
        self._refresh_votes()

    def explain(
        self, X: Any, labels: ArrayLike | None = None, top: int = 5
    ) -> list[list[Explanation]]:
        """Say why: for each sample and label the reasons whose shares add up to the score.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
        labels : array of int, optional
            The labels to explain; by default the ``top`` best of each sample.
        top : int

        Returns
        -------
        list of lists of Explanation
            One list a sample. A reason of kind ``"neighbour"`` names a training document and holds
            the words it shares with the sample, whose shares add up to their similarity; a reason
            of kind ``"word"`` names a feature that speaks for the label.
        """
        check_is_fitted(self)
        weighted = self.weighting_.transform(self._checked_features(X, reset=False))
        neighbors = self._neighbors(weighted)
        scores = self._combined(neighbors, as_csr(weighted), None)
        return reasons.explain(self, weighted, neighbors, scores, _wanted(labels), top)


def _wanted(labels: ArrayLike | None) -> NDArray[np.int64] | None:
    return None if labels is None else np.atleast_1d(np.asarray(labels, np.int64))
