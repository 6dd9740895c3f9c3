"""Turn scores into log-odds, and log-odds into probabilities."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manylabel.kernels.compile import kernel


class Curves(NamedTuple):
    """Piecewise linear curves, one after another; ``ptr`` has where each begins.

    ``first`` and ``last`` are the slopes of the unbounded pieces, ``weights`` the weight of each
    curve in each group, ``offsets`` and ``factors`` those of the sum.
    """

    ptr: NDArray[np.int64]
    knots: NDArray[np.float64]
    values: NDArray[np.float64]
    first: NDArray[np.float64]
    last: NDArray[np.float64]
    weights: NDArray[np.float64]
    offsets: NDArray[np.float64]
    factors: NDArray[np.float64]


@kernel
def add_curves(curves, scores, groups, out):
    """The sum of the curves' values at the scores of each candidate, in the order of the curves.

    Rounded as NumPy's ``interp`` rounds.
    """
    knots, values = curves.knots, curves.values
    slopes = np.empty(knots.size)
    out[:] = 0.0
    for part in range(scores.shape[0]):
        begin, end = curves.ptr[part], curves.ptr[part + 1] - 1
        for at in range(begin, end):
            slopes[at] = (values[at + 1] - values[at]) / (knots[at + 1] - knots[at])
        for i in range(out.size):
            score, at = scores[part, i], begin
            # Counting takes less time than a search whose end cannot be predicted.
            for knot in range(begin + 1, end):
                at += score >= knots[knot]
            inside = slopes[at] * (score - knots[at]) + values[at]
            if score >= knots[end]:
                inside = values[end]
            if score < knots[begin]:
                inside = values[begin]
            inside += curves.first[part] * min(score - knots[begin], 0.0)
            inside += curves.last[part] * max(score - knots[end], 0.0)
            out[i] += inside * curves.weights[part, groups[i]]
    for i in range(out.size):
        out[i] = curves.offsets[groups[i]] + curves.factors[groups[i]] * out[i]


@kernel
def expit(log_odds):
    """The logistic function; importing SciPy's takes longer than a prediction."""
    chances = np.empty(log_odds.size)
    for i in range(log_odds.size):
        chances[i] = 1.0 / (1.0 + math.exp(-log_odds[i]))
    return chances
