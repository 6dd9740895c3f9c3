"""Load topic models from the first format of the model folder."""

from __future__ import annotations

from typing import Any

from manylabel.neighbors.source import NeighborSource
from manylabel.store import restored
from manylabel.topics.subset import SubsetLLDA

__all__ = ["subset_llda"]


def subset_llda(state: dict[str, Any]) -> SubsetLLDA:
    """In the first format, the index and the labels were attributes of the model."""
    index, labels = state.pop("index_", None), state.pop("Y_", None)
    model = restored(SubsetLLDA, state)
    if index is not None:
        model.source_ = NeighborSource(index, labels, k=model.n_neighbors, alpha=model.power)
    return model
