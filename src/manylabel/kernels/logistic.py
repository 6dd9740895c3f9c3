"""Turn log-odds into probabilities."""

from __future__ import annotations

import math

import numpy as np

from manylabel.kernels.compile import kernel


@kernel
def expit(log_odds):
    """The logistic function; importing SciPy's takes longer than a prediction."""
    chances = np.empty(log_odds.size)
    for i in range(log_odds.size):
        chances[i] = 1.0 / (1.0 + math.exp(-log_odds[i]))
    return chances
