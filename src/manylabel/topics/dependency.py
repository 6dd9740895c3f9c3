"""Labelled LDA whose labels come from topics of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from manylabel.exceptions import InputError, ParameterError
from manylabel.topics.base import best_places
from manylabel.topics.flat import PriorLDA, pseudo_count
from manylabel.topics.label_topics import LabelTopics
from manylabel.topics.lda import train_topics
from manylabel.topics.sampling import Sampler
from manylabel.topics.schedule import Schedule
from manylabel.topics.training import LabelledTraining
from manylabel.validation import check_real, check_whole

__all__ = ["DependencyLDA"]


class DependencyLDA(PriorLDA):
    r"""Labelled LDA that knows which labels go together (Rubin et al., 2012).

    An unsupervised topic model of the training documents' label sets gives topics, distributions
    over labels. A new document has topics, its topics a distribution over labels, and that is its
    prior: :math:`\alpha' = \eta\, \theta' \Phi' + \alpha` (eq. 12).

    Parameters
    ----------
    training : LabelledTraining, optional
        Label-word distributions trained before by :func:`train_phi` on the same matrices, or
        another model's ``training_``; by default they are trained here.
    inference : {"cgs", "cgs_p", "cvb0"}, default="cgs_p"
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
    eta : float, optional
        Prior weight shared among the labels by their probability under the document's topics; by
        default in proportion to the document's length.
    n_topics : int, optional
        By default as many as labels, at most 200.
    label_beta : float, optional
        Pseudo-count of each label in each topic; by default a tenth of the label tokens is shared
        among all topics and labels.
    topic_gamma : float, default=0.01
        Prior weight of each topic in training.
    topic_chains, topic_burn_in, topic_samples, topic_lag : int
        Of the training of topics. Each chain has topics of its own, and chains of prediction are
        spread over them.
    gamma_sum : float, optional
        Prior weight shared among a new document's topics; by default a twentieth of the number of
        topics.
    sampler : {"fast", "proper"}, default="fast"
        Pass the labels of words straight to the topics (eq. 10 to 12), or sample label tokens
        between them (eq. 9). CVB0 is always fast.
    n_label_tokens : int, default=200
        Of a document, in the proper sampler.
    alpha_sum : float, optional
        Prior weight shared evenly among all labels; by default in proportion to the
        document's length.
    chains, burn_in, samples, lag : int
        Of prediction; see :class:`Schedule`.
    combine : {"counts", "posterior", "scaled"}, default="scaled"
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
    topics_ : list of LabelTopics
        The topic-label distributions of each chain.

    Examples
    --------
    >>> X = [[3, 1, 0], [2, 0, 1], [0, 1, 3], [0, 0, 2]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> DependencyLDA().fit(X, Y).predict([[2, 0, 0], [0, 0, 1]]).tolist()
    [[1, 0], [0, 1]]
    """

    _eta_a_word = 1.0

    def __init__(
        self,
        *,
        training: LabelledTraining | None = None,
        inference: str = "cgs_p",
        beta: float = 0.01,
        train_eta: float = 50.0,
        train_alpha_sum: float = 0.0,
        train_chains: int = 2,
        train_burn_in: int = 40,
        train_samples: int = 1,
        train_lag: int = 1,
        eta: float | None = None,
        n_topics: int | None = None,
        label_beta: float | None = None,
        topic_gamma: float = 0.01,
        topic_chains: int = 2,
        topic_burn_in: int = 200,
        topic_samples: int = 1,
        topic_lag: int = 1,
        gamma_sum: float | None = None,
        sampler: str = "fast",
        n_label_tokens: int = 200,
        alpha_sum: float | None = None,
        chains: int = 1,
        burn_in: int = 20,
        samples: int = 20,
        lag: int = 1,
        combine: str = "scaled",
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
        self.eta = eta
        self.n_topics = n_topics
        self.label_beta = label_beta
        self.topic_gamma = topic_gamma
        self.topic_chains = topic_chains
        self.topic_burn_in = topic_burn_in
        self.topic_samples = topic_samples
        self.topic_lag = topic_lag
        self.gamma_sum = gamma_sum
        self.sampler = sampler
        self.n_label_tokens = n_label_tokens
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
        if self.n_topics is not None:
            check_whole("n_topics", self.n_topics, 1)
        for name in ("topic_gamma", "gamma_sum"):
            value = getattr(self, name)
            if value is not None and not check_real(name, value, 0.0) > 0:
                raise ParameterError(f"`{name}` must be greater than 0; got 0.")
        self._topic_schedule().check("topic_")
        check_whole("n_label_tokens", self.n_label_tokens, 1)
        if self.sampler not in ("fast", "proper"):
            raise ParameterError(f"`sampler` must be 'fast' or 'proper'; got {self.sampler!r}.")

    def _topic_schedule(self) -> Schedule:
        return Schedule(self.topic_chains, self.topic_burn_in, self.topic_samples, self.topic_lag)

    def _fit_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        n_topics = min(200, Y.shape[1]) if self.n_topics is None else self.n_topics
        beta = pseudo_count(self.label_beta, Y, n_topics)
        chains = train_topics(
            sparse.csr_array(Y, dtype=np.float64),
            n_topics,
            self.topic_gamma,
            beta,
            "cgs",
            self._topic_schedule(),
            self.seed_,
            self.n_jobs,
            self.verbose,
        )
        self.topics_ = [LabelTopics(chain.counts.T.tocsr(), beta) for chain in chains]
        self._topic_rows = [topics.rows(self.word_labels_) for topics in self.topics_]

    def _sampler(self) -> Sampler:
        n_topics = self.topics_[0].n_topics
        gamma_sum = n_topics / 20 if self.gamma_sum is None else self.gamma_sum
        return Sampler(
            self.word_labels_.rows,
            self._topic_rows,
            gamma_sum / n_topics,
            self.inference,
            self._schedule(),
            self.seed_,
            self.n_label_tokens if self.sampler == "proper" else None,
        )

    def topic_labels(self, topic: int, top: int = 10, chain: int = 0) -> list[tuple[int, float]]:
        """The labels that define a topic, as (label, probability), likeliest first.

        Parameters
        ----------
        topic : int
        top : int
        chain : int
            Topics of different chains have nothing to do with each other.
        """
        check_is_fitted(self)
        for name, value, size in (
            ("chains", chain, len(self.topics_)),
            ("topics", topic, self.topics_[0].n_topics),
        ):
            if not 0 <= value < size:
                raise InputError(f"{name} are numbered 0 to {size - 1}; got {value}.")
        return best_places(self.topics_[chain].of_topic(topic), top)
