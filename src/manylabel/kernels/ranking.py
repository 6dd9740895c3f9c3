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
