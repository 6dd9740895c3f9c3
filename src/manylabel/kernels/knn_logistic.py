"""Margins of logistic models of many labels on sparse rows (IBLR)."""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel


@kernel
def margins(ptr, columns, values, own_ptr, own, coef, intercept, constant, sizes):
    """Linear margins of each row's own labels, and of other labels whose margin is at least 0.

    ``coef`` is a CSR triple with one row per input; ``constant`` has the labels whose intercept is
    at least 0. Returns the labels in ascending order, and their margins; ``sizes`` receives their
    number per row.
    """
    coef_ptr, coef_labels, coef_values = coef
    n_labels = intercept.size
    margin = intercept.copy()
    # By label: the last row in which it was touched, and the last row that has it as its own.
    met, owned = np.full(n_labels, -1, np.int64), np.full(n_labels, -1, np.int64)
    touched = np.empty(n_labels, np.int32)
    labels, scores = np.empty(1024, np.int32), np.empty(1024, np.float64)
    end = 0
    for row in range(ptr.size - 1):
        n_touched = 0
        for entry in range(own_ptr[row], own_ptr[row + 1]):
            owned[own[entry]] = met[own[entry]] = row
            touched[n_touched] = own[entry]
            n_touched += 1
        for label in constant:
            if met[label] != row:
                met[label] = row
                touched[n_touched] = label
                n_touched += 1
        for entry in range(ptr[row], ptr[row + 1]):
            for place in range(coef_ptr[columns[entry]], coef_ptr[columns[entry] + 1]):
                label = coef_labels[place]
                if met[label] != row:
                    met[label] = row
                    touched[n_touched] = label
                    n_touched += 1
                margin[label] += values[entry] * coef_values[place]
        touched[:n_touched].sort()
        if end + n_touched > labels.size:
            capacity = 2 * (end + n_touched)
            labels, scores = _grown(labels, end, capacity), _grown(scores, end, capacity)
        start = end
        for label in touched[:n_touched]:
            if owned[label] == row or margin[label] >= 0:
                labels[end] = label
                scores[end] = margin[label]
                end += 1
            margin[label] = intercept[label]
        sizes[row] = end - start
    return labels[:end].copy(), scores[:end].copy()


@kernel
def _grown(array, used, size):
    """A longer array with the same beginning."""
    longer = np.empty(size, array.dtype)
    longer[:used] = array[:used]
    return longer
