"""A bounded heap of (score, document) pairs, quick selection, and sorting.

Sorting and searching are loops here, because Numba takes seconds to compile NumPy's for each kernel
that calls them, and the arrays are short.

The worst pair is at the top of the heap. "Worse" is the tie rule reversed: a lower score, or the
same score and a higher document number.
"""

from __future__ import annotations

from manylabel.kernels.compile import kernel, step


@kernel
def is_worse(score_a, doc_a, score_b, doc_b):
    """Whether pair a comes after pair b in the final order."""
    return score_a < score_b or (score_a == score_b and doc_a > doc_b)


@kernel
def push(scores, docs, size, score, doc):
    """Offer a pair to a heap of capacity ``scores.size``; return the new size."""
    capacity = scores.size
    if size < capacity:
        place = size
        while place > 0:
            parent = (place - 1) >> 1
            if is_worse(score, doc, scores[parent], docs[parent]):
                scores[place], docs[place] = scores[parent], docs[parent]
                place = parent
            else:
                break
        scores[place], docs[place] = score, doc
        return size + 1
    if is_worse(score, doc, scores[0], docs[0]):
        return size
    _sift_down(scores, docs, capacity, score, doc)
    return size


@kernel
def _sift_down(scores, docs, size, score, doc):
    """Replace the top by a pair and restore the order."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and is_worse(
            scores[child + 1], docs[child + 1], scores[child], docs[child]
        ):
            child += 1
        if is_worse(scores[child], docs[child], score, doc):
            scores[place], docs[place] = scores[child], docs[child]
            place = child
        else:
            break
    scores[place], docs[place] = score, doc


@kernel
def drain(scores, docs, size, out_scores, out_docs):
    """Empty the heap into the outputs, best first."""
    for left in range(size - 1, -1, -1):
        out_scores[left], out_docs[left] = scores[0], docs[0]
        _sift_down(scores, docs, left, scores[left], docs[left])


@kernel
def select_kth(values, n, k, scratch):
    """The k-th largest (k from 1) of the first n values, in expected linear time."""
    for i in range(n):
        scratch[i] = values[i]
    low, high, target = 0, n - 1, k - 1
    while low < high:
        pivot = scratch[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while scratch[i] > pivot:
                i += 1
            while scratch[j] < pivot:
                j -= 1
            if i <= j:
                scratch[i], scratch[j] = scratch[j], scratch[i]
                i += 1
                j -= 1
        if target <= j:
            high = j
        elif target >= i:
            low = i
        else:
            break
    return scratch[target]


@kernel
def sort_numbers(values, start, stop):
    """Sort the values from ``start`` to ``stop`` in place, in ascending order (Shell sort)."""
    gap = 1
    while 3 * gap + 1 < stop - start:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(start + gap, stop):
            value, place = values[i], i
            while place >= start + gap and values[place - gap] > value:
                values[place] = values[place - gap]
                place -= gap
            values[place] = value
        gap //= 3


@kernel
def sort_by(keys, order, n):
    """Sort the first n entries of ``order`` by their keys, ascending; ``keys`` does not change."""
    gap = 1
    while 3 * gap + 1 < n:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            moved, place = order[i], i
            key = keys[moved]
            while place >= gap and keys[order[place - gap]] > key:
                order[place] = order[place - gap]
                place -= gap
            order[place] = moved
        gap //= 3


@step
def find(sorted_values, low, high, value):
    """The position of ``value`` between ``low`` and ``high``, or its insertion point."""
    while low < high:
        middle = (low + high) >> 1
        if sorted_values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low
