"""Labelled LDA restricted to the labels of a document's neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from manylabel.neighbors import NeighborIndex, Neighbors
from manylabel.parallel import run_blocks
from manylabel.predictions import keep_top
from manylabel.text.weighting import Weighting, make_weighting
from manylabel.topics.base import BLOCK, TopicClassifier
from manylabel.topics.sampling import SETTLED, lengths
from manylabel.topics.schedule import Schedule
from manylabel.topics.training import LabelledTraining
from manylabel.topics.word_labels import WordLabels
from manylabel.validation import check_real, check_whole, csr_parts

__all__ = ["SubsetLLDA", "expected_tokens", "neighbor_labels"]


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
    weights = np.where(near, neighbors.similarities.astype(np.float64) ** power, 0.0)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    pointers = np.concatenate([[0], np.cumsum(near.sum(axis=1))])
    around = sparse.csr_array(
        (weights[near], neighbors.indices[near], pointers), shape=(near.shape[0], Y.shape[0])
    )
    shares = sparse.csr_array(around @ Y.astype(np.float64))
    shares.sort_indices()
    return shares


def expected_tokens(
    word_labels: WordLabels,
    X: sparse.csr_array,
    priors: sparse.csr_array,
    *,
    inference: str,
    schedule: Schedule,
    seed: int = 0,
    n_jobs: int | None = None,
    wanted: NDArray[np.int32] | None = None,
    credit: NDArray[np.float64] | None = None,
) -> sparse.csr_array:
    """The mean number of each document's tokens that go to each of its candidates.

    Parameters
    ----------
    word_labels : WordLabels
    X : csr_array of shape (n_documents, n_words)
    priors : csr_array of shape (n_documents, n_labels)
        The stored labels are a document's candidates, the values their prior weights.
    inference : {"cgs", "cgs_p", "cvb0"}
    schedule : Schedule
    seed : int
    n_jobs : int, optional
    wanted, credit : ndarray, optional
        For a single document: ``wanted`` maps each candidate to a column of ``credit`` or to -1,
        and its tokens are added there by word.

    Returns
    -------
    tokens : csr_array like ``priors``
    """
    from manylabel.kernels import candidates

    documents = csr_parts(X, np.float64)
    pointers, labels, weights = csr_parts(priors, np.float64)
    tokens = np.zeros(labels.size)
    if wanted is None or credit is None:
        wanted, credit = np.empty(0, np.int32), np.empty((0, 0))
    rows = word_labels.rows
    plan = (schedule.chains, schedule.burn_in, schedule.samples, schedule.lag)
    soft, stream = inference == "cgs_p", np.uint64(seed)

    def work(start: int, stop: int) -> None:
        given = (start, stop, *documents, rows, pointers, labels, weights)
        if inference == "cvb0":
            candidates.expect_candidates(*given, schedule.sweeps, SETTLED, tokens, wanted, credit)
        else:
            candidates.sample_candidates(*given, *plan, stream, soft, tokens, wanted, credit)

    run_blocks(work, X.shape[0], BLOCK, n_jobs)
    return sparse.csr_array((tokens, labels, pointers), shape=priors.shape)


class SubsetLLDA(TopicClassifier):
    r"""Labelled LDA over the labels of a document's neighbours (Papanikolaou and Tsoumakas, 2017).

    The candidates of a document are the labels of its ``n_neighbors`` nearest training documents,
    and the prior of candidate l is :math:`\alpha'_l = \eta f_l + \alpha` (eq. 2), where
    :math:`f_l` is the share of the neighbours that carry it. The paper counts neighbours; here they
    weigh their similarity to a power. ``SubsetLLDA.from_preset("papanikolaou")`` has the paper's
    settings.

    Parameters
    ----------
    training : LabelledTraining, optional
        Label-word distributions trained before by :func:`train_phi` on the same matrices, or
        another model's ``training_``; by default they are trained here.
    inference : {"cgs", "cgs_p", "cvb0"}, default="cvb0"
        Of training and prediction: collapsed Gibbs sampling, by counts or by summed conditional
        distributions, or deterministic expected counts.
    beta : float, default=0.01
        Pseudo-count of each word under each label.
    train_eta : float, default=50
        Prior weight that a training document shares among its labels.
    train_alpha_sum : float, default=0
        Prior weight shared among all labels in training.
    train_chains, train_burn_in, train_samples, train_lag : int
        Of training; see :class:`Schedule`.
    n_neighbors : int, default=50
    power : float, default=3
        Neighbours weigh their similarity to this power; 0 counts them.
    weighting : {"tfidf", "bm25", "binary", None} or Weighting, default="tfidf"
        What is done to the counts before the search for neighbours.
    eta : float, optional
        Prior weight of a label that all neighbours carry; by default in proportion to the
        document's length.
    alpha_sum : float, optional
        Prior weight shared evenly among all labels, of which the candidates have their part; by
        default in proportion to the document's length.
    chains, burn_in, samples, lag : int
        Of prediction; see :class:`Schedule`.
    combine : {"counts", "posterior", "scaled"}, default="posterior"
        What a score is made of: the words' shares alone; words and prior as they weigh (eq. 4); or,
        Rubin's last heuristic, both alike, the prior scaled to the document's length.
    threshold : str, float or threshold, default="top"
        From scores to labels; see :func:`make_threshold`. One that reads scores costs a second
        training, without a tenth of the documents.
    random_state : int, RandomState or None, default=0
    n_jobs : int, optional
        Threads: chains in training, documents in prediction. The result does not depend on it.
    verbose : int, default=0
        Show progress, with tokens per second and log-likelihood per token.

    Attributes
    ----------
    training_ : LabelledTraining
        To hand to other models.
    word_labels_ : WordLabels
        The label-word distributions.
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

    _eta_a_word = 0.75
    _alpha_a_word = 0.1

    def __init__(
        self,
        *,
        training: LabelledTraining | None = None,
        inference: str = "cvb0",
        beta: float = 0.01,
        train_eta: float = 50.0,
        train_alpha_sum: float = 0.0,
        train_chains: int = 2,
        train_burn_in: int = 40,
        train_samples: int = 1,
        train_lag: int = 1,
        n_neighbors: int = 50,
        power: float = 3.0,
        weighting: Any = "tfidf",
        eta: float | None = None,
        alpha_sum: float | None = None,
        chains: int = 1,
        burn_in: int = 20,
        samples: int = 20,
        lag: int = 1,
        combine: str = "posterior",
        threshold: Any = "top",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.training = training
        self.inference = inference
        self.beta = beta
        self.train_eta = train_eta
        self.train_alpha_sum = train_alpha_sum
        self.train_chains = train_chains
        self.train_burn_in = train_burn_in
        self.train_samples = train_samples
        self.train_lag = train_lag
        self.n_neighbors = n_neighbors
        self.power = power
        self.weighting = weighting
        self.eta = eta
        self.alpha_sum = alpha_sum
        self.chains = chains
        self.burn_in = burn_in
        self.samples = samples
        self.lag = lag
        self.combine = combine
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole("n_neighbors", self.n_neighbors, 1)
        check_real("power", self.power, 0.0)
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
        of_prior = self._prior_share(length, whole)
        words = np.maximum(length, np.finfo(float).tiny)
        scores.data = (1 - of_prior) * scores.data / words + of_prior * priors.data / whole
        return scores if top is None else keep_top(scores, top)

    def _credit(
        self, X: sparse.csr_array, labels: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        priors = self._priors(X, self._neighbors(X))
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
        weights = priors.toarray().ravel()
        return credit[:, column[labels]], weights[labels], max(weights.sum(), np.finfo(float).tiny)

    def label_prior(self, X: Any) -> sparse.csr_array:
        """Each candidate's share of the prior, for each sample."""
        check_is_fitted(self)
        X = self._checked_features(X, reset=False)
        priors = self._priors(X, self._neighbors(X))
        priors.data = priors.data / np.repeat(lengths(priors), np.diff(priors.indptr))
        return priors
