"""Labelled LDA with a prior that is the same for all documents."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from manylabel.topics.base import AllLabelsClassifier
from manylabel.topics.label_topics import LabelTopics, no_topic, one_topic
from manylabel.topics.sampling import Sampler
from manylabel.topics.training import LabelledTraining
from manylabel.validation import check_real

__all__ = ["FlatLDA", "LabeledLDA", "PriorLDA"]


class FlatLDA(AllLabelsClassifier):
    r"""Labelled LDA with a symmetric prior (Ramage et al., 2009; Flat-LDA in Rubin et al., 2012).

    Every word of a document belongs to one of its labels. In training the labels are known, and a
    word can only belong to those; a new document's words go to any label.

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

    Examples
    --------
    >>> X = [[3, 1, 0], [2, 0, 1], [0, 1, 3], [0, 0, 2]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> FlatLDA().fit(X, Y).predict([[2, 0, 0], [0, 0, 1]]).tolist()
    [[1, 0], [0, 1]]
    """

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

    def _fit_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.topics_: list[LabelTopics] = [no_topic(Y.shape[1])]
        self._topic_rows = [topics.rows(self.word_labels_) for topics in self.topics_]

    def _more_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self._fit_prior(X, Y)

    def _sampler(self) -> Sampler:
        return Sampler(
            self.word_labels_.rows,
            self._topic_rows,
            1.0,
            self.inference,
            self._schedule(),
            self.seed_,
        )


LabeledLDA = FlatLDA


class PriorLDA(FlatLDA):
    r"""Labelled LDA whose prior follows the labels' frequencies (Rubin et al., 2012).

    A new document's prior is :math:`\alpha'_c = \eta \phi'_c + \alpha`, where :math:`\phi'_c` is
    the share of label c among all label tokens of the training documents.

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
        Prior weight shared among the labels by frequency; by default in proportion to the
        document's length.
    label_beta : float, optional
        Pseudo-count of each label; by default a tenth of the label tokens is shared among all
        labels, as in Rubin's appendix B.
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

    Examples
    --------
    >>> X = [[3, 1, 0], [2, 0, 1], [0, 1, 3], [0, 0, 2]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> PriorLDA().fit(X, Y).predict([[2, 0, 0], [0, 0, 1]]).tolist()
    [[1, 0], [0, 1]]
    """

    _eta_a_word = 0.5
    _alpha_a_word = 0.1

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
        label_beta: float | None = None,
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
        self.label_beta = label_beta
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
        if self.label_beta is not None:
            check_real("label_beta", self.label_beta, 0.0)

    def _fit_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.topics_ = [one_topic(Y, pseudo_count(self.label_beta, Y, 1))]
        self._topic_rows = [topics.rows(self.word_labels_) for topics in self.topics_]

    def _more_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.topics_ = [topics.with_labels(Y) for topics in self.topics_]
        self._topic_rows = [topics.rows(self.word_labels_) for topics in self.topics_]


def pseudo_count(label_beta: float | None, Y: sparse.csr_array, n_topics: int) -> float:
    """As given, or so much that all topics together get a tenth of the label tokens more."""
    if label_beta is not None:
        return float(label_beta)
    return max(Y.nnz, 1) / (10.0 * n_topics * Y.shape[1])
