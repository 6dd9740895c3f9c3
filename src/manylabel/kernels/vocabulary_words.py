"""Find labels whose names share words with texts, in any order."""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel


@kernel
def share_words(
    terms, pointers, most_names, most_terms, term_ptr, term_names, name_ptr, name_terms, columns,
    rarity, n_labels,
):  # fmt: skip
    """Find the labels that share a word with texts, and for each the name that shares most.

    Names are looked up by the first ``most_terms`` words of a text that are in at most
    ``most_names`` names. All words of the text count towards the names found.

    Parameters
    ----------
    terms : int32[:]
        The terms of texts; -1 for a word that is in no name.
    pointers : int64[:]
        Text ``d`` is ``terms[pointers[d]:pointers[d + 1]]``.
    most_names, most_terms : int
    term_ptr, term_names : int64[:], int32[:]
        The names that contain each term, each once.
    name_ptr, name_terms : int64[:], int32[:]
        The terms of names.
    columns : int64[:]
        The label of each name.
    rarity : float64[:]
        The weight of each term.
    n_labels : int

    Returns
    -------
    counts, labels, names, found, total
        The number of labels of each text. For each of these, in the order of discovery: the label,
        its name, the total weight of the name's terms that are in the text, and of all its terms.
    """
    n_texts = pointers.size - 1
    counts = np.zeros(n_texts, np.int64)
    capacity = 1024
    numbers = np.empty((capacity, 2), np.int64)
    weights = np.empty((capacity, 2), np.float64)
    is_there = np.zeros(rarity.size, np.bool_)
    is_met = np.zeros(name_ptr.size - 1, np.bool_)
    entry_of = np.zeros(n_labels, np.int64)  # one more than the entry, 0 for none
    met = np.empty(most_names * most_terms, np.int64)
    n_entries = 0
    for text in range(n_texts):
        begin, end = pointers[text], pointers[text + 1]
        first = n_entries
        n_met = n_terms = 0
        for i in range(begin, end):
            term = terms[i]
            if term < 0 or is_there[term]:
                continue
            is_there[term] = True
            n_names = term_ptr[term + 1] - term_ptr[term]
            if n_names > most_names or n_terms == most_terms:
                continue
            n_terms += 1
            for place in range(term_ptr[term], term_ptr[term + 1]):
                name = term_names[place]
                if not is_met[name]:
                    is_met[name] = True
                    met[n_met] = name
                    n_met += 1
        for m in range(n_met):
            name = met[m]
            is_met[name] = False
            shared = total = 0.0
            for place in range(name_ptr[name], name_ptr[name + 1]):
                weight = rarity[name_terms[place]]
                total += weight
                if is_there[name_terms[place]]:
                    shared += weight
            label = columns[name]
            entry = entry_of[label] - 1
            if entry < 0:
                if n_entries == capacity:
                    capacity *= 2
                    more = np.empty((capacity, 2), np.int64)
                    more[:n_entries] = numbers
                    numbers = more
                    heavier = np.empty((capacity, 2), np.float64)
                    heavier[:n_entries] = weights
                    weights = heavier
                entry = n_entries
                n_entries += 1
                entry_of[label] = entry + 1
            else:
                # Prefer the name with the greater share, then the first.
                mine, other = shared * weights[entry, 1], weights[entry, 0] * total
                if mine < other or (mine == other and name > numbers[entry, 1]):
                    continue
            numbers[entry, 0], numbers[entry, 1] = label, name
            weights[entry, 0], weights[entry, 1] = shared, total
        for entry in range(first, n_entries):
            entry_of[numbers[entry, 0]] = 0
        for i in range(begin, end):
            if terms[i] >= 0:
                is_there[terms[i]] = False
        counts[text] = n_entries - first
    return (
        counts,
        numbers[:n_entries, 0].copy(),
        numbers[:n_entries, 1].copy(),
        weights[:n_entries, 0].copy(),
        weights[:n_entries, 1].copy(),
    )
