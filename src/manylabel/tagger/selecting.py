"""From scores to the suggestions that somebody asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import ParameterError
from manylabel.predictions import rank_order
from manylabel.tagger.labels import Labels
from manylabel.tagger.suggestions import Suggestion, Suggestions
from manylabel.validation import check_real

__all__ = ["check_threshold", "kept_entries", "suggestions"]


def check_threshold(threshold: Any) -> float | None:
    """A number, or None for "auto" and None."""
    if threshold is None or threshold == "auto":
        return None
    if isinstance(threshold, str):
        raise ParameterError(f"`threshold` must be a number, 'auto' or None; got {threshold!r}.")
    return check_real("threshold", threshold, -np.inf)


def kept_entries(scores: sparse.csr_array, kept: NDArray[np.bool_]) -> sparse.csr_array:
    """The scores without some of their entries."""
    ptr = np.concatenate([[0], np.cumsum(kept)])[scores.indptr]
    return sparse.csr_array((scores.data[kept], scores.indices[kept], ptr), shape=scores.shape)


def suggestions(
    scores: sparse.csr_array, labels: Labels, ids: list[str] | None
) -> Iterator[Suggestions]:
    """The candidates of each row, best first."""
    order = rank_order(scores)
    columns, values = scores.indices[order].tolist(), scores.data[order].tolist()
    for row in range(scores.shape[0]):
        found = [
            (labels.listed[columns[place]], values[place])
            for place in range(scores.indptr[row], scores.indptr[row + 1])
        ]
        yield Suggestions(
            [Suggestion(label, score, labels.name(label)) for label, score in found],
            None if ids is None else ids[row],
        )
