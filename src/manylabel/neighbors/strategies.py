"""Search a shard; the strategies are all exact, with the same result at different costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manylabel.exceptions import ParameterError
from manylabel.kernels import search, search_classic
from manylabel.kernels import search_maxscore as kernels
from manylabel.kernels.index import Rows
from manylabel.kernels.search import Batch
from manylabel.neighbors.shard import SEGMENT, TILE, Shard, some_rows
from manylabel.parallel import Callback, Zeros, run_blocks, single_threaded_blas

__all__ = [
    "STRATEGIES",
    "Job",
    "Neighbors",
    "choose",
    "merged",
    "run",
    "search_block",
    "search_shard",
]

#: Queries per batch when BLAS multiplies the columns, and the fewest queries and columns for which
#: that pays.
BATCH = 128
MIN_FOR_BLAS = 32
MIN_COLUMNS = 32
#: Queries per batch otherwise.
FEW = 16
#: Queries per task otherwise.
BLOCK = 64
#: `maxscore` was faster up to these limits: postings per row, and the share of a query's squared
#: length in frequent features.
MAXSCORE_POSTINGS = 1 / 64
MAXSCORE_COLUMN_MASS = 0.25
#: A shard with at most this many entries is scanned: that takes a tenth of a millisecond per query,
#: while the kernels of the other strategies take seconds to compile.
SCAN_ENTRIES = 100_000

_ZEROS = Zeros()


@dataclass(frozen=True)
class Neighbors:
    """The result of a search.

    Parameters
    ----------
    indices : array of shape (n_queries, k), int32
        Row numbers by descending similarity, then ascending number; -1 where there are no more
        rows with a similarity above zero.
    similarities : array of shape (n_queries, k), float32
        Cosine similarities; 0 where there is no row.
    strategy : str
        The strategy used for the main shard of the index.
    candidates, postings : int
        Rows whose similarity was computed, and postings read, over all queries.
    """

    indices: NDArray[np.int32]
    similarities: NDArray[np.float32]
    strategy: str
    candidates: int
    postings: int

    def nearest(self) -> Neighbors:
        """A copy with the nearest row of each query alone."""
        indices, similarities = self.indices[:, :1].copy(), self.similarities[:, :1].copy()
        return replace(self, indices=indices, similarities=similarities)

    @classmethod
    def stacked(cls, parts: list[Neighbors]) -> Neighbors:
        """The results of several searches, one after another."""
        return cls(
            np.concatenate([each.indices for each in parts]),
            np.concatenate([each.similarities for each in parts]),
            parts[0].strategy,
            sum(each.candidates for each in parts),
            sum(each.postings for each in parts),
        )


@dataclass
class Job:
    """One search in one shard: the queries, and the arrays for the results.

    ``skip`` is a row to leave out for each query, or -1. ``alive`` is a mask of the rows to search,
    empty for all. ``counters`` collects (candidates evaluated, postings read).
    """

    queries: Rows
    skip: NDArray[np.int64]
    alive: NDArray[np.bool_]
    scores: NDArray[np.float32]
    rows: NDArray[np.int32]
    counters: NDArray[np.int64]
    m: int
    n_jobs: int | None
    callback: Callback | None

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return self.queries.ptr.size - 1

    def run(self, work: Callable[[int, int, NDArray[np.int64]], None], block: int) -> None:
        """Run blocks of queries, each with its own counters."""
        blocks: dict[int, NDArray[np.int64]] = {}

        def counted(first: int, last: int) -> None:
            counters = np.zeros(2, np.int64)
            work(first, last, counters)
            blocks[first] = counters

        run_blocks(counted, self.n_queries, block, self.n_jobs, self.callback)
        for counters in blocks.values():
            self.counters += counters


def _hybrid(shard: Shard, job: Job) -> None:
    """Multiply columns by BLAS, one batch of queries at a time, if there are many of both."""
    if job.n_queries < MIN_FOR_BLAS or shard.n_columns < MIN_COLUMNS:

        def one(first: int, last: int, counters: NDArray[np.int64]) -> None:
            with _ZEROS.lent((shard.n_features,), "float32") as zeros:
                batch = _batch(job, first, last, counters, zeros)
                search.hybrid(
                    first, SEGMENT, job.skip, job.alive, job.queries, shard.rows, shard.postings,
                    batch, job.scores, job.rows,
                )  # fmt: skip

        job.run(one, 1 if job.n_queries < MIN_FOR_BLAS else FEW)
        return

    rows, postings = shard.rows, shard.postings

    def many(first: int, last: int, counters: NDArray[np.int64]) -> None:
        batch = _batch(job, first, last, counters, np.zeros(shard.n_features, np.float32))
        steps = np.empty((last - first, shard.n_columns), np.float32)
        wide = np.empty((shard.n_columns, TILE), np.float32)
        scores = np.empty((last - first, TILE), np.float32)
        search.column_steps(first, job.queries, postings, steps)
        search.start_batch(first, job.queries, postings, batch)
        for tile in range(postings.tiles.shape[0]):
            offset = tile * TILE
            if offset % SEGMENT == 0:
                search.start_segment(first, offset // SEGMENT, job.queries, postings, batch)
            search.widen(postings.tiles[tile], wide)
            np.matmul(steps, wide, out=scores)
            search.collect_tile(
                first, offset, offset % SEGMENT, min(TILE, len(shard) - offset),
                scores, job.skip, job.alive, job.queries, rows, postings, batch,
            )  # fmt: skip
        search.finish_batch(first, job.queries, rows, batch, job.scores, job.rows)

    with single_threaded_blas():
        job.run(many, BATCH)


def _batch(
    job: Job, first: int, last: int, counters: NDArray[np.int64], zeros: NDArray[np.float32]
) -> Batch:
    """The working arrays for a batch of queries, with a zero per feature."""
    n, k = last - first, job.scores.shape[1]
    n_entries = int(job.queries.ptr[last] - job.queries.ptr[first])
    # Rows are pruned only when this many are kept, which spreads the cost of pruning.
    capacity = max(4 * k, 1024)
    return Batch(
        cut=np.empty(n),
        margin=np.empty(n),
        scores=np.empty((n, capacity), np.float32),
        rows=np.empty((n, capacity), np.int32),
        size=np.empty(n, np.int64),
        heap_scores=np.empty((n, k), np.float32),
        heap_rows=np.empty((n, k), np.int32),
        heap_size=np.empty(n, np.int64),
        slots=np.empty(n + 1, np.int64),
        cursor=np.empty(n_entries, np.int64),
        stop=np.empty(n_entries, np.int64),
        step=np.empty(n_entries, np.float32),
        spread=zeros,
        scratch=np.empty(capacity, np.float32),
        counters=counters,
    )


def _maxscore(shard: Shard, job: Job) -> None:
    def work(first: int, last: int, counters: NDArray[np.int64]) -> None:
        kernels.maxscore(
            first, last, SEGMENT, job.skip, job.alive, job.queries, shard.rows, shard.postings,
            job.scores, job.rows, counters,
        )  # fmt: skip

    job.run(work, BLOCK)


def _scan(shard: Shard, job: Job) -> None:
    """Score every row."""

    def work(first: int, last: int, counters: NDArray[np.int64]) -> None:
        search.scan(
            first, last, job.skip, job.alive, job.queries, shard.rows, shard.n_features,
            job.scores, job.rows,
        )  # fmt: skip
        counters[0] = (last - first) * len(shard)

    job.run(work, BLOCK)


def _classic(kernel: Any, lists: Callable[[Shard, Job], tuple[search_classic.Lists, ...]]) -> Any:
    """A strategy on plain posting lists."""

    def strategy(shard: Shard, job: Job) -> None:
        chosen = lists(shard, job)

        def work(first: int, last: int, counters: NDArray[np.int64]) -> None:
            kernel(
                first, last, job.skip, job.alive, job.queries, shard.rows, *chosen,
                job.scores, job.rows, counters,
            )  # fmt: skip

        job.run(work, BLOCK)

    return strategy


#: Strategy name -> the function that runs it on a shard.
STRATEGIES: dict[str, Callable[[Shard, Job], None]] = {
    "hybrid": _hybrid,
    "maxscore": _maxscore,
    "scan": _scan,
    "taat": _classic(search_classic.taat, lambda shard, job: (shard.lists,)),
    "wand": _classic(search_classic.wand, lambda shard, job: (shard.lists,)),
    "fagin": _classic(search_classic.fagin, lambda shard, job: (shard.lists_by_value,)),
    "partitioned": _classic(search_classic.partitioned, lambda shard, job: shard.partition(job.m)),
}


def choose(shard: Shard, queries: Rows) -> str:
    """The strategy that should be fastest for these queries.

    `hybrid` scores every row for every query. `maxscore` scores only the rows in the lists that it
    reads, at a far greater cost per row. So `maxscore` suits queries whose lists are very short and
    which do not depend on frequent features, because those have no lists. A small shard is scanned.
    """
    if shard.rows.ptr[-1] <= SCAN_ENTRIES:
        return "scan"
    n_queries = max(1, queries.ptr.size - 1)
    postings = shard.list_lengths[queries.features].sum() / n_queries
    in_columns = queries.values[shard.postings.column[queries.features] >= 0]
    mass = float(in_columns @ in_columns) / n_queries
    few = postings < MAXSCORE_POSTINGS * len(shard) and mass < MAXSCORE_COLUMN_MASS
    return "maxscore" if few else "hybrid"


def run(name: str, shard: Shard, job: Job) -> str:
    """Run a strategy by name; return the one that was used."""
    if name == "auto":
        name = choose(shard, job.queries)
    if name not in STRATEGIES:
        known = ", ".join(sorted([*STRATEGIES, "auto"]))
        raise ParameterError(f"`strategy` must be one of {known}; got {name!r}.")
    STRATEGIES[name](shard, job)
    return name


def search_shard(
    shard: Shard,
    queries: Rows,
    skip: NDArray[np.int64],
    alive: NDArray[np.bool_],
    k: int,
    strategy: str,
    m: int,
    n_jobs: int | None,
    callback: Callback | None,
) -> Neighbors:
    """The nearest rows in one shard, numbered from 0."""
    scores = np.zeros((skip.size, k), np.float32)
    rows = np.full((skip.size, k), -1, np.int32)
    counters = np.zeros(2, np.int64)
    job = Job(queries, skip, alive, scores, rows, counters, m, n_jobs, callback)
    used = run(strategy, shard, job)
    return Neighbors(rows, scores, used, int(counters[0]), int(counters[1]))


def search_block(
    shard: Shard,
    queries: Rows,
    skip: NDArray[np.int64],
    alive: NDArray[np.bool_],
    k: int,
    strategy: str,
    m: int,
    start: int,
    stop: int,
) -> Neighbors:
    """The neighbours of some of the queries."""
    some = some_rows(queries, start, stop)
    return search_shard(shard, some, skip[start:stop], alive, k, strategy, m, None, None)


def merged(answers: Iterable[Neighbors], offsets: list[int]) -> Neighbors:
    """Merge the answers of several shards, given in the order of their rows."""
    best: Neighbors | None = None
    for offset, other in zip(offsets, answers, strict=True):
        if best is None:
            best = other
            continue
        search.merge(best.similarities, best.indices, other.similarities, other.indices, offset)
        best = replace(
            best,
            candidates=best.candidates + other.candidates,
            postings=best.postings + other.postings,
        )
    assert best is not None
    return best
