"""Exact search in two steps: cheap scores that err by a known bound, then true similarities.

The similarity of a query and a row is one fixed number: the products of their common features
added in double precision in the order of the features, rounded to single precision once. Every
strategy ends by computing exactly that, so all agree to the last bit.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel
from manylabel.kernels.heap import drain, push, select_kth


@kernel
def similarity(row, row_ptr, row_features, row_values, query):
    """The similarity of a row and a query spread out over all features."""
    total = 0.0
    for i in range(row_ptr[row], row_ptr[row + 1]):
        # Adding the zeros of absent features changes nothing and avoids a branch.
        total += np.float64(row_values[i]) * np.float64(query[row_features[i]])
    return np.float32(total)


@kernel
def spread(features, values, query):
    """Write a sparse query into a dense one."""
    for i in range(features.size):
        query[features[i]] = values[i]


@kernel
def wipe(features, query):
    """Undo `spread`."""
    for i in range(features.size):
        query[features[i]] = 0


@kernel
def widen(tile, out):
    """A tile of quantised columns as single-precision numbers, for BLAS."""
    for c in range(tile.shape[0]):
        for d in range(tile.shape[1]):
            out[c, d] = np.float32(tile[c, d])


@kernel
def add_columns(features, values, column, largest, tile, out):
    """Scores of one query on a tile of the frequent features, column by column."""
    out[:] = 0
    for i in range(features.size):
        feature = features[i]
        if column[feature] >= 0:
            step = values[i] * largest[feature] / np.float32(255)
            source = tile[column[feature]]
            for d in range(out.size):
                out[d] += step * np.float32(source[d])


@kernel
def gather_columns(first, last, ptr, features, values, column, largest, out):
    """What a unit of weight adds in each column, for a batch of queries."""
    out[:] = 0
    for query in range(first, last):
        for i in range(ptr[query], ptr[query + 1]):
            feature = features[i]
            if column[feature] >= 0:
                out[query - first, column[feature]] = values[i] * largest[feature] / np.float32(255)


@kernel
def prepare_lists(
    first, last, ptr, features, values, column, largest, begin, end, starts, cursor, stops, steps
):
    """Where the lists of each query of a batch lie in a segment, and what a unit of weight adds.

    ``starts[q]`` to ``starts[q + 1]`` are the slots of query q in the three other outputs.
    """
    slot = 0
    for query in range(first, last):
        starts[query - first] = slot
        for i in range(ptr[query], ptr[query + 1]):
            feature = features[i]
            if column[feature] < 0 and end[feature] > begin[feature]:
                cursor[slot] = begin[feature]
                stops[slot] = end[feature]
                steps[slot] = values[i] * largest[feature] / np.float32(255)
                slot += 1
    starts[last - first] = slot


@kernel
def error_bounds(first, last, ptr, features, values, largest, margins):
    """How far a cheap score can lie from the similarity, for each query of a batch."""
    for query in range(first, last):
        # Single-precision sums of n products that add up to at most 1.
        n = ptr[query + 1] - ptr[query]
        margin = 4.0 * (n + 8) * 2.0**-24
        for i in range(ptr[query], ptr[query + 1]):
            margin += values[i] * largest[features[i]] / 255.0
        margins[query - first] = margin


@kernel
def collect_tile(
    scores, offset, local_offset, n_rows, skip, alive, first, ptr, features, values,
    row_ptr, row_features, row_values, docs, weights, starts, cursor, stops, steps, margins,
    cut, kept_scores, kept_rows, kept, heap_scores, heap_rows, heap_size, spread_query, scratch,
):  # fmt: skip
    """Add the posting lists to a tile of scores and keep the rows that may be among the best k.

    ``scores`` is (queries, tile) and holds the dense part. ``offset`` is the tile's first row,
    ``local_offset`` the same counted within the segment. ``cut[q]`` is a score below which no row
    of query q can be among the best. ``skip[q]`` is a row to leave out, or -1.
    """
    tile_end = local_offset + n_rows
    for query in range(scores.shape[0]):
        score = scores[query]
        for slot in range(starts[query], starts[query + 1]):
            at, stop, step = cursor[slot], stops[slot], steps[slot]
            while at < stop and docs[at] < tile_end:
                score[docs[at] - local_offset] += step * np.float32(weights[at])
                at += 1
            cursor[slot] = at
        left_out = skip[query] - offset
        for d in range(n_rows):
            if score[d] > cut[query]:
                if d == left_out or (alive.size and not alive[offset + d]):
                    continue
                size = kept[query]
                kept_scores[query, size] = score[d]
                kept_rows[query, size] = offset + d
                kept[query] = size + 1
                if size + 1 == kept_scores.shape[1]:
                    settle(
                        query, first, False, ptr, features, values,
                        row_ptr, row_features, row_values, margins,
                        cut, kept_scores, kept_rows, kept, heap_scores, heap_rows, heap_size,
                        spread_query, scratch,
                    )  # fmt: skip


@kernel
def settle(
    query, first, final, ptr, features, values, row_ptr, row_features, row_values, margins,
    cut, kept_scores, kept_rows, kept, heap_scores, heap_rows, heap_size, spread_query, scratch,
):  # fmt: skip
    """Make room among the rows kept for a query, or with ``final`` decide about all of them.

    Rows that cannot be among the best go; if too many are left, or at the end, their similarities
    are computed and the best wait in the heap.
    """
    scores, rows, size = kept_scores[query], kept_rows[query], kept[query]
    heap_score, heap_row = heap_scores[query], heap_rows[query]
    k = heap_score.size
    limit = cut[query]
    if size > k:
        limit = max(limit, select_kth(scores, size, k, scratch) - margins[query])
        left = 0
        for i in range(size):
            if scores[i] > limit:
                scores[left], rows[left] = scores[i], rows[i]
                left += 1
        size = left
    if final or 2 * size > scores.size:
        start, stop = ptr[first + query], ptr[first + query + 1]
        spread(features[start:stop], values[start:stop], spread_query)
        filled = heap_size[query]
        for i in range(size):
            true = similarity(rows[i], row_ptr, row_features, row_values, spread_query)
            if true > 0:
                filled = push(heap_score, heap_row, filled, true, rows[i])
        wipe(features[start:stop], spread_query)
        heap_size[query] = filled
        if filled == k:
            limit = max(limit, heap_score[0] - margins[query])
        size = 0
    cut[query] = limit
    kept[query] = size


@kernel
def finish(
    first, last, ptr, features, values, row_ptr, row_features, row_values, margins,
    cut, kept_scores, kept_rows, kept, heap_scores, heap_rows, heap_size, spread_query, scratch,
    out_scores, out_rows,
):  # fmt: skip
    """Write the best rows of each query of a batch, best first."""
    for query in range(last - first):
        settle(
            query, first, True, ptr, features, values, row_ptr, row_features, row_values, margins,
            cut, kept_scores, kept_rows, kept, heap_scores, heap_rows, heap_size,
            spread_query, scratch,
        )  # fmt: skip
        drain(
            heap_scores[query], heap_rows[query], heap_size[query],
            out_scores[first + query], out_rows[first + query],
        )  # fmt: skip


@kernel
def _reading_plan(feature, value, step, column):
    """In which order to read a query's lists, and what the unread can still add.

    Lists come first, from the greatest possible share down, then the frequent features.
    ``unread[i]`` bounds what the lists from the i-th on can add to any row, by the sum of their
    greatest shares and by the length of that part of the query; ``frequent`` bounds the frequent
    features for a row that has nothing else.
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
    order = np.argsort(key)
    unread = np.zeros(n_lists + 1)
    total = 0.0
    squares = 0.0
    for i in range(n_lists - 1, -1, -1):
        total += 255.0 * step[order[i]]
        squares += np.float64(value[order[i]]) ** 2
        unread[i] = min(total, np.sqrt(squares))
    return order, n_lists, unread, np.sqrt(frequent)


