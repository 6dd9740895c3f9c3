"""The base class of all classifiers: ``fit``, ``decision_function``, ``predict``, ``explain``."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from manylabel.estimators import (
    BaseEstimator,
    ClassifierMixin,
    Tags,
    check_classification_targets,
    check_is_fitted,
    column_or_1d,
    validate_data,
)
from manylabel.evidence import Explanation
from manylabel.exceptions import InputError, ParameterError
from manylabel.parallel import current_place, map_blocks
from manylabel.predictions import keep_top, rank_order
from manylabel.scoring import Documents
from manylabel.thresholds import Promise, Threshold, make_threshold
from manylabel.validation import (
    check_incomplete,
    check_labels,
    check_matrix,
    check_same_rows,
    check_structure,
    check_whole,
)
from manylabel.wording import counted

__all__ = ["ExplainLabels", "Grid", "MultiLabelClassifier", "SharedWork"]

#: A function that explains candidate labels of a single document.
ExplainLabels = Callable[[NDArray[np.int64]], list[Explanation]]
#: A search grid: the values to try for each parameter.
Grid = Mapping[str, Sequence[Any]]

#: Samples per task on a cluster.
BLOCK = 1_024


class SharedWork(Protocol):
    """Work on one fold of the data that all settings of a model share."""

    def scores(self, setting: Mapping[str, Any]) -> sparse.csr_array:
        """Scores of the held-out documents, under a setting of ``shared_parameters``."""


class MultiLabelClassifier(ClassifierMixin, BaseEstimator):
    """Base class of the classifiers.

    A subclass declares its parameters, including ``threshold``, and implements ``_fit`` and
    ``_scores``. If ``_fit`` can score training documents as if it had not seen them, it stores
    those scores and the true labels in ``_held_out``; otherwise a subclass may override
    ``_held_out_scores``.

    Besides an indicator matrix, ``fit`` accepts a vector of classes, one per sample, so that the
    classifiers work wherever scikit-learn's do; ``predict`` then returns the best class.
    """

    # What a model can do. Callers read these flags instead of looking for methods.
    #: Scores are probabilities, and may be shown as percentages.
    gives_probabilities: ClassVar[bool] = False
    #: There is ``partial_fit``: single documents are learned without training again.
    can_learn: ClassVar[bool] = False
    #: There are ``remove`` and ``relabel``: single documents are forgotten, or their labels
    #: replaced, without training again.
    can_forget: ClassVar[bool] = False
    #: There is ``explain``.
    can_explain: ClassVar[bool] = False
    #: Views of documents other than counts are read; see :class:`manylabel.scoring.Documents`.
    reads_views: ClassVar[bool] = False
    #: There is ``compact``: it rebuilds the model without forgotten documents, numbered from 0.
    can_compact: ClassVar[bool] = False
    #: There is ``promise``: out-of-sample scores and true labels are stored as ``held_out_``.
    can_promise: ClassVar[bool] = False
    #: There is ``scores_left_out``: training documents are scored as if they were new.
    can_leave_out: ClassVar[bool] = False
    #: Training rows are stored as ``X_`` and ``Y_``; ``alive_`` masks those not forgotten.
    keeps_rows: ClassVar[bool] = False
    #: Documents may be incomplete: labels that they lack are unknown, not false.
    reads_incomplete: ClassVar[bool] = False
    #: Settings of papers by name, for ``from_preset``.
    presets: ClassVar[Sequence[str]] = ()
    #: The grid that tuning tries by default.
    default_grid: ClassVar[Grid] = {}
    #: Parameters that can be tuned without fitting again, if ``_shares_work`` returns True.
    shared_parameters: ClassVar[Sequence[str]] = ()

    #: Score of labels that are not candidates, for scikit-learn's dense scores; must be lower in a
    #: model whose scores can be negative.
    _absent_score = 0.0

    #: Samples per block when only the best labels are needed; None scores all at once, for models
    #: whose random numbers depend on a sample's row.
    _round: ClassVar[int | None] = None

    # Which documents are incomplete, while `_fit` runs; None if all are complete.
    _incomplete: NDArray[np.bool_] | None = None

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

    @property
    def views_(self) -> frozenset[str]:
        """The views of documents that a fitted model reads, besides the counts."""
        return frozenset()

    @property
    def not_updated_(self) -> Sequence[str]:
        """Names, for messages, of what ``partial_fit`` and ``remove`` do not update."""
        return ()

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise ParameterError for a parameter outside its domain."""

    def check_parameters(self) -> None:
        """Refuse parameters that `fit` would refuse, before any data are read."""
        self._check_parameters()
        make_threshold(self.threshold)

    @abstractmethod
    def _fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        """Learn from canonical matrices."""

    @abstractmethod
    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        """Canonical scores; ``top`` is a hint that only the best ``top`` per row are needed."""

    def _explaining(
        self, X: sparse.csr_array, top: int | None
    ) -> tuple[sparse.csr_array, ExplainLabels]:
        """Scores of one document and a function that explains its labels; for ``can_explain``."""
        raise InputError(f"{type(self).__name__} cannot explain its labels; use LCIF or Ensemble.")

    def _held_out_scores(
        self, X: sparse.csr_array, Y: sparse.csr_array
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Scores to fit the threshold on, and the true labels of their rows.

        These are in ``_held_out`` if ``_fit`` stored them; otherwise training documents are scored.
        """
        held_out: tuple[sparse.csr_array, sparse.csr_array] | None
        held_out = self.__dict__.pop("_held_out", None)
        if held_out is not None:
            return held_out
        if isinstance(make_threshold(self.threshold), Promise):
            raise ParameterError(
                f"{type(self).__name__} has no out-of-sample scores, which `threshold="
                f"{self.threshold!r}` needs; fit `manylabel.thresholds.Promise` on the scores of "
                "other documents, or use Ensemble."
            )
        return self._scores(X, None), Y

    def _needs_held_out_scores(self) -> bool:
        """Whether there is a threshold and it needs scores."""
        return not self.single_label_ and make_threshold(self.threshold).reads_scores

    def fit(self, X: Any, y: Any, incomplete: Any = None, **unknown: Any) -> Self:
        """Learn from samples and their labels.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
            Non-negative counts or weights.
        y : sparse matrix or array-like of shape (n_samples, n_labels)
            The indicator matrix, or a vector of classes.
        incomplete : array of bool of shape (n_samples,), optional
            Samples that may have more labels than in y: the missing ones are unknown, not false.
            Only for models with ``reads_incomplete``; by default all are complete.
        **unknown
            Any other argument raises an error. Only OneVsRestSVM and SubsetSVM accept
            ``sample_weight``.

        Returns
        -------
        self
        """
        self._refuse(unknown)
        return self._fit_checked(X, y, incomplete=incomplete)

    def _refuse(self, unknown: Mapping[str, Any]) -> None:
        """Refuse arguments of ``fit`` that this model does not support."""
        if unknown.get("sample_weight") is not None:
            raise ParameterError(
                f"{type(self).__name__} does not support `sample_weight`; leave it out, repeat "
                "documents that should count more, or use OneVsRestSVM or SubsetSVM."
            )
        for name in unknown.keys() - {"sample_weight"}:
            raise TypeError(f"{type(self).__name__}.fit has no argument {name!r}.")

    def _fit_checked(self, X: Any, Y: Any, classes: Any = None, incomplete: Any = None) -> Self:
        """Check everything, learn, and fit the threshold."""
        self._check_parameters()
        threshold = make_threshold(self.threshold)
        X = self._checked_features(X, reset=True)
        Y = self._checked_targets(Y, classes)
        check_same_rows(X, Y)
        self.n_labels_ = Y.shape[1]
        are_open = check_incomplete(incomplete, X.shape[0])
        if are_open is not None:
            self._check_incomplete(are_open)
            self._incomplete = are_open
        try:
            self._fit(X, Y)
        finally:
            self.__dict__.pop("_incomplete", None)
        if not self.single_label_:
            if are_open is not None:
                X, Y = X[~are_open], Y[~are_open]
            self.threshold_ = self._fitted_threshold(threshold, X, Y)
        return self

    def _check_incomplete(self, incomplete: NDArray[np.bool_]) -> None:
        """Refuse incomplete documents if the model cannot use them."""
        if not self.reads_incomplete:
            raise InputError(
                f"{type(self).__name__} does not support incomplete documents: it would treat "
                "their missing labels as false. Use LCIF or Ensemble, or give all labels."
            )
        if self.single_label_:
            raise InputError(
                "samples with a single class cannot be incomplete; leave out `incomplete`."
            )
        if incomplete.all():
            raise InputError(
                "every document is incomplete, so no label is known to be false; give some "
                "documents with all their labels."
            )

    def _fitted_threshold(
        self, threshold: Threshold, X: sparse.csr_array, Y: sparse.csr_array
    ) -> Threshold:
        """Fit a threshold on held-out scores, which are computed only if it needs them."""
        if not threshold.reads_scores:
            return threshold.fit(None, Y)
        return threshold.fit(*self._held_out_scores(X, Y))

    def promise(self, spec: Any) -> Promise:
        """A threshold that keeps a promise, fitted on held-out training documents.

        Parameters
        ----------
        spec : str or Promise
            Such as ``"precision:0.9"``; see :func:`manylabel.thresholds.make_threshold`.
        """
        check_is_fitted(self)
        threshold = make_threshold(spec)
        if not isinstance(threshold, Promise):
            raise ParameterError(f"a promise must be like 'precision:0.9'; got {spec!r}.")
        held_out = getattr(self, "held_out_", None) if self.can_promise else None
        if held_out is None:
            raise InputError(
                f"this {type(self).__name__} has no held-out scores, which {threshold} needs; "
                "train an ensemble with this version."
            )
        with warnings.catch_warnings():
            # The caller reads `is_kept_` instead.
            warnings.simplefilter("ignore", UserWarning)
            return threshold.fit(*held_out)

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
            Only candidates are stored. If ``fit`` received a vector of classes, the result is dense
            as in scikit-learn.
        """
        check_is_fitted(self)
        return self.scores_of(self._checked_features(X, reset=False), top)

    def scores_of(
        self, X: sparse.csr_array | Documents, top: int | None = None
    ) -> sparse.csr_array | NDArray[np.float64]:
        """Like `decision_function`, but without checks: the rows must be canonical."""
        if isinstance(X, Documents) and not self.reads_views:
            X = X.counts
        scores = self._scored(X, top)
        if self.single_label_:
            dense = self._filled(scores)
            return dense[:, 1] - dense[:, 0] if dense.shape[1] == 2 else dense
        return scores if top is None else keep_top(scores, top)

    def predict(self, X: Any) -> Any:
        """Predict the labels of each sample.

        Returns
        -------
        Y : csr_array of shape (n_samples, n_labels)
            Dense if ``fit`` received dense labels; a vector if it received a vector.
        """
        check_is_fitted(self)
        scores = self._scored(self._checked_features(X, reset=False), None)
        if self.single_label_:
            return self.classes_[self._filled(scores).argmax(axis=1)]
        labels = self.threshold_.apply(scores)
        return labels.toarray().astype(self.labels_dtype_) if self.dense_labels_ else labels

    def explain(
        self, X: Any, labels: ArrayLike | Callable[..., Any] | None = None, top: int = 5
    ) -> list[list[Explanation]]:
        """Explain labels by reasons whose shares add up to the score.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
        labels : array of int, optional
            The labels to explain; by default the ``top`` best of each sample. Or a function from
            the scores of one sample, a matrix with one row, to labels: scores and reasons then come
            from one pass.
        top : int, default=5

        Returns
        -------
        list of lists of Explanation
            One list per sample, best label first or in the order of ``labels``. A label that is not
            a candidate of a sample has the score 0 and no reasons. The documentation of each model
            lists its kinds of reasons.
        """
        check_is_fitted(self)
        choose = _choice(labels, check_whole("top", top, 1), self.n_labels_)
        hint = top if labels is None else None
        X = self._checked_features(X, reset=False)
        nothing = Explanation(0, 0, 0.0, (), 0.0 if self.gives_probabilities else None)
        answer = []
        for row in range(X.shape[0]):
            scores, explain_labels = self._explaining(X if X.shape[0] == 1 else X[[row]], hint)
            chosen = choose(scores)
            known = np.isin(chosen, scores.indices)
            explained = iter(explain_labels(chosen[known]))
            answer.append(
                [
                    replace(next(explained) if is_known else nothing, row=row, label=int(label))
                    for label, is_known in zip(chosen, known, strict=True)
                ]
            )
        return answer

    def _scored(self, X: sparse.csr_array | Documents, top: int | None) -> sparse.csr_array:
        """Scores of rows; many rows are scored in blocks, on the cluster if there is one."""
        n_rows, size = X.shape[0], self._round
        if current_place() is not None and n_rows > BLOCK:
            blocks = list(map_blocks(_scores_of_rows, (self, X, top), n_rows, BLOCK))
        elif top is not None and size is not None and n_rows > size:
            starts = range(0, n_rows, size)
            blocks = [keep_top(self._scores(X[s : s + size], top), top) for s in starts]
        else:
            return self._scores(X, top)
        return sparse.csr_array(sparse.vstack(blocks, "csr"))

    def _checked_features(self, X: Any, reset: bool) -> sparse.csr_array:
        """Check X by scikit-learn's rules, then by ours.

        For a model that reads other views, `Documents` remain `Documents`.
        """
        documents = X if isinstance(X, Documents) else None
        if documents is not None and documents.trusted and not reset:
            return documents if self.reads_views else documents.counts
        X = X if documents is None else documents.counts
        check_structure(X)
        if reset or not self._is_plain(X):
            X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype="numeric")
        counts = check_matrix(X)
        if documents is None or not self.reads_views:
            return counts
        return documents.replaced(counts)

    def _is_plain(self, X: Any) -> bool:
        """Whether our checks are enough, without scikit-learn's."""
        return (
            type(X) is sparse.csr_array
            and X.dtype.kind in "biuf"
            and X.shape[0] > 0
            and X.shape[1] == getattr(self, "n_features_in_", None)
            and not hasattr(self, "feature_names_in_")
        )

    def _checked_targets(self, Y: Any, classes: Any = None) -> sparse.csr_array:
        """Turn targets into an indicator matrix and store their form.

        ``classes`` lists all classes, if later calls may have some that Y does not.
        """
        if Y is None:
            raise InputError(
                "fit requires y to be passed, but the target y is None; give a matrix of labels."
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
        """Check further documents for a fitted model; there may be new labels."""
        X = self._checked_features(X, reset=False)
        Y = self._one_hot(Y) if self.single_label_ else check_labels(Y)
        check_same_rows(X, Y)
        if Y.shape[1] < self.n_labels_:
            raise InputError(
                f"Y has {counted(Y.shape[1], 'column')}, but the model has "
                f"{counted(self.n_labels_, 'label')}; give a column for each."
            )
        return X, Y

    def _one_hot(self, Y: Any) -> sparse.csr_array:
        """An indicator matrix of known classes."""
        Y = column_or_1d(Y, warn=True)
        unknown = ~np.isin(Y, self.classes_)
        if unknown.any():
            raise InputError(f"unknown class {Y[unknown][0]!r} in y; fit again to add it.")
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

    def scores_and_labels(
        self, X: Any, top: int | None = None
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Scores and label sets in one pass, for a multi-label model.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
        top : int, optional
            Keep only the best ``top`` labels of each sample, in both.

        Returns
        -------
        scores, labels : csr_array of shape (n_samples, n_labels)
            The results of ``decision_function`` and ``predict``.
        """
        scores = self.decision_function(X, top=top)
        if self.single_label_:
            raise InputError("a model with one class per sample has no label sets; use `predict`.")
        return scores, self.threshold_.apply(scores)

    def _shares_work(self) -> bool:
        """Whether ``_share_work`` can be used with the current parameters."""
        return bool(self.shared_parameters)

    def _share_work(
        self,
        X: sparse.csr_array,
        Y: sparse.csr_array,
        grid: Grid,
        held_out: sparse.csr_array | NDArray[np.int64],
    ) -> SharedWork:
        """Do the work that all settings of ``shared_parameters`` have in common.

        ``grid`` has the values to try. ``held_out`` has the documents to score, or the numbers of
        rows of X to score, each as if it were not in X.
        """
        raise InputError(f"{type(self).__name__} has no `shared_parameters`.")


def _choice(
    labels: Any, top: int, n_labels: int
) -> Callable[[sparse.csr_array], NDArray[np.int64]]:
    """A function that chooses the labels to explain from a sample's scores."""
    if labels is None:

        def best(scores: sparse.csr_array) -> NDArray[np.int64]:
            return scores.indices[rank_order(scores)[:top]].astype(np.int64)

        return best
    if callable(labels):
        return lambda scores: _known_labels(labels(scores), n_labels)
    given = _known_labels(labels, n_labels)
    return lambda scores: given


def _known_labels(labels: Any, n_labels: int) -> NDArray[np.int64]:
    """Check that labels exist."""
    given = np.atleast_1d(np.asarray(labels, np.int64))
    unknown = given[(given < 0) | (given >= n_labels)]
    if unknown.size:
        raise InputError(f"labels are numbered 0 to {n_labels - 1}; got {unknown[0]}.")
    return given


def _scores_of_rows(
    model: MultiLabelClassifier, X: sparse.csr_array, top: int | None, start: int, stop: int
) -> sparse.csr_array:
    """Scores of some rows with one thread, because other blocks run at the same time."""
    if "n_jobs" in model.get_params(deep=False):
        model.set_params(n_jobs=1)
    scores = model._scores(X[start:stop], top)
    return scores if top is None or model.single_label_ else keep_top(scores, top)
