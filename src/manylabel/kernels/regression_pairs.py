"""The products of all pairs of sparse rows, for the kernel matrix of a regression."""

from __future__ import annotations

from manylabel.kernels.compile import kernel


@kernel
def add_products(first, last, rows, places, postings, out):
    """Add the products of some rows with themselves and all later rows to ``out[row, later]``.

    ``postings`` has the same entries by feature, rows ascending; ``places`` is where each entry of
    ``rows`` is among them.
    """
    for row in range(first, last):
        line = out[row]
        for i in range(rows.ptr[row], rows.ptr[row + 1]):
            value = rows.values[i]
            for p in range(places[i], postings.ptr[rows.features[i] + 1]):
                line[postings.features[p]] += value * postings.values[p]
