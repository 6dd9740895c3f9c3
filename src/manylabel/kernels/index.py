"""Build the arrays of the neighbour index.

Rows are divided into segments of at most 65,536, so that a posting is a 16-bit row number and an
8-bit weight, and into tiles that fit the CPU cache. A feature that occurs in a large share of the
rows has a column of 8-bit weights instead of a posting list. All weights are rounded up to 255ths
of the feature's largest value, so their sums are upper bounds, which are enough to discard nearly
every row. The remaining rows are scored exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manylabel.kernels.compile import kernel

# Innermost loops use unsigned indices: Numba checks the sign of others at every access, because
# negative indices count from the end.


class Rows(NamedTuple):
    """Sparse rows of unit length."""

    ptr: NDArray[np.int64]
    features: NDArray[np.int32]
    values: NDArray[np.float32]


class Postings(NamedTuple):
    """The arrays that speed up a search.

    ``starts[s]`` is where segment s begins among the postings; ``lists[s, f]`` to
    ``lists[s, f + 1]``, counted from there, are the postings of feature f. ``column[f]`` is the
    column of a frequent feature, or -1; ``tiles`` is (tile, column, row in tile). ``norms`` is the
    norm of each row restricted to the frequent features, ``by_norm`` the rows of each segment by
    descending norm.
    """

    largest: NDArray[np.float32]
    starts: NDArray[np.int64]
    lists: NDArray[np.uint32]
    rows: NDArray[np.uint16]
    weights: NDArray[np.uint8]
    column: NDArray[np.int32]
    tiles: NDArray[np.uint8]
    norms: NDArray[np.uint8]
    by_norm: NDArray[np.uint16]


@kernel
def unit_rows(ptr, data, out):
    """Scale rows to unit length in single precision; a row of zeros does not change."""
    # Below this, a product of two values could underflow in single precision.
    least = np.float32(2.0**-58)
    for row in range(ptr.size - 1):
        start, stop = np.uint64(ptr[row]), np.uint64(ptr[row + 1])
        total = 0.0
        for i in range(start, stop):
            total += np.float64(data[i]) ** 2
        if 1e-200 < total < 1e200:
            stretch = 1 / np.sqrt(total)
            for i in range(start, stop):
                value = np.float32(np.float64(data[i]) * stretch)
                out[i] = value if value >= least else np.float32(0)
        else:
            # Squares underflow or overflow: divide by the largest value first.
            scale = 0.0
            for i in range(start, stop):
                scale = max(scale, np.float64(data[i]))
            total = 0.0
            for i in range(start, stop):
                total += (np.float64(data[i]) / scale) ** 2
            stretch = 1 / np.sqrt(total)
            for i in range(start, stop):
                value = np.float32(np.float64(data[i]) / scale * stretch)
                out[i] = value if value >= least else np.float32(0)


@kernel
def count_postings(rows, segment, counts, largest):
    """Count the postings of each feature in each segment, and find its largest value."""
    for row in range(rows.ptr.size - 1):
        count = counts[row // segment]
        for i in range(np.uint64(rows.ptr[row]), np.uint64(rows.ptr[row + 1])):
            feature = np.uint32(rows.features[i])
            count[feature] += np.uint32(1)
            if rows.values[i] > largest[feature]:
                largest[feature] = rows.values[i]


@kernel
def _weight(value, scale):
    """A value in 255ths of its feature's largest value, rounded up; 0 stays 0."""
    return min(np.int32(255), np.int32(value * scale) + np.int32(value > 0))


@kernel
def fill_postings(first, last, start, rows, postings, scales, cursor, packed):
    """Write the postings and columns of the rows of one segment.

    Its postings begin at ``start``. ``scales`` is 255 over the largest value of each feature;
    ``cursor`` is the position of each feature's next posting, counted from there. Row and weight
    are first packed into one number, because two scattered writes cost twice as much.
    """
    n_columns, tile_size = postings.tiles.shape[1], postings.tiles.shape[2]
    column, flat_tiles = postings.column, postings.tiles.reshape(-1)
    for row in range(first, last):
        in_tile = (row // tile_size) * n_columns * tile_size + row % tile_size
        local = np.uint32(row - first) << np.uint32(8)
        total = 0.0
        for i in range(np.uint64(rows.ptr[row]), np.uint64(rows.ptr[row + 1])):
            feature, value = np.uint32(rows.features[i]), rows.values[i]
            weight = _weight(value, scales[feature])
            c = column[feature]
            if c >= 0:
                flat_tiles[np.uint64(in_tile + c * tile_size)] = weight
                total += np.float64(value) * value
            else:
                at = cursor[feature]
                cursor[feature] = at + np.uint32(1)
                packed[at] = local | np.uint32(weight)
        postings.norms[row] = _weight(np.sqrt(total), 255.0 * (1 + 2.0**-20))
    _order_by_norm(first, last, postings.norms, postings.by_norm)
    for at in range(packed.size):
        postings.rows[start + at] = packed[at] >> 8
        postings.weights[start + at] = packed[at] & 255


@kernel
def _order_by_norm(first, last, norms, by_norm):
    """Sort the rows of a segment by descending norm, then ascending number (counting sort)."""
    starts = np.zeros(257, np.int64)
    for row in range(first, last):
        starts[256 - norms[row]] += 1
    for i in range(1, 257):
        starts[i] += starts[i - 1]
    for row in range(first, last):
        bucket = 255 - norms[row]
        by_norm[first + starts[bucket]] = row - first
        starts[bucket] += 1
