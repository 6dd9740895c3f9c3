"""Whether models differ by more than the choice of test documents: a paired bootstrap."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

__all__ = ["SENTENCE", "holm", "worse_than_best", "z_test"]

N_RESAMPLES = 2000
#: Resamples drawn at a time, which bounds memory.
_CHUNK = 50

#: What reports say about the test.
SENTENCE = (
    f"The paired bootstrap draws the test documents (for macro and label-pivoted measures the "
    f"labels) {N_RESAMPLES:,} times with replacement, the same for every model; two-sided "
    "p-values of the differences to the best model, corrected after Holm for the number of models."
)


def worse_than_best(units: Mapping[str, NDArray[np.float64]], best: str) -> dict[str, float]:
    """The p-value of each other model's difference to the best, corrected after Holm.

    Parameters
    ----------
    units : mapping of str to array of shape (2, n)
        Of each model, numerators and denominators of the same documents or labels.
    best : str

    Returns
    -------
    dict of str to float
        Without the best. Models with other documents than the best's are left out.
    """
    others = [name for name in units if name != best and units[name].shape == units[best].shape]
    if not others:
        return {}
    stacked = np.concatenate([units[best], *(units[name] for name in others)])
    observed = _ratios(stacked.sum(axis=1)[None])[0]
    rng = np.random.default_rng(0)
    n = stacked.shape[1]
    draws = []
    for start in range(0, N_RESAMPLES, _CHUNK):
        rows = min(_CHUNK, N_RESAMPLES - start)
        chosen = rng.integers(n, size=(rows, n)) + np.arange(rows)[:, None] * n
        weights = np.bincount(chosen.ravel(), minlength=rows * n).reshape(rows, n)
        draws.append(_ratios(weights @ stacked.T))
    resampled = np.concatenate(draws)
    p_values = {}
    for column, name in enumerate(others, 1):
        difference = observed[0] - observed[column]
        # Centred, the resampled differences are those that chance alone would bring.
        chance = np.abs(resampled[:, 0] - resampled[:, column] - difference)
        p_values[name] = (1 + np.count_nonzero(chance >= abs(difference))) / (1 + N_RESAMPLES)
    return holm(p_values)


def z_test(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The two-sided p-value of a paired z-test on what each document or label adds.

    Papanikolaou and Tsoumakas (2017) mark differences by a z-test and do not say more about it;
    ours is paired, since both models answered for the same documents. Of a ratio of sums, what a
    document adds is its part of the linear approximation.

    Parameters
    ----------
    first, second : array of shape (2, n)
        Numerators and denominators.

    Examples
    --------
    >>> ones = np.ones(4)
    >>> z_test(np.array([[1, 1, 1, 0], ones]), np.array([[1, 1, 0, 1], ones]))
    1.0
    """
    from scipy.stats import norm

    added = []
    for numerators, denominators in (first, second):
        below = max(float(denominators.mean()), 1e-300)
        ratio = float(numerators.mean()) / below
        added.append((numerators - ratio * denominators) / below + ratio)
    differences = added[0] - added[1]
    mean, n = float(differences.mean()), differences.size
    error = float(differences.std(ddof=1)) / np.sqrt(n) if n > 1 else 0.0
    if error == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2 * norm.sf(abs(mean) / error))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Correct p-values for their number (Holm 1979).

    Examples
    --------
    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    corrected: dict[str, float] = {}
    highest = 0.0
    for place, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[name]))
        corrected[name] = highest
    return {name: corrected[name] for name in p_values}


def _ratios(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each model's measure from sums of numerators and denominators, which take turns."""
    return sums[:, ::2] / np.maximum(sums[:, 1::2], 1e-300)
