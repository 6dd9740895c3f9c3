"""Latent Dirichlet allocation: unsupervised topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.estimators import (
    BaseEstimator,
    Tags,
    TransformerMixin,
    check_is_fitted,
    validate_data,
)
from manylabel.exceptions import ParameterError
from manylabel.parallel import map_blocks
from manylabel.scoring.documents import lengths
from manylabel.topics.partitions import Partitions, sample_partitions
from manylabel.topics.schedule import (
    Progress,
    Schedule,
    check_inference,
    has_converged,
    sweep_progress,
    warn_if_rising,
)
from manylabel.topics.training import draw_seed, split_tokens
from manylabel.topics.word_labels import WordLabels, expected_tokens
from manylabel.validation import check_matrix, check_positive, check_structure, check_whole

__all__ = ["LDA", "TopicChain", "train_topics"]

#: For new documents, whose topics settle quickly: at most a hundred sweeps.
_TRANSFORM = Schedule(chains=1, burn_in=51, samples=50, lag=1)


@dataclass(frozen=True)
class TopicChain:
    """The topics of one chain.

    Parameters
    ----------
    counts : csr_array of shape (n_words, n_topics)
        Mean tokens over the samples.
    log_likelihoods : tuple of float
        Log-likelihood per token after each sweep.
    """

    counts: sparse.csr_array
    log_likelihoods: tuple[float, ...]


@dataclass(frozen=True)
class _Problem:
    """Documents, and the model's constants."""

    X: sparse.csr_array
    n_tokens: float
    n_topics: int
    gamma: float
    beta: float
    soft: bool
    schedule: Schedule
    seed: int

    def stream(self, chain: int) -> NDArray[np.uint64]:
        """The random numbers of a chain."""
        from manylabel.kernels import rng

        state = np.empty(1, np.uint64)
        rng.start_stream(state, np.uint64(self.seed), np.uint64(chain))
        return state


