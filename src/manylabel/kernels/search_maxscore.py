"""Search posting lists, and stop reading when no further row can be among the best (MaxScore)."""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel
from manylabel.kernels.heap import drain, push, select_kth, sort_by
from manylabel.kernels.search import rounding_error, similarity, spread, wipe


@kernel
def _reading_plan(feature, value, step, column):
    """The order in which to read a query's lists, and bounds on what the unread lists can add.

    Posting lists come first, by descending maximum contribution, then the frequent features.
    ``unread[i]`` bounds what the lists from the i-th on can add to any row: by the sum of their
    maximum contributions, and by the norm of that part of the query, because rows have unit length.
    ``frequent`` bounds what the frequent features can add.
    """
    n = feature.size
    key = np.empty(n, np.float32)
    n_lists = 0
    frequent = 0.0
    for i in range(n):
        if column[feature[i]] >= 0:
            key[i] = 1
            frequent += np.float64(value[i]) ** 2
        else:
            key[i] = -step[i]
            n_lists += 1
    order = np.empty(n, np.int64)
    for i in range(n):
        order[i] = i
    sort_by(key, order, n)
    unread = np.empty(n_lists + 1)
    unread[n_lists] = 0.0
    total = 0.0
    squares = 0.0
    for i in range(n_lists - 1, -1, -1):
        total += 255.0 * step[order[i]]
        squares += np.float64(value[order[i]]) ** 2
        unread[i] = min(total, np.sqrt(squares))
    return order, n_lists, unread, np.sqrt(frequent)


@kernel
def maxscore(
    first, last, segment, skip, alive, queries, rows, postings, out_scores, out_rows, counters
):
    """Search for one query after another.

    Lists are read until the unread ones cannot raise an unseen row above the k-th best. The
    surviving rows add the weights of the frequent features from the columns. The few that may still
    be among the best are scored exactly.
    """
    n_rows = rows.ptr.size - 1
    k = out_scores.shape[1]
    largest, column, tiles, norms = (
        postings.largest, postings.column, postings.tiles, postings.norms,
    )  # fmt: skip
    tile_size = np.uint64(tiles.shape[2])
    query_values = np.zeros(largest.size, np.float32)
    width = min(segment, n_rows)
    sums = np.zeros(width, np.float32)
    touched = np.empty(width, np.int32)
    survivors = np.empty(width, np.int32)
    bounds = np.empty(width, np.float32)
    scratch = np.empty(width, np.float32)
    heap_scores = np.empty(k, np.float32)
    heap_rows = np.empty(k, np.int32)
    for query in range(first, last):
        feature = queries.features[queries.ptr[query] : queries.ptr[query + 1]]
        value = queries.values[queries.ptr[query] : queries.ptr[query + 1]]
        n = feature.size
        step = np.empty(n, np.float32)
        for i in range(n):
            step[i] = value[i] * largest[feature[i]] / np.float32(255)
        order, n_lists, unread, frequent = _reading_plan(feature, value, step, column)
        slack = rounding_error(n)
        quantisation = slack
        for i in range(n):
            quantisation += step[i]
        spread(query, queries, query_values)
        filled = 0
        for s in range(postings.starts.size - 1):
            base, lists = postings.starts[s], postings.lists[s]
            offset = s * segment
            cut = heap_scores[0] - slack if filled == k else 0.0
            count = 0
            read = 0
            while read < n_lists and unread[read] + frequent > cut:
                f, unit = feature[order[read]], step[order[read]]
                for at in range(np.uint64(base + lists[f]), np.uint64(base + lists[f + 1])):
                    d = postings.rows[at]
                    if sums[d] == 0:
                        touched[np.uint32(count)] = d
                        count += 1
                    sums[d] += unit * np.float32(postings.weights[at])
                counters[1] += lists[f + 1] - lists[f]
                read += 1
            left = 0
            for i in range(count):
                d = touched[i]
                row = offset + d
                if sums[d] + unread[read] + frequent * norms[row] / 255 <= cut:
                    continue
                if row != skip[query] and not (alive.size and not alive[row]):
                    survivors[left] = d
                    bounds[left] = sums[d] + unread[read]
                    left += 1
            for j in range(n_lists, n):
                c, unit = column[feature[order[j]]], step[order[j]]
                for i in range(left):
                    row = np.uint64(offset + survivors[i])
                    weight = tiles[row // tile_size, c, row % tile_size]
                    bounds[i] += unit * np.float32(weight)
            if left > k:
                # The k-th largest bound minus its error is a similarity that k rows reach.
                reached = select_kth(bounds, left, k, scratch) - unread[read] - quantisation
                cut = max(cut, reached)
            for i in range(left):
                if bounds[i] > cut:
                    row = offset + survivors[i]
                    true = similarity(row, rows, query_values)
                    counters[0] += 1
                    if true > 0:
                        filled = push(heap_scores, heap_rows, filled, true, row)
                        if filled == k:
                            cut = max(cut, heap_scores[0] - slack)
            if frequent > cut:
                # Rows that share only frequent features with the query may be among the best, if
                # their norm in these features is large enough.
                for i in range(offset, min(offset + segment, n_rows)):
                    row = offset + postings.by_norm[i]
                    if frequent * norms[row] <= cut * 255:
                        break
                    if sums[row - offset] == 0 and row != skip[query]:
                        if alive.size and not alive[row]:
                            continue
                        true = similarity(row, rows, query_values)
                        counters[0] += 1
                        if true > 0:
                            filled = push(heap_scores, heap_rows, filled, true, row)
                            if filled == k:
                                cut = max(cut, heap_scores[0] - slack)
            for i in range(count):
                sums[touched[i]] = 0
        wipe(query, queries, query_values)
        drain(heap_scores, heap_rows, filled, out_scores[query], out_rows[query])
