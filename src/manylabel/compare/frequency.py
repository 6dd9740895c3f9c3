"""Accuracy on rare and frequent labels: figure 12 of Rubin et al. (2012)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.compare.plan import Problem
from manylabel.compare.results import LEVEL, Results
from manylabel.metrics import by_frequency, compare_by_frequency

__all__ = ["MEASURE", "FrequencyCurve", "frequency_curves"]

#: Average precision of the documents ranked for each label.
MEASURE = "label-average-precision"


@dataclass(frozen=True)
class FrequencyCurve:
    """A model's mean average precision in bins of training frequency."""

    title: str
    bins: list[str]
    n_labels: list[int]
    values: list[float]
    #: Whether the difference to the reference is significant in each bin; None for the reference.
    differs: list[bool] | None


def frequency_curves(results: Results, problem: Problem) -> list[FrequencyCurve]:
    """The curve of each row; the first is the reference, the best row over all labels.

    The labels of several random splits are pooled.
    """
    values = _values(results, problem)
    if not values:
        return []
    train = _training_labels(results, problem)
    if any(groups.size != train.shape[1] for groups in values.values()):
        return []
    reference = max(values, key=lambda title: np.nanmean(values[title]))
    curves = []
    for title in [reference, *(title for title in values if title != reference)]:
        groups = by_frequency(values[title], train)
        differs = None
        if title != reference:
            tests = compare_by_frequency(values[reference], values[title], train)
            differs = [compared.test.p_value < LEVEL for compared in tests]
        curves.append(
            FrequencyCurve(
                title,
                [each.name for each in groups],
                [each.n_labels for each in groups],
                [each.value for each in groups],
                differs,
            )
        )
    return curves


def _values(results: Results, problem: Problem) -> dict[str, NDArray[np.float64]]:
    """Title of a row -> one value per label, NaN for labels that are not measured."""
    by_title = {}
    for line in results.lines[problem.name]:
        units = results.units(problem, line.title, MEASURE)
        if units is not None and units[1].any():
            by_title[line.title] = np.where(
                units[1] > 0, units[0] / np.maximum(units[1], 1), np.nan
            )
    return by_title


def _training_labels(results: Results, problem: Problem) -> sparse.csr_array:
    """A label matrix with the training frequency of each label; which rows have it is arbitrary."""
    keys = dict.fromkeys(c.problem_key for c in results.cells if c.problem.name == problem.name)
    counts = np.concatenate([results.corpora[key]["frequencies"] for key in keys]).astype(np.int64)
    rows = np.concatenate([np.arange(n) for n in counts]) if counts.size else counts
    indptr = np.concatenate([[0], np.cumsum(counts)])
    shape = (int(counts.max(initial=1)), counts.size)
    return sparse.csc_array((np.ones(rows.size, np.int8), rows, indptr), shape=shape).tocsr()
