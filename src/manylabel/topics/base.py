"""The base class of the labelled topic models."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.base import ExplainLabels, Grid, MultiLabelClassifier
from manylabel.estimators import Tags, check_is_fitted, clone
from manylabel.evidence import Explanation, Reason
from manylabel.exceptions import InputError, ParameterError
from manylabel.scoring.documents import lengths
from manylabel.thresholds import TopK
from manylabel.topics.fold import own_credit
from manylabel.topics.presets import PRESETS, preset
from manylabel.topics.schedule import Schedule, check_inference
from manylabel.topics.training import LabelledTraining, draw_seed, train_phi
from manylabel.topics.word_labels import WordLabels
from manylabel.validation import check_positive, check_whole

__all__ = ["Credit", "TopicClassifier", "best_positions"]

#: One in this many training documents is held out to fit a threshold that reads scores.
_HELD_OUT = 10
#: With fewer different words than this, larger pseudo-counts of words are better.
_FEW_WORDS = 1_000
#: A source of a label's prior is reported if it makes up at least this share of it.
_REPORTED = 0.01


class Credit(NamedTuple):
    """The tokens and priors behind the scores of some labels of one document.

    Parameters
    ----------
    tokens : ndarray of shape (n_types, n_labels)
        Tokens of each word that go to each label.
    prior : ndarray of shape (n_labels,)
    whole : float
        The sum of the priors of all labels of the document.
    sources : list of list of Reason
        For each label, the sources of its prior besides the part shared evenly, as prior weights.
    """

    tokens: NDArray[np.float64]
    prior: NDArray[np.float64]
    whole: float
    sources: list[list[Reason]]


# A dataclass generates ``__init__``, so a model declares only its own parameters.
@dataclass(kw_only=True, eq=False, repr=False)
class TopicClassifier(MultiLabelClassifier):
    """Base class of the labelled topic models; FlatLDA documents the parameters.

    All of them are the same labelled topic model; they differ in the prior of a new document's
    labels. A subclass implements ``_fit_prior``, ``_more_prior``, ``_scores`` and ``_credit``.
    """

    can_learn = True
    can_explain = True
    presets = tuple(PRESETS)
    default_grid: ClassVar[Grid] = {"beta": (0.01, 0.1), "threshold": ("top", "cardinality")}

    training: LabelledTraining | None = None
    inference: str = "cgs_p"
    beta: float | None = None
    train_eta: float = 50.0
    train_alpha_sum: float = 0.0
    train_chains: int = 2
    train_burn_in: int = 40
    train_samples: int = 1
    train_lag: int = 1
    alpha_sum: float | None = None
    chains: int = 1
    burn_in: int = 20
    samples: int = 20
    lag: int = 1
    combine: str = "scaled"
    threshold: Any = "top"
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: int = 0

    # Prior weights per word of a document, where a parameter is None.
    _eta_per_word = 0.0
    _alpha_per_word = 0.5
    # The same for `beta`, and for `beta` with few words.
    _beta = 0.01
    _beta_of_few = 0.01

    @classmethod
    def from_preset(cls, name: str, **parameters: Any) -> Self:
        """Make a model with a paper's settings.

        Parameters
        ----------
        name : str
            ``"rubin-nyt"``, ``"rubin-eurlex"``, ``"rubin-yahoo"``, ``"rubin-rcv1"`` or
            ``"papanikolaou"``.
        **parameters
            Override the preset.
        """
        return cls(**{**preset(cls.__name__, name), **parameters})

    def __sklearn_tags__(self) -> Tags:
        """As in the base class; scores on real-valued blobs, which are not counts, are poor."""
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
        if self.alpha_sum is not None:
            check_positive("alpha_sum", self.alpha_sum)

    def _pseudo_count(self, n_words: int) -> float:
        """The pseudo-count of each word."""
        if self.beta is not None:
            return float(self.beta)
        return self._beta_of_few if n_words < _FEW_WORDS else self._beta

    def _schedule(self) -> Schedule:
        return Schedule(self.chains, self.burn_in, self.samples, self.lag)

    def _fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.seed_ = draw_seed(self.random_state)
        self.training_ = self.training or train_phi(
            X,
            Y,
            inference=self.inference,
            eta=self.train_eta,
            alpha_sum=self.train_alpha_sum,
            beta=self._pseudo_count(X.shape[1]),
            chains=self.train_chains,
            burn_in=self.train_burn_in,
            samples=self.train_samples,
            lag=self.train_lag,
            random_state=self.seed_,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        known = (self.word_labels_.n_words, self.word_labels_.n_labels)
        if known != (X.shape[1], Y.shape[1]):
            raise InputError(
                f"`training` has {known[0]} words and {known[1]} labels, but the data have "
                f"{X.shape[1]} and {Y.shape[1]}; train on the same matrices."
            )
        self._fit_prior(X, Y)

    @property
    def word_labels_(self) -> WordLabels:
        """The label-word distributions."""
        return self.training_.word_labels

    @abstractmethod
    def _fit_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        """Learn what the prior of new documents needs."""

    @abstractmethod
    def _more_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        """Update the prior with more documents, and possibly more labels."""

    @abstractmethod
    def _credit(self, X: sparse.csr_array, labels: NDArray[np.int64]) -> Credit:
        """The tokens and priors behind the scores of labels of the one document in ``X``."""

    def _prior_weights(
        self, X: sparse.csr_array
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The eta and alpha of each document, by default in proportion to its length."""
        # At least 1, because a document without words needs some weight.
        length = np.maximum(lengths(X), 1.0)
        eta, alpha_sum = getattr(self, "eta", None), self.alpha_sum
        etas = self._eta_per_word * length if eta is None else np.full(length.size, float(eta))
        alpha_sums = self._alpha_per_word * length if alpha_sum is None else float(alpha_sum)
        return etas, np.broadcast_to(alpha_sums / self.n_labels_, length.shape).copy()

    def _shares(self, tokens: Any, priors: Any, length: Any, whole: Any) -> Any:
        """Scores of labels from tokens and priors; ``whole`` is the prior of all labels."""
        of_prior = self._prior_share(length, whole)
        tiny = np.finfo(float).tiny
        words = tokens / np.maximum(length, tiny)
        return (1 - of_prior) * words + of_prior * priors / np.maximum(whole, tiny)

    def _prior_share(self, length: Any, whole: Any) -> Any:
        """The share of the prior in a document's scores."""
        share = {"counts": 0.0, "posterior": whole / (length + whole), "scaled": 0.5}[self.combine]
        return np.where(length > 0, share, 1.0)

    def _held_out_scores(
        self, X: sparse.csr_array, Y: sparse.csr_array
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Scores of a tenth of the documents by a model of the others.

        This model cannot score a training document as if it were new, because phi depends on its
        words.
        """
        if X.shape[0] < _HELD_OUT:
            return super()._held_out_scores(X, Y)
        held_out = np.arange(X.shape[0]) % _HELD_OUT == 0
        other = clone(self).set_params(threshold="top", training=None)
        other.fit(X[~held_out], Y[~held_out])
        return other._scores(X[held_out], None), Y[held_out]

    def predict(self, X: Any) -> Any:
        """Predict the labels of each sample; see the base class."""
        check_is_fitted(self)
        if self.single_label_ or not isinstance(self.threshold_, TopK):
            return super().predict(X)
        scores = self.decision_function(X, top=self.threshold_.k_)
        labels = self.threshold_.apply(scores)
        return labels.toarray().astype(self.labels_dtype_) if self.dense_labels_ else labels

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Fold new documents in, approximately.

        Their words are shared among their labels by the current phi, and counted. The assignments
        of older documents' words do not change, nor does the threshold.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
        y : sparse matrix or array-like of shape (n_samples, n_labels)
            May have more columns than before: new labels.
        classes : array, optional
            If y is a vector of classes: all possible classes, needed only at the first call.
        """
        if not hasattr(self, "training_"):
            return self._fit_checked(X, y, classes)
        X, Y = self._checked_more(X, y)
        self._know_labels(Y.shape[1])
        alpha = self.train_alpha_sum / self.n_labels_
        counts = own_credit(self.word_labels_, X, Y, self.train_eta, alpha)
        self.training_ = replace(self.training_, word_labels=self.word_labels_.with_counts(counts))
        self._more_prior(X, Y)
        return self

    def _know_labels(self, n_labels: int) -> None:
        """Extend the model to new labels."""
        if n_labels == self.n_labels_:
            return
        if hasattr(self.threshold_, "thresholds_") or hasattr(self.threshold_, "frequency_"):
            raise InputError(
                f"Y has {n_labels} columns, but the threshold was fitted for each of "
                f"{self.n_labels_} labels; fit again, or use another threshold."
            )
        self.n_labels_ = n_labels
        self.classes_ = np.arange(n_labels)

    def label_words(self, label: int, top: int = 10) -> list[tuple[int, float]]:
        """The words that define a label, as (feature, probability), most probable first."""
        check_is_fitted(self)
        return best_positions(self.word_labels_.of_label(self._checked_label(label)), top)

    def _checked_label(self, label: Any) -> int:
        if not 0 <= label < self.n_labels_:
            raise InputError(f"labels are numbered 0 to {self.n_labels_ - 1}; got {label}.")
        return int(label)

    def _explaining(
        self, X: sparse.csr_array, top: int | None
    ) -> tuple[sparse.csr_array, ExplainLabels]:
        """Reasons are the words assigned to a label, and its prior.

        ``"word"``
            ``similarity`` is the probability that this word belongs to the label.
        ``"prior"``
            ``similarity`` is the label's share of the prior. Its own reasons say where the prior
            comes from, and their shares add up to its share: ``"topic"`` in DependencyLDA, where
            ``similarity`` is the topic's share of the document; ``"neighbour"`` in SubsetLLDA;
            and ``"bias"``, the part shared evenly and every source below a hundredth.
        """
        return self._scores(X, top), lambda labels: self._explanations(X, 0, labels)

    def _explanations(
        self, X: sparse.csr_array, row: int, labels: NDArray[np.int64]
    ) -> list[Explanation]:
        """Explain labels of the one document in ``X``."""
        credit = self._credit(X, labels)
        length = lengths(X)[0]
        of_prior = float(self._prior_share(length, credit.whole))
        answer = []
        for column, label in enumerate(labels):
            tokens = credit.tokens[:, column]
            reasons = [
                Reason(
                    "word",
                    float((1 - of_prior) * tokens[kind] / length),
                    index=int(X.indices[kind]),
                    similarity=float(tokens[kind] / X.data[kind]),
                )
                for kind in np.flatnonzero(tokens)
            ]
            if of_prior:
                reasons.append(self._prior_reason(credit, column, of_prior))
            reasons.sort(key=lambda reason: -reason.share)
            score = sum(reason.share for reason in reasons)
            answer.append(Explanation(row, int(label), float(score), tuple(reasons)))
        return answer

    @staticmethod
    def _prior_reason(credit: Credit, column: int, of_prior: float) -> Reason:
        """What the prior adds to a label's score, and where it comes from."""
        weight, whole = float(credit.prior[column]), float(credit.whole)
        scale = of_prior / whole
        reported = [
            replace(source, share=scale * source.share)
            for source in credit.sources[column]
            if source.share >= _REPORTED * weight
        ]
        if reported:
            reported.sort(key=lambda source: -source.share)
            rest = scale * weight - sum(source.share for source in reported)
            reported.append(Reason("bias", rest))
        return Reason("prior", scale * weight, similarity=weight / whole, reasons=tuple(reported))


def best_positions(values: NDArray[np.float64], top: int) -> list[tuple[int, float]]:
    """The greatest values with their positions; ties go to the lower position."""
    order = np.argsort(-values, kind="stable")[: check_whole("top", top, 1)]
    return [(int(position), float(values[position])) for position in order]
