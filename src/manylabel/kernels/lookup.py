"""Find the entries of single labels in long sparse rows without reading the rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manylabel.kernels.compile import kernel, step

ONE, SIX, REST = np.uint64(1), np.uint64(6), np.uint64(63)


class Lookup(NamedTuple):
    """Where the entry of a label is among those of a row that has many.

    A row of ``bits`` has a one for each label with an entry, 64 labels in a number; ``before`` has
    the number of ones before each of these numbers. ``at`` is which row of ``bits`` belongs to a
    row of the matrix; -1 if the entries of that row are searched.
    """

    at: NDArray[np.int32]
    bits: NDArray[np.uint64]
    before: NDArray[np.int32]


@kernel
def mark_labels(ptr, labels, rows, lookup):
    """Fill a `Lookup` for some rows of a matrix, one after another."""
    for place in range(rows.size):
        row = rows[place]
        lookup.at[row] = place
        bits, before = lookup.bits[place], lookup.before[place]
        for j in range(ptr[row], ptr[row + 1]):
            label = np.uint64(labels[j])
            bits[label >> SIX] |= ONE << (label & REST)
        count = np.int32(0)
        for i in range(bits.size):
            before[i] = count
            count += np.int32(ones(bits[i]))


@step
def ones(bits):
    """The number of ones of a 64-bit number."""
    bits -= (bits >> ONE) & np.uint64(0x5555555555555555)
    fours = np.uint64(0x3333333333333333)
    bits = (bits & fours) + ((bits >> np.uint64(2)) & fours)
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)


@step
def entry(bits, before, label):
    """The position of a label among the entries of a row of a `Lookup`; -1 if it is not there."""
    label = np.uint64(label)
    word, bit = bits[label >> SIX], ONE << (label & REST)
    if word & bit:
        return np.int64(before[label >> SIX]) + np.int64(ones(word & (bit - ONE)))
    return np.int64(-1)
