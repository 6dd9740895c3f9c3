"""Taggers of the first format, in which the model folder had other classes."""

from __future__ import annotations

from typing import Any

from manylabel.tagger.state import TaggerState
from manylabel.tagger.tagger import Tagger

__all__ = ["state", "tagger"]


def tagger(attributes: dict[str, Any]) -> Tagger:
    """What a tagger knows was called its memory, and there were fewer settings."""
    known = attributes.pop("_memory")
    settings = Tagger().get_params(deep=False)
    return Tagger._from_store_state(settings | attributes | {"_state": known})


def state(attributes: dict[str, Any]) -> TaggerState:
    """The model was inside another object, which told it of changes."""
    learner = attributes.pop("learner").state
    return TaggerState._from_store_state(
        attributes | {"model": learner["estimator"], "n_fitted_labels": learner["n_fitted_labels"]}
    )
