"""Tune any classifier: find the best settings for a corpus."""

from manylabel.neighbors.grids import PAPER_GRID
from manylabel.selection.settings import default_grid
from manylabel.selection.tuner import Trial, Tuner

__all__ = ["PAPER_GRID", "Trial", "Tuner", "default_grid"]
