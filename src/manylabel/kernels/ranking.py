"""Sort the entries of sparse rows: higher score first, then lower column."""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel


@kernel
def rank_order(indptr, scores):
    """The positions of each row's entries, best first; columns must be sorted within a row.

    The sort is stable, so equal scores keep the order of their columns, as the tie rule requires.
    """
    order = np.empty(scores.size, np.int64)
    for row in range(indptr.size - 1):
        start, stop = indptr[row], indptr[row + 1]
        # A loop, because a slice assignment takes seconds to compile (its error message).
        for i, place in enumerate(np.argsort(-scores[start:stop], kind="mergesort")):
            order[start + i] = start + place
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
