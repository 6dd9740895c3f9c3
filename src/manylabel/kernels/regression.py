"""Scores of a kernel regression: sums over the training documents that share words with a row.

With similarity s of unit rows, the kernel is ((s + c) / (1 + c))^2. What depends on s is
s (s + 2 c) / (1 + c)^2, which is 0 for documents without a common word; the rest is a constant of
the label.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel


@kernel
def candidate_scores(first, last, near, offset, duals, constants, ptr, labels, out):
    """The scores of each row's candidates, which are the entries of a CSR matrix.

    ``near`` has the similarities of each row to the training documents, ``duals`` the dual weight
    of each document by label.
    """
    longest = 0
    for row in range(first, last):
        longest = max(longest, near.ptr[row + 1] - near.ptr[row])
    effects = np.empty(longest)
    scale = 1.0 / ((1.0 + offset) * (1.0 + offset))
    for row in range(first, last):
        begin, end = near.ptr[row], near.ptr[row + 1]
        for i in range(begin, end):
            s = np.float64(near.values[i])
            effects[i - begin] = s * (s + 2.0 * offset) * scale
        for place in range(ptr[row], ptr[row + 1]):
            label = labels[place]
            total = constants[label]
            for i in range(begin, end):
                total += effects[i - begin] * duals[label, near.features[i]]
            out[place] = total
