"""Reads taggers in the first format of the model folder, which had other classes."""

from __future__ import annotations

from typing import Any

from manylabel.tagger.state import TaggerState
from manylabel.tagger.tagger import Tagger

__all__ = ["state", "tagger"]


def tagger(attributes: dict[str, Any]) -> Tagger:
    """Rename the state, which was called memory, and add default settings."""
    known = attributes.pop("_memory")
    settings = Tagger().get_params(deep=False)
    return Tagger._from_store_state(settings | attributes | {"_state": known})


def state(attributes: dict[str, Any]) -> TaggerState:
    """Unwrap the model, which was inside an object that passed changes on to it."""
    learner = attributes.pop("learner").state
    return TaggerState._from_store_state(
        attributes | {"model": learner["estimator"], "n_fitted_labels": learner["n_fitted_labels"]}
    )
