"""Find and look up the (word, label) pairs that occur together.

Pairs are sorted by word, then by label. A *slot* is a pair's position. Every document entry
(a word of a document) has a row of slots, one for each label of the document, so that a sampler
need not search.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel, step
from manylabel.kernels.heap import sort_numbers


@kernel
def count_pairs(word_ptr, word_docs, label_ptr, labels, n_labels):
    """Count the distinct labels that each word occurs with; return row pointers."""
    n_words = word_ptr.size - 1
    pair_ptr = np.zeros(n_words + 1, np.int64)
    last_word = np.full(n_labels, -1, np.int64)
    for word in range(n_words):
        n_pairs = 0
        for i in range(word_ptr[word], word_ptr[word + 1]):
            doc = word_docs[i]
            for j in range(label_ptr[doc], label_ptr[doc + 1]):
                if last_word[labels[j]] != word:
                    last_word[labels[j]] = word
                    n_pairs += 1
        pair_ptr[word + 1] = pair_ptr[word] + n_pairs
    return pair_ptr


@kernel
def fill_pairs(
    word_ptr, word_docs, word_entries, label_ptr, labels, n_labels, doc_ptr, slot_ptr, pair_ptr
):
    """The label of each pair and the slots of each document entry.

    The slots of document d's e-th entry start at ``slot_ptr[d] + e * (labels of d)``.
    """
    pair_labels = np.empty(pair_ptr[-1], np.int32)
    slots = np.empty(slot_ptr[-1], np.int32)
    last_word = np.full(n_labels, -1, np.int64)
    slot_of = np.empty(n_labels, np.int32)
    for word in range(word_ptr.size - 1):
        end = pair_ptr[word]
        for i in range(word_ptr[word], word_ptr[word + 1]):
            doc = word_docs[i]
            for j in range(label_ptr[doc], label_ptr[doc + 1]):
                if last_word[labels[j]] != word:
                    last_word[labels[j]] = word
                    pair_labels[end] = labels[j]
                    end += 1
        sort_numbers(pair_labels, pair_ptr[word], end)
        for slot in range(pair_ptr[word], end):
            slot_of[pair_labels[slot]] = slot
        for i in range(word_ptr[word], word_ptr[word + 1]):
            doc = word_docs[i]
            n_own = label_ptr[doc + 1] - label_ptr[doc]
            base = slot_ptr[doc] + (word_entries[i] - doc_ptr[doc]) * n_own
            for j in range(n_own):
                slots[base + j] = slot_of[labels[label_ptr[doc] + j]]
    return pair_labels, slots


@step
def pick(cumulative, low, high, mass):
    """The first position whose cumulative mass exceeds ``mass``; the last if none does."""
    high -= 1
    while low < high:
        middle = (low + high) >> 1
        if cumulative[middle] <= mass:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def row_sums(pair_ptr, pair_values):
    """Cumulative sums within each row."""
    sums = np.empty(pair_values.size, np.float64)
    for row in range(pair_ptr.size - 1):
        total = 0.0
        for slot in range(pair_ptr[row], pair_ptr[row + 1]):
            total += pair_values[slot]
            sums[slot] = total
    return sums


@kernel
def row_guides(pair_ptr, sums):
    """Divide each row into as many equal masses as it has pairs; return where each begins."""
    guides = np.zeros(sums.size, np.int32)
    for row in range(pair_ptr.size - 1):
        low, high = pair_ptr[row], pair_ptr[row + 1]
        at = low
        for slot in range(low, high):
            mass = sums[high - 1] * ((slot - low) / (high - low))
            while at < high - 1 and sums[at] <= mass:
                at += 1
            guides[slot] = at - low
    return guides


@step
def pick_guided(sums, guides, low, high, mass):
    """As :func:`pick`, in two or three steps instead of a dozen."""
    total = sums[high - 1]
    if total <= 0.0:
        return high - 1
    at = low + guides[low + min(int(mass / total * (high - low)), high - low - 1)]
    while at > low and sums[at - 1] > mass:
        at -= 1
    while at < high - 1 and sums[at] <= mass:
        at += 1
    return at
