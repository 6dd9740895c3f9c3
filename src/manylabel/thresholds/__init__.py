"""Turn scores into label sets.

Every threshold has ``fit(scores, Y)`` and ``apply(scores)``. Scores are sparse; only a stored
entry, a candidate, can become a predicted label. Fit on scores of held-out documents: a model
scores its own training documents too well.

:class:`Cardinality`, :class:`PerLabel`, :class:`Proportional` and :class:`TopK` read only
statistics of ``Y``, so its rows need not be those of the scores: training labels go with the
scores of other documents. :class:`Best` and :class:`Promise` compare row by row.
"""

from manylabel.thresholds.base import Threshold
from manylabel.thresholds.best import Best
from manylabel.thresholds.make import make_threshold
from manylabel.thresholds.matching import Cardinality, PerLabel, Proportional
from manylabel.thresholds.promise import PROMISES, Promise
from manylabel.thresholds.simple import Fixed, TopK

__all__ = [
    "PROMISES",
    "Best",
    "Cardinality",
    "Fixed",
    "PerLabel",
    "Promise",
    "Proportional",
    "Threshold",
    "TopK",
    "make_threshold",
]
