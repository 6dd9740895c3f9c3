"""Exact search in two steps: approximate scores with a known error bound, then true similarities.

The similarity of a query and a row is the sum of the products of their common features, added in
double precision in the order of the features and rounded once to single precision. Every strategy
computes exactly that in the end, so all agree to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manylabel.kernels.compile import kernel
from manylabel.kernels.heap import drain, push, select_kth

#: Rows whose scores are compared at a time, and groups of rows whose highest scores are compared.
_LOOK, _GROUPS = 64, 1024
#: Numbers of 32 bits per cache line.
_LINE = np.uint64(16)


class Batch(NamedTuple):
    """The state of a batch of queries.

    ``cut`` is a score that a row must exceed to be among the best. ``scores`` and ``rows`` hold
    ``size`` rows per query whose approximate scores exceed it; ``heap_scores`` and ``heap_rows``
    hold ``heap_size`` rows with their true similarities. ``margin`` is the maximum error of an
    approximate score. ``slots`` to ``step`` are the positions of each query in its posting lists of
    the current segment.
    """

    cut: NDArray[np.float64]
    margin: NDArray[np.float64]
    scores: NDArray[np.float32]
    rows: NDArray[np.int32]
    size: NDArray[np.int64]
    heap_scores: NDArray[np.float32]
    heap_rows: NDArray[np.int32]
    heap_size: NDArray[np.int64]
    slots: NDArray[np.int64]
    cursor: NDArray[np.int64]
    stop: NDArray[np.int64]
    step: NDArray[np.float32]
    spread: NDArray[np.float32]
    scratch: NDArray[np.float32]
    counters: NDArray[np.int64]


@kernel
def similarity(row, rows, query):
    """The similarity of a row and a dense query."""
    total = 0.0
    for i in range(np.uint64(rows.ptr[row]), np.uint64(rows.ptr[row + 1])):
        # Adding zeros for absent features avoids a branch.
        total += np.float64(rows.values[i]) * np.float64(query[np.uint32(rows.features[i])])
    return np.float32(total)


@kernel
def fetch(kept, size, rows, scratch):
    """Read a number of each cache line of some rows, whose similarities are computed next.

    The rows are far apart in memory. Here the processor waits for many of them at once.
    """
    # The sum is kept somewhere, or the compiler would leave out the reading.
    total = np.float32(0)
    for i in range(size):
        row = kept[i]
        start, stop = np.uint64(rows.ptr[row]), np.uint64(rows.ptr[row + 1])
        for j in range(start, stop, _LINE):
            total += rows.values[j] + np.float32(rows.features[j])
    scratch[0] = total


@kernel
def spread(query, queries, out):
    """Write a sparse query into a dense one."""
    for i in range(queries.ptr[query], queries.ptr[query + 1]):
        out[queries.features[i]] = queries.values[i]


@kernel
def wipe(query, queries, out):
    """Undo `spread`."""
    for i in range(queries.ptr[query], queries.ptr[query + 1]):
        out[queries.features[i]] = 0


@kernel
def rounding_error(n_features):
    """A bound on the error of a single-precision sum of products that add up to at most 1."""
    return 4.0 * (n_features + 8) * 2.0**-24


@kernel
def widen(tile, out):
    """Convert a tile of columns to single precision, for BLAS."""
    for c in range(tile.shape[0]):
        for d in range(tile.shape[1]):
            out[c, d] = np.float32(tile[c, d])


@kernel
def add_columns(steps, columns, tile, scores):
    """Add the weights in some columns of a tile, times their steps, to the scores of its rows.

    Four columns at a time, because reading and writing the scores costs as much as a column.
    """
    fours = columns.size // 4 * 4
    for i in range(0, fours, 4):
        a, b, c, d = columns[i], columns[i + 1], columns[i + 2], columns[i + 3]
        of_a, of_b, of_c, of_d = tile[a], tile[b], tile[c], tile[d]
        by_a, by_b, by_c, by_d = steps[a], steps[b], steps[c], steps[d]
        for row in range(scores.size):
            two = scores[row] + by_a * np.float32(of_a[row]) + by_b * np.float32(of_b[row])
            scores[row] = two + by_c * np.float32(of_c[row]) + by_d * np.float32(of_d[row])
    for i in range(fours, columns.size):
        weights, step = tile[columns[i]], steps[columns[i]]
        for row in range(scores.size):
            scores[row] += step * np.float32(weights[row])


@kernel
def column_steps(first, queries, postings, out):
    """The score of one unit of weight in each column, for a batch of queries."""
    out[:] = 0
    for query in range(out.shape[0]):
        for i in range(queries.ptr[first + query], queries.ptr[first + query + 1]):
            feature = queries.features[i]
            c = postings.column[feature]
            if c >= 0:
                out[query, c] = queries.values[i] * postings.largest[feature] / np.float32(255)


@kernel
def start_batch(first, queries, postings, batch):
    """Empty the batch and bound the error of its approximate scores."""
    for query in range(batch.cut.size):
        start, stop = queries.ptr[first + query], queries.ptr[first + query + 1]
        margin = rounding_error(stop - start)
        for i in range(start, stop):
            margin += queries.values[i] * postings.largest[queries.features[i]] / 255.0
        batch.margin[query] = margin
        batch.cut[query] = 0
        batch.size[query] = 0
        batch.heap_size[query] = 0


@kernel
def start_segment(first, segment, queries, postings, batch):
    """Find the posting lists of each query of a batch in a segment."""
    slot = 0
    base, lists = postings.starts[segment], postings.lists[segment]
    for query in range(batch.cut.size):
        batch.slots[query] = slot
        for i in range(queries.ptr[first + query], queries.ptr[first + query + 1]):
            feature = queries.features[i]
            begin, end = lists[feature], lists[feature + 1]
            if end > begin:
                batch.cursor[slot] = base + begin
                batch.stop[slot] = base + end
                batch.step[slot] = queries.values[i] * postings.largest[feature] / np.float32(255)
                slot += 1
    batch.slots[batch.cut.size] = slot


@kernel
def collect_tile(first, offset, local, n_rows, scores, skip, alive, queries, rows, postings, batch):
    """Add the posting lists to a tile of scores and keep the rows that may be among the best.

    ``scores`` is (queries, tile) and already has the scores of the columns. ``offset`` is the
    tile's first row, ``local`` its position within the segment. ``skip`` is a row to leave out for
    each query, or -1; ``alive`` marks the rows that count, and is empty if all do.
    """
    first_local, end = np.uint32(local), np.uint32(local + n_rows)
    capacity = batch.scores.shape[1]
    for query in range(batch.cut.size):
        score = scores[query]
        for slot in range(batch.slots[query], batch.slots[query + 1]):
            at, stop = np.uint64(batch.cursor[slot]), np.uint64(batch.stop[slot])
            step = batch.step[slot]
            # Unsigned indices: see the note in `kernels.index`.
            while at < stop and postings.rows[at] < end:
                place = np.uint32(postings.rows[at]) - first_local
                score[place] += step * np.float32(postings.weights[at])
                at += np.uint64(1)
            batch.counters[1] += np.int64(at) - batch.cursor[slot]
            batch.cursor[slot] = np.int64(at)
        left_out = skip[first + query] - offset
        cut, size = batch.cut[query], batch.size[query]
        for d in range(n_rows):
            if score[d] > cut:
                if d == left_out or (alive.size and not alive[offset + d]):
                    continue
                batch.scores[query, size] = score[d]
                batch.rows[query, size] = offset + d
                size += 1
                if size == capacity:
                    batch.size[query] = size
                    settle(first, query, False, queries, rows, batch)
                    cut, size = batch.cut[query], batch.size[query]
        batch.size[query] = size


@kernel
def settle(first, query, final, queries, rows, batch):
    """Drop rows of a query that cannot be among the best; with ``final``, decide about all of them.

    If too many rows remain, or at the end, their similarities are computed and the best go to the
    heap.
    """
    kept_scores, kept_rows, size = batch.scores[query], batch.rows[query], batch.size[query]
    heap_scores, heap_rows = batch.heap_scores[query], batch.heap_rows[query]
    k = heap_scores.size
    cut = batch.cut[query]
    if size > k:
        cut = max(cut, select_kth(kept_scores, size, k, batch.scratch) - batch.margin[query])
        left = 0
        for i in range(size):
            if kept_scores[i] > cut:
                kept_scores[left], kept_rows[left] = kept_scores[i], kept_rows[i]
                left += 1
        size = left
    if final or 2 * size > kept_scores.size:
        spread(first + query, queries, batch.spread)
        filled = batch.heap_size[query]
        fetch(kept_rows, size, rows, batch.scratch)
        for i in range(size):
            true = similarity(kept_rows[i], rows, batch.spread)
            if true > 0:
                filled = push(heap_scores, heap_rows, filled, true, kept_rows[i])
        wipe(first + query, queries, batch.spread)
        batch.counters[0] += size
        batch.heap_size[query] = filled
        if filled == k:
            cut = max(cut, heap_scores[0] - batch.margin[query])
        size = 0
    batch.cut[query] = cut
    batch.size[query] = size


@kernel
def finish_batch(first, queries, rows, batch, out_scores, out_rows):
    """Write the best rows of each query of a batch, best first."""
    for query in range(batch.cut.size):
        settle(first, query, True, queries, rows, batch)
        drain(
            batch.heap_scores[query],
            batch.heap_rows[query],
            batch.heap_size[query],
            out_scores[first + query],
            out_rows[first + query],
        )


@kernel
def hybrid(first, segment, skip, alive, queries, rows, postings, batch, out_scores, out_rows):
    """Search a small batch without BLAS, reading only the columns that a query needs.

    A posting list is added to the scores of a whole segment at once: there are too few postings per
    tile to pay for finding them. A tile of columns is read for all queries before the next one,
    since it fits the cache.
    """
    n_rows, n_queries = rows.ptr.size - 1, batch.cut.size
    n_tiles, n_columns, tile_size = postings.tiles.shape
    scores = np.empty((n_queries, min(segment, n_tiles * tile_size)), np.float32)
    steps, columns = np.empty((n_queries, n_columns), np.float32), np.empty(n_columns, np.int64)
    column_steps(first, queries, postings, steps)
    start_batch(first, queries, postings, batch)
    for offset in range(0, n_rows, segment):
        n_here = min(segment, n_rows - offset)
        for query in range(n_queries):
            scores[query] = 0
            batch.counters[1] += add_lists(
                first + query, offset // segment, queries, postings, scores[query]
            )
        for start in range(0, n_here, tile_size):
            tile = postings.tiles[(offset + start) // tile_size]
            for query in range(n_queries):
                n_read = 0
                for column in range(n_columns):
                    if steps[query, column] > 0:
                        columns[n_read] = column
                        n_read += 1
                add_columns(
                    steps[query], columns[:n_read], tile, scores[query, start : start + tile_size]
                )
        for query in range(n_queries):
            here = scores[query, :n_here]
            leave_out(skip[first + query] - offset, alive, offset, here)
            raise_cut(query, here, batch)
            collect(first, query, offset, here, queries, rows, batch)
    finish_batch(first, queries, rows, batch, out_scores, out_rows)


@kernel
def leave_out(left_out, alive, offset, scores):
    """Set the scores of rows that must not be found to 0."""
    if 0 <= left_out < scores.size:
        scores[left_out] = 0
    for d in range(min(alive.size, scores.size)):
        if not alive[offset + d]:
            scores[d] = 0


@kernel
def raise_cut(query, scores, batch):
    """Raise the cut by the scores of a segment, so that few rows are kept in vain.

    The highest scores of groups of rows belong to different rows. So at least as many rows have the
    k-th highest of these as are wanted, or a higher score.
    """
    k = batch.heap_scores.shape[1]
    if scores.size < 2 * _GROUPS or k > _GROUPS // 2:
        return
    highest = np.zeros(_GROUPS, np.float32)
    for start in range(0, scores.size - _GROUPS + 1, _GROUPS):
        stretch = scores[start : start + _GROUPS]
        for group in range(_GROUPS):
            if stretch[group] > highest[group]:
                highest[group] = stretch[group]
    cut = select_kth(highest, _GROUPS, k, batch.scratch) - batch.margin[query]
    batch.cut[query] = max(batch.cut[query], cut)


@kernel
def add_lists(query, segment, queries, postings, scores):
    """Add the posting lists of a query to the scores of a segment; return the postings read."""
    base, lists = postings.starts[segment], postings.lists[segment]
    n_read = 0
    for i in range(queries.ptr[query], queries.ptr[query + 1]):
        feature = queries.features[i]
        step = queries.values[i] * postings.largest[feature] / np.float32(255)
        begin, end = np.uint64(base + lists[feature]), np.uint64(base + lists[feature + 1])
        for at in range(begin, end):
            scores[postings.rows[at]] += step * np.float32(postings.weights[at])
        n_read += np.int64(end - begin)
    return n_read


@kernel
def collect(first, query, offset, scores, queries, rows, batch):
    """Keep the rows of a segment whose scores may be among the best."""
    capacity = batch.scores.shape[1]
    cut, size = batch.cut[query], batch.size[query]
    for start in range(0, scores.size, _LOOK):
        stretch = scores[start : min(start + _LOOK, scores.size)]
        # Most stretches have no such row, which takes one vector operation to see.
        n_above = 0
        for d in range(stretch.size):
            n_above += stretch[d] > cut
        if n_above == 0:
            continue
        for d in range(stretch.size):
            if stretch[d] > cut:
                batch.scores[query, size] = stretch[d]
                batch.rows[query, size] = offset + start + d
                size += 1
                if size == capacity:
                    batch.size[query] = size
                    settle(first, query, False, queries, rows, batch)
                    cut, size = batch.cut[query], batch.size[query]
    batch.size[query] = size


@kernel
def scan(first, last, skip, alive, queries, rows, n_features, out_scores, out_rows):
    """Search by scoring every row, for the few rows that were added after the index was built."""
    n_rows, k = rows.ptr.size - 1, out_scores.shape[1]
    query_values = np.zeros(n_features, np.float32)
    heap_scores, heap_rows = np.empty(k, np.float32), np.empty(k, np.int32)
    for query in range(first, last):
        spread(query, queries, query_values)
        filled = np.int64(0)  # with a literal 0, Numba compiles the functions it calls twice
        for row in range(n_rows):
            if row == skip[query] or (alive.size and not alive[row]):
                continue
            true = similarity(row, rows, query_values)
            if true > 0:
                filled = push(heap_scores, heap_rows, filled, true, np.int32(row))
        wipe(query, queries, query_values)
        drain(heap_scores, heap_rows, filled, out_scores[query], out_rows[query])


@kernel
def merge(scores, rows, other_scores, other_rows, offset):
    """Merge a second result, its rows counted from ``offset``, into the first, query by query."""
    k = scores.shape[1]
    both_scores, both_rows = np.empty(k, np.float32), np.empty(k, np.int32)
    for query in range(scores.shape[0]):
        i = j = 0
        for place in range(k):
            mine = rows[query, i] >= 0
            other = j < other_rows.shape[1] and other_rows[query, j] >= 0
            # Rows of the first result have lower numbers, so they win ties.
            if mine and not (other and other_scores[query, j] > scores[query, i]):
                both_scores[place], both_rows[place] = scores[query, i], rows[query, i]
                i += 1
            elif other:
                both_scores[place] = other_scores[query, j]
                both_rows[place] = other_rows[query, j] + offset
                j += 1
            else:
                both_scores[place], both_rows[place] = 0, -1
        scores[query], rows[query] = both_scores, both_rows
