"""Find the words of UTF-8 texts, number them, form n-grams and count them by row.

Words are numbered within one block of texts in the order in which they first occur. Hash tables
use open addressing with at least two slots per entry. Entries are compared in full, so the
numbering does not depend on the hash.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel
from manylabel.kernels.heap import sort_numbers

#: Classes of characters: a word starts with WORD and continues with WORD or MARK.
OTHER, MARK, WORD = 0, 1, 2

_INITIAL_CAPACITY = 1 << 12
_FNV_OFFSET = np.uint64(14695981039346656037)
_FNV_PRIME = np.uint64(1099511628211)
_MIX = np.uint64(0x9E3779B97F4A7C15)
# With a literal 0, Numba compiles the functions that receive it twice.
_NONE = np.int64(0)


@kernel
def _read(text, i, classes):
    """Width in bytes and class of the character at byte ``i`` of valid UTF-8."""
    lead = text[i]
    if lead < 0x80:
        return 1, classes[lead]
    if lead < 0xE0:
        return 2, classes[(lead & 0x1F) << 6 | (text[i + 1] & 0x3F)]
    if lead < 0xF0:
        code = (lead & 0x0F) << 12 | (text[i + 1] & 0x3F) << 6 | (text[i + 2] & 0x3F)
        return 3, classes[code]
    code = (lead & 0x07) << 18 | (text[i + 1] & 0x3F) << 12
    return 4, classes[code | (text[i + 2] & 0x3F) << 6 | (text[i + 3] & 0x3F)]


@kernel
def _same(text, a, b, size):
    """Whether ``size`` bytes at ``a`` and ``b`` are equal."""
    for i in range(size):  # noqa: SIM110 - Numba compiles no generator expressions
        if text[a + i] != text[b + i]:
            return False
    return True


@kernel
def _home(code, slots):
    """The first slot to try: multiplying spreads the code over the upper bits."""
    return np.int64((code * _MIX) >> np.uint64(32)) & (slots.size - 1)


@kernel
def _capacity(size, needed):
    """``size``, doubled until ``needed`` entries fit."""
    while size < needed:
        size *= 2
    return size


@kernel
def _longer(values, size):
    """A copy with capacity for ``size`` values."""
    copy = np.empty(size, values.dtype)
    # A loop, because a slice assignment takes seconds to compile (its error message).
    for i in range(values.size):
        copy[i] = values[i]
    return copy


@kernel
def _rehash(codes, n_entries):
    """A hash table of the entries so far, with two slots for each entry of the capacity."""
    slots = np.empty(2 * codes.size, np.int32)
    for slot in range(slots.size):
        slots[slot] = -1
    for entry in range(n_entries):
        slot = _home(codes[entry], slots)
        while slots[slot] >= 0:
            slot = (slot + 1) & (slots.size - 1)
        slots[slot] = entry
    return slots


@kernel
def _tokenize_document(
    text, i, end, classes, min_length, words, n_words, slots, codes, starts, stops, n_distinct
):
    """Number the words from byte ``i`` to ``end``; the tables have capacity for all of them.

    Not part of `tokenize`, because a loop over arrays that may be replaced is several times slower.
    """
    while i < end:
        width, kind = _read(text, i, classes)
        if kind != WORD:
            i += width
            continue
        start = i
        length = 0
        code = _FNV_OFFSET
        while kind != OTHER:
            for j in range(i, i + width):
                code = (code ^ np.uint64(text[j])) * _FNV_PRIME
            length += 1
            i += width
            if i == end:
                break
            width, kind = _read(text, i, classes)
        if length < min_length:
            continue

        slot = _home(code, slots)
        entry = slots[slot]
        while entry >= 0 and not (
            codes[entry] == code
            and stops[entry] - starts[entry] == i - start
            and _same(text, starts[entry], start, i - start)
        ):
            slot = (slot + 1) & (slots.size - 1)
            entry = slots[slot]
        if entry < 0:
            entry = n_distinct
            n_distinct += 1
            slots[slot] = entry
            codes[entry], starts[entry], stops[entry] = code, start, i
        words[n_words] = entry
        n_words += 1
    return n_words, n_distinct


@kernel
def tokenize(text, ends, classes, min_length):
    """The words of each document as numbers, and the position of each distinct word.

    Parameters
    ----------
    text : uint8[:]
        Documents in UTF-8, concatenated.
    ends : int64[:]
        Where each document ends.
    classes : uint8[:]
        OTHER, MARK or WORD for every code point.
    min_length : int
        Minimum characters per word; shorter words are left out.

    Returns
    -------
    words, pointers, starts, stops
        Document ``d`` is ``words[pointers[d]:pointers[d + 1]]``; distinct word ``w`` is
        ``text[starts[w]:stops[w]]``.
    """
    words = np.empty(text.size // min_length, np.int32)
    pointers = np.empty(ends.size + 1, np.int64)
    pointers[0] = 0
    codes = np.empty(_INITIAL_CAPACITY, np.uint64)
    starts = np.empty(_INITIAL_CAPACITY, np.int64)
    stops = np.empty(_INITIAL_CAPACITY, np.int64)
    slots = _rehash(codes, _NONE)
    n_words = n_distinct = begin = _NONE
    for document in range(ends.size):
        end = ends[document]
        capacity = _capacity(codes.size, n_distinct + (end - begin + 1) // (min_length + 1))
        if capacity > codes.size:
            codes, starts, stops = (
                _longer(codes, capacity),
                _longer(starts, capacity),
                _longer(stops, capacity),
            )
            slots = _rehash(codes, n_distinct)
        n_words, n_distinct = _tokenize_document(
            text, begin, end, classes, min_length, words, n_words,
            slots, codes, starts, stops, n_distinct,
        )  # fmt: skip
        pointers[document + 1] = n_words
        begin = end
    return words[:n_words], pointers, starts[:n_distinct], stops[:n_distinct]


@kernel
def _string_document(
    terms, begin, end, n_terms, low, high, grams, n_grams, slots, codes, n_distinct
):
    """Number the n-grams of the terms from ``begin`` to ``end``; the tables are large enough."""
    for first in range(begin, end):
        gram = terms[first]
        if low == 1:
            grams[n_grams] = gram
            n_grams += 1
        for last in range(first + 1, min(first + high, end)):
            code = np.uint64(gram) << np.uint64(32) | np.uint64(terms[last])
            slot = _home(code, slots)
            entry = slots[slot]
            while entry >= 0 and codes[entry] != code:
                slot = (slot + 1) & (slots.size - 1)
                entry = slots[slot]
            if entry < 0:
                entry = n_distinct
                n_distinct += 1
                slots[slot] = entry
                codes[entry] = code
            gram = np.int32(n_terms + entry)
            if last - first + 1 >= low:
                grams[n_grams] = gram
                n_grams += 1
    return n_grams, n_distinct


@kernel
def string_ngrams(terms, pointers, n_terms, low, high):
    """The n-grams of ``low`` to ``high`` terms of each document as numbers.

    An n-gram consists of its first n - 1 terms, themselves an n-gram, and its last term. Single
    terms keep their numbers, below ``n_terms``; n-gram ``n_terms + k`` is ``heads[k]``, then
    ``lasts[k]``.

    Returns
    -------
    grams, gram_pointers, heads, lasts
    """
    grams = np.empty(terms.size * (high - low + 1), np.int32)
    gram_pointers = np.zeros_like(pointers)
    codes = np.empty(_INITIAL_CAPACITY, np.uint64)
    slots = _rehash(codes, _NONE)
    n_grams = n_distinct = _NONE
    for document in range(pointers.size - 1):
        begin, end = pointers[document], pointers[document + 1]
        capacity = _capacity(codes.size, n_distinct + (end - begin) * (high - 1))
        if capacity > codes.size:
            codes = _longer(codes, capacity)
            slots = _rehash(codes, n_distinct)
        n_grams, n_distinct = _string_document(
            terms, begin, end, n_terms, low, high, grams, n_grams, slots, codes, n_distinct
        )
        gram_pointers[document + 1] = n_grams
    codes = codes[:n_distinct]
    heads = (codes >> np.uint64(32)).astype(np.int32)
    lasts = (codes & np.uint64(0xFFFFFFFF)).astype(np.int32)
    return grams[:n_grams].copy(), gram_pointers, heads, lasts


@kernel
def count_rows(numbers, pointers, n_distinct):
    """Count how often each number occurs in each row; numbers below zero are left out.

    Returns
    -------
    indptr, indices, counts
        Indices in the order in which they first occur in the row.
    """
    indptr = np.zeros(pointers.size, np.int64)
    indices = np.empty(numbers.size, np.int32)
    counts = np.empty(numbers.size, np.int32)
    place = np.full(n_distinct, -1, np.int64)
    n_entries = 0
    for row in range(pointers.size - 1):
        begin = n_entries
        for i in range(pointers[row], pointers[row + 1]):
            number = numbers[i]
            if number < 0:
                continue
            at = place[number]
            if at >= begin:
                counts[at] += 1
            else:
                place[number] = n_entries
                indices[n_entries] = number
                counts[n_entries] = 1
                n_entries += 1
        indptr[row + 1] = n_entries
    return indptr, indices[:n_entries].copy(), counts[:n_entries].copy()


@kernel
def sort_rows(indptr, indices, counts, columns):
    """Rename ``indices`` to ``columns``, drop those below zero, and sort each row.

    Returns
    -------
    indptr, indices, counts
        Counts as float64.
    """
    keys = np.empty(indices.size, np.int64)
    out_indptr = np.zeros_like(indptr)
    n_kept = _NONE
    for row in range(indptr.size - 1):
        for i in range(indptr[row], indptr[row + 1]):
            column = columns[indices[i]]
            if column >= 0:
                keys[n_kept] = np.int64(column) << 32 | np.int64(counts[i])
                n_kept += 1
        out_indptr[row + 1] = n_kept
        sort_numbers(keys, out_indptr[row], n_kept)
    # A loop, because Numba takes a second to compile the same with whole arrays.
    out_indices, out_counts = np.empty(n_kept, np.int32), np.empty(n_kept, np.float64)
    for i in range(n_kept):
        out_indices[i], out_counts[i] = keys[i] >> 32, keys[i] & 0xFFFFFFFF
    return out_indptr, out_indices, out_counts
