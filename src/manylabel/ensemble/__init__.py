"""The learned combination of neighbours, words, linear models and topics."""

from manylabel.ensemble.curves import Combination, Curve
from manylabel.ensemble.ensemble import Ensemble
from manylabel.ensemble.learning import Learned

__all__ = ["Combination", "Curve", "Ensemble", "Learned"]
