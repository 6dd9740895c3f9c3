"""Find the names of a vocabulary in texts, with a trie over terms in flat arrays.

A node is a sequence of terms from the root, which is node 0. The edges are in a hash table with
open addressing, so the cost of a text depends on its length and not on the number of names.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)
_EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def _home(key, n_slots):
    """The first slot to try; ``n_slots`` is a power of two."""
    return np.int64((key * _MIX) >> np.uint64(32)) & (n_slots - 1)


@kernel
def _key(node, term):
    """An edge as one number."""
    return np.uint64(node) << np.uint64(32) | np.uint64(term)


@kernel
def _child(node, term, keys, children):
    """The node behind an edge, or -1."""
    key = _key(node, term)
    slot = _home(key, keys.size)
    while keys[slot] != _EMPTY:
        if keys[slot] == key:
            return children[slot]
        slot = (slot + 1) & (keys.size - 1)
    return np.int32(-1)


@kernel
def build_trie(terms, pointers):
    """Build the trie of names.

    Parameters
    ----------
    terms : int32[:]
        The terms of all names, concatenated.
    pointers : int64[:]
        Name ``n`` is ``terms[pointers[n]:pointers[n + 1]]``.

    Returns
    -------
    keys, children, ends, depths
        The hash table of edges; the node of each name (the root for a name without terms); the
        number of terms of each node.
    """
    n_slots = 16
    while n_slots < 2 * terms.size:
        n_slots *= 2
    keys = np.full(n_slots, _EMPTY, np.uint64)
    children = np.full(n_slots, -1, np.int32)
    ends = np.zeros(pointers.size - 1, np.int32)
    depths = np.zeros(terms.size + 1, np.int32)
    n_nodes = 1
    for name in range(pointers.size - 1):
        node = np.int32(0)
        for i in range(pointers[name], pointers[name + 1]):
            key = _key(node, terms[i])
            slot = _home(key, n_slots)
            while keys[slot] != _EMPTY and keys[slot] != key:
                slot = (slot + 1) & (n_slots - 1)
            if keys[slot] == _EMPTY:
                keys[slot] = key
                children[slot] = n_nodes
                depths[n_nodes] = depths[node] + 1
                n_nodes += 1
            node = children[slot]
        ends[name] = node
    return keys, children, ends, depths[:n_nodes].copy()


@kernel
def find_names(terms, pointers, most_gaps, keys, children, depths, is_name):
    """Find every node that ends a name, wherever its terms occur in order in a passage.

    At most ``most_gaps`` other terms may come between the first term and the last. A node is found
    at most once for each position of its first term, with the earliest end.

    Parameters
    ----------
    terms : int32[:]
        The terms of passages; -1 for a word that is in no name.
    pointers : int64[:]
        Passage ``p`` is ``terms[pointers[p]:pointers[p + 1]]``.
    most_gaps : int
    keys, children, depths
        As returned by `build_trie`.
    is_name : bool[:]
        Whether a node ends a name.

    Returns
    -------
    passages, nodes, starts, stops, covered
        Starts and stops are positions in ``terms``; a match ends before its stop. It is ``covered``
        if it is within a longer match without gaps.
    """
    capacity = 1024
    matches = np.empty((capacity, 4), np.int64)
    covered = np.zeros(capacity, np.bool_)
    stack = np.empty((64, 2), np.int64)
    n_found = 0
    for passage in range(pointers.size - 1):
        begin, end = pointers[passage], pointers[passage + 1]
        reach = begin  # the furthest end of matches without gaps that started earlier
        for start in range(begin, end):
            if terms[start] < 0:
                continue
            node = _child(0, terms[start], keys, children)
            if node < 0:
                continue
            first = n_found
            own_reach = reach
            stack[0, 0], stack[0, 1] = node, start
            n_stack = 1
            while n_stack:
                n_stack -= 1
                node, at = stack[n_stack, 0], stack[n_stack, 1]
                depth = depths[node]
                if is_name[node]:
                    if n_found == capacity:
                        capacity *= 2
                        more = np.empty((capacity, 4), np.int64)
                        more[:n_found] = matches
                        matches = more
                        also = np.zeros(capacity, np.bool_)
                        also[:n_found] = covered
                        covered = also
                    matches[n_found, 0], matches[n_found, 1] = passage, node
                    matches[n_found, 2], matches[n_found, 3] = start, at + 1
                    n_found += 1
                    if at + 1 - start == depth:
                        own_reach = max(own_reach, at + 1)
                last = min(start + depth + most_gaps, end - 1)
                for place in range(at + 1, last + 1):
                    term = terms[place]
                    if term < 0:
                        continue
                    is_first = True
                    for before in range(at + 1, place):
                        if terms[before] == term:
                            is_first = False
                            break
                    if not is_first:
                        continue
                    child = _child(node, term, keys, children)
                    if child >= 0:
                        if n_stack == stack.shape[0]:
                            larger = np.empty((2 * n_stack, 2), np.int64)
                            larger[:n_stack] = stack
                            stack = larger
                        stack[n_stack, 0], stack[n_stack, 1] = child, place
                        n_stack += 1
            for match in range(first, n_found):
                # Covered by a match that starts earlier and ends as late, or starts here and ends
                # later.
                stop = matches[match, 3]
                covered[match] = reach >= stop or own_reach > stop
            reach = own_reach
    passages = matches[:n_found, 0].copy()
    nodes = matches[:n_found, 1].copy()
    starts = matches[:n_found, 2].copy()
    stops = matches[:n_found, 3].copy()
    return passages, nodes, starts, stops, covered[:n_found].copy()


@kernel
def _is_space(text, i):
    """The width in bytes of the white space at byte ``i`` of valid UTF-8; 0 if there is none."""
    lead = text[i]
    if lead < 0x80:
        return 1 if lead == 0x20 or 0x09 <= lead <= 0x0D or 0x1C <= lead <= 0x1F else 0
    if lead == 0xC2:
        return 2 if text[i + 1] == 0x85 or text[i + 1] == 0xA0 else 0
    if lead < 0xE1 or lead > 0xE3:
        return 0
    code = np.int64(lead & 0x0F) << 12 | (text[i + 1] & 0x3F) << 6 | (text[i + 2] & 0x3F)
    if code == 0x1680 or 0x2000 <= code <= 0x200A or code == 0x2028 or code == 0x2029:
        return 3
    return 3 if code == 0x202F or code == 0x205F or code == 0x3000 else 0


@kernel
def _is_stop(letter):
    """Whether a byte is one of . ! ? ; :"""
    return letter == 0x2E or letter == 0x21 or letter == 0x3F or letter == 0x3B or letter == 0x3A


@kernel
def _dash(text, i, end):
    """The width in bytes of a hyphen, a dash or a slash at byte ``i``; 0 if there is none."""
    if i >= end:
        return 0
    if text[i] == 0x2D or text[i] == 0x2F:
        return 1
    if text[i] != 0xE2 or text[i + 1] != 0x80:
        return 0
    return 3 if text[i + 2] == 0x93 or text[i + 2] == 0x94 else 0


@kernel
def split_passages(text, ends):
    """Split texts into passages: sentences, lines, and phrases separated by dashes.

    Names do not match across passages. A passage ends after ``[.!?;:]+`` before white space or the
    end of a text, after line ends, and after a dash or a slash between white space.

    Parameters
    ----------
    text : uint8[:]
        Texts in UTF-8, concatenated.
    ends : int64[:]
        Where each text ends.

    Returns
    -------
    stops, passages
        Where each passage ends; text ``d`` has the passages ``passages[d]`` to
        ``passages[d + 1]``.
    """
    stops = np.empty(text.size + ends.size, np.int64)
    passages = np.zeros(ends.size + 1, np.int64)
    n_stops = 0
    i = 0
    for document in range(ends.size):
        end = ends[document]
        while i < end:
            lead = text[i]
            if _is_stop(lead):
                while i < end and _is_stop(text[i]):
                    i += 1
                if i < end and _is_space(text, i) == 0:
                    continue
            elif lead == 0x0A or lead == 0x0D:
                while i < end and (text[i] == 0x0A or text[i] == 0x0D):
                    i += 1
            else:
                width = _is_space(text, i)
                if width == 0:
                    i += 1
                    continue
                i += width
                dash = _dash(text, i, end)
                if dash == 0 or i + dash >= end:
                    continue
                space = _is_space(text, i + dash)
                if space == 0:
                    continue
                i += dash + space
            stops[n_stops] = i
            n_stops += 1
        stops[n_stops] = end
        n_stops += 1
        passages[document + 1] = n_stops
    return stops[:n_stops].copy(), passages


@kernel
def _rest(one, start, stop, other, begin, end):
    """The number of letters of the longer of two words after their common prefix."""
    n = min(stop - start, end - begin)
    same = 0
    while same < n and one[start + same] == other[begin + same]:
        same += 1
    # Do not split a letter: go back from continuation bytes.
    while same > 0 and (
        (start + same < stop and one[start + same] & 0xC0 == 0x80)
        or (begin + same < end and other[begin + same] & 0xC0 == 0x80)
    ):
        same -= 1
    left = right = 0
    for i in range(start + same, stop):
        left += one[i] & 0xC0 != 0x80
    for i in range(begin + same, end):
        right += other[i] & 0xC0 != 0x80
    return max(left, right)


@kernel
def spread_matches(
    passages, nodes, starts, stops, covered, depths, node_ptr, names_by_node, sentences, bounds,
    words, text, word_starts, word_stops, name_ptr, name_words, name_text, name_ends,
):  # fmt: skip
    """Expand matches to one entry for each match and each name that ends at its node.

    Parameters
    ----------
    passages, nodes, starts, stops, covered
        As returned by `find_names`.
    depths : int32[:]
    node_ptr : int64[:]
        ``names_by_node[node_ptr[n]:node_ptr[n + 1]]`` are the names of node ``n``.
    names_by_node : int64[:]
    sentences : int64[:]
        Text ``d`` has the passages ``sentences[d]`` to ``sentences[d + 1]``.
    bounds : int64[:]
        Where each text begins in ``words``.
    words : int32[:]
        The words of all passages; ``w`` is ``text[word_starts[w]:word_stops[w]]``, lower-case.
    name_ptr, name_words : int64[:], int32[:]
        The words of names; ``w`` is ``name_text[name_ends[w]:name_ends[w + 1]]``.

    Returns
    -------
    numbers : int64[7, n]
        Documents, names, passages within the document, starts and stops within the document, gaps,
        and the maximum difference in letters between a word and the name; 0 if there are gaps.
    is_covered : bool[n]
    """
    total = 0
    for match in range(nodes.size):
        total += node_ptr[nodes[match] + 1] - node_ptr[nodes[match]]
    numbers = np.empty((7, total), np.int64)
    is_covered = np.empty(total, np.bool_)
    n = 0
    document = 0
    for match in range(nodes.size):
        node, start = nodes[match], starts[match]
        while sentences[document + 1] <= passages[match]:
            document += 1
        gaps = stops[match] - start - depths[node]
        for place in range(node_ptr[node], node_ptr[node + 1]):
            name = names_by_node[place]
            rest = 0
            if gaps == 0:
                first = name_ptr[name]
                for i in range(name_ptr[name + 1] - first):
                    mine, its = words[start + i], name_words[first + i]
                    own_rest = _rest(
                        text, word_starts[mine], word_stops[mine],
                        name_text, name_ends[its], name_ends[its + 1],
                    )  # fmt: skip
                    rest = max(rest, own_rest)
            numbers[0, n], numbers[1, n] = document, name
            numbers[2, n] = passages[match] - sentences[document]
            numbers[3, n], numbers[4, n] = start - bounds[document], stops[match] - bounds[document]
            numbers[5, n], numbers[6, n] = gaps, rest
            is_covered[n] = covered[match]
            n += 1
    return numbers, is_covered
