"""The rows that each label is trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["AllRows", "NearRows", "Pairs"]

#: A label without many near rows has at least this many others.
_LEAST_SAMPLE = 6_000
#: The rows of a label, which of them have it, and factors of their weights; None for ones.
Members = tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.float64] | None]


@dataclass(frozen=True)
class AllRows:
    """Train every label on all rows.

    Parameters
    ----------
    by_label : csr_array of shape (n_labels, n_rows)
        The rows that have each label.
    """

    by_label: sparse.csr_array

    def of_label(self, label: int) -> Members:
        """The rows to train a label on: all."""
        n_rows = self.by_label.shape[1]
        return np.arange(n_rows, dtype=np.int32), _mask(self.by_label, label), None


@dataclass(frozen=True)
class NearRows:
    """Train each label on its rows, on those near them, and on a sample of the others.

    The sample has as many rows as are near, at least 6,000; each stands for several others, by its
    weight. A label for which this would be half of all rows is trained on all.

    Parameters
    ----------
    by_label : csr_array of shape (n_labels, n_rows)
        The rows that have each label.
    neighbors : ndarray of shape (n_rows, k)
        The rows that are near each row.
    seed : int
        For drawing the samples.
    """

    by_label: sparse.csr_array
    neighbors: NDArray[Any]
    seed: int

    def of_label(self, label: int) -> Members:
        """The rows to train a label on."""
        positive = _mask(self.by_label, label)
        chosen = positive.copy()
        near = self.neighbors[positive].ravel()
        chosen[near[near >= 0]] = True
        others = np.flatnonzero(~chosen)
        n_sampled = max(_LEAST_SAMPLE, int(chosen.sum()))
        if chosen.sum() + n_sampled >= positive.size / 2:
            return np.arange(positive.size, dtype=np.int32), positive, None
        generator = np.random.default_rng([self.seed, label])
        sampled = generator.choice(others, n_sampled, replace=False, shuffle=False)
        factors = np.ones(positive.size)
        factors[sampled] = others.size / n_sampled
        chosen[sampled] = True
        rows = np.flatnonzero(chosen).astype(np.int32)
        return rows, positive[rows], factors[rows]


def _mask(by_label: sparse.csr_array, label: int) -> NDArray[np.bool_]:
    """Which rows have a label."""
    mask = np.zeros(by_label.shape[1], bool)
    mask[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = True
    return mask


@dataclass(frozen=True)
class Pairs:
    """Train each label on its own rows, listed label after label."""

    ptr: NDArray[Any]
    rows: NDArray[np.int32]
    positive: NDArray[np.bool_]

    def of_label(self, label: int) -> Members:
        """The rows to train a label on."""
        span = slice(self.ptr[label], self.ptr[label + 1])
        return self.rows[span], self.positive[span], None
