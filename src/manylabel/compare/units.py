"""Measures split into their contributions per document or label, for paired tests.

Every measure here is a ratio of two sums over documents or labels. The denominators of a mean are
ones; those of micro-averaged and propensity-scored measures vary.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manylabel.metrics import cutoffs, full_ranking, get_measure, ranking
from manylabel.metrics.judge import head
from manylabel.metrics.registry import Inputs
from manylabel.metrics.sets import Counts, SetCounts
from manylabel.predictions import rank_order

__all__ = ["label_counts", "ratio", "units"]

Units = NDArray[np.float64]


def units(given: Inputs, name: str) -> Units | None:
    """The numerators and denominators of a measure, of shape (2, n).

    None if the measure is not such a ratio, or cannot be computed from what is given.
    """
    measure = get_measure(name)
    if not given.has(measure.needs):
        return None
    family = name.partition("@")[0]
    if measure.k is not None and family in ranking.TOP_MEASURES:
        return _mean(ranking.TOP_MEASURES[family](given.judged("document"), measure.k))
    if name.startswith("psp@") and measure.k is not None:
        return _propensity_scored(given, measure.k)
    pivot: Any = "label" if name.startswith("label-") else "document"
    bare = name.removeprefix("label-")
    if bare in full_ranking.FULL_MEASURES:
        column = full_ranking.FULL_MEASURES.index(bare)
        return _mean(full_ranking.rank_values(given.judged(pivot))[:, column])
    average, _, rest = bare.partition("-")
    if "-f1@" in bare:
        counts = cutoffs.cut_counts(given.judged(pivot), bare.split("@")[1], pivot, given.train)
        return _pooled(counts, "f1") if average == "micro" else _mean(counts.f1())
    if "labels" in measure.needs:
        return _of_sets(given.counts, bare, average, rest)
    return None


def ratio(values: Units) -> float:
    """The measure from its units: the ratio of their sums."""
    below = values[1].sum()
    return float(values[0].sum() / below) if below else float("nan")


def label_counts(given: Inputs) -> NDArray[np.int64]:
    """How many documents each label is correctly predicted for, predicted for and true for.

    Returns
    -------
    ndarray of shape (3, n_labels)
    """
    labels = given.counts.labels
    return np.stack([labels.right, labels.given, labels.true])


def _of_sets(counts: SetCounts, name: str, average: str, rest: str) -> Units | None:
    """Units of measures of label sets."""
    documents = counts.documents
    if name == "accuracy":
        return _mean(documents.jaccard())
    if name == "hamming-loss":
        wrong = documents.given + documents.true - 2 * documents.right
        return _mean(wrong / counts.labels.true.size)
    if name == "subset-accuracy":
        exact = (documents.right == documents.given) & (documents.right == documents.true)
        return _mean(exact.astype(np.float64))
    if average == "micro":
        return _pooled(documents, rest)
    if average in ("macro", "example"):
        kind, _, absent = rest.partition("-")
        over = counts.labels if average == "macro" else documents
        return _mean(getattr(over, kind)(absent or "zero"))
    return None


def _mean(values: Units) -> Units:
    """Units of a mean over values that are not NaN."""
    known = ~np.isnan(values)
    return np.stack([np.where(known, values, 0.0), known.astype(np.float64)])


def _pooled(counts: Counts, kind: str) -> Units:
    """Units of a ratio of pooled counts."""
    right = counts.right.astype(np.float64)
    if kind == "f1":
        return np.stack([2 * right, (counts.given + counts.true).astype(np.float64)])
    return np.stack([right, (counts.given if kind == "precision" else counts.true).astype(float)])


def _propensity_scored(given: Inputs, k: int) -> Units:
    judged, truth, weights = given.judged("document"), given.truth, given.weights
    gained = head(judged.indptr, judged.hits * weights[judged.items], k)
    best = truth.astype(np.float64)
    best.data = weights[truth.indices]
    possible = head(best.indptr, best.data[rank_order(best)], k)
    return np.stack([gained.sum(axis=1), possible.sum(axis=1)])
