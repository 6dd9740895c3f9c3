"""Compute many measures at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from manylabel.metrics.registry import MEASURES, Inputs, get_measure
from manylabel.validation import check_whole

__all__ = ["evaluate"]


def evaluate(
    Y_true: Any,
    scores: Any = None,
    Y_pred: Any = None,
    *,
    Y_train: Any = None,
    metrics: Iterable[str] | None = None,
    ks: Iterable[int] = (1, 3, 5),
) -> dict[str, float]:
    """Measure a model's predictions; rankings are sorted once for all measures.

    Parameters
    ----------
    Y_true : sparse or dense indicator matrix of shape (n_documents, n_labels)
    scores : sparse or dense matrix of shape (n_documents, n_labels), optional
        A stored entry is a candidate label.
    Y_pred : indicator matrix of shape (n_documents, n_labels), optional
    Y_train : indicator matrix of shape (n_train, n_labels), optional
        Needed by propensity-scored measures and proportional cut-offs. Label-pivoted measures
        then leave out labels without a training document.
    metrics : iterable of str, optional
        Names from ``MEASURES``. By default all that the given matrices allow.
    ks : iterable of int
        The values of k for the ``@k`` families, by default.

    Returns
    -------
    dict of str to float
        Name to value, in the order of ``metrics``. A value is NaN if nothing can be measured.

    Examples
    --------
    >>> evaluate([[1, 0, 1]], [[0.9, 0.5, 0.1]], metrics=["p@1", "ranking-loss"])
    {'p@1': 1.0, 'ranking-loss': 0.5}
    """
    inputs = Inputs(Y_true, scores, Y_pred, Y_train)
    if metrics is not None:
        chosen = [get_measure(name) for name in metrics]
    else:
        ks = [check_whole("ks", k, 1) for k in ks]
        possible = [measure for measure in MEASURES.values() if inputs.has(measure.needs)]
        chosen = [
            member
            for measure in possible
            for member in ([measure.at(k) for k in ks] if measure.is_family else [measure])
        ]
    return {measure.name: measure.compute(inputs) for measure in chosen}