def train_topics(
    X: sparse.csr_array,
    *,
    n_topics: int,
    gamma: float,
    beta: float,
    inference: str,
    schedule: Schedule,
    seed: int,
    n_partitions: int = 1,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[TopicChain]:
    """Find topics, independently in each chain; they are never averaged over chains.

    Parameters
    ----------
    X : csr_array of shape (n_documents, n_words)
    n_topics : int
    gamma, beta : float
        Prior weights of each topic in a document and of each word in a topic.
    inference : {"cgs", "cgs_p", "cvb0"}
    schedule : Schedule
    seed : int
    n_partitions : int
        Partitions of the documents that one chain sweeps at the same time.
    n_jobs, verbose
        As in scikit-learn; chains run in parallel.
    """
    n_tokens = float(X.sum())
    problem = _Problem(X, n_tokens, n_topics, gamma, beta, inference == "cgs_p", schedule, seed)
    with sweep_progress("Topics", verbose, schedule.chains * schedule.sweeps, n_tokens) as progress:
        if n_partitions > 1:
            partitions = Partitions.of(X, n_partitions, n_topics, gamma, beta, seed, schedule)
            counts, history = sample_partitions(partitions, n_jobs, progress)
            return [TopicChain(counts, _per_token(history, n_tokens))]
        chains = list(
            map_blocks(
                _one_chain,
                (problem, inference == "cvb0"),
                schedule.chains,
                1,
                n_jobs,
                fixed=True,
                here={"progress": progress},
            )
        )
    warn_if_rising(list(chains[0].log_likelihoods), "The training of topics")
    return chains


def _one_chain(
    problem: _Problem, expected: bool, chain: int, stop: int, progress: Progress | None = None
) -> TopicChain:
    """Run one chain; a block is a single chain."""
    run = _expect if expected else _sample
    counts, history = run(problem, chain, progress or Progress(None, 0, 0.0))
    return TopicChain(counts, _per_token(history, problem.n_tokens))


def _per_token(history: list[float], n_tokens: float) -> tuple[float, ...]:
    return tuple(value / max(n_tokens, 1.0) for value in history)


def _sample(
    problem: _Problem, chain: int, progress: Progress
) -> tuple[sparse.csr_array, list[float]]:
    """One chain of Gibbs sampling."""
    from manylabel.kernels import lda_topics

    X, schedule, n_topics = problem.X, problem.schedule, problem.n_topics
    state = problem.stream(chain)
    n_words = X.shape[1]
    token_ptr, weights = split_tokens(X.data)
    assigned = np.full(token_ptr[-1], -1, np.int32)
    # A word is in no more topics than it has tokens.
    tokens_per_word = np.bincount(X.indices, np.diff(token_ptr), n_words).astype(np.int64)
    list_ptr = np.concatenate([[0], np.cumsum(np.minimum(tokens_per_word, n_topics))])
    list_size = np.zeros(n_words, np.int64)
    list_topics, list_n = np.zeros(list_ptr[-1], np.int32), np.zeros(list_ptr[-1])
    topic_n = np.zeros(n_topics)
    soft_n = np.zeros((n_words if problem.soft else 0, n_topics))
    doc_ptr, words = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    counts = sparse.csr_array((n_words, n_topics))
    history = []
    for sweep in range(schedule.sweeps + 1):
        # Sweep 0 gives every token its first topic.
        sampled = sweep > 0 and schedule.is_sample(sweep)
        log_likelihood = lda_topics.sweep(
            doc_ptr, token_ptr, words, weights, assigned, list_ptr, list_size, list_topics, list_n,
            topic_n, problem.gamma, problem.beta, n_words, state, problem.soft and sampled, soft_n,
        )  # fmt: skip
        if sampled and not problem.soft:
            kept = np.arange(list_ptr[-1]) - np.repeat(list_ptr[:-1], np.diff(list_ptr))
            kept = kept < np.repeat(list_size, np.diff(list_ptr))
            coords = (np.repeat(np.arange(n_words), list_size), list_topics[kept])
            counts = counts + sparse.csr_array((list_n[kept], coords), shape=counts.shape)
        if sweep > 0:
            history.append(log_likelihood)
            progress.swept(log_likelihood)
    total = sparse.csr_array(soft_n if problem.soft else counts)
    return sparse.csr_array(total / schedule.samples), history


def _expect(
    problem: _Problem, chain: int, progress: Progress
) -> tuple[sparse.csr_array, list[float]]:
    """One run of CVB0 from a random start, until the log-likelihood settles."""
    from manylabel.kernels import lda_topics

    X, n_topics = problem.X, problem.n_topics
    doc_ptr, words = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    share = np.empty((X.nnz, n_topics), np.float32)
    word_n, topic_n = np.zeros((X.shape[1], n_topics)), np.zeros(n_topics)
    lda_topics.share_at_random(words, X.data, share, word_n, topic_n, problem.stream(chain))
    corpus = (doc_ptr, words, X.data, share, word_n, topic_n)
    history: list[float] = []
    for _ in range(problem.schedule.sweeps):
        history.append(lda_topics.expect(*corpus, problem.gamma, problem.beta))
        progress.swept(history[-1])
        if has_converged(history, problem.n_tokens):
            break
    return sparse.csr_array(word_n), history


class LDA(TransformerMixin, BaseEstimator):
    """Latent Dirichlet allocation: documents as mixtures of topics, topics as mixtures of words.

    Parameters
    ----------
    n_topics : int, default=100
    gamma : float, default=0.1
        Prior weight of each topic in a document.
    beta : float, default=0.01
        Prior weight of each word in a topic.
    inference : {"cgs", "cgs_p", "cvb0"}, default="cgs"
        For ``fit`` and ``transform``: collapsed Gibbs sampling with counts, the same with summed
        conditional distributions, or deterministic expected counts, which take 4 bytes per
        non-zero of X and topic.
    partitions : int, default=1
        With more than one, a chain sweeps this many partitions of the documents at the same time,
        each with the counts after the sweep before. The topics are nearly as good, and one long
        chain uses several cores or a cluster. For "cgs" and one chain. The result depends on this
        number, not on where the partitions run.
    chains, burn_in, samples, lag : int
        For ``fit``; see :class:`Schedule`. Topics of different chains are not comparable and never
        averaged; the chain with the greatest log-likelihood is used.
    random_state : int, RandomState or None, default=0
    n_jobs : int, optional
        Threads, one per chain.
    verbose : int, default=0

    Attributes
    ----------
    components_ : ndarray of shape (n_topics, n_words)
        The topics' distributions over words.
    chains_ : list of TopicChain
        All chains.
    log_likelihood_ : float
        Log-likelihood per token of the chain that is used.

    Examples
    --------
    >>> X = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 2], [0, 0, 2, 2]]
    >>> lda = LDA(n_topics=2).fit(X)
    >>> mixtures = lda.transform(X)
    >>> bool(mixtures[0].argmax() == mixtures[1].argmax() != mixtures[2].argmax())
    True
    """

    def __init__(
        self,
        n_topics: int = 100,
        *,
        gamma: float = 0.1,
        beta: float = 0.01,
        inference: str = "cgs",
        partitions: int = 1,
        chains: int = 1,
        burn_in: int = 200,
        samples: int = 1,
        lag: int = 1,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.gamma = gamma
        self.beta = beta
        self.inference = inference
        self.partitions = partitions
        self.chains = chains
        self.burn_in = burn_in
        self.samples = samples
        self.lag = lag
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        """Describe the estimator to scikit-learn: sparse, non-negative input."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the topics of documents.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_documents, n_words)
            Counts, or non-negative weights.
        y : ignored
        """
        check_whole("n_topics", self.n_topics, 1)
        for name in ("gamma", "beta"):
            check_positive(name, getattr(self, name))
        check_inference(self.inference)
        schedule = Schedule(self.chains, self.burn_in, self.samples, self.lag).check()
        check_whole("partitions", self.partitions, 1)
        if self.partitions > 1 and (self.inference != "cgs" or self.chains > 1):
            raise ParameterError(
                "`partitions` are for one chain with `inference` 'cgs'; got "
                f"{self.chains} chains and {self.inference!r}."
            )
        X = self._checked(X, reset=True)
        self.seed_ = draw_seed(self.random_state)
        self.chains_ = train_topics(
            X,
            n_topics=self.n_topics,
            gamma=self.gamma,
            beta=self.beta,
            inference=self.inference,
            schedule=schedule,
            seed=self.seed_,
            n_partitions=min(self.partitions, max(X.shape[0], 1)),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        best = max(self.chains_, key=lambda chain: chain.log_likelihoods[-1])
        self.log_likelihood_ = best.log_likelihoods[-1]
        self.word_topics_ = WordLabels.from_counts(best.counts, self.beta)
        self.components_: NDArray[np.float64] = self.word_topics_.toarray().T
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The mixture of topics of each document; the topics do not change.

        Returns
        -------
        mixtures : ndarray of shape (n_documents, n_topics)
            Rows sum to 1.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        n_topics = self.n_topics
        every = sparse.csr_array(
            (
                np.full(X.shape[0] * n_topics, float(self.gamma)),
                np.tile(np.arange(n_topics), X.shape[0]),
                np.arange(X.shape[0] + 1) * n_topics,
            ),
            shape=(X.shape[0], n_topics),
        )
        tokens = expected_tokens(
            self.word_topics_,
            X,
            every,
            inference=self.inference,
            schedule=_TRANSFORM,
            seed=self.seed_,
            n_jobs=self.n_jobs,
        )
        mixtures = tokens.toarray() + self.gamma
        return mixtures / (lengths(X)[:, None] + n_topics * self.gamma)

    def _checked(self, X: Any, reset: bool) -> sparse.csr_array:
        check_structure(X)
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype="numeric")
        return check_matrix(X)

    @property
    def _n_features_out(self) -> int:
        return self.n_topics
