"""Load tuners from the first format of the model folder."""

from __future__ import annotations

from typing import Any

from manylabel.selection.tuner import Tuner
from manylabel.store import restored

__all__ = ["tuner"]


def tuner(state: dict[str, Any]) -> Tuner:
    """In the first format, the class was NeighborSearchCV, and its trials were ``results_``."""
    if "results_" in state:
        state["trials_"] = state.pop("results_")
        state["confirmation_"] = None
    return restored(Tuner, {"confirm": None, **state})
