"""The learned combination of several scorers."""

from manylabel.ensemble.curves import Combination, Curve
from manylabel.ensemble.ensemble import Ensemble
from manylabel.ensemble.out_of_sample import OutOfSample, rounds
from manylabel.ensemble.report import Report
from manylabel.ensemble.scorers import SCORERS, SOURCES, register

__all__ = [
    "SCORERS",
    "SOURCES",
    "Combination",
    "Curve",
    "Ensemble",
    "OutOfSample",
    "Report",
    "register",
    "rounds",
]
