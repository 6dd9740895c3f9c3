"""Compare models: measures, time and memory on several corpora, as tables, plots and a page."""

from manylabel.compare.plan import Plan, Problem, Row
from manylabel.compare.presets import PRESETS, make_preset
from manylabel.compare.results import Results
from manylabel.compare.runner import Watcher, run

__all__ = ["PRESETS", "Plan", "Problem", "Results", "Row", "Watcher", "make_preset", "run"]
