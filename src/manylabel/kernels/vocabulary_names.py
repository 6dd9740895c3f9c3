"""Find the names of a vocabulary in texts: a trie over terms in flat arrays.

A node is a sequence of terms from the root, which is node 0. A hash table with open addressing
holds the edges, so the cost of a text depends on its length and not on the number of names.
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
    """The trie of names.

    Parameters
    ----------
    terms : int32[:]
        The terms of all names, one name after the other.
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
    """Every node that stands for a name, wherever its terms stand in order in a passage.

    Between the first term and the last there may be ``most_gaps`` other terms in all. A node is
    found at most once for each place of its first term, with the earliest end.

    Parameters
    ----------
    terms : int32[:]
        The terms of passages; -1 for a word that no name has.
    pointers : int64[:]
        Passage ``p`` is ``terms[pointers[p]:pointers[p + 1]]``.
    most_gaps : int
    keys, children, depths
        As `build_trie` gives them.
    is_name : bool[:]
        Whether a node is the end of a name.

    Returns
    -------
    passages, nodes, starts, stops, covered
        Places are within ``terms``; a match ends before ``stops``. It is ``covered`` if it lies
        within a longer match that has no gaps.
    """
    capacity = 1024
    found = np.empty((capacity, 4), np.int64)
    covered = np.zeros(capacity, np.bool_)
    stack = np.empty((64, 2), np.int64)
    n_found = 0
    for passage in range(pointers.size - 1):
        begin, end = pointers[passage], pointers[passage + 1]
        reach = begin  # how far matches without gaps that began before this term go
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
                        more[:n_found] = found
                        found = more
                        also = np.zeros(capacity, np.bool_)
                        also[:n_found] = covered
                        covered = also
                    found[n_found, 0], found[n_found, 1] = passage, node
                    found[n_found, 2], found[n_found, 3] = start, at + 1
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
                # One that begins earlier and reaches as far, or begins here and reaches farther.
                stop = found[match, 3]
                covered[match] = reach >= stop or own_reach > stop
            reach = own_reach
    passages = found[:n_found, 0].copy()
    nodes = found[:n_found, 1].copy()
    starts = found[:n_found, 2].copy()
    stops = found[:n_found, 3].copy()
    return passages, nodes, starts, stops, covered[:n_found].copy()
