"""Choose the weight of each label's positive documents: Rubin's tuned SVM."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["PATIENCE", "QUICK_SWEEPS", "WEIGHTS", "choose_weight", "hold_out", "thin"]

#: The weights tried for every label, besides its negatives / positives (Rubin et al. 2012, 5.1).
WEIGHTS = (1, 2, 5, 10, 25, 50, 100, 250, 500, 1000)
#: Quick tuning: sweeps for each weight, and the number of worse weights in a row that end it.
QUICK_SWEEPS, PATIENCE = 15, 2
#: Quick tuning takes one in this many of the rows that stand for others.
_THINNED = 4
_HELD_SHARE = 0.1


def choose_weight(
    positive: NDArray[np.bool_],
    accuracy: Callable[..., NDArray[np.float64]],
    seed: list[int],
) -> float:
    """The weight with the highest accuracy on a hold-out; ties go to the one nearest 1.

    Parameters
    ----------
    positive : array of bool
        Which rows have the label.
    accuracy : callable
        Called with weights, a mask of the rows to train on and a mask of those to hold out.
    seed : list of int
        For drawing the hold-out.
    """
    n_positive = int(positive.sum())
    n_negative = positive.size - n_positive
    if n_negative == 0:
        return 1.0
    weights = np.unique([*WEIGHTS, n_negative / n_positive]).astype(np.float64)
    values = accuracy(weights, *hold_out(positive, seed))
    best = weights[values == values.max()]
    return float(best[np.argmin(np.abs(best - 1))])


def hold_out(
    positive: NDArray[np.bool_], seed: list[int]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Masks of the rows to train on and of a tenth of each class; a lone row is in both."""
    random = np.random.default_rng(seed)
    trained, held = np.ones(positive.size, bool), np.zeros(positive.size, bool)
    for rows in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        chosen = random.permutation(rows)[: max(1, round(_HELD_SHARE * rows.size))]
        held[chosen] = True
        trained[chosen] = rows.size == 1
    return trained, held


def thin(
    factors: NDArray[np.float64], seed: list[int]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """A mask of the rows for quick tuning, and how many times more each of them counts.

    Rows that stand for none but themselves (factor 1) are all taken.
    """
    kept, times = np.ones(factors.size, bool), np.ones(factors.size)
    sampled = np.random.default_rng([*seed, 1]).permutation(np.flatnonzero(factors > 1))
    n_kept = -(-sampled.size // _THINNED)
    kept[sampled[n_kept:]] = False
    times[sampled[:n_kept]] = sampled.size / max(n_kept, 1)
    return kept, times
