"""Whether models differ by more than the choice of test documents: a paired bootstrap."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["SENTENCE", "Resampled", "holm", "resample", "worse_than_best", "z_test"]

_Key = TypeVar("_Key", bound=Hashable)

N_RESAMPLES = 2000
#: Resamples to draw at a time, to limit memory.
_CHUNK = 50
#: Quantiles at the ends of an interval.
_TAILS = (0.025, 0.975)

#: The description of the test in reports.
SENTENCE = (
    f"The paired bootstrap draws the test documents {N_RESAMPLES:,} times with replacement, the "
    "same for every model; for macro-averaged and label-pivoted measures it draws labels. "
    "p-values are two-sided, for the difference to the best model, with Holm's correction for the "
    "number of models. Intervals hold 95 % of a model's values in these draws."
)


@dataclass(frozen=True)
class Resampled:
    """A measure of several models: observed, and on the same resampled documents or labels.

    Parameters
    ----------
    names : tuple of str
    observed : array of shape (n_models,)
    drawn : array of shape (n_resamples, n_models)
    """

    names: tuple[str, ...]
    observed: NDArray[np.float64]
    drawn: NDArray[np.float64]

    def interval(self, name: str) -> tuple[float, float]:
        """The interval that contains 95 % of the resampled values."""
        low, high = np.quantile(self.drawn[:, self.names.index(name)], _TAILS)
        return float(low), float(high)

    def p_value(self, first: str, second: str) -> float:
        """The probability of a difference at least as large by chance."""
        one, other = self.names.index(first), self.names.index(second)
        difference = self.observed[one] - self.observed[other]
        # Centred resampled differences follow the distribution under the null hypothesis.
        chance = np.abs(self.drawn[:, one] - self.drawn[:, other] - difference)
        return (1 + int(np.count_nonzero(chance >= abs(difference)))) / (1 + len(self.drawn))

    def against(self, best: str) -> dict[str, float]:
        """The p-value of each other model's difference to the best, corrected after Holm."""
        return holm({name: self.p_value(best, name) for name in self.names if name != best})

    def pairs(self) -> dict[tuple[str, str], float]:
        """The p-value of the difference of any two models, corrected after Holm for all pairs."""
        return holm({pair: self.p_value(*pair) for pair in combinations(self.names, 2)})


def resample(units: Mapping[str, NDArray[np.float64]]) -> Resampled:
    """Draw documents or labels with replacement, the same for every model.

    Parameters
    ----------
    units : mapping of str to array of shape (2, n)
        Per model, the numerators and denominators of the same documents or labels.
    """
    stacked = np.concatenate(list(units.values()))
    rng = np.random.default_rng(0)
    n = stacked.shape[1]
    draws = []
    for start in range(0, N_RESAMPLES, _CHUNK):
        rows = min(_CHUNK, N_RESAMPLES - start)
        chosen = rng.integers(n, size=(rows, n)) + np.arange(rows)[:, None] * n
        weights = np.bincount(chosen.ravel(), minlength=rows * n).reshape(rows, n)
        draws.append(_ratios(weights @ stacked.T))
    observed = _ratios(stacked.sum(axis=1)[None])[0]
    return Resampled(tuple(units), observed, np.concatenate(draws))


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
        Without the best. Models with other test documents than the best are left out.
    """
    shape = units[best].shape
    return resample({name: each for name, each in units.items() if each.shape == shape}).against(
        best
    )


def z_test(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The two-sided p-value of a paired z-test on the contributions of documents or labels.

    Papanikolaou and Tsoumakas (2017) use a z-test and give no details; ours is paired, since both
    models are tested on the same documents. For a ratio of sums, the contribution of a document is
    its term in the linear approximation.

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


def holm(p_values: Mapping[_Key, float]) -> dict[_Key, float]:
    """Correct p-values for their number (Holm 1979).

    Examples
    --------
    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    corrected: dict[_Key, float] = {}
    highest = 0.0
    for position, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        highest = max(highest, min(1.0, (len(p_values) - position) * p_values[name]))
        corrected[name] = highest
    return {name: corrected[name] for name in p_values}


def _ratios(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The measure of each model from alternating sums of numerators and denominators."""
    return sums[:, ::2] / np.maximum(sums[:, 1::2], 1e-300)
