"""What every classifier shares: the contract of ``fit``, ``decision_function`` and ``predict``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from manylabel.exceptions import InputError
from manylabel.parallel import current_place, map_blocks
from manylabel.predictions import keep_top
from manylabel.thresholds import Threshold, make_threshold
from manylabel.validation import check_labels, check_matrix, check_same_rows

__all__ = ["MultiLabelClassifier"]

#: Samples of a task, where tasks run elsewhere.
BLOCK = 1_024


class MultiLabelClassifier(ClassifierMixin, BaseEstimator):
    """Base of the classifiers.

    A subclass declares its parameters, among them ``threshold``, and implements ``_fit`` and
    ``_scores``. Where ``_fit`` can score training documents as if it had not seen them, it puts
    such scores and their true labels aside in ``_held_out``, or there is a ``_held_out_scores``.

    Besides an indicator matrix, ``fit`` takes an ordinary vector of classes, one a sample, so that
    the classifiers work wherever scikit-learn's do; ``predict`` then gives the best class.
    """

    # What a model can do. Whoever handles models reads these and never probes for methods.
    #: Scores are probabilities, and may be shown as percentages.
    gives_probabilities: ClassVar[bool] = False
    #: There is ``partial_fit``: single documents are learned without training again.
    can_learn: ClassVar[bool] = False
    #: There is ``remove``: single documents are forgotten without training again.
    can_forget: ClassVar[bool] = False
    #: There is ``explain``.
    can_explain: ClassVar[bool] = False
    #: Settings of papers by name, for ``from_preset``.
    presets: ClassVar[Sequence[str]] = ()
    #: What tuning tries where the user does not say: parameter to values.
    default_grid: ClassVar[Mapping[str, Sequence[Any]]] = {}

    #: What a label that is not a candidate scores where scikit-learn wants dense scores; a model
    #: whose scores can be negative has a lower one.
    _absent_score = 0.0

    threshold: Any
    n_features_in_: int
    n_labels_: int
    threshold_: Threshold

    def __sklearn_tags__(self) -> Tags:
        """Describe the estimator to scikit-learn: sparse, non-negative input, many labels."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise ParameterError for a parameter outside its domain."""

    @abstractmethod
    def _fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        """Learn from canonical matrices."""

    @abstractmethod
    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        """Canonical scores; ``top`` is a hint that no more are needed a row."""

    def _held_out_scores(
        self, X: sparse.csr_array, Y: sparse.csr_array
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Scores to fit the threshold on, and the true labels of their rows.

        What ``_fit`` has put aside in ``_held_out``, or else the training documents' own.
        """
        aside: tuple[sparse.csr_array, sparse.csr_array] | None
        aside = self.__dict__.pop("_held_out", None)
        return (self._scores(X, None), Y) if aside is None else aside

    def _needs_held_out_scores(self) -> bool:
        """Whether there is a threshold and it looks at scores."""
        return not self.single_label_ and make_threshold(self.threshold).reads_scores

    def fit(self, X: Any, Y: Any) -> Self:
        """Learn from samples and their labels.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
            Non-negative counts or weights.
        Y : sparse matrix or array-like of shape (n_samples, n_labels)
            The indicator matrix, or a vector of classes.

        Returns
        -------
        self
        """
        return self._fit_checked(X, Y)

    def _fit_checked(self, X: Any, Y: Any, classes: Any = None) -> Self:
        """Check everything, learn, and fit the threshold."""
        self._check_parameters()
        threshold = make_threshold(self.threshold)
        X = self._checked_features(X, reset=True)
        Y = self._checked_targets(Y, classes)
        check_same_rows(X, Y)
        self.n_labels_ = Y.shape[1]
        self._fit(X, Y)
        if not self.single_label_:
            self.threshold_ = self._fitted_threshold(threshold, X, Y)
        return self

    def _fitted_threshold(
        self, threshold: Threshold, X: sparse.csr_array, Y: sparse.csr_array
    ) -> Threshold:
        """Fit a threshold on held-out scores, which are computed only if it looks at them."""
        if not threshold.reads_scores:
            return threshold.fit(None, Y)
        return threshold.fit(*self._held_out_scores(X, Y))

    def decision_function(
        self, X: Any, top: int | None = None
    ) -> sparse.csr_array | NDArray[np.float64]:
        """Score the candidate labels of each sample.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
        top : int, optional
            Keep only the best ``top`` labels of each sample.

        Returns
        -------
        scores : csr_array of shape (n_samples, n_labels)
            Only candidates are stored. If ``fit`` was given a vector of classes, scikit-learn's
            dense form instead.
        """
        check_is_fitted(self)
        scores = self._scored(self._checked_features(X, reset=False), top)
        if self.single_label_:
            dense = self._filled(scores)
            return dense[:, 1] - dense[:, 0] if dense.shape[1] == 2 else dense
        return scores if top is None else keep_top(scores, top)

    def predict(self, X: Any) -> Any:
        """Give each sample its labels.

        Returns
        -------
        Y : csr_array of shape (n_samples, n_labels)
            Dense if ``fit`` was given dense labels; a vector if it was given a vector.
        """
        check_is_fitted(self)
        scores = self._scored(self._checked_features(X, reset=False), None)
        if self.single_label_:
            return self.classes_[self._filled(scores).argmax(axis=1)]
        labels = self.threshold_.apply(scores)
        return labels.toarray().astype(self.labels_dtype_) if self.dense_labels_ else labels

    def _scored(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        """Scores of rows; many rows are scored wherever blocks run."""
        if current_place() is None or X.shape[0] <= BLOCK:
            return self._scores(X, top)
        blocks = map_blocks(_scores_of_rows, (self, X, top), X.shape[0], BLOCK)
        return sparse.csr_array(sparse.vstack(list(blocks), "csr"))

    def _checked_features(self, X: Any, reset: bool) -> sparse.csr_array:
        """Check X by scikit-learn's rules, then by ours."""
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype="numeric")
        return check_matrix(X)

    def _checked_targets(self, Y: Any, classes: Any = None) -> sparse.csr_array:
        """Turn targets into an indicator matrix and remember their form.

        ``classes`` are all there will be, where later calls may bring more than this one.
        """
        if Y is None:
            raise InputError(
                "fit requires y to be passed, but the target y is None: give a matrix of labels."
            )
        self.dense_labels_ = not sparse.issparse(Y)
        Y = np.asarray(Y) if self.dense_labels_ else Y
        self.labels_dtype_ = Y.dtype
        self.single_label_ = self.dense_labels_ and (Y.ndim < 2 or Y.shape[1] == 1)
        if not self.single_label_:
            Y = check_labels(Y)
            if Y.shape[1] == 0:
                raise InputError("Y must have at least one label; got none.")
            self.classes_ = np.arange(Y.shape[1])
            return Y
        Y = column_or_1d(Y, warn=True)
        check_classification_targets(Y)
        self.classes_ = np.unique(Y if classes is None else classes)
        return self._one_hot(Y)

    def _checked_more(self, X: Any, Y: Any) -> tuple[sparse.csr_array, sparse.csr_array]:
        """More documents for a model that knows some; there may be new labels."""
        X = self._checked_features(X, reset=False)
        Y = self._one_hot(Y) if self.single_label_ else check_labels(Y)
        check_same_rows(X, Y)
        if Y.shape[1] < self.n_labels_:
            raise InputError(
                f"Y has {Y.shape[1]} columns, but the model knows {self.n_labels_} labels already."
            )
        return X, Y

    def _one_hot(self, Y: Any) -> sparse.csr_array:
        """An indicator matrix of known classes."""
        Y = column_or_1d(Y, warn=True)
        unknown = ~np.isin(Y, self.classes_)
        if unknown.any():
            raise InputError(f"y holds {Y[unknown][0]!r}, which is none of the known classes.")
        codes = np.searchsorted(self.classes_, Y)
        ones = np.ones(codes.size, np.int8)
        return sparse.csr_array(
            (ones, (np.arange(codes.size), codes)), shape=(codes.size, self.classes_.size)
        )

    def _filled(self, scores: sparse.csr_array) -> NDArray[np.float64]:
        """Dense scores."""
        dense = np.full(scores.shape, self._absent_score)
        rows = np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))
        dense[rows, scores.indices] = scores.data
        return dense


def _scores_of_rows(
    model: MultiLabelClassifier, X: sparse.csr_array, top: int | None, start: int, stop: int
) -> sparse.csr_array:
    """Scores of some of the rows, by one thread: there are others for other blocks."""
    if "n_jobs" in model.get_params(deep=False):
        model.set_params(n_jobs=1)
    scores = model._scores(X[start:stop], top)
    return scores if top is None or model.single_label_ else keep_top(scores, top)
