"""Results by training frequency of labels, and tests of whether two models differ.

Rubin et al. (2012), section 6.3 and figure 12: labels are divided into quintiles of training
frequency, a measure is averaged over the labels of each, and a paired t-test compares two models in
each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manylabel.exceptions import InputError, ParameterError
from manylabel.metrics.judge import mean
from manylabel.validation import check_labels

__all__ = [
    "FrequencyBin",
    "FrequencyComparison",
    "PairedTest",
    "by_frequency",
    "compare_by_frequency",
    "paired_test",
]

Bins = Literal["quintiles", "fixed"] | Sequence[int]


class PairedTest(NamedTuple):
    """Whether paired values differ."""

    n: int
    #: Mean of the first minus mean of the second.
    difference: float
    #: Two-sided; NaN if there are too few pairs.
    p_value: float


@dataclass(frozen=True)
class FrequencyBin:
    """A measure over the labels with ``low`` to ``high`` training documents."""

    low: int
    high: int
    n_labels: int
    value: float

    @property
    def name(self) -> str:
        """The range, such as "2-5"."""
        return _range_name(self.low, self.high)


@dataclass(frozen=True)
class FrequencyComparison:
    """Two models over the labels with ``low`` to ``high`` training documents."""

    low: int
    high: int
    first: float
    second: float
    test: PairedTest

    @property
    def name(self) -> str:
        """The range in words, such as "2-5"."""
        return _range_name(self.low, self.high)


def by_frequency(values: Any, Y_train: Any, bins: Bins = "quintiles") -> list[FrequencyBin]:
    """Average one value per label over bins of training frequency.

    Parameters
    ----------
    values : array of shape (n_labels,)
        Such as ``average_precision(Y, scores, pivot="label", average=False)`` or
        ``f1(Y, Y_pred, average=None)``; NaN leaves a label out.
    Y_train : indicator matrix of shape (n_train, n_labels)
    bins : {"quintiles", "fixed"} or sequence of int
        Quintiles of the frequencies of the labels that have a value and a training document;
        labels of equal frequency stay together, so bins differ in size and may be fewer than
        five. Fixed: 0, 1, 2-5, 6-20, 21-100, 101-500, 501-2000 and so on. Or the highest
        frequency of each bin; labels above the last form another bin.

    Returns
    -------
    list of FrequencyBin
        From rare to frequent; bins without a label are left out.

    Examples
    --------
    >>> Y_train = [[1, 1], [0, 1], [0, 1]]
    >>> for b in by_frequency([0.25, 0.75], Y_train, "fixed"):
    ...     print(b.name, b.n_labels, b.value)
    1 1 0.25
    2-5 1 0.75
    """
    scores = np.asarray(values, np.float64)
    return [
        FrequencyBin(low, high, int(members.sum()), mean(scores[members]))
        for low, high, members in _split(~np.isnan(scores), Y_train, bins)
    ]


def compare_by_frequency(
    first: Any,
    second: Any,
    Y_train: Any,
    bins: Bins = "quintiles",
    method: Literal["t", "wilcoxon"] = "t",
) -> list[FrequencyComparison]:
    """Compare two models' values of each label within bins of training frequency.

    Parameters
    ----------
    first, second : arrays of shape (n_labels,)
        Labels that are NaN in either are left out.
    Y_train, bins
        As in :func:`by_frequency`.
    method : {"t", "wilcoxon"}
        As in :func:`paired_test`.

    Examples
    --------
    >>> Y_train = [[1, 1, 1], [0, 0, 0]]
    >>> [c] = compare_by_frequency([0.5, 0.7, 0.9], [0.4, 0.5, 0.6], Y_train)
    >>> c.name, round(c.test.difference, 2), round(c.test.p_value, 3)
    ('1', 0.2, 0.074)
    """
    a, b = _pair(first, second)
    return [
        FrequencyComparison(
            low, high, mean(a[members]), mean(b[members]), _test(a[members], b[members], method)
        )
        for low, high, members in _split(~np.isnan(a - b), Y_train, bins)
    ]


def paired_test(first: Any, second: Any, method: Literal["t", "wilcoxon"] = "t") -> PairedTest:
    """Test whether two models' values of the same labels or documents differ.

    Parameters
    ----------
    first, second : arrays of the same length
        Pairs with a NaN are left out.
    method : {"t", "wilcoxon"}
        Student's paired t-test, or Wilcoxon's signed-rank test, which assumes no distribution.

    Returns
    -------
    PairedTest
        The p-value is two-sided; 1 if all pairs are equal, NaN with fewer than two pairs.

    Examples
    --------
    >>> paired_test([0.5, 0.7, 0.9], [0.5, 0.7, 0.9]).p_value
    1.0
    """
    a, b = _pair(first, second)
    kept = ~np.isnan(a - b)
    return _test(a[kept], b[kept], method)


def _test(a: NDArray[np.float64], b: NDArray[np.float64], method: str) -> PairedTest:
    from scipy import stats

    if method not in ("t", "wilcoxon"):
        raise ParameterError(f"`method` must be 't' or 'wilcoxon'; got {method!r}.")
    differences = a - b
    n = differences.size
    if n < 2:
        return PairedTest(n, mean(differences), float("nan"))
    if not differences.any():
        return PairedTest(n, 0.0, 1.0)
    if method == "wilcoxon":
        p_value = stats.wilcoxon(differences).pvalue
    else:
        error = differences.std(ddof=1) / np.sqrt(n)
        p_value = 2.0 * stats.t.sf(abs(differences.mean()) / error, n - 1) if error else 0.0
    return PairedTest(n, float(differences.mean()), float(p_value))


def _pair(first: Any, second: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise InputError(
            f"the two models must have one value each for the same items; "
            f"got the shapes {a.shape} and {b.shape}."
        )
    return a, b


def _split(
    measured: NDArray[np.bool_], Y_train: Any, bins: Bins
) -> Iterator[tuple[int, int, NDArray[np.bool_]]]:
    """Lowest and highest frequency and the members of each bin that has any."""
    train = check_labels(Y_train, "Y_train", n_columns=measured.size)
    frequency = np.bincount(train.indices, minlength=measured.size)
    if isinstance(bins, str) and bins == "quintiles":
        measured = measured & (frequency > 0)
    if not measured.any():
        return
    low = 0
    for high in _edges(bins, frequency[measured]):
        members = measured & (frequency >= low) & (frequency <= high)
        if members.any():
            first = int(frequency[members].min()) if bins == "quintiles" else low
            yield first, high, members
        low = high + 1


def _edges(bins: Bins, frequency: NDArray[np.int64]) -> list[int]:
    """The highest frequency of each bin; the last is at least the highest there is."""
    highest = int(frequency.max())
    if isinstance(bins, str):
        if bins == "quintiles":
            edges = np.quantile(frequency, [0.2, 0.4, 0.6, 0.8, 1.0], method="inverted_cdf")
            return sorted({int(edge) for edge in edges})
        if bins == "fixed":
            fixed = [0, 1, 5, 20]
            while fixed[-1] < highest:
                fixed.append(fixed[-1] * (4 if str(fixed[-1])[0] == "5" else 5))
            return fixed
        raise ParameterError(
            f"`bins` must be 'quintiles', 'fixed' or a list of frequencies; got {bins!r}."
        )
    given = sorted({int(edge) for edge in bins})
    return given if given and given[-1] >= highest else [*given, highest]


def _range_name(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"
