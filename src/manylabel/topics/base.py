"""What the labelled topic models share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from manylabel.base import MultiLabelClassifier
from manylabel.evidence import Explanation, Reason
from manylabel.exceptions import InputError, ParameterError
from manylabel.parallel import run_blocks
from manylabel.predictions import canonical_scores, keep_top, rank_order
from manylabel.progress import progress_bar
from manylabel.thresholds import TopK
from manylabel.topics.fold import own_credit
from manylabel.topics.presets import preset
from manylabel.topics.sampling import Documents, Sampler, lengths
from manylabel.topics.schedule import Schedule, check_inference
from manylabel.topics.training import LabelledTraining, draw_seed, train_phi
from manylabel.topics.word_labels import WordLabels
from manylabel.validation import check_labels, check_real, check_same_rows, check_whole

__all__ = ["AllLabelsClassifier", "TopicClassifier", "best_places"]

#: Documents a task.
BLOCK = 32
#: One in so many training documents is held out to fit a threshold that reads scores.
_HELD_OUT = 10


class TopicClassifier(MultiLabelClassifier):
    """Base of FlatLDA, PriorLDA, DependencyLDA and SubsetLLDA.

    All of them are the same labelled topic model; they differ in the prior of a new document's
    labels. A subclass implements ``_fit_prior``, ``_scores`` and ``_credit``.
    """

    #: Prior weights for each word of a document, where a parameter is None.
    _eta_a_word = 0.0
    _alpha_a_word = 0.5

    training: LabelledTraining | None
    inference: str
    beta: float
    train_eta: float
    train_alpha_sum: float
    train_chains: int
    train_burn_in: int
    train_samples: int
    train_lag: int
    eta: float | None = None
    alpha_sum: float | None
    chains: int
    burn_in: int
    samples: int
    lag: int
    combine: str
    random_state: Any
    n_jobs: int | None
    verbose: int

    @classmethod
    def from_preset(cls, name: str, **parameters: Any) -> Self:
        """Make a model with a paper's settings.

        Parameters
        ----------
        name : str
            ``"rubin-nyt"``, ``"rubin-eurlex"``, ``"rubin-yahoo"``, ``"rubin-rcv1"`` or
            ``"papanikolaou"``.
        **parameters
            Anything that shall differ.
        """
        return cls(**{**preset(cls.__name__, name), **parameters})

    def __sklearn_tags__(self) -> Tags:
        """As the base class; blobs of real numbers are no counts of words, so scores are poor."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _check_parameters(self) -> None:
        check_inference(self.inference)
        if self.combine not in ("counts", "posterior", "scaled"):
            raise ParameterError(
                f"`combine` must be 'counts', 'posterior' or 'scaled'; got {self.combine!r}."
            )
        Schedule(self.train_chains, self.train_burn_in, self.train_samples, self.train_lag).check(
            "train_"
        )
        self._schedule().check()
        for name in ("eta", "alpha_sum"):
            if getattr(self, name) is not None:
                check_real(name, getattr(self, name), 0.0)
        if self.alpha_sum == 0:
            raise ParameterError("`alpha_sum` must be greater than 0; got 0.")

    def _schedule(self) -> Schedule:
        return Schedule(self.chains, self.burn_in, self.samples, self.lag)

    def _fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.seed_ = draw_seed(self.random_state)
        self.training_ = self.training
        if self.training_ is None:
            self.training_ = train_phi(
                X,
                Y,
                inference=self.inference,
                eta=self.train_eta,
                alpha_sum=self.train_alpha_sum,
                beta=self.beta,
                chains=self.train_chains,
                burn_in=self.train_burn_in,
                samples=self.train_samples,
                lag=self.train_lag,
                random_state=self.seed_,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            )
        self.word_labels_: WordLabels = self.training_.word_labels
        known = (self.word_labels_.n_words, self.word_labels_.n_labels)
        if known != (X.shape[1], Y.shape[1]):
            raise InputError(
                f"`training` knows {known[0]} words and {known[1]} labels; "
                f"the data has {X.shape[1]} and {Y.shape[1]}."
            )
        self._fit_prior(X, Y)

    @abstractmethod
    def _fit_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        """Learn what the prior of new documents needs."""

    @abstractmethod
    def _more_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        """Bring the same up to date for more documents, and possibly more labels."""

    @abstractmethod
    def _credit(
        self, X: sparse.csr_array, labels: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Of one document: tokens by word and label, the labels' priors, and all labels' prior."""

    def _prior_weights(
        self, X: sparse.csr_array
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The eta and alpha of each document; they follow its length where they are not given."""
        # A document without words takes any weights.
        length = np.maximum(lengths(X), 1.0)
        etas = self._eta_a_word * length if self.eta is None else np.full(X.shape[0], self.eta)
        alpha_sums = length * self._alpha_a_word
        if self.alpha_sum is not None:
            alpha_sums = np.full(X.shape[0], float(self.alpha_sum))
        return etas.astype(np.float64), alpha_sums / self.n_labels_

    def _held_out_scores(
        self, X: sparse.csr_array, Y: sparse.csr_array
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Scores of a tenth of the documents by a model of the others.

        Words of a training document have shaped phi, so the model cannot score it as if it were
        new.
        """
        if X.shape[0] < _HELD_OUT:
            return super()._held_out_scores(X, Y)
        held_out = np.arange(X.shape[0]) % _HELD_OUT == 0
        other = clone(self).set_params(threshold="top", training=None)
        other.fit(X[~held_out], Y[~held_out])
        return other._scores(X[held_out], None), Y[held_out]

    def predict(self, X: Any) -> Any:
        """Give each sample its labels; see the base class."""
        check_is_fitted(self)
        if self.single_label_ or not isinstance(self.threshold_, TopK):
            return super().predict(X)
        scores = self.decision_function(X, top=self.threshold_.k_)
        labels = self.threshold_.apply(scores)
        return labels.toarray().astype(self.labels_dtype_) if self.dense_labels_ else labels

    def partial_fit(self, X: Any, Y: Any, classes: Any = None) -> Self:
        """Fold new documents in, approximately.

        Their words are shared among their labels by what is known already, and counted. What older
        documents' words were assigned to stays as it is.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
        Y : sparse matrix or array-like of shape (n_samples, n_labels)
            May have more columns than before: new labels.
        classes : array, optional
            If Y is a vector of classes: all that will ever come, at the first call.
        """
        if not hasattr(self, "word_labels_"):
            return self._fit_checked(X, Y, classes)
        X = self._checked_features(X, reset=False)
        Y = self._one_hot(Y) if self.single_label_ else check_labels(Y)
        check_same_rows(X, Y)
        if Y.shape[1] < self.n_labels_:
            raise InputError(
                f"Y has {Y.shape[1]} columns, but the model knows {self.n_labels_} labels already."
            )
        if Y.shape[1] > self.n_labels_:
            self.n_labels_ = Y.shape[1]
            self.classes_ = np.arange(self.n_labels_)
        alpha = self.train_alpha_sum / self.n_labels_
        counts = own_credit(self.word_labels_, X, Y, self.train_eta, alpha)
        self.word_labels_ = self.word_labels_.with_counts(counts)
        self._more_prior(X, Y)
        return self

    def label_words(self, label: int, top: int = 10) -> list[tuple[int, float]]:
        """The words that define a label, as (feature, probability), likeliest first."""
        check_is_fitted(self)
        return best_places(self.word_labels_.of_label(self._checked_label(label)), top)

    def _checked_label(self, label: Any) -> int:
        if not 0 <= label < self.n_labels_:
            raise InputError(f"labels are numbered 0 to {self.n_labels_ - 1}; got {label}.")
        return int(label)

    def explain(self, X: Any, labels: Any = None, *, top: int = 5) -> list[list[Explanation]]:
        """Say which words were assigned to a label, and what its prior was.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
        labels : sequence of int, optional
            The labels to explain for every sample; by default each sample's best.
        top : int
            How many of the best. Unused with ``labels``.

        Returns
        -------
        list of list of Explanation
            For each sample one a label, best first or in the order of ``labels``. A reason of kind
            ``"word"`` has as ``similarity`` the probability that this word belongs to the label;
            a reason of kind ``"prior"`` has as ``similarity`` the label's share of the prior. The
            shares add up to the score.
        """
        check_is_fitted(self)
        X = self._checked_features(X, reset=False)
        if labels is None:
            scores = keep_top(self._scores(X, top), check_whole("top", top, 1))
            order = rank_order(scores)
            chosen = [
                scores.indices[order[start:stop]].astype(np.int64)
                for start, stop in zip(scores.indptr[:-1], scores.indptr[1:], strict=True)
            ]
        else:
            given = [self._checked_label(label) for label in np.atleast_1d(labels)]
            chosen = [np.array(given, np.int64)] * X.shape[0]
        return [self._explanations(X[[row]], row, chosen[row]) for row in range(X.shape[0])]

    def _explanations(
        self, X: sparse.csr_array, row: int, labels: NDArray[np.int64]
    ) -> list[Explanation]:
        """Explain labels of the one document in ``X``."""
        credit, prior, whole = self._credit(X, labels)
        length = lengths(X)[0]
        prior_share = float(self._prior_share(length, whole))
        answer = []
        for column, label in enumerate(labels):
            tokens = credit[:, column]
            reasons = [
                Reason(
                    "word",
                    (1 - prior_share) * tokens[kind] / length,
                    index=int(X.indices[kind]),
                    similarity=tokens[kind] / X.data[kind],
                )
                for kind in np.flatnonzero(tokens)
            ]
            if prior_share:
                share = float(prior[column]) / whole
                reasons.append(Reason("prior", prior_share * share, similarity=share))
            reasons.sort(key=lambda reason: -reason.share)
            score = sum(reason.share for reason in reasons)
            answer.append(Explanation(row, int(label), float(score), tuple(reasons)))
        return answer

    def _prior_share(self, length: Any, whole: Any) -> Any:
        """How much of a document's scores is prior; ``whole`` is the weight of the prior."""
        share = {"counts": 0.0, "posterior": whole / (length + whole), "scaled": 0.5}[self.combine]
        return np.where(length > 0, share, 1.0)


class AllLabelsClassifier(TopicClassifier):
    """Base of the models for which every label is a candidate; ``_sampler`` tells them apart."""

    @abstractmethod
    def _sampler(self) -> Sampler:
        """What prediction needs, from the fitted state."""

    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        documents = Documents.of(X, *self._prior_weights(X))
        length = lengths(X)[:, None]
        sampler = self._sampler()
        blocks: dict[int, sparse.csr_array] = {}

        def work(start: int, stop: int) -> None:
            counts, priors = sampler.run(documents, start, stop)
            whole = priors.sum(axis=1, keepdims=True)
            of_prior = self._prior_share(length[start:stop], whole)
            words = np.maximum(length[start:stop], np.finfo(float).tiny)
            scores = (1 - of_prior) * counts / words + of_prior * priors / whole
            block = canonical_scores(scores)
            blocks[start] = block if top is None else keep_top(block, top)

        with progress_bar("Labelling documents", self.verbose) as callback:
            run_blocks(work, X.shape[0], BLOCK, self.n_jobs, callback)
        return sparse.csr_array(sparse.vstack([blocks[start] for start in sorted(blocks)], "csr"))

    def _credit(
        self, X: sparse.csr_array, labels: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        wanted = np.full(self.n_labels_, -1, np.int32)
        wanted[labels] = np.arange(labels.size)
        credit = np.zeros((X.nnz, labels.size))
        documents = Documents.of(X, *self._prior_weights(X))
        _, priors = self._sampler().run(documents, 0, 1, wanted, credit)
        return credit[:, wanted[labels]], priors[0, labels], float(priors[0].sum())

    def label_prior(self, X: Any) -> sparse.csr_array | NDArray[np.float64]:
        """Each label's share of the prior, for each sample.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_labels)
        """
        check_is_fitted(self)
        X = self._checked_features(X, reset=False)
        documents = Documents.of(X, *self._prior_weights(X))
        _, priors = self._sampler().run(documents, 0, X.shape[0])
        return priors / priors.sum(axis=1, keepdims=True)


def best_places(values: NDArray[np.float64], top: int) -> list[tuple[int, float]]:
    """The greatest values with their places; ties to the lower place."""
    order = np.argsort(-values, kind="stable")[: check_whole("top", top, 1)]
    return [(int(place), float(values[place])) for place in order]
