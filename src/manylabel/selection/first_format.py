"""Tuners as the first format of the model folder had them."""

from __future__ import annotations

from typing import Any

from manylabel.selection.tuner import Tuner
from manylabel.store import restored

__all__ = ["tuner"]


def tuner(state: dict[str, Any]) -> Tuner:
    """The class was called NeighborSearchCV, and its trials were called results."""
    if "results_" in state:
        state["trials_"] = state.pop("results_")
        state["confirmation_"] = None
    return restored(Tuner, {"confirm": None, **state})
