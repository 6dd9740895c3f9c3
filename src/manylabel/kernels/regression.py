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


@kernel
def profile_scores(
    first, last, near, offset, steps, start, units, spread, duals, constants, ptr, labels, out
):
    """The scores of each row's candidates by the cosines of its profile with those of documents.

    A profile is ``start`` plus what each similar document adds, which is a row of ``steps``.
    ``units`` has the documents' profiles, of unit length, in columns; ``spread`` is the constant of
    their kernel.
    """
    size, n_documents = units.shape
    profile = np.empty(size)
    effects = np.empty(n_documents)
    scale = 1.0 / ((1.0 + offset) * (1.0 + offset))
    scale_of_cosines = 1.0 / ((1.0 + spread) * (1.0 + spread))
    for row in range(first, last):
        profile[:] = start
        for i in range(near.ptr[row], near.ptr[row + 1]):
            s = np.float64(near.values[i])
            effect = s * (s + 2.0 * offset) * scale
            step = steps[near.features[i]]
            for k in range(size):
                profile[k] += effect * step[k]
        length = 0.0
        for k in range(size):
            length += profile[k] * profile[k]
        length = np.sqrt(length)
        effects[:] = 0.0
        if length > 0.0:
            for k in range(size):
                share = profile[k] / length
                unit = units[k]
                for i in range(n_documents):
                    effects[i] += share * unit[i]
        for i in range(n_documents):
            effects[i] *= (effects[i] + 2.0 * spread) * scale_of_cosines
        for place in range(ptr[row], ptr[row + 1]):
            out[place] = constants[labels[place]] + product(effects, duals[labels[place]])


@kernel
def product(one, other):
    """The sum of products, in four parts that do not wait for each other."""
    a = b = c = d = 0.0
    n = one.size // 4 * 4
    for i in range(0, n, 4):
        a += one[i] * other[i]
        b += one[i + 1] * other[i + 1]
        c += one[i + 2] * other[i + 2]
        d += one[i + 3] * other[i + 3]
    for i in range(n, one.size):
        a += one[i] * other[i]
    return (a + b) + (c + d)
