"""Build the neighbour index: unit rows, quantised posting lists, a dense block."""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel


@kernel
def unit_rows(indptr, data, out):
    """Rows of length one in single precision; a row of zeros stays as it is."""
    for row in range(indptr.size - 1):
        start, stop = indptr[row], indptr[row + 1]
        largest = 0.0
        for i in range(start, stop):
            largest = max(largest, data[i])
        if largest == 0.0:
            continue
        # Scaling by the largest value first keeps the squares from overflowing or vanishing.
        total = 0.0
        for i in range(start, stop):
            total += (data[i] / largest) ** 2
        norm = np.sqrt(total)
        for i in range(start, stop):
            out[i] = data[i] / largest / norm


@kernel
def count_lists(indptr, indices, data, segment, counts, largest):
    """Postings of each feature in each segment, and each feature's largest value."""
    for row in range(indptr.size - 1):
        count = counts[row // segment]
        for i in range(indptr[row], indptr[row + 1]):
            feature = indices[i]
            count[feature] += 1
            largest[feature] = max(largest[feature], data[i])


@kernel
def quantise(value, largest):
    """A value as a multiple of 1/255 of its feature's largest, rounded up.

    Rounding up makes every sum of such weights an upper bound of the true sum.
    """
    return min(255, int(np.ceil(value * (255.0 / largest))))


@kernel
def fill_segment(first, last, indptr, indices, data, column, largest, cursor, docs, weights, tiles):
    """Write the postings and the columns of the rows of one segment.

    ``column`` maps a frequent feature to its column and any other to -1. ``cursor`` holds where
    each feature's next posting goes.
    """
    tile_size = tiles.shape[2]
    for row in range(first, last):
        tile = tiles[row // tile_size]
        place = row % tile_size
        for i in range(indptr[row], indptr[row + 1]):
            feature = indices[i]
            if data[i] == 0:
                continue
            if column[feature] >= 0:
                tile[column[feature], place] = quantise(data[i], largest[feature])
            else:
                at = cursor[feature]
                cursor[feature] = at + 1
                docs[at] = row - first
                weights[at] = quantise(data[i], largest[feature])


@kernel
def frequent_norms(indptr, indices, data, column, norms):
    """The length of each row's part in the frequent features, in 255ths, rounded up."""
    for row in range(indptr.size - 1):
        total = 0.0
        for i in range(indptr[row], indptr[row + 1]):
            if column[indices[i]] >= 0:
                total += np.float64(data[i]) ** 2
        norms[row] = min(255, int(np.ceil(255.0 * np.sqrt(total) * (1 + 2.0**-20))))


@kernel
def order_by_norm(first, last, norms, order):
    """The rows of a segment by falling norm, then rising number: a counting sort."""
    starts = np.zeros(257, np.int64)
    for row in range(first, last):
        starts[256 - norms[row]] += 1
    for i in range(1, 257):
        starts[i] += starts[i - 1]
    for row in range(first, last):
        bucket = 255 - norms[row]
        order[first + starts[bucket]] = row - first
        starts[bucket] += 1
