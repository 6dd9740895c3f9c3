"""Labels of neighbours, counted; and logistic models of many labels on sparse rows."""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel


@kernel
def count_labels(neighbors, y_ptr, y_labels, sizes, labels, counts):
    """Write the labels of each row's neighbours by rising number, and how many carry each.

    ``labels`` and ``counts`` have room for every label of every neighbour; ``sizes`` gets the
    number of labels of each row. Neighbours below 0 are none.
    """
    start = 0
    for row in range(neighbors.shape[0]):
        stop = start
        for neighbor in neighbors[row]:
            if neighbor >= 0:
                for entry in range(y_ptr[neighbor], y_ptr[neighbor + 1]):
                    labels[stop] = y_labels[entry]
                    stop += 1
        labels[start:stop].sort()
        end = start
        for entry in range(start, stop):
            if entry == start or labels[entry] != labels[end - 1]:
                labels[end] = labels[entry]
                counts[end] = 1
                end += 1
            else:
                counts[end - 1] += 1
        sizes[row] = end - start
        start = end


@kernel
def mark_common(ptr, columns, other_ptr, other_columns, common):
    """Mark the entries of a sorted CSR matrix that another one of as many rows has as well."""
    for row in range(ptr.size - 1):
        other, other_stop = other_ptr[row], other_ptr[row + 1]
        for entry in range(ptr[row], ptr[row + 1]):
            while other < other_stop and other_columns[other] < columns[entry]:
                other += 1
            common[entry] = other < other_stop and other_columns[other] == columns[entry]


@kernel
def margins(ptr, columns, values, own_ptr, own, coef, intercept, constant, sizes):
    """Linear margins of each row's own labels, and of any other label that reaches 0.

    ``coef`` is a CSR triple, a row an input; ``constant`` are the labels whose intercept reaches 0.
    Returns the labels, by rising number, and their margins; ``sizes`` gets their number a row.
    """
    coef_ptr, coef_labels, coef_values = coef
    n_labels = intercept.size
    margin = intercept.copy()
    # The last row that a label was met in, or was one of the own labels of.
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
            room = 2 * (end + n_touched)
            labels, scores = _grown(labels, end, room), _grown(scores, end, room)
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
