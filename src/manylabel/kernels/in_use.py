"""The labels that hold tokens of a document, as a list that labels enter and leave."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from manylabel.kernels.compile import kernel
from manylabel.kernels.pairs import find

#: ``labels`` in use, how much each holds (``n``), the smooth part of its phi, and where a label
#: stands in the list (``place``, by label; -1 if it does not). ``size`` has one element.
Used = namedtuple("Used", ["labels", "n", "smooth", "place", "size"])

#: A weight below this is no token but a rounding error.
NOTHING = 1e-9
#: Looking up a label in a word's row costs about as much as reading so many entries.
_SEARCH = 8


@kernel
def nothing_used(n_labels):
    """An empty list with room for every label."""
    return Used(
        np.empty(n_labels, np.int32),
        np.empty(n_labels),
        np.empty(n_labels),
        np.full(n_labels, -1, np.int32),
        np.zeros(1, np.int64),
    )


@kernel
def add(used, rows, label, weight):
    """Let a label hold more; it enters the list if it is not there."""
    at = used.place[label]
    if at < 0:
        at = used.size[0]
        used.size[0] += 1
        used.place[label] = at
        used.labels[at], used.n[at], used.smooth[at] = label, 0.0, rows.smooth[label]
    used.n[at] += weight


@kernel
def take(used, label, weight):
    """Let a label hold less; it leaves the list if nothing is left."""
    at = used.place[label]
    used.n[at] -= weight
    if used.n[at] < NOTHING:
        used.size[0] -= 1
        last = used.size[0]
        used.labels[at], used.n[at] = used.labels[last], used.n[last]
        used.smooth[at] = used.smooth[last]
        used.place[used.labels[at]] = at
        used.place[label] = -1


@kernel
def clear(used):
    """Empty the list."""
    for i in range(used.size[0]):
        used.place[used.labels[i]] = -1
    used.size[0] = 0


@kernel
def gather(rows, word, used, parts):
    """phi_wc n_c of the labels in use, in their order; the sum."""
    low, high = rows.pointers[word], rows.pointers[word + 1]
    labels, n, smooth, size = used.labels, used.n, used.smooth, used.size[0]
    if rows.dense_at[word] >= 0:
        # Four sums, so that an addition need not wait for the one before it.
        row = rows.dense[rows.dense_at[word]]
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        whole = size - size % 4
        for i in range(0, whole, 4):
            parts[i] = (row[labels[i]] + smooth[i]) * n[i]
            parts[i + 1] = (row[labels[i + 1]] + smooth[i + 1]) * n[i + 1]
            parts[i + 2] = (row[labels[i + 2]] + smooth[i + 2]) * n[i + 2]
            parts[i + 3] = (row[labels[i + 3]] + smooth[i + 3]) * n[i + 3]
            a += parts[i]
            b += parts[i + 1]
            c += parts[i + 2]
            d += parts[i + 3]
        for i in range(whole, size):
            parts[i] = (row[labels[i]] + smooth[i]) * n[i]
            a += parts[i]
        return (a + b) + (c + d)
    total = 0.0
    by_row = high - low < _SEARCH * size
    for i in range(size):
        phi = smooth[i]
        if not by_row:
            at = find(rows.labels, low, high, labels[i])
            if at < high and rows.labels[at] == labels[i]:
                phi += rows.phi[at]
        parts[i] = phi * n[i]
        total += parts[i]
    if by_row:
        for slot in range(low, high):
            i = used.place[rows.labels[slot]]
            if i >= 0:
                part = rows.phi[slot] * n[i]
                parts[i] += part
                total += part
    return total


@kernel
def take_part(used, parts, total, label, weight):
    """As :func:`take`, for parts that :func:`gather` found: keep them and their sum right."""
    at = used.place[label]
    before, part = used.n[at], parts[at]
    take(used, label, weight)
    if used.place[label] < 0:
        parts[at] = parts[used.size[0]]
        return max(total - part, 0.0)
    parts[at] = part * (used.n[at] / before)
    return max(total + parts[at] - part, 0.0)


@kernel
def add_part(rows, word, used, parts, total, label, weight):
    """As :func:`add`, for parts that :func:`gather` found: keep them and their sum right."""
    at = used.place[label]
    if at >= 0:
        before, part = used.n[at], parts[at]
        used.n[at] += weight
        parts[at] = part * (used.n[at] / before)
        return total + parts[at] - part
    add(used, rows, label, weight)
    at = used.place[label]
    parts[at] = phi_of(rows, word, label) * used.n[at]
    return total + parts[at]


@kernel
def phi_of(rows, word, label):
    """One phi_wc."""
    if rows.dense_at[word] >= 0:
        return np.float64(rows.dense[rows.dense_at[word], label]) + rows.smooth[label]
    low, high = rows.pointers[word], rows.pointers[word + 1]
    at = find(rows.labels, low, high, label)
    if at < high and rows.labels[at] == label:
        return rows.phi[at] + rows.smooth[label]
    return rows.smooth[label]


@kernel
def pick_part(weights, n, target):
    """The first of ``n`` weights whose running sum exceeds ``target``; the last if none does."""
    for i in range(n):
        target -= weights[i]
        if target < 0.0:
            return i
    return n - 1


@kernel
def add_parts(used, parts, share, out, kind, wanted, credit):
    """Add a share of what :func:`gather` found to the labels' sums, and to the wanted credit."""
    for i in range(used.size[0]):
        label = used.labels[i]
        out[label] += parts[i] * share
        if wanted[label] >= 0:
            credit[kind, wanted[label]] += parts[i] * share
