"""The rows of the index: immutable shards with postings, and a tail that is not in a shard yet."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manylabel.exceptions import InputError
from manylabel.kernels import index as kernels
from manylabel.kernels import search_classic
from manylabel.kernels.index import Postings, Rows
from manylabel.kernels.search_classic import Lists
from manylabel.validation import check_rows

__all__ = ["SEGMENT", "TILE", "Shard", "Tail", "some_rows", "stacked_rows"]

#: Rows per segment: a posting's row number has 16 bits.
SEGMENT = 65_536
#: Rows per tile: the scores of a batch of queries on a tile fit the cache.
TILE = 2_048
#: Rows with fewer features than this on average are "short".
SHORT = 32
#: A feature in more than this share of the rows gets a column instead of a list. Measured: a
#: column costs a vector operation over all rows, a list a scattered operation over its own rows.
FREQUENT = {"short": 0.06, "long": 0.12}


class Shard:
    """Rows of unit length with their postings.

    Parameters
    ----------
    rows : Rows
    n_features : int
    postings : Postings, optional
        Built from the rows if not given.
    """

    #: A cluster may cache a shard by its identity.
    immutable = True

    def __init__(self, rows: Rows, n_features: int, postings: Postings | None = None) -> None:
        self.rows = rows
        self.n_features = n_features
        self.postings = _build(rows, n_features) if postings is None else postings

    def __len__(self) -> int:
        return self.rows.ptr.size - 1

    def _check_stored(self) -> None:
        """Refuse arrays that a search would read beyond their ends."""
        check_rows(self.rows.ptr, self.rows.features, self.n_features, self.rows.values)
        n_rows, postings = len(self), self.postings
        n_segments, n_tiles = -(-n_rows // SEGMENT), -(-n_rows // TILE)
        shapes = {
            "largest": (self.n_features,),
            "starts": (n_segments + 1,),
            "lists": (n_segments, self.n_features + 1),
            "weights": postings.rows.shape,
            "column": (self.n_features,),
            "tiles": (n_tiles, postings.tiles.shape[1], TILE),
            "norms": (n_rows,),
            "by_norm": (n_rows,),
        }
        for name, shape in shapes.items():
            if getattr(postings, name).shape != shape:
                raise InputError(f"the index is damaged: {name} has the wrong shape.")
        if (
            postings.column.size
            and not -1 <= postings.column.min() <= postings.column.max() < self.n_columns
        ):
            raise InputError("the index is damaged: a column does not exist.")
        if postings.starts[0] != 0:
            raise InputError("the index is damaged: its segments do not start at 0.")
        for segment in range(n_segments):
            size = min(SEGMENT, n_rows - segment * SEGMENT)
            first, last = int(postings.starts[segment]), int(postings.starts[segment + 1])
            pointers = postings.lists[segment].astype(np.int64)
            check_rows(pointers, postings.rows[first:last], size)
            if postings.by_norm[segment * SEGMENT :][:size].max(initial=0) >= size:
                raise InputError("the index is damaged: a row does not exist.")

    @property
    def n_columns(self) -> int:
        """The number of features with a column instead of a list."""
        return int(self.postings.tiles.shape[1])

    @cached_property
    def list_lengths(self) -> NDArray[np.int64]:
        """The number of postings of each feature; 0 for those with a column."""
        return np.diff(self.postings.lists.astype(np.int64), axis=1).sum(axis=0)

    @cached_property
    def lists(self) -> Lists:
        """Plain posting lists, for the algorithms of the paper."""
        return self._plain_lists(np.ones(len(self), np.bool_))

    @cached_property
    def lists_by_value(self) -> Lists:
        """Posting lists by descending value, for Fagin's algorithm."""
        lists = self._plain_lists(np.ones(len(self), np.bool_))
        search_classic.sort_by_value(lists)
        return lists

    def partition(self, m: int) -> tuple[Lists, Lists]:
        """Lists of the rows with a top-m value of some feature, and of the rest (algorithm 7)."""
        if m not in self._partitions:
            member = np.zeros(len(self), np.bool_)
            search_classic.mark_top(self.lists_by_value, m, member)
            self._partitions[m] = self._plain_lists(member), self._plain_lists(~member)
        return self._partitions[m]

    @cached_property
    def _partitions(self) -> dict[int, tuple[Lists, Lists]]:
        return {}

    def _plain_lists(self, member: NDArray[np.bool_]) -> Lists:
        """Posting lists of some of the rows."""
        entries = np.repeat(member, np.diff(self.rows.ptr))
        counts = np.bincount(self.rows.features[entries], minlength=self.n_features)
        ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        lists = Lists(
            ptr,
            np.empty(ptr[-1], np.int32),
            np.empty(ptr[-1], np.float32),
            np.zeros(self.n_features, np.float32),
        )
        search_classic.fill_lists(self.rows, member, lists, ptr[:-1].copy())
        return lists

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Every array by name."""
        rows = {f"row-{name}": array for name, array in self.rows._asdict().items()}
        return rows | {name.replace("_", "-"): a for name, a in self.postings._asdict().items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Shard:
        """Make a shard from its :meth:`arrays`."""
        rows = Rows(*(np.asarray(arrays[f"row-{name}"]) for name in Rows._fields))
        postings = Postings(
            *(np.asarray(arrays[name.replace("_", "-")]) for name in Postings._fields)
        )
        return cls(rows, postings.largest.size, postings)


def _build(rows: Rows, n_features: int) -> Postings:
    """Count, lay out and fill the postings."""
    n_rows = rows.ptr.size - 1
    n_segments = -(-n_rows // SEGMENT)
    counts = np.zeros((n_segments, n_features), np.uint32)
    largest = np.zeros(n_features, np.float32)
    kernels.count_postings(rows, SEGMENT, counts, largest)
    short = rows.ptr[-1] <= SHORT * n_rows
    frequency = counts.sum(axis=0, dtype=np.int64)
    frequent = np.flatnonzero(frequency > FREQUENT["short" if short else "long"] * n_rows)
    counts[:, frequent] = 0
    column = np.full(n_features, -1, np.int32)
    column[frequent] = np.arange(frequent.size)

    lists = np.zeros((n_segments, n_features + 1), np.uint32)
    np.cumsum(counts, axis=1, out=lists[:, 1:])
    starts = np.concatenate([[0], np.cumsum(lists[:, -1].astype(np.int64))])
    postings = Postings(
        largest=largest,
        starts=starts,
        lists=lists,
        rows=np.empty(starts[-1], np.uint16),
        weights=np.empty(starts[-1], np.uint8),
        column=column,
        tiles=np.zeros((-(-n_rows // TILE), frequent.size, TILE), np.uint8),
        norms=np.empty(n_rows, np.uint8),
        by_norm=np.empty(n_rows, np.uint16),
    )
    scales = np.divide(255, largest, out=np.zeros_like(largest), where=largest > 0)
    for segment in range(n_segments):
        first, last = segment * SEGMENT, min((segment + 1) * SEGMENT, n_rows)
        start, stop = starts[segment], starts[segment + 1]
        packed = np.empty(stop - start, np.uint32)
        cursor = lists[segment, :-1].copy()
        kernels.fill_postings(first, last, start, rows, postings, scales, cursor, packed)
    return postings


class Tail:
    """Rows added since the last shard was made, in arrays that double as they fill up."""

    def __init__(self) -> None:
        self._ptr = np.zeros(17, np.int64)
        self._features = np.empty(64, np.int32)
        self._values = np.empty(64, np.float32)
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def _check_stored(self) -> None:
        """Refuse arrays that are shorter than the rows in them."""
        if not 0 <= self._n < self._ptr.size or self._features.size != self._values.size:
            raise InputError("the index is damaged: its last rows are missing.")
        ptr = self._ptr[: self._n + 1]
        if ptr[0] != 0 or (np.diff(ptr) < 0).any() or ptr[-1] > self._features.size:
            raise InputError("the index is damaged: its last rows are missing.")

    @property
    def rows(self) -> Rows:
        """The rows so far, as views."""
        entries = self._ptr[self._n]
        return Rows(self._ptr[: self._n + 1], self._features[:entries], self._values[:entries])

    def append(self, rows: Rows) -> None:
        """Copy rows to the end."""
        n_new, start = rows.ptr.size - 1, self._ptr[self._n]
        stop = start + rows.ptr[-1]
        self._ptr = _grown(self._ptr, self._n + 1 + n_new)
        self._features = _grown(self._features, stop)
        self._values = _grown(self._values, stop)
        self._ptr[self._n + 1 : self._n + 1 + n_new] = start + rows.ptr[1:]
        self._features[start:stop] = rows.features
        self._values[start:stop] = rows.values
        self._n += n_new


def some_rows(rows: Rows, start: int, stop: int) -> Rows:
    """Consecutive rows, without copying their features and values."""
    first, last = rows.ptr[start], rows.ptr[stop]
    ptr = rows.ptr[start : stop + 1] - first
    return Rows(ptr, rows.features[first:last], rows.values[first:last])


def stacked_rows(*pieces: Rows) -> Rows:
    """Rows stacked vertically."""
    offsets = np.cumsum([0, *(piece.ptr[-1] for piece in pieces)])
    ptr = [piece.ptr[1:] + offset for piece, offset in zip(pieces, offsets, strict=False)]
    return Rows(
        np.concatenate([[0], *ptr]).astype(np.int64),
        np.concatenate([piece.features for piece in pieces]),
        np.concatenate([piece.values for piece in pieces]),
    )


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array itself if it is large enough, or a copy of twice the length needed."""
    if size <= array.size:
        return array
    larger = np.empty(2 * size, array.dtype)
    larger[: array.size] = array
    return larger
