"""Labelled LDA with a prior from topics of labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.estimators import check_is_fitted
from manylabel.evidence import Reason
from manylabel.exceptions import InputError, ParameterError
from manylabel.topics.base import best_positions
from manylabel.topics.flat import PriorLDA, pseudo_count
from manylabel.topics.label_topics import LabelTopics
from manylabel.topics.lda import train_topics
from manylabel.topics.sampling import Findings, Sampler
from manylabel.topics.schedule import Schedule
from manylabel.validation import check_positive, check_whole

__all__ = ["DependencyLDA"]


@dataclass(kw_only=True, eq=False, repr=False)
class DependencyLDA(PriorLDA):
    r"""Labelled LDA that knows which labels go together (Rubin et al., 2012).

    An unsupervised topic model of the training documents' label sets gives topics, which are
    distributions over labels. The topics of a new document give a distribution over labels, and
    that is its prior: :math:`\alpha' = \eta\, \theta' \Phi' + \alpha` (eq. 12).

    Parameters
    ----------
    eta : float, optional
        Prior weight shared among the labels by their probability under the document's topics; by
        default in proportion to the document's length.
    n_topics : int, optional
        By default the number of labels, at most 200.
    label_beta : float, optional
        Pseudo-count of each label in each topic; by default a tenth of the label tokens is shared
        among all topics and labels.
    topic_gamma : float, default=0.01
        Prior weight of each topic in training.
    topic_chains, topic_burn_in, topic_samples, topic_lag : int
        For the training of topics. Each chain has its own topics, and the chains of prediction are
        distributed over them.
    gamma_sum : float, optional
        Prior weight shared among a new document's topics; by default a twentieth of the number of
        topics.
    sampler : {"fast", "proper"}, default="fast"
        Pass the labels of words straight to the topics (eq. 10 to 12), or sample label tokens
        between them (eq. 9), which CVB0 cannot do.
    n_label_tokens : int, default=200
        Label tokens per document, in the proper sampler.
    training, inference, ...
        As in :class:`FlatLDA`.

    Attributes
    ----------
    training_, word_labels_
        As in :class:`FlatLDA`.
    topics_ : list of LabelTopics
        The topic-label distributions of each chain.

    Examples
    --------
    >>> X = [[3, 1, 0], [2, 0, 1], [0, 1, 3], [0, 0, 2]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> DependencyLDA().fit(X, Y).predict([[2, 0, 0], [0, 0, 1]]).tolist()
    [[1, 0], [0, 1]]
    """

    n_topics: int | None = None
    topic_gamma: float = 0.01
    topic_chains: int = 2
    topic_burn_in: int = 200
    topic_samples: int = 1
    topic_lag: int = 1
    gamma_sum: float | None = None
    sampler: str = "fast"
    n_label_tokens: int = 200

    _eta_per_word = 1.0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_topics is not None:
            check_whole("n_topics", self.n_topics, 1)
        for name in ("label_beta", "topic_gamma", "gamma_sum"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))
        self._topic_schedule().check("topic_")
        check_whole("n_label_tokens", self.n_label_tokens, 1)
        if self.sampler not in ("fast", "proper"):
            raise ParameterError(f"`sampler` must be 'fast' or 'proper'; got {self.sampler!r}.")
        if self.sampler == "proper" and self.inference == "cvb0":
            raise ParameterError(
                "`sampler` must be 'fast' with `inference` 'cvb0', which draws no label tokens; "
                "got 'proper'."
            )

    def _topic_schedule(self) -> Schedule:
        return Schedule(self.topic_chains, self.topic_burn_in, self.topic_samples, self.topic_lag)

    def _label_topics(self, Y: sparse.csr_array) -> list[LabelTopics]:
        n_topics = min(200, Y.shape[1]) if self.n_topics is None else self.n_topics
        beta = pseudo_count(self.label_beta, Y, n_topics)
        chains = train_topics(
            sparse.csr_array(Y, dtype=np.float64),
            n_topics=n_topics,
            gamma=self.topic_gamma,
            beta=beta,
            inference="cgs",
            schedule=self._topic_schedule(),
            seed=self.seed_,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        return [LabelTopics(chain.counts.T.tocsr(), beta) for chain in chains]

    def _more_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.topics_ = [topics.with_labels(Y, self.topic_gamma) for topics in self.topics_]

    def _sampler(self) -> Sampler:
        n_topics = self.topics_[0].n_topics
        gamma_sum = n_topics / 20 if self.gamma_sum is None else self.gamma_sum
        return replace(
            super()._sampler(),
            gamma=gamma_sum / n_topics,
            label_tokens=self.n_label_tokens if self.sampler == "proper" else None,
        )

    def _sources(
        self,
        mixture: NDArray[np.float64],
        weights: NDArray[np.float64],
        labels: NDArray[np.int64],
    ) -> list[list[Reason]]:
        """The topics, with what each adds to a label's prior (eq. 12)."""
        by_topic = np.vstack([topics.of_labels(labels) for topics in self.topics_])
        by_topic *= mixture[:, None]
        by_topic *= weights / by_topic.sum(axis=0)
        return [
            [
                Reason("topic", float(part), index=number, similarity=float(mixture[number]))
                for number, part in enumerate(parts)
            ]
            for parts in by_topic.T
        ]

    def document_topics(self, X: Any) -> NDArray[np.float64]:
        """The shares of the topics of labels in each sample.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_topics of all chains)
            The topics of all chains side by side, since topics of different chains are not
            comparable. Rows sum to 1.
        """
        check_is_fitted(self)
        X = self._checked_features(X, reset=False)
        shares = np.empty((X.shape[0], sum(topics.n_topics for topics in self.topics_)))

        def keep(start: int, stop: int, findings: Findings) -> None:
            shares[start:stop] = findings.mixtures

        self._run(X, keep)
        return shares

    def topic_labels(self, topic: int, top: int = 10) -> list[tuple[int, float]]:
        """The labels that define a topic, as (label, probability), most probable first.

        Parameters
        ----------
        topic : int
            Topics are numbered consecutively over all chains.
        top : int
        """
        check_is_fitted(self)
        each = self.topics_[0].n_topics
        if not 0 <= topic < each * len(self.topics_):
            raise InputError(
                f"topics are numbered 0 to {each * len(self.topics_) - 1}; got {topic}."
            )
        return best_positions(self.topics_[topic // each].of_topic(topic % each), top)
