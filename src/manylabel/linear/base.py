"""What the linear classifiers share: parameters, scores and explanations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.base import ExplainLabels, MultiLabelClassifier
from manylabel.estimators import check_random_state
from manylabel.evidence import Explanation
from manylabel.exceptions import InputError
from manylabel.linear.automatic import AUTO, USUAL_C, choose_c
from manylabel.linear.model import LinearModel
from manylabel.linear.scorer import label_reasons
from manylabel.linear.training import Settings
from manylabel.text.weighting import Weighting, make_weighting
from manylabel.thresholds import Threshold
from manylabel.validation import (
    check_positive,
    check_real,
    check_sample_weight,
    check_unless_auto,
    check_whole,
)

__all__ = ["LinearClassifier"]


class LinearClassifier(MultiLabelClassifier):
    """Base of the linear classifiers."""

    can_explain = True

    C: float | str
    #: None in a model folder from before ``C`` could be "auto".
    C_: float | None = None
    weighting: Any
    prune: float
    bias: bool
    max_iter: int
    tol: float
    random_state: Any
    n_jobs: int | None
    verbose: bool | int

    # Out-of-sample scores of rows and their labels, kept for the threshold.
    _held_out: tuple[sparse.csr_array, sparse.csr_array]
    coef_: sparse.csr_array
    intercept_: NDArray[np.float64]
    weighting_: Weighting
    # Sample weights while `fit` runs; None if all are 1.
    _sample_weight: Any = None

    def fit(
        self, X: Any, y: Any, incomplete: Any = None, sample_weight: Any = None, **unknown: Any
    ) -> Self:
        """Learn from samples and their labels.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
            Non-negative counts or weights.
        y : sparse matrix or array-like of shape (n_samples, n_labels)
            The indicator matrix, or a vector of classes.
        incomplete : None
            Not supported: these models treat every missing label as negative.
        sample_weight : array of shape (n_samples,), optional
            Weight of each sample, at least 0: its cost is ``C`` times its weight, and it counts as
            that many documents in the weighting of features. A sample of weight 0 is left out.
            Thresholds ignore the weights of the others.
        **unknown
            Any other argument raises an error.

        Returns
        -------
        self
        """
        self._sample_weight = sample_weight
        try:
            return super().fit(X, y, incomplete, **unknown)
        finally:
            del self._sample_weight

    def _counted(
        self, X: sparse.csr_array, Y: sparse.csr_array
    ) -> tuple[sparse.csr_array, sparse.csr_array, NDArray[np.float64] | None]:
        """The samples with a weight above 0, their labels and their weights."""
        if self._sample_weight is None:
            return X, Y, None
        weights = check_sample_weight(self._sample_weight, X.shape[0])
        if weights.all():
            return X, Y, weights
        kept = np.flatnonzero(weights)
        return X[kept], Y[kept], weights[kept]

    def _fitted_threshold(
        self, threshold: Threshold, X: sparse.csr_array, Y: sparse.csr_array
    ) -> Threshold:
        X, Y, _ = self._counted(X, Y)
        return super()._fitted_threshold(threshold, X, Y)

    def _explaining(
        self, X: sparse.csr_array, top: int | None
    ) -> tuple[sparse.csr_array, ExplainLabels]:
        """Reasons are ``"word"``, a feature's weight times its value, and ``"bias"``."""
        rows = self.weighting_.transform(X)

        def explain(labels: NDArray[np.int64]) -> list[Explanation]:
            return [self._explanation(rows, int(label)) for label in labels]

        return self._scores(X, top), explain

    def _explanation(self, rows: sparse.csr_array, label: int) -> Explanation:
        """Explain one label's score of a single weighted row."""
        reasons = label_reasons(self._model, rows, 0, label, self.bias)
        reasons.sort(key=lambda reason: -reason.share)
        return Explanation(0, label, sum(reason.share for reason in reasons), tuple(reasons))

    def _check_parameters(self) -> None:
        """Raise ParameterError for a parameter outside its domain."""
        check_unless_auto(check_positive, "C", self.C)
        check_positive("tol", self.tol)
        check_real("prune", self.prune, 0)
        check_whole("max_iter", self.max_iter, 1)

    def _settings(self, rows: sparse.csr_array, Y: sparse.csr_array, **more: Any) -> Settings:
        """What training on these weighted rows needs."""
        settings = Settings(
            C=USUAL_C if self.C == AUTO else float(self.C),
            bias=bool(self.bias),
            prune=float(self.prune),
            max_iter=int(self.max_iter),
            tol=float(self.tol),
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            **more,
        )
        self.C_ = choose_c(rows, Y, settings) if self.C == AUTO else settings.C
        return replace(settings, C=self.C_)

    def _weigh(
        self, X: sparse.csr_array, sample_weight: NDArray[np.float64] | None
    ) -> sparse.csr_array:
        """Learn the weighting of the training rows and apply it."""
        self.weighting_ = make_weighting(self.weighting, np.float32)
        if sample_weight is None:
            return self.weighting_.fit(X).transform(X)
        return self.weighting_.fit_weighted(X, sample_weight).transform(X)

    @property
    def _model(self) -> LinearModel:
        return LinearModel(self.coef_, self.intercept_)

    def _check_stored(self) -> None:
        """Refuse weights that do not fit the features and labels."""
        if not hasattr(self, "coef_"):
            return  # saved before it was fitted
        model = self._model
        model._check_stored()
        if model.coef.shape != (self.n_features_in_, self.n_labels_):
            raise InputError("the weights are damaged: they are for other features or labels.")

    def _set_model(self, model: LinearModel) -> None:
        self.coef_, self.intercept_ = model.coef, model.intercept
