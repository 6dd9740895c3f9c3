"""Labelled LDA restricted to the labels of a document's neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from manylabel.evidence import Reason
from manylabel.neighbors import NeighborIndex, Neighbors
from manylabel.predictions import keep_top
from manylabel.text.weighting import Weighting, make_weighting
from manylabel.topics.base import Credit, TopicClassifier
from manylabel.topics.candidates import expected_tokens
from manylabel.topics.sampling import lengths
from manylabel.validation import check_real, check_whole

__all__ = ["SubsetLLDA", "neighbor_labels", "neighbor_weights"]


def neighbor_weights(neighbors: Neighbors, power: float) -> NDArray[np.float64]:
    """What each neighbour weighs: its similarity to a power, scaled so that they sum to 1."""
    near = neighbors.indices >= 0
    weights = np.where(near, neighbors.similarities.astype(np.float64) ** power, 0.0)
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)


def neighbor_labels(neighbors: Neighbors, Y: sparse.csr_array, power: float) -> sparse.csr_array:
    """The weighted share of each document's neighbours that carry a label.

    Parameters
    ----------
    neighbors : Neighbors
    Y : csr_array of shape (n_training_documents, n_labels)
    power : float
        A neighbour weighs its similarity to this power; 0 counts neighbours.

    Returns
    -------
    shares : csr_array of shape (n_documents, n_labels)

    Examples
    --------
    >>> index = NeighborIndex([[1, 0], [1, 1]])
    >>> found = index.search([[1, 0]], 2)
    >>> neighbor_labels(found, sparse.csr_array([[1, 0], [1, 1]]), 0.0).toarray().tolist()
    [[1.0, 0.5]]
    """
    near = neighbors.indices >= 0
    weights = neighbor_weights(neighbors, power)
    pointers = np.concatenate([[0], np.cumsum(near.sum(axis=1))])
    # Only the neighbours' rows: a single document has few.
    rows, places = np.unique(neighbors.indices[near], return_inverse=True)
    around = sparse.csr_array((weights[near], places, pointers), shape=(near.shape[0], rows.size))
    shares = sparse.csr_array(around @ Y[rows].astype(np.float64))
    shares.sort_indices()
    return shares


@dataclass(kw_only=True, eq=False, repr=False)
class SubsetLLDA(TopicClassifier):
    r"""Labelled LDA over the labels of a document's neighbours (Papanikolaou and Tsoumakas, 2017).

    The candidates of a document are the labels of its ``n_neighbors`` nearest training documents,
    and the prior of candidate l is :math:`\alpha'_l = \eta f_l + \alpha` (eq. 2), where
    :math:`f_l` is the share of the neighbours that carry it. The paper counts neighbours; here they
    weigh their similarity to a power. ``SubsetLLDA.from_preset("papanikolaou")`` has the paper's
    settings.

    Parameters
    ----------
    n_neighbors : int, default=50
    power : float, default=3
        Neighbours weigh their similarity to this power; 0 counts them.
    weighting : {"tfidf", "bm25", "binary", "share", None} or Weighting, default="tfidf"
        What is done to the counts before the search for neighbours.
    eta : float, optional
        Prior weight of a label that all neighbours carry; by default in proportion to the
        document's length.
    alpha_sum : float, optional
        Prior weight shared evenly among all labels, of which the candidates have their part; by
        default in proportion to the document's length.
    inference : {"cgs", "cgs_p", "cvb0"}, default="cvb0"
    combine : {"counts", "posterior", "scaled"}, default="posterior"
    training, beta, ...
        These and the two before as of :class:`FlatLDA`.

    Attributes
    ----------
    training_, word_labels_
        As of :class:`FlatLDA`.
    index_ : NeighborIndex
    Y_ : csr_array
        The labels of the indexed documents.

    Examples
    --------
    >>> X = [[3, 1, 0], [2, 0, 1], [0, 1, 3], [0, 0, 2]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> SubsetLLDA().fit(X, Y).predict([[2, 0, 0], [0, 0, 1]]).tolist()
    [[1, 0], [0, 1]]
    """

    inference: str = "cvb0"
    n_neighbors: int = 50
    power: float = 3.0
    weighting: Any = "tfidf"
    eta: float | None = None
    combine: str = "posterior"

    _eta_a_word = 0.75
    _alpha_a_word = 0.1

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole("n_neighbors", self.n_neighbors, 1)
        check_real("power", self.power, 0.0)
        if self.eta is not None:
            check_real("eta", self.eta, 0.0)
        make_weighting(self.weighting)

    def _fit_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.weighting_: Weighting = make_weighting(self.weighting).fit(X)
        self.index_ = NeighborIndex(self.weighting_.transform(X))
        self.Y_ = Y

    def _more_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.index_.add(self.weighting_.transform(X))
        before = self.Y_.copy()
        before.resize((before.shape[0], Y.shape[1]))
        self.Y_ = sparse.csr_array(sparse.vstack([before, Y], "csr"))

    def _neighbors(self, X: sparse.csr_array) -> Neighbors:
        return self.index_.search(
            self.weighting_.transform(X), self.n_neighbors, n_jobs=self.n_jobs, verbose=self.verbose
        )

    def _priors(self, X: sparse.csr_array, neighbors: Neighbors) -> sparse.csr_array:
        """The prior weight of each candidate (eq. 2)."""
        priors = neighbor_labels(neighbors, self.Y_, self.power)
        n_candidates = np.diff(priors.indptr)
        etas, alphas = self._prior_weights(X)
        priors.data = priors.data * np.repeat(etas, n_candidates) + np.repeat(alphas, n_candidates)
        return priors

    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        return self.scores_from_neighbors(X, self._neighbors(X), top)

    def scores_from_neighbors(
        self, X: sparse.csr_array, neighbors: Neighbors, top: int | None = None
    ) -> sparse.csr_array:
        """Score documents whose neighbours have been found before.

        Parameters
        ----------
        X : csr_array of shape (n_samples, n_features)
            Counts, canonical.
        neighbors : Neighbors
            Among the documents of ``fit`` and ``partial_fit``, numbered in their order.
        top : int, optional
        """
        check_is_fitted(self)
        priors = self._priors(X, neighbors)
        scores = expected_tokens(
            self.word_labels_,
            X,
            priors,
            inference=self.inference,
            schedule=self._schedule(),
            seed=self.seed_,
            n_jobs=self.n_jobs,
        )
        n_candidates = np.diff(scores.indptr)
        length, whole = (np.repeat(lengths(each), n_candidates) for each in (X, priors))
        scores.data = self._shares(scores.data, priors.data, length, whole)
        return scores if top is None else keep_top(scores, top)

    def _credit(self, X: sparse.csr_array, labels: NDArray[np.int64]) -> Credit:
        neighbors = self._neighbors(X)
        priors = self._priors(X, neighbors)
        column = np.full(self.n_labels_, -1, np.int32)
        column[labels] = np.arange(labels.size)
        credit = np.zeros((X.nnz, labels.size))
        expected_tokens(
            self.word_labels_,
            X,
            priors,
            inference=self.inference,
            schedule=self._schedule(),
            seed=self.seed_,
            wanted=column[priors.indices],
            credit=credit,
        )
        prior = priors.toarray().ravel()
        whole = max(prior.sum(), np.finfo(float).tiny)
        sources = self._sources(neighbors, self._prior_weights(X)[0][0], labels)
        return Credit(credit[:, column[labels]], prior[labels], whole, sources)

    def _sources(
        self, neighbors: Neighbors, eta: float, labels: NDArray[np.int64]
    ) -> list[list[Reason]]:
        """The neighbours of one document that carry each label, by what they add to its prior."""
        near = neighbors.indices[0] >= 0
        rows, similarities = neighbors.indices[0][near], neighbors.similarities[0][near]
        weights = eta * neighbor_weights(neighbors, self.power)[0][near]
        carried = self.Y_[rows][:, labels].toarray().astype(bool)
        return [
            [
                Reason("neighbour", float(weights[i]), int(rows[i]), float(similarities[i]))
                for i in np.flatnonzero(carry)
            ]
            for carry in carried.T
        ]

    def label_prior(self, X: Any) -> sparse.csr_array:
        """Each candidate's share of the prior, for each sample."""
        check_is_fitted(self)
        X = self._checked_features(X, reset=False)
        priors = self._priors(X, self._neighbors(X))
        priors.data = priors.data / np.repeat(lengths(priors), np.diff(priors.indptr))
        return priors
