"""The search algorithms that the LCIF paper compares: TAAT, M-WAND, Fagin's TA, partitioned.

They work on plain posting lists. Counters hold (candidates evaluated, postings read).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manylabel.kernels.compile import kernel
from manylabel.kernels.heap import drain, push
from manylabel.kernels.search import rounding_error, similarity, spread, wipe


class Lists(NamedTuple):
    """Posting lists: the rows and values of each feature, and its largest value."""

    ptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.float32]
    largest: NDArray[np.float32]


@kernel
def fill_lists(rows, member, lists, cursor):
    """Write the posting lists of the rows that are members."""
    for row in range(rows.ptr.size - 1):
        if member[row]:
            for i in range(rows.ptr[row], rows.ptr[row + 1]):
                feature = rows.features[i]
                at = cursor[feature]
                cursor[feature] = at + 1
                lists.rows[at] = row
                lists.values[at] = rows.values[i]
                if rows.values[i] > lists.largest[feature]:
                    lists.largest[feature] = rows.values[i]


@kernel
def sort_by_value(lists):
    """Sort each list by descending value, then ascending row, in place."""
    for feature in range(lists.ptr.size - 1):
        start, stop = lists.ptr[feature], lists.ptr[feature + 1]
        order = np.argsort(-lists.values[start:stop], kind="mergesort")
        lists.rows[start:stop] = lists.rows[start:stop][order]
        lists.values[start:stop] = lists.values[start:stop][order]


@kernel
def mark_top(lists, m, member):
    """Mark the rows that hold one of the m highest values of some feature (definition 12).

    ``lists`` must be sorted by value.
    """
    for feature in range(lists.ptr.size - 1):
        start, stop = lists.ptr[feature], lists.ptr[feature + 1]
        for at in range(start, min(start + m, stop)):
            member[lists.rows[at]] = True


@kernel
def _taat_one(query, skip, alive, queries, lists, sums, touched, heap_scores, heap_rows, counters):
    """Algorithm 2 for one query; return the number of rows in the heap.

    Lists are read in the order of the features and added in double precision, which is exactly the
    sum that defines the similarity.
    """
    count = 0
    for i in range(queries.ptr[query], queries.ptr[query + 1]):
        feature, value = queries.features[i], np.float64(queries.values[i])
        start, stop = lists.ptr[feature], lists.ptr[feature + 1]
        counters[1] += stop - start
        for at in range(start, stop):
            row = lists.rows[at]
            if sums[row] == 0:
                touched[count] = row
                count += 1
            sums[row] += value * np.float64(lists.values[at])
    counters[0] += count
    filled = 0
    for i in range(count):
        row = touched[i]
        true = np.float32(sums[row])
        sums[row] = 0
        if true > 0 and row != skip and not (alive.size and not alive[row]):
            filled = push(heap_scores, heap_rows, filled, true, row)
    return filled


@kernel
def _wand_one(
    query, skip, alive, queries, rows, lists, query_values, heap_scores, heap_rows, filled, counters
):
    """Document at a time with weak-AND pruning, as lines 3 to 20 of algorithm 8."""
    first = queries.ptr[query]
    k = heap_scores.size
    slack = rounding_error(queries.ptr[query + 1] - first)
    spread(query, queries, query_values)
    n = 0
    cursor = np.empty(queries.ptr[query + 1] - first, np.int64)
    stop = np.empty_like(cursor)
    bound = np.empty(cursor.size, np.float64)
    for i in range(first, queries.ptr[query + 1]):
        feature = queries.features[i]
        if lists.ptr[feature] < lists.ptr[feature + 1]:
            cursor[n], stop[n] = lists.ptr[feature], lists.ptr[feature + 1]
            bound[n] = np.float64(queries.values[i]) * lists.largest[feature]
            n += 1
    while n > 0:
        # Sort the cursors by their current row, by insertion, because few have moved.
        for i in range(1, n):
            c, s, b = cursor[i], stop[i], bound[i]
            row = lists.rows[c]
            j = i - 1
            while j >= 0 and lists.rows[cursor[j]] > row:
                cursor[j + 1], stop[j + 1], bound[j + 1] = cursor[j], stop[j], bound[j]
                j -= 1
            cursor[j + 1], stop[j + 1], bound[j + 1] = c, s, b
        cut = heap_scores[0] - slack if filled == k else 0.0
        total = 0.0
        pivot = -1
        for i in range(n):
            total += bound[i]
            if total > cut:
                pivot = i
                break
        if pivot < 0:
            break
        row = lists.rows[cursor[pivot]]
        if lists.rows[cursor[0]] == row:
            if row != skip and not (alive.size and not alive[row]):
                true = similarity(row, rows, query_values)
                counters[0] += 1
                if true > 0:
                    filled = push(heap_scores, heap_rows, filled, true, row)
            target = row + 1
        else:
            target = row
        left = 0
        for i in range(n):
            at = cursor[i]
            while at < stop[i] and lists.rows[at] < target:
                at += 1
            counters[1] += at - cursor[i]
            if at < stop[i]:
                cursor[left], stop[left], bound[left] = at, stop[i], bound[i]
                left += 1
        n = left
    wipe(query, queries, query_values)
    return filled


@kernel
def taat(first, last, skip, alive, queries, rows, lists, out_scores, out_rows, counters):
    """Term at a time (algorithm 2)."""
    n_rows, k = rows.ptr.size - 1, out_scores.shape[1]
    sums, touched = np.zeros(n_rows), np.empty(n_rows, np.int32)
    heap_scores, heap_rows = np.empty(k, np.float32), np.empty(k, np.int32)
    for query in range(first, last):
        filled = _taat_one(
            query, skip[query], alive, queries, lists, sums, touched,
            heap_scores, heap_rows, counters,
        )  # fmt: skip
        drain(heap_scores, heap_rows, filled, out_scores[query], out_rows[query])


@kernel
def wand(first, last, skip, alive, queries, rows, lists, out_scores, out_rows, counters):
    """Document at a time with weak-AND pruning (M-WAND)."""
    k = out_scores.shape[1]
    query_values = np.zeros(lists.largest.size, np.float32)
    heap_scores, heap_rows = np.empty(k, np.float32), np.empty(k, np.int32)
    for query in range(first, last):
        filled = _wand_one(
            query, skip[query], alive, queries, rows, lists, query_values,
            heap_scores, heap_rows, 0, counters,
        )  # fmt: skip
        drain(heap_scores, heap_rows, filled, out_scores[query], out_rows[query])


@kernel
def partitioned(first, last, skip, alive, queries, rows, top, rest, out_scores, out_rows, counters):
    """Term at a time on the m-top partition, then weak-AND on the rest (algorithm 8)."""
    n_rows, k = rows.ptr.size - 1, out_scores.shape[1]
    sums, touched = np.zeros(n_rows), np.empty(n_rows, np.int32)
    query_values = np.zeros(top.largest.size, np.float32)
    heap_scores, heap_rows = np.empty(k, np.float32), np.empty(k, np.int32)
    for query in range(first, last):
        filled = _taat_one(
            query, skip[query], alive, queries, top, sums, touched,
            heap_scores, heap_rows, counters,
        )  # fmt: skip
        filled = _wand_one(
            query, skip[query], alive, queries, rows, rest, query_values,
            heap_scores, heap_rows, filled, counters,
        )  # fmt: skip
        drain(heap_scores, heap_rows, filled, out_scores[query], out_rows[query])


@kernel
def fagin(first, last, skip, alive, queries, rows, lists, out_scores, out_rows, counters):
    """Fagin's threshold algorithm: read lists by descending value in turn, and score new rows."""
    n_rows, k = rows.ptr.size - 1, out_scores.shape[1]
    query_values = np.zeros(lists.largest.size, np.float32)
    seen = np.full(n_rows, -1, np.int64)
    heap_scores, heap_rows = np.empty(k, np.float32), np.empty(k, np.int32)
    for query in range(first, last):
        start, stop = queries.ptr[query], queries.ptr[query + 1]
        slack = rounding_error(stop - start)
        spread(query, queries, query_values)
        filled = 0
        depth = 0
        while True:
            # No unseen row can be more similar than the values at this depth allow.
            threshold = 0.0
            for i in range(start, stop):
                feature = queries.features[i]
                at = lists.ptr[feature] + depth
                if at < lists.ptr[feature + 1]:
                    threshold += np.float64(queries.values[i]) * lists.values[at]
            if threshold == 0 or (filled == k and threshold < heap_scores[0] - slack):
                break
            for i in range(start, stop):
                feature = queries.features[i]
                at = lists.ptr[feature] + depth
                if at < lists.ptr[feature + 1]:
                    counters[1] += 1
                    row = lists.rows[at]
                    if seen[row] != query:
                        seen[row] = query
                        if row != skip[query] and not (alive.size and not alive[row]):
                            true = similarity(row, rows, query_values)
                            counters[0] += 1
                            if true > 0:
                                filled = push(heap_scores, heap_rows, filled, true, row)
            depth += 1
        wipe(query, queries, query_values)
        drain(heap_scores, heap_rows, filled, out_scores[query], out_rows[query])
