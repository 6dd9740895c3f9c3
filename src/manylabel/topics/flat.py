"""Labelled LDA over all labels, with the same prior for all documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.estimators import check_is_fitted
from manylabel.evidence import Reason
from manylabel.parallel import run_blocks
from manylabel.predictions import canonical_scores, keep_top
from manylabel.progress import progress_bar
from manylabel.scoring.documents import lengths
from manylabel.topics.base import Credit, TopicClassifier
from manylabel.topics.label_topics import LabelTopics, no_topic, one_topic
from manylabel.topics.sampling import Documents, Findings, Sampler
from manylabel.validation import check_real

__all__ = ["FlatLDA", "LabeledLDA", "PriorLDA", "pseudo_count"]

#: Maximum documents per task, and numbers in each array of a task.
_BLOCK, _CELLS = 32, 1 << 21


class FlatLDA(TopicClassifier):
    r"""Labelled LDA with a symmetric prior (Ramage et al., 2009; Flat-LDA in Rubin et al., 2012).

    Every word of a document belongs to one of its labels. In training the labels are known, and
    words go to those only; the words of a new document go to any label.

    Parameters
    ----------
    training : LabelledTraining, optional
        Label-word distributions from :func:`train_phi` on the same matrices, or another model's
        ``training_``; by default ``fit`` trains them.
    inference : {"cgs_p", "cgs", "cvb0"}, default="cgs_p"
        For training and prediction: collapsed Gibbs sampling with counts, the same with summed
        conditional distributions, or deterministic expected counts.
    beta : float, optional
        Pseudo-count of each word under each label; by default 0.1, with which rankings are better
        than with the 0.01 of the papers.
    train_eta : float, default=50
        Prior weight that a training document shares among its labels.
    train_alpha_sum : float, default=0
        Prior weight shared among all labels in training.
    train_chains, train_burn_in, train_samples, train_lag : int
        For training; see :class:`Schedule`.
    alpha_sum : float, optional
        Prior weight shared evenly among all labels; by default in proportion to the
        document's length.
    chains, burn_in, samples, lag : int
        For prediction; see :class:`Schedule`.
    combine : {"scaled", "counts", "posterior"}, default="scaled"
        How a score combines words and prior: the words' shares alone; both by their weights
        (eq. 4); or, Rubin's last heuristic, equally, with the prior scaled to the document's
        length.
    threshold : str, float or threshold, default="top"
        From scores to labels; see :func:`make_threshold`. A threshold that reads scores costs a
        second training, without a tenth of the documents.
    random_state : int, RandomState or None, default=0
    n_jobs : int, optional
        Threads: chains in training, documents in prediction. The result does not depend on it.
    verbose : int, default=0
        Show progress, with tokens per second and log-likelihood per token.

    Attributes
    ----------
    training_ : LabelledTraining
        To pass to other models.
    word_labels_ : WordLabels
        The label-word distributions.

    Examples
    --------
    >>> X = [[3, 1, 0], [2, 0, 1], [0, 1, 3], [0, 0, 2]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> FlatLDA().fit(X, Y).predict([[2, 0, 0], [0, 0, 1]]).tolist()
    [[1, 0], [0, 1]]
    """

    _beta = _beta_of_few = 0.1

    def _fit_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.topics_ = self._label_topics(Y)

    def _label_topics(self, Y: sparse.csr_array) -> list[LabelTopics]:
        """The topics of labels that form the prior."""
        return [no_topic(Y.shape[1])]

    def _more_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.topics_ = [topics.with_labels(Y, 1.0) for topics in self.topics_]

    def _sampler(self) -> Sampler:
        """What prediction needs, from the fitted state."""
        return Sampler(
            self.word_labels_.rows,
            [topics.rows(self.word_labels_) for topics in self.topics_],
            1.0,
            self.inference,
            self._schedule(),
            self.seed_,
        )

    def _run(self, X: sparse.csr_array, use: Callable[[int, int, Findings], None]) -> None:
        """Sample documents block by block; call ``use`` with each block's range and findings."""
        documents = Documents.of(X, *self._prior_weights(X))
        sampler = self._sampler()

        def work(start: int, stop: int) -> None:
            use(start, stop, sampler.run(documents, start, stop))

        block = max(1, min(_BLOCK, _CELLS // self.n_labels_))
        with progress_bar("Labelling documents", self.verbose) as callback:
            run_blocks(work, X.shape[0], block, self.n_jobs, callback)

    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        length = lengths(X)[:, None]
        blocks: dict[int, sparse.csr_array] = {}

        def score(start: int, stop: int, findings: Findings) -> None:
            whole = findings.priors.sum(axis=1, keepdims=True)
            shares = self._shares(findings.counts, findings.priors, length[start:stop], whole)
            block = canonical_scores(shares)
            blocks[start] = block if top is None else keep_top(block, top)

        self._run(X, score)
        return sparse.csr_array(sparse.vstack([blocks[start] for start in sorted(blocks)], "csr"))

    def _credit(self, X: sparse.csr_array, labels: NDArray[np.int64]) -> Credit:
        documents = Documents.of(X, *self._prior_weights(X))
        findings = self._sampler().run(documents, 0, 1, labels)
        prior = findings.priors[0]
        return Credit(
            findings.credit[:, findings.wanted[labels]],
            prior[labels],
            float(prior.sum()),
            self._sources(findings.mixtures[0], prior[labels] - documents.alphas[0], labels),
        )

    def _sources(
        self,
        mixture: NDArray[np.float64],
        weights: NDArray[np.float64],
        labels: NDArray[np.int64],
    ) -> list[list[Reason]]:
        """The sources of the labels' prior weights, without the part shared evenly."""
        return [[] for _ in labels]

    def label_prior(self, X: Any) -> NDArray[np.float64]:
        """Each label's share of the prior, for each sample.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_labels)
        """
        check_is_fitted(self)
        X = self._checked_features(X, reset=False)
        shares = np.empty((X.shape[0], self.n_labels_))

        def keep(start: int, stop: int, findings: Findings) -> None:
            shares[start:stop] = findings.priors / findings.priors.sum(axis=1, keepdims=True)

        self._run(X, keep)
        return shares


LabeledLDA = FlatLDA


@dataclass(kw_only=True, eq=False, repr=False)
class PriorLDA(FlatLDA):
    r"""Labelled LDA whose prior follows the labels' frequencies (Rubin et al., 2012).

    A new document's prior is :math:`\alpha'_c = \eta \phi'_c + \alpha`, where :math:`\phi'_c` is
    the share of label c among all label tokens of the training documents.

    Parameters
    ----------
    eta : float, optional
        Prior weight shared among the labels by frequency; by default in proportion to the
        document's length.
    label_beta : float, optional
        Pseudo-count of each label; by default a tenth of the label tokens is shared among all
        labels, as in Rubin's appendix B.
    beta : float, optional
        Pseudo-count of each word under each label; by default 0.01, or 0.1 with fewer than 1,000
        features.
    training, inference, ...
        As in :class:`FlatLDA`.

    Attributes
    ----------
    training_, word_labels_
        As in :class:`FlatLDA`.
    topics_ : list of LabelTopics
        A single element with a single topic: the labels' frequencies.

    Examples
    --------
    >>> X = [[3, 1, 0], [2, 0, 1], [0, 1, 3], [0, 0, 2]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> PriorLDA().fit(X, Y).predict([[2, 0, 0], [0, 0, 1]]).tolist()
    [[1, 0], [0, 1]]
    """

    eta: float | None = None
    label_beta: float | None = None

    _beta = 0.01
    _eta_per_word = 0.5
    _alpha_per_word = 0.1

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("eta", "label_beta"):
            if getattr(self, name) is not None:
                check_real(name, getattr(self, name), 0.0)

    def _label_topics(self, Y: sparse.csr_array) -> list[LabelTopics]:
        return [one_topic(Y, pseudo_count(self.label_beta, Y, 1))]


def pseudo_count(label_beta: float | None, Y: sparse.csr_array, n_topics: int) -> float:
    """As given, or such that the pseudo-counts of all topics sum to a tenth of the label tokens."""
    if label_beta is not None:
        return float(label_beta)
    return max(Y.nnz, 1) / (10.0 * n_topics * Y.shape[1])
