"""Get scores, labels and settings from estimators of any kind.

manylabel's classifiers, the tuner and the label trees of other libraries have
``scores_and_labels``. For other estimators, such as scikit-learn's, this is the only place that
probes what they can do: ``decision_function`` or ``predict_proba`` for scores, ``get_params`` for
parameters, ``best_estimator_`` and ``best_params_`` after scikit-learn's own searches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from manylabel.base import MultiLabelClassifier
from manylabel.compare.external import LabelTree
from manylabel.exceptions import InputError
from manylabel.predictions import canonical_scores, keep_top
from manylabel.selection import Tuner
from manylabel.validation import check_labels

__all__ = ["answers", "parameters_of", "settings_of", "tuning_seconds"]

_Own = MultiLabelClassifier | Tuner | LabelTree


def answers(
    estimator: Any, X: sparse.csr_array, top: int | None
) -> tuple[sparse.csr_array | None, sparse.csr_array]:
    """Predict scores, if the estimator has any, and label sets; in one pass if possible."""
    fitted = getattr(estimator, "best_estimator_", estimator)
    for one in (estimator, fitted):
        if isinstance(one, _Own):
            return one.scores_and_labels(X, top)
    labels = check_labels(fitted.predict(X), "the labels predicted")
    if hasattr(fitted, "decision_function"):
        raw = fitted.decision_function(X)
    elif hasattr(fitted, "predict_proba"):
        raw = _probabilities(fitted.predict_proba(X))
    else:
        return None, labels
    scores = canonical_scores(raw)
    if scores.shape != labels.shape:
        raise InputError(
            f"scores and labels must have the same shape; got {scores.shape} and {labels.shape}."
        )
    return (scores if top is None else keep_top(scores, top)), labels


def _probabilities(predicted: Any) -> Any:
    """Stack one column per label; scikit-learn may return a list of arrays with two columns."""
    if not isinstance(predicted, list):
        return predicted
    return np.column_stack(
        [each[:, 1] if each.shape[1] == 2 else np.zeros(each.shape[0]) for each in predicted]
    )


def parameters_of(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator; empty if it does not follow scikit-learn."""
    return estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}


def settings_of(estimator: Any) -> dict[str, Any]:
    """The parameters to report: the tuned ones, or all that differ from the defaults."""
    if hasattr(estimator, "best_params_"):
        return dict(estimator.best_params_)
    given = parameters_of(estimator)
    try:
        defaults = parameters_of(type(estimator)())
    except TypeError:
        defaults = {}
    left_out = ("n_jobs", "random_state", "verbose")
    return {
        name: value
        for name, value in given.items()
        if name not in left_out and repr(defaults.get(name, ...)) != repr(value)
    }


def tuning_seconds(estimator: Any) -> float:
    """The part of the training time that was spent on trying settings."""
    if isinstance(estimator, Tuner):
        return sum(trial["seconds"] for trial in estimator.trials_)
    return float(getattr(estimator, "tuning_seconds_", 0.0))
