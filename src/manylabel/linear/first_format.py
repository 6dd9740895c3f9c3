"""Load linear models from the first format of the model folder."""

from __future__ import annotations

from typing import Any

from manylabel.linear.model import LinearModel
from manylabel.linear.scorer import LinearScorer
from manylabel.linear.subset import SubsetSVM
from manylabel.neighbors.source import NeighborSource
from manylabel.store import restored

__all__ = ["linear_scorer", "subset_svm"]


def subset_svm(state: dict[str, Any]) -> SubsetSVM:
    """In the first format, the index, the labels and the weights were attributes of the model."""
    index, labels = state.pop("index_", None), state.pop("labels_", None)
    coef, intercept = state.pop("coef_", None), state.pop("intercept_", None)
    model = restored(SubsetSVM, state)
    if index is not None:
        model.source_ = NeighborSource(index, labels, k=model.n_neighbors)
        model.scorer_ = linear_scorer(LinearModel(coef, intercept))
    return model


def linear_scorer(weights: LinearModel) -> LinearScorer:
    """A scorer with weights that are already trained."""
    scorer = LinearScorer()
    scorer.model = weights
    return scorer
