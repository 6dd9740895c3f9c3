"""A list of the labels that hold tokens of a document."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from manylabel.kernels.compile import kernel, step, summing_step
from manylabel.kernels.heap import find

#: ``labels`` in use, the weight of the tokens that each holds (``n``), the smooth part of its phi,
#: and the position of each label in the list (``place``, by label; -1 if absent). ``blocks`` has
#: the sums of what :func:`gather` found, by block. ``size`` has one element.
Used = namedtuple("Used", ["labels", "n", "smooth", "place", "blocks", "size"])

#: A weight below this is a rounding error, not a token.
NOTHING = 1e-9
#: Looking up a label in a word's row costs about as much as reading this many entries.
_SEARCH = 8
#: Labels per partial sum: a draw skips whole blocks instead of passing each label.
_BLOCK = 16


@kernel
def nothing_used(n_labels):
    """An empty list with capacity for every label."""
    return Used(
        # Unsigned, because Numba checks signed indices for negative values.
        np.empty(n_labels, np.uint32),
        np.empty(n_labels),
        np.empty(n_labels),
        np.full(n_labels, -1, np.int32),
        np.empty(n_labels // _BLOCK + 1),
        np.zeros(1, np.int64),
    )


@kernel
def no_parts(n_labels):
    """An array for what :func:`gather` finds."""
    return np.zeros((n_labels // _BLOCK + 1) * _BLOCK)


@step
def add(used, rows, label, weight):
    """Add weight to a label, which enters the list if it is absent."""
    at = used.place[label]
    if at < 0:
        at = used.size[0]
        used.size[0] += 1
        used.place[label] = at
        used.labels[at], used.n[at], used.smooth[at] = label, 0.0, rows.smooth[label]
    used.n[at] += weight


@step
def take(used, label, weight):
    """Take weight from a label, which leaves the list if nothing remains."""
    at = used.place[label]
    used.n[at] -= weight
    if used.n[at] < NOTHING:
        used.size[0] -= 1
        last = used.size[0]
        used.labels[at], used.n[at] = used.labels[last], used.n[last]
        used.smooth[at] = used.smooth[last]
        used.place[used.labels[at]] = at
        used.place[label] = -1


@step
def clear(used):
    """Empty the list."""
    for i in range(used.size[0]):
        used.place[used.labels[i]] = -1
    used.size[0] = 0


@step
def gather(rows, word, used, parts):
    """Write phi_wc n_c of the labels in use, in their order; return the sum."""
    low, high = rows.pointers[word], rows.pointers[word + 1]
    labels, n, smooth, size = used.labels, used.n, used.smooth, used.size[0]
    if rows.dense_at[word] >= 0:
        row = rows.dense[rows.dense_at[word]]
        for i in range(size):
            parts[i] = (row[labels[i]] + smooth[i]) * n[i]
    elif high - low < _SEARCH * size:
        for i in range(size):
            parts[i] = smooth[i] * n[i]
        for slot in range(low, high):
            i = used.place[rows.labels[slot]]
            if i >= 0:
                parts[i] += rows.phi[slot] * n[i]
    else:
        for i in range(size):
            parts[i] = phi_of(rows, word, labels[i]) * n[i]
    return sum_blocks(parts, size, used.blocks)


@summing_step
def sum_blocks(parts, size, blocks):
    """Write the sums of blocks of parts; return the sum of all."""
    n_blocks = (size + _BLOCK - 1) // _BLOCK
    parts[size : n_blocks * _BLOCK] = 0.0
    whole = 0.0
    for block in range(n_blocks):
        total = 0.0
        for i in range(block * _BLOCK, block * _BLOCK + _BLOCK):
            total += parts[i]
        blocks[block] = total
        whole += total
    return whole


@step
def take_part(used, parts, total, label, weight):
    """As :func:`take`, and update the parts that :func:`gather` found; return their sum."""
    at = used.place[label]
    before, part = used.n[at], parts[at]
    take(used, label, weight)
    if used.place[label] >= 0:
        return max(total + change_part(used, parts, at, part * (used.n[at] / before)), 0.0)
    last = used.size[0]
    moved = parts[last]
    change_part(used, parts, last, 0.0)
    if at < last:
        change_part(used, parts, at, moved)
    return max(total - part, 0.0) if last > 0 else 0.0


@step
def add_part(rows, word, used, parts, total, label, weight):
    """As :func:`add`, and update the parts that :func:`gather` found; return their sum."""
    at = used.place[label]
    if at >= 0:
        before, part = used.n[at], parts[at]
        used.n[at] += weight
        return total + change_part(used, parts, at, part * (used.n[at] / before))
    add(used, rows, label, weight)
    at = used.place[label]
    parts[at] = 0.0
    if at % _BLOCK == 0:
        parts[at : at + _BLOCK] = 0.0
        used.blocks[at // _BLOCK] = 0.0
    return total + change_part(used, parts, at, phi_of(rows, word, label) * used.n[at])


@step
def change_part(used, parts, at, part):
    """Set a part; return the change."""
    change = part - parts[at]
    parts[at] = part
    used.blocks[at // _BLOCK] += change
    return change


@step
def pick_used(used, parts, target):
    """The label in use at which the running sum exceeds ``target``; the last if none does."""
    block, n_blocks = 0, (used.size[0] + _BLOCK - 1) // _BLOCK
    while block < n_blocks - 1 and target >= used.blocks[block]:
        target -= used.blocks[block]
        block += 1
    for i in range(block * _BLOCK, used.size[0]):
        target -= parts[i]
        if target < 0.0:
            return used.labels[i]
    return used.labels[used.size[0] - 1]


@step
def phi_of(rows, word, label):
    """One phi_wc."""
    if rows.dense_at[word] >= 0:
        return np.float64(rows.dense[rows.dense_at[word], label]) + rows.smooth[label]
    low, high = rows.pointers[word], rows.pointers[word + 1]
    at = find(rows.labels, low, high, label)
    if at < high and rows.labels[at] == label:
        return rows.phi[at] + rows.smooth[label]
    return rows.smooth[label]


@step
def pick_part(weights, n, target):
    """The first of ``n`` weights whose running sum exceeds ``target``; the last if none does."""
    for i in range(n):
        target -= weights[i]
        if target < 0.0:
            return i
    return n - 1


@step
def add_parts(used, parts, share, out, kind, wanted, credit):
    """Add a share of what :func:`gather` found to the sums of labels, and to their credit."""
    for i in range(used.size[0]):
        label = used.labels[i]
        out[label] += parts[i] * share
        if wanted[label] >= 0:
            credit[kind, wanted[label]] += parts[i] * share
