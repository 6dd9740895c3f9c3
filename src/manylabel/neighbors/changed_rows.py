"""Similarities of words and labels after a few changes, computed for the words that are asked for.

In a large corpus, to compute all similarities again takes seconds. A change of one document touches
the columns of its words and labels; a text needs only the similarities of its own words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.predictions import best_of_rows
from manylabel.validation import widened

__all__ = ["ChangedRows", "Row"]

#: Labels, cosines, and the greatest cosine that is not kept.
Row = tuple[NDArray[np.int32], NDArray[np.float64], float]

#: A word with this many times more labels than are kept is not always computed as a whole.
_LONG = 4
#: How much a bound may be wrong by rounding.
_ROUNDING = 1 + 1e-9
_LOW = np.int64((1 << 32) - 1)


class ChangedRows:
    """Sums over documents as they were, and those entries that have changed since.

    Parameters
    ----------
    together : csr_array of shape (n_features, n_labels)
        The sums before all changes.
    feature_lengths : ndarray
        The lengths of the columns of features before all changes.
    bounds : ndarray
        The greatest cosine of each feature that is not kept, before all changes; may be empty.
    """

    def __init__(
        self,
        together: sparse.csr_array,
        feature_lengths: NDArray[np.float64],
        bounds: NDArray[np.float64],
    ) -> None:
        self._together, self._lengths, self._bounds = together, feature_lengths, bounds
        # Feature and label of the changed sums, as one number each, ascending; and the sums.
        self._keys = np.empty(0, np.int64)
        self._sums = np.empty(0, together.dtype)
        #: Labels and features whose columns have another length now.
        self.labels = np.empty(0, np.int64)
        self.features = np.empty(0, np.int64)
        self._known: dict[int, Row | None] = {}

    def add(
        self,
        change: sparse.csr_array,
        labels: NDArray[np.int64],
        features: NDArray[np.int64],
        tiny: float,
    ) -> None:
        """Add to some sums; those that are below ``tiny`` then are rounding errors.

        ``labels`` and ``features`` have columns of another length now.
        """
        rows = np.repeat(np.arange(change.shape[0], dtype=np.int64), np.diff(change.indptr))
        keys = (rows << 32) | change.indices
        sums = self._sums_of(rows, change.indices) + change.data
        sums[sums < tiny] = 0
        others = ~np.isin(self._keys, keys)
        keys = np.concatenate([self._keys[others], keys])
        order = np.argsort(keys, kind="stable")
        self._sums = np.concatenate([self._sums[others], sums])[order].astype(
            self._together.dtype, copy=False
        )
        self._keys = keys[order]
        self.labels, self.features = (
            np.union1d(self.labels, labels),
            np.union1d(self.features, features),
        )
        # Readers may still hold the old one.
        self._known = {}

    def grow(self, n_labels: int) -> None:
        """Extend to new labels."""
        self._together = widened(self._together, n_labels)

    def _sums_of(self, rows: NDArray[np.int64], labels: NDArray[Any]) -> NDArray[Any]:
        """The current sums of pairs of a feature and a label."""
        sums = np.zeros(rows.size, self._together.dtype)
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        for start, stop in zip(starts, [*starts[1:], rows.size], strict=True):
            mine, data = self._row(rows[start])
            sums[start:stop] = _found(mine, data, labels[start:stop])
        at = _places(self._keys, (rows << 32) | labels)
        sums[at >= 0] = self._sums[at[at >= 0]]
        return sums

    def _row(self, feature: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """The labels and the sums of a feature before all changes."""
        ptr = self._together.indptr
        mine = slice(ptr[feature], ptr[feature + 1])
        return self._together.indices[mine], self._together.data[mine]

    def _changed(self, feature: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """The labels of a feature whose sums have changed, and these sums."""
        first, last = np.searchsorted(self._keys, [feature << 32, (feature + 1) << 32])
        return self._keys[first:last] & _LOW, self._sums[first:last]

    def whole(self) -> sparse.csr_array:
        """All sums, with all changes."""
        rows, labels = self._keys >> 32, self._keys & _LOW
        base = self._together
        data = base.data.copy()
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        for start, stop in zip(starts, [*starts[1:], rows.size], strict=True):
            mine, _ = self._row(rows[start])
            at = _places(mine, labels[start:stop])
            data[base.indptr[rows[start]] + at[at >= 0]] = 0
        ptr = np.searchsorted(rows, np.arange(base.shape[0] + 1))
        new = sparse.csr_array((self._sums, labels, ptr), shape=base.shape)
        # A sum of two matrices has no zeros.
        whole = sparse.csr_array((data, base.indices, base.indptr), shape=base.shape) + new
        whole.sort_indices()
        return sparse.csr_array(whole)

    def row(
        self,
        feature: int,
        kept: NDArray[np.int32],
        length: float,
        label_lengths: NDArray[np.float64],
        top: int | None,
        needs_bound: bool,
    ) -> Row | None:
        """The current similarities of a feature; None if they have not changed.

        Parameters
        ----------
        feature : int
        kept : ndarray
            The labels that were kept before all changes.
        length : float
            Of the feature's column.
        label_lengths : ndarray
        top : int, optional
            The maximum number of labels to keep.
        needs_bound : bool
            Whether the greatest similarity that is not kept must be exact.
        """
        if not needs_bound and feature in self._known:
            return self._known[feature]
        known = self._known
        made = self._made(feature, kept, length, label_lengths, top, needs_bound)
        known[feature] = made
        return made

    def _made(
        self,
        feature: int,
        kept: NDArray[np.int32],
        length: float,
        label_lengths: NDArray[np.float64],
        top: int | None,
        needs_bound: bool,
    ) -> Row | None:
        labels, sums = self._row(feature)
        changed, changed_sums = self._changed(feature)
        moved = self.labels[_places(labels, self.labels) >= 0]
        is_changed = _places(self.features, np.array([feature]))[0] >= 0
        if not (is_changed or changed.size or moved.size):
            return None
        if top is not None and not needs_bound and self._bounds.size and labels.size > _LONG * top:
            # Among the other labels nothing has changed but the length of the feature's column.
            some = np.union1d(np.union1d(kept, moved), changed)
            values = _found(labels, sums, some)
            values[np.searchsorted(some, changed)] = changed_sums
            mine, cosines, _ = _best(some, values, length, label_lengths, top)
            below = self._bounds[feature] * self._lengths[feature] / length if length else np.inf
            if mine.size == top and cosines.min() > below * _ROUNDING:
                return mine, cosines, float(below)
        every = np.union1d(labels, changed)
        values = _found(labels, sums, every)
        values[np.searchsorted(every, changed)] = changed_sums
        return _best(every, values, length, label_lengths, top)


def _places(numbers: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.int64]:
    """Where the wanted numbers are among ascending ones; -1 for those that are not there."""
    if not numbers.size:
        return np.full(wanted.size, -1)
    at = np.minimum(np.searchsorted(numbers, wanted), numbers.size - 1)
    return np.where(numbers[at] == wanted, at, -1)


def _found(labels: NDArray[Any], sums: NDArray[Any], wanted: NDArray[Any]) -> NDArray[Any]:
    """The sums of the wanted labels; 0 for those that are not there."""
    at, out = _places(labels, wanted), np.zeros(wanted.size, sums.dtype)
    out[at >= 0] = sums[at[at >= 0]]
    return out


def _best(
    labels: NDArray[Any],
    sums: NDArray[Any],
    length: float,
    label_lengths: NDArray[np.float64],
    top: int | None,
) -> Row:
    """The labels with the greatest cosines."""
    there = (sums > 0) & (label_lengths[labels] > 0) & (length > 0)
    labels, sums = labels[there], sums[there]
    cosines = sums / (length * label_lengths[labels])
    bound = 0.0
    if top is not None:
        keep = best_of_rows(np.array([0, labels.size]), cosines, top)
        bound = float(cosines[~keep].max(initial=0))
        labels, cosines = labels[keep], cosines[keep]
    return labels.astype(np.int32), cosines.astype(np.float64), bound
