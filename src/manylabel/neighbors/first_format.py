"""Load nearest-neighbour models from the first format of the model folder."""

from __future__ import annotations

from functools import partial
from typing import Any

from manylabel.neighbors.lcif import LCIF, FeatureKNN, InstanceKNN
from manylabel.neighbors.source import NeighborSource
from manylabel.store import restored

__all__ = ["feature_knn", "instance_knn", "lcif"]


def _voting(cls: type[InstanceKNN] | type[FeatureKNN] | type[LCIF], state: dict[str, Any]) -> Any:
    """In the first format, index, similarities and votes were attributes of the model."""
    index, features = state.pop("index_", None), state.pop("features_", None)
    given = state.pop("votes_", None)
    model = restored(cls, state)
    if given is None:
        return model
    source = NeighborSource(
        index,
        model.Y_,
        k=model.k,
        alpha=model.alpha,
        weight=model.lam,
        features=features,
        beta=model.beta,
        top_words=model.candidates,
        strategy=model.strategy,
    )
    source.given = given
    model.source_ = source
    return model


instance_knn = partial(_voting, InstanceKNN)
feature_knn = partial(_voting, FeatureKNN)
lcif = partial(_voting, LCIF)