@kernel
def maxscore(
    first, last, skip, alive, ptr, features, values, row_ptr, row_features, row_values,
    largest, segment, list_begin, list_end, docs, weights, column, tiles,
    norms, by_norm, out_scores, out_rows, counters,
):  # fmt: skip
    """Search by posting lists, reading only those that can still bring a row to the top.

    Lists are read from the one with the greatest possible share down, until what is unread cannot
    lift an unseen row above the k-th best. What is unread is bounded by the sum of the greatest
    shares and by the length of that part of the query, rows being of length one. Frequent features
    have no list: rows that survive look their weights up in the columns.
    """
    n_rows = row_ptr.size - 1
    k = out_scores.shape[1]
    tile_size = tiles.shape[2]
    spread_query = np.zeros(largest.size, np.float32)
    width = min(segment, n_rows)
    sums = np.zeros(width, np.float32)
    touched = np.empty(width, np.int32)
    survivors = np.empty(width, np.int32)
    bounds = np.empty(width, np.float32)
    scratch = np.empty(width, np.float32)
    heap_score = np.empty(k, np.float32)
    heap_row = np.empty(k, np.int32)
    for query in range(first, last):
        feature = features[ptr[query] : ptr[query + 1]]
        value = values[ptr[query] : ptr[query + 1]]
        n = feature.size
        step = np.empty(n, np.float32)
        for i in range(n):
            step[i] = value[i] * largest[feature[i]] / np.float32(255)
        order, n_lists, unread, frequent = _reading_plan(feature, value, step, column)
        quantisation = step.sum()
        slack = 4.0 * (n + 8) * 2.0**-24
        spread(feature, value, spread_query)
        filled = 0
        for s in range(list_begin.shape[0]):
            begin, end = list_begin[s], list_end[s]
            offset = s * segment
            cut = heap_score[0] - slack if filled == k else 0.0
            count = 0
            read = 0
            while read < n_lists and unread[read] + frequent > cut:
                f, unit = feature[order[read]], step[order[read]]
                for at in range(begin[f], end[f]):
                    d = docs[at]
                    if sums[d] == 0:
                        touched[count] = d
                        count += 1
                    sums[d] += unit * np.float32(weights[at])
                counters[1] += end[f] - begin[f]
                read += 1
            left = 0
            for i in range(count):
                d = touched[i]
                row = offset + d
                if sums[d] + unread[read] + frequent * norms[row] / 255 > cut:
                    if row != skip[query] and not (alive.size and not alive[row]):
                        survivors[left] = d
                        bounds[left] = sums[d] + unread[read]
                        left += 1
            for j in range(n_lists, n):
                c, unit = column[feature[order[j]]], step[order[j]]
                for i in range(left):
                    row = offset + survivors[i]
                    bounds[i] += unit * np.float32(tiles[row // tile_size, c, row % tile_size])
            if left > k:
                # The k-th greatest bound less its error is a similarity that k rows reach.
                error = unread[read] + quantisation + 2 * slack
                cut = max(cut, select_kth(bounds, left, k, scratch) - error)
            for i in range(left):
                if bounds[i] > cut:
                    row = offset + survivors[i]
                    true = similarity(row, row_ptr, row_features, row_values, spread_query)
                    counters[0] += 1
                    if true > 0:
                        filled = push(heap_score, heap_row, filled, true, row)
                        if filled == k:
                            cut = max(cut, heap_score[0] - slack)
            if frequent > cut:
                # Rows that share only frequent features with the query may be among the best: those
                # whose part in these features is long enough.
                for i in range(offset, min(offset + segment, n_rows)):
                    row = offset + by_norm[i]
                    if frequent * norms[row] <= cut * 255:
                        break
                    if sums[row - offset] == 0 and row != skip[query]:
                        if alive.size and not alive[row]:
                            continue
                        true = similarity(row, row_ptr, row_features, row_values, spread_query)
                        counters[0] += 1
                        if true > 0:
                            filled = push(heap_score, heap_row, filled, true, row)
                            if filled == k:
                                cut = max(cut, heap_score[0] - slack)
            for i in range(count):
                sums[touched[i]] = 0
        wipe(feature, spread_query)
        drain(heap_score, heap_row, filled, out_scores[query], out_rows[query])
