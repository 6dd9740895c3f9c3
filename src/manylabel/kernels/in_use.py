"""The labels that a document's tokens have been under, in the order in which they came.

A label keeps its place in the list as long as the document is looked at, also while it holds no
token. So each word of the document has a row of its phi by place, to which places are only added:
what is looked up once is read from there ever after, one value beside the other.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

from manylabel.kernels.compile import kernel
from manylabel.kernels.pairs import find

#: ``labels`` in their places, how much each holds (``n``), and the ``place`` of a label, or -1.
#: ``blocks`` has the sums of what :func:`gather` found, block by block. ``size`` has one element.
Used = namedtuple("Used", ["labels", "n", "place", "blocks", "size"])
#: ``phi`` of the document's words by place, and how many places of each word's row are ``known``.
Table = namedtuple("Table", ["phi", "known"])

#: A weight below this is no token but a rounding error.
NOTHING = 1e-9
#: Looking up a label in a word's row costs about as much as reading so many entries.
_SEARCH = 8
#: So many labels have a sum of their own, so that a draw need not pass each of them.
_BLOCK = 16
#: A table has at least so many places, and so many for each token.
_PLACES, _PLACES_A_TOKEN = 1024, 4


@kernel
def nothing_used(n_labels):
    """An empty list with room for every label."""
    return Used(
        np.empty(n_labels, np.int32),
        np.empty(n_labels),
        np.full(n_labels, -1, np.int32),
        np.empty(n_labels // _BLOCK + 1),
        np.zeros(1, np.int64),
    )


@kernel
def no_parts(n_labels):
    """Room for what :func:`gather` finds."""
    return np.zeros((n_labels // _BLOCK + 1) * _BLOCK)


@kernel
def new_table(n_types, n_tokens, n_labels):
    """A table of which nothing is known, for a document of so many words and tokens."""
    places = min(n_labels, max(_PLACES, _PLACES_A_TOKEN * n_tokens))
    return Table(np.empty((n_types, places), np.float32), np.zeros(n_types, np.int64))


@kernel
def add(used, label, weight):
    """Let a label hold more; its place."""
    at = used.place[label]
    if at < 0:
        at = used.size[0]
        used.size[0] += 1
        used.place[label] = at
        used.labels[at], used.n[at] = label, 0.0
    used.n[at] += weight
    return at


@kernel
def take(used, label, weight):
    """Let a label hold less; its place."""
    at = used.place[label]
    used.n[at] -= weight
    if used.n[at] < NOTHING:
        used.n[at] = 0.0
    return at


@kernel
def start_anew(used):
    """Let no label hold anything."""
    used.n[: used.size[0]] = 0.0


@kernel
def forget(used):
    """Empty the list, for another document."""
    for i in range(used.size[0]):
        used.place[used.labels[i]] = -1
    used.size[0] = 0


@kernel
def make_room(used, table, n_tokens):
    """Let go of labels that hold nothing, if so many more would not fit into the table."""
    if used.size[0] + n_tokens <= table.phi.shape[1] or used.place.size <= table.phi.shape[1]:
        return
    size = 0
    for i in range(used.size[0]):
        label = used.labels[i]
        used.place[label] = -1
        if used.n[i] > 0.0:
            used.labels[size], used.n[size], used.place[label] = label, used.n[i], size
            size += 1
    used.size[0] = size
    table.known[:] = 0


@kernel
def gather(rows, word, used, table, kind, parts):
    """phi_wc n_c of the labels in their places; the sum."""
    if table.known[kind] < used.size[0]:
        look_up(rows, word, used, table.phi[kind], table.known[kind])
        table.known[kind] = used.size[0]
    return multiply(table.phi[kind], used.n, used.size[0], parts, used.blocks)


@kernel
def look_up(rows, word, used, phi, first):
    """Fill a word's row from a place on."""
    low, high = rows.pointers[word], rows.pointers[word + 1]
    labels, size = used.labels, used.size[0]
    if rows.dense_at[word] >= 0:
        row = rows.dense[rows.dense_at[word]]
        for i in range(first, size):
            phi[i] = row[labels[i]] + rows.smooth[labels[i]]
    elif high - low < _SEARCH * (size - first):
        for i in range(first, size):
            phi[i] = rows.smooth[labels[i]]
        for slot in range(low, high):
            i = used.place[rows.labels[slot]]
            if i >= first:
                phi[i] += rows.phi[slot]
    else:
        for i in range(first, size):
            phi[i] = phi_of(rows, word, labels[i])


# In any order, so that several are added at once.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc"})
def multiply(phi, n, size, parts, blocks):
    """The products, the sums of blocks of them, and the sum of all."""
    n_blocks = (size + _BLOCK - 1) // _BLOCK
    whole = 0.0
    for block in range(size // _BLOCK):
        total = 0.0
        for i in range(block * _BLOCK, block * _BLOCK + _BLOCK):
            part = np.float64(phi[i]) * n[i]
            parts[i] = part
            total += part
        blocks[block] = total
        whole += total
    if size % _BLOCK > 0:
        total = 0.0
        for i in range(size // _BLOCK * _BLOCK, size):
            part = np.float64(phi[i]) * n[i]
            parts[i] = part
            total += part
        parts[size : n_blocks * _BLOCK] = 0.0
        blocks[n_blocks - 1] = total
        whole += total
    return whole


@kernel
def take_part(used, table, kind, parts, total, label, weight):
    """As :func:`take`, for parts that :func:`gather` found: keep them and their sums right."""
    at = take(used, label, weight)
    change = change_part(used, parts, at, np.float64(table.phi[kind, at]) * used.n[at])
    return max(total + change, 0.0)


@kernel
def add_part(rows, word, used, table, kind, parts, total, label, weight):
    """As :func:`add`, for parts that :func:`gather` found: keep them and their sums right."""
    at = add(used, label, weight)
    if at == table.known[kind]:
        table.phi[kind, at] = phi_of(rows, word, label)
        table.known[kind] += 1
        parts[at] = 0.0
        if at % _BLOCK == 0:
            parts[at : at + _BLOCK] = 0.0
            used.blocks[at // _BLOCK] = 0.0
    return total + change_part(used, parts, at, np.float64(table.phi[kind, at]) * used.n[at])


@kernel
def change_part(used, parts, at, part):
    """Set a part; by how much it changed."""
    change = part - parts[at]
    parts[at] = part
    used.blocks[at // _BLOCK] += change
    return change


@kernel
def pick_used(used, parts, target):
    """The label by whose part the running sum exceeds ``target``; the last with one if by none."""
    block, n_blocks = 0, (used.size[0] + _BLOCK - 1) // _BLOCK
    while block < n_blocks - 1 and target >= used.blocks[block]:
        target -= used.blocks[block]
        block += 1
    for i in range(block * _BLOCK, used.size[0]):
        target -= parts[i]
        if target < 0.0:
            return used.labels[i]
    last = used.size[0] - 1
    while last > 0 and parts[last] <= 0.0:
        last -= 1
    return used.labels[last]


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
        if parts[i] > 0.0:
            label = used.labels[i]
            out[label] += parts[i] * share
            if wanted[label] >= 0:
                credit[kind, wanted[label]] += parts[i] * share
