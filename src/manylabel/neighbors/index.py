"""The exact neighbour index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.kernels import index as kernels
from manylabel.kernels import search
from manylabel.kernels.index import Rows
from manylabel.neighbors.removing import RemovableRows
from manylabel.neighbors.shard import Shard, Tail, some_rows, stacked_rows
from manylabel.neighbors.strategies import (
    BLOCK,
    Neighbors,
    merged,
    search_block,
    search_shard,
)
from manylabel.parallel import Callback, current_place, map_blocks, run_blocks
from manylabel.progress import progress_bar
from manylabel.validation import check_matrix, check_rows, check_whole, csr_parts

__all__ = ["NeighborIndex", "Neighbors"]

#: Rows added one by one are scanned until there are this many; then they become a shard.
SEAL = 2_048
#: Queries per task on a cluster.
TASK = 1_024


class NeighborIndex(RemovableRows):
    """The k most similar rows by cosine, exactly.

    Parameters
    ----------
    X : sparse matrix or array-like of shape (n_rows, n_features)
        Non-negative; rows are scaled to unit length. Rows of zeros are never found.

    Attributes
    ----------
    n_rows : int
        Row numbers in use, including removed rows.
    n_features : int

    Notes
    -----
    The index takes 11 bytes per non-zero, plus one byte per row and frequent feature, plus 4 bytes
    per feature for every 65,536 rows. The similarity of two rows does not depend on the strategy,
    the number of threads or the other rows, so results are reproducible bit for bit.

    Examples
    --------
    >>> index = NeighborIndex([[1, 0, 1], [0, 2, 0], [1, 1, 0]])
    >>> neighbors = index.search([[1, 0, 0]], k=2)
    >>> neighbors.indices.tolist(), neighbors.similarities.round(3).tolist()
    ([[0, 2]], [[0.7070000171661377, 0.7070000171661377]])
    """

    def __init__(self, X: Any) -> None:
        matrix = check_matrix(X, dtype=None)
        self.n_features = int(matrix.shape[1])
        self._shards = _shards(_unit(matrix), self.n_features)
        self._tail = Tail()
        self._alive = np.empty(0, np.bool_)

    @property
    def n_rows(self) -> int:
        """Row numbers in use, including removed rows."""
        return sum(map(len, self._shards)) + len(self._tail)

    def search(
        self,
        Q: Any,
        k: int,
        *,
        strategy: str = "auto",
        m: int = 100,
        n_jobs: int | None = None,
        callback: Callback | None = None,
        verbose: bool | int = False,
    ) -> Neighbors:
        """Find the k most similar rows of each query.

        Parameters
        ----------
        Q : sparse matrix or array-like of shape (n_queries, n_features)
        k : int
            Capped at the number of rows.
        strategy : str
            ``auto`` chooses ``scan`` for few rows, else ``hybrid`` or ``maxscore`` depending on the
            queries; ``taat``, ``wand``, ``fagin`` and ``partitioned`` are the algorithms of the
            LCIF paper. All give the same result.
        m : int
            For ``partitioned``: rows with one of the m highest values of a feature are read first.
        n_jobs : int, optional
            Threads.
        callback : callable, optional
            Called with (queries done, total queries).
        verbose : bool
            Show a progress bar.

        Returns
        -------
        Neighbors
        """
        queries = _unit(check_matrix(Q, "Q", n_columns=self.n_features, dtype=None))
        skip = np.full(queries.ptr.size - 1, -1, np.int64)
        return self._search(queries, skip, k, strategy, m, n_jobs, callback, verbose)

    def search_trusted(
        self, Q: sparse.csr_array, k: int, *, strategy: str = "auto", n_jobs: int | None = None
    ) -> Neighbors:
        """As :meth:`search`, without checks, for queries that are known to be canonical."""
        queries = _unit(Q)
        skip = np.full(queries.ptr.size - 1, -1, np.int64)
        return self._search(queries, skip, k, strategy, 1, n_jobs, None, False)

    def search_self(
        self,
        k: int,
        *,
        rows: ArrayLike | None = None,
        strategy: str = "auto",
        m: int = 100,
        n_jobs: int | None = None,
        callback: Callback | None = None,
        verbose: bool | int = False,
    ) -> Neighbors:
        """Find the k most similar *other* rows of each row: leave-one-out.

        Parameters
        ----------
        k : int
        rows : array of int, optional
            Only these rows are queries; all by default.
        strategy, m, n_jobs, callback, verbose
            As for :meth:`search`.
        """
        wanted = np.arange(self.n_rows) if rows is None else np.asarray(rows, np.int64)
        queries = self._rows(wanted)
        return self._search(queries, wanted, k, strategy, m, n_jobs, callback, verbose)

    def add(self, X: Any) -> NDArray[np.int64]:
        """Add rows; they are found from now on. The cost is proportional to the rows added.

        Returns
        -------
        numbers : array of int64
            The new rows' numbers.
        """
        matrix = check_matrix(X, n_columns=self.n_features, dtype=None)
        numbers = np.arange(self.n_rows, self.n_rows + matrix.shape[0])
        self._tail.append(_unit(matrix))
        self._keep_new(numbers.size)
        if len(self._tail) >= SEAL:
            self._seal()
        return numbers

    def compact(self) -> NDArray[np.int64]:
        """Rebuild the index from the remaining rows: bit for bit the same as a new index of them.

        Returns
        -------
        numbers : array of int64
            The old number of each row, in the order of the new numbers.
        """
        kept = self._kept()
        self._shards = [Shard(self._rows(kept), self.n_features)]
        self._tail = Tail()
        self._alive = np.empty(0, np.bool_)
        return kept

    def rows(self, numbers: ArrayLike | None = None) -> sparse.csr_array:
        """The indexed rows, of unit length, as a matrix."""
        wanted = np.arange(self.n_rows) if numbers is None else np.asarray(numbers, np.int64)
        rows = self._rows(wanted)
        return sparse.csr_array(
            (rows.values, rows.features, rows.ptr), shape=(wanted.size, self.n_features)
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of a compact index; they can be saved and memory-mapped.

        Call :meth:`compact` first if rows were added or removed.
        """
        if len(self._shards) > 1 or len(self._tail) or self._alive.size:
            raise InputError("rows were added or removed; call compact() before arrays().")
        return self._shards[0].arrays()

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> NeighborIndex:
        """Make an index from its :meth:`arrays` without a copy; read-only maps are fine."""
        index = cls.__new__(cls)
        index._shards = [Shard.from_arrays(arrays)]
        index.n_features = index._shards[0].n_features
        index._tail = Tail()
        index._alive = np.empty(0, np.bool_)
        return index

    @classmethod
    def _from_store_state(cls, state: dict[str, Any]) -> NeighborIndex:
        """From the attributes in a model folder, where older versions call shards ``_parts``."""
        index = cls.__new__(cls)
        vars(index).update({"_shards" if k == "_parts" else k: v for k, v in state.items()})
        return index

    def _check_stored(self) -> None:
        """Refuse rows with features that do not exist."""
        self._check_alive("index")
        tail = self._tail.rows
        if any(shard.n_features != self.n_features for shard in self._shards):
            raise InputError("the index is damaged: a shard has another number of features.")
        check_rows(tail.ptr, tail.features, self.n_features, tail.values)

    def _search(
        self,
        queries: Rows,
        skip: NDArray[np.int64],
        k: int,
        strategy: str,
        m: int,
        n_jobs: int | None,
        callback: Callback | None,
        verbose: bool | int,
    ) -> Neighbors:
        """Search every shard and merge the answers."""
        k = min(check_whole("k", k, 1), max(self.n_rows, 1))
        check_whole("m", m, 1)
        if verbose and callback is None:
            with progress_bar("neighbours", verbose) as bar:
                return self._search(queries, skip, k, strategy, m, n_jobs, bar, False)
        if current_place() is not None and skip.size > BLOCK:
            near = self._search_elsewhere(queries, skip, k, strategy, m, callback)
        else:
            near = self._search_here(queries, skip, k, strategy, m, n_jobs, callback)
        if len(self._tail):
            offset = self.n_rows - len(self._tail)
            self._scan_tail(queries, skip - offset, offset, near.similarities, near.indices, n_jobs)
        return near

    def _search_here(
        self,
        queries: Rows,
        skip: NDArray[np.int64],
        k: int,
        strategy: str,
        m: int,
        n_jobs: int | None,
        callback: Callback | None,
    ) -> Neighbors:
        """Search every shard in this process."""
        return merged(
            (
                search_shard(shard, queries, skip - offset, alive, k, strategy, m, n_jobs, report)
                for offset, shard, alive, report in self._placed_shards(callback)
            ),
            self._offsets,
        )

    def _search_elsewhere(
        self,
        queries: Rows,
        skip: NDArray[np.int64],
        k: int,
        strategy: str,
        m: int,
        callback: Callback | None,
    ) -> Neighbors:
        """Search every shard for blocks of queries on a cluster."""
        streams = [
            map_blocks(
                search_block,
                (shard, queries, skip - offset, alive, k, strategy, m),
                skip.size,
                TASK,
                callback=report,
            )
            for offset, shard, alive, report in self._placed_shards(callback)
        ]
        blocks = [merged(answers, self._offsets) for answers in zip(*streams, strict=True)]
        return Neighbors(
            np.concatenate([block.indices for block in blocks]),
            np.concatenate([block.similarities for block in blocks]),
            blocks[0].strategy,
            sum(block.candidates for block in blocks),
            sum(block.postings for block in blocks),
        )

    @property
    def _offsets(self) -> list[int]:
        """The number of each shard's first row."""
        if len(self._shards) == 1:
            return [0]
        return [0, *np.cumsum([len(shard) for shard in self._shards[:-1]], dtype=np.int64).tolist()]

    def _placed_shards(
        self, callback: Callback | None
    ) -> Iterator[tuple[int, Shard, NDArray[np.bool_], Callback | None]]:
        """Offset, shard, mask of its rows, and callback; only the first shard reports progress."""
        for offset, shard in zip(self._offsets, self._shards, strict=True):
            report = None if offset else callback
            yield offset, shard, self._alive[offset : offset + len(shard)], report

    def _scan_tail(
        self,
        queries: Rows,
        skip: NDArray[np.int64],
        offset: int,
        scores: NDArray[np.float32],
        rows: NDArray[np.int32],
        n_jobs: int | None,
    ) -> None:
        """Search the rows that are not in a shard yet."""
        tail = self._tail.rows
        alive = self._alive[offset:]
        tail_scores, tail_rows = np.zeros_like(scores), np.full_like(rows, -1)

        def work(first: int, last: int) -> None:
            search.scan(
                first, last, skip, alive, queries, tail, self.n_features, tail_scores, tail_rows
            )

        run_blocks(work, skip.size, BLOCK, n_jobs)
        search.merge(scores, rows, tail_scores, tail_rows, offset)

    def _seal(self) -> None:
        """Make a shard of the scanned rows; merge shards of similar size, except the first.

        So the number of shards, and of times that a row is rebuilt, is logarithmic in the
        number of additions.
        """
        self._shards.append(Shard(self._tail.rows, self.n_features))
        self._tail = Tail()
        while len(self._shards) > 2 and len(self._shards[-2]) <= 2 * len(self._shards[-1]):
            last, previous = self._shards.pop(), self._shards.pop()
            self._shards.append(Shard(stacked_rows(previous.rows, last.rows), self.n_features))

    def _rows(self, numbers: NDArray[np.int64]) -> Rows:
        """Some of the stored rows, at a cost proportional to their number."""
        pieces = [shard.rows for shard in self._shards]
        if len(self._tail):
            pieces.append(self._tail.rows)
        if numbers.size == self.n_rows and (np.diff(numbers) == 1).all():
            return stacked_rows(*pieces) if len(pieces) > 1 else pieces[0]
        last = np.cumsum([piece.ptr.size - 1 for piece in pieces])
        home = np.searchsorted(last, numbers, side="right")
        chosen_rows = [
            (piece, np.flatnonzero(home == at), numbers[home == at] - last[at] + piece.ptr.size - 1)
            for at, piece in enumerate(pieces)
        ]
        lengths = np.empty(numbers.size, np.int64)
        for piece, chosen, rows in chosen_rows:
            lengths[chosen] = piece.ptr[rows + 1] - piece.ptr[rows]
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        taken = Rows(ptr, np.empty(ptr[-1], np.int32), np.empty(ptr[-1], np.float32))
        for piece, chosen, rows in chosen_rows:
            sizes = lengths[chosen]
            within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            source = np.repeat(piece.ptr[rows], sizes) + within
            target = np.repeat(ptr[chosen], sizes) + within
            taken.features[target] = piece.features[source]
            taken.values[target] = piece.values[source]
        return taken


def _shards(rows: Rows, n_features: int) -> list[Shard]:
    """One shard with all rows; on a cluster, several if there are many rows."""
    place, n_rows = current_place(), rows.ptr.size - 1
    if place is None or n_rows <= place.shard_rows:
        return [Shard(rows, n_features)]
    shards = map_blocks(_build_shard, (rows, n_features), n_rows, place.shard_rows, fixed=True)
    return list(shards)


def _build_shard(rows: Rows, n_features: int, start: int, stop: int) -> Shard:
    """Build a shard of some of the rows."""
    return Shard(some_rows(rows, start, stop), n_features)


def _unit(matrix: sparse.csr_array) -> Rows:
    """Rows of unit length, without values that are 0 in float32."""
    ptr, features, data = csr_parts(matrix, matrix.dtype)
    values = np.empty(data.size, np.float32)
    kernels.unit_rows(ptr, data if data.dtype.kind == "f" else data.astype(np.float64), values)
    if values.size and not values.all():
        smaller = sparse.csr_array((values, features, ptr), shape=matrix.shape)
        smaller.eliminate_zeros()
        ptr, features, values = csr_parts(smaller)
    return Rows(ptr, features, values)
