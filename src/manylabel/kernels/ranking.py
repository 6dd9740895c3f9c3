"""Sort the entries of sparse rows: higher score first, then lower column."""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel

#: Stretches of this length are sorted by insertion, then merged.
_SHORT = 16


@kernel
def rank_order(indptr, scores):
    """The positions of each row's entries, best first; columns must be sorted within a row.

    The sort is stable, so equal scores keep the order of their columns, as the tie rule requires.
    """
    order, merged = np.empty(scores.size, np.int64), np.empty(scores.size, np.int64)
    for row in range(indptr.size - 1):
        # A merge sort of our own, because Numba takes seconds to compile NumPy's.
        start, stop = np.int64(indptr[row]), np.int64(indptr[row + 1])
        for first in range(start, stop, _SHORT):
            for i in range(first, min(first + _SHORT, stop)):
                place = i
                while place > first and scores[order[place - 1]] < scores[i]:
                    order[place] = order[place - 1]
                    place -= 1
                order[place] = i
        width = _SHORT
        while width < stop - start:
            for first in range(start, stop, 2 * width):
                left, middle = first, min(first + width, stop)
                right, last = middle, min(first + 2 * width, stop)
                for i in range(first, last):
                    is_left = left < middle and (
                        right == last or scores[order[left]] >= scores[order[right]]
                    )
                    if is_left:
                        merged[i] = order[left]
                        left += 1
                    else:
                        merged[i] = order[right]
                        right += 1
            for i in range(start, stop):
                order[i] = merged[i]
            width *= 2
    return order


@kernel
def best_of_rows(indptr, scores, top):
    """Which entries are the ``top`` best of their row."""
    best = np.zeros(scores.size, np.bool_)
    kept = np.empty(top, np.int64)
    for row in range(indptr.size - 1):
        size = 0
        for place in range(indptr[row], indptr[row + 1]):
            if size == top:
                if scores[place] <= scores[kept[top - 1]]:
                    continue
                size -= 1
            at = size
            while at > 0 and scores[kept[at - 1]] < scores[place]:
                kept[at] = kept[at - 1]
                at -= 1
            kept[at] = place
            size += 1
        for i in range(size):
            best[kept[i]] = True
    return best
