"""Count the labels of neighbours (MLkNN, BRkNN, IBLR)."""

from __future__ import annotations

from manylabel.kernels.compile import kernel


@kernel
def count_labels(neighbors, y_ptr, y_labels, sizes, labels, counts):
    """Write the labels of each row's neighbours in ascending order, and how many have each.

    ``labels`` and ``counts`` have capacity for every label of every neighbour; ``sizes`` receives
    the number of labels of each row. Negative neighbours are padding.
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
    """Mark the entries of a sorted CSR matrix that another one with as many rows also has."""
    for row in range(ptr.size - 1):
        other, other_stop = other_ptr[row], other_ptr[row + 1]
        for entry in range(ptr[row], ptr[row + 1]):
            while other < other_stop and other_columns[other] < columns[entry]:
                other += 1
            common[entry] = other < other_stop and other_columns[other] == columns[entry]
