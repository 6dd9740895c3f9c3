"""Look up the names of features, and count the features of a single text.

Names are concatenated UTF-8. A hash table with open addressing has at least two slots per name; a
slot holds 32 bits of the name's hash above the name's number. Names are compared in full, so the
result does not depend on the hash.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manylabel.kernels.compile import kernel

_FNV_OFFSET = np.uint64(14695981039346656037)
_FNV_PRIME = np.uint64(1099511628211)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_EMPTY = np.int64(-1)
_LOW = np.int64(0xFFFFFFFF)
_SPACE = np.uint8(32)


class Names(NamedTuple):
    """Names as UTF-8, where each begins and the last one ends, and their hash table."""

    letters: NDArray[np.uint8]
    ends: NDArray[np.int64]
    slots: NDArray[np.int64]


@kernel
def _hashed(letters, start, stop, code):
    """The hash of some bytes that follow those of ``code``."""
    for i in range(start, stop):
        code = (code ^ np.uint64(letters[i])) * _FNV_PRIME
    return code


@kernel
def _mark(code):
    """The part of a hash that a slot holds, at the place where it holds it."""
    return np.int64((code * _MIX) >> np.uint64(33)) << 32


@kernel
def _home(code, slots):
    """The first slot to try."""
    return np.int64((code * _MIX) & np.uint64(slots.size - 1))


@kernel
def _same(letters, start, others, other_start, size):
    """Whether ``size`` bytes are equal."""
    for i in range(size):  # noqa: SIM110 - Numba compiles no generator expressions
        if letters[start + i] != others[other_start + i]:
            return False
    return True


@kernel
def index_names(letters, ends, slots):
    """Fill the hash table of names; of equal names, the first is found."""
    for slot in range(slots.size):
        slots[slot] = _EMPTY
    for name in range(ends.size - 1):
        code = _hashed(letters, ends[name], ends[name + 1], _FNV_OFFSET)
        slot = _home(code, slots)
        while slots[slot] != _EMPTY:
            slot = (slot + 1) & (slots.size - 1)
        slots[slot] = _mark(code) | name


@kernel
def find_names(asked, asked_ends, names, out):
    """The number of each name that is asked for; -1 for an unknown one."""
    for i in range(asked_ends.size - 1):
        start, stop = asked_ends[i], asked_ends[i + 1]
        code = _hashed(asked, start, stop, _FNV_OFFSET)
        mark, slot = _mark(code), _home(code, names.slots)
        out[i] = -1
        while names.slots[slot] != _EMPTY:
            name = names.slots[slot] & _LOW
            if names.slots[slot] - name == mark:
                size = names.ends[name + 1] - names.ends[name]
                if size == stop - start and _same(
                    names.letters, names.ends[name], asked, start, size
                ):
                    out[i] = name
                    break
            slot = (slot + 1) & (names.slots.size - 1)


@kernel
def _find_pair(terms, ends, head, last, names):
    """The name that consists of two terms with a space between them; -1 if there is none."""
    start, stop, begin, end = ends[head], ends[head + 1], ends[last], ends[last + 1]
    code = _hashed(terms, start, stop, _FNV_OFFSET)
    code = (code ^ np.uint64(_SPACE)) * _FNV_PRIME
    code = _hashed(terms, begin, end, code)
    mark, slot = _mark(code), _home(code, names.slots)
    first, size = stop - start, stop - start + 1 + end - begin
    while names.slots[slot] != _EMPTY:
        name = names.slots[slot] & _LOW
        at = names.ends[name]
        if (
            names.slots[slot] - name == mark
            and names.ends[name + 1] - at == size
            and names.letters[at + first] == _SPACE
            and _same(names.letters, at, terms, start, first)
            and _same(names.letters, at + first + 1, terms, begin, end - begin)
        ):
            return name
        slot = (slot + 1) & (names.slots.size - 1)
    return -1


@kernel
def _sort(keys, size):
    """Sort the first keys in ascending order (Shell's method, with Ciura's gaps)."""
    for gap in (701, 301, 132, 57, 23, 10, 4, 1):
        for i in range(gap, size):
            key, at = keys[i], i
            while at >= gap and keys[at - gap] > key:
                keys[at] = keys[at - gap]
                at -= gap
            keys[at] = key


@kernel
def count_features(
    numbers, lead, lead_weight, columns, with_pairs, terms, ends, names, keys, found, counts
):
    """Count the words of a text, or pairs of adjacent words, or both; return how many there are.

    Parameters
    ----------
    numbers : int32[:]
        The words of the text as numbers of terms; stop words are below zero.
    lead, lead_weight : int
        Each of the first words, and a pair that begins with one, counts this many times.
    columns : int32[:]
        The column of each term, or -1; empty to count no words.
    with_pairs : bool
        Whether to count pairs, ignoring stop words between their words.
    terms, ends : uint8[:], int64[:]
        The terms as UTF-8.
    names : Names
        The names of the columns, for pairs.
    keys : int64[:]
        Working space for twice as many numbers as there are words.
    found, counts : int32[:], float64[:]
        The columns in ascending order, and how often each occurs; as long as ``keys``.
    """
    # With literals, Numba compiles the functions that receive them twice.
    size, head, head_times = np.int64(0), np.int64(-1), 0
    for i in range(numbers.size):
        number = np.int64(numbers[i])
        if number < 0:
            continue
        times = lead_weight if i < lead else 1
        if columns.size > 0 and columns[number] >= 0:
            keys[size] = np.int64(columns[number]) << 32 | times
            size += 1
        if with_pairs:
            if head >= 0:
                column = _find_pair(terms, ends, head, number, names)
                if column >= 0:
                    keys[size] = np.int64(column) << 32 | head_times
                    size += 1
            head, head_times = number, times
    _sort(keys, size)
    n_found, before = -1, np.int64(-1)
    for i in range(size):
        column = keys[i] >> 32
        if column != before:
            n_found += 1
            found[n_found], counts[n_found] = column, 0.0
            before = column
        counts[n_found] += np.float64(keys[i] & _LOW)
    return n_found + 1
