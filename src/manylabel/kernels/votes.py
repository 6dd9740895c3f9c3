"""Score labels by neighbours and by features (LCIF, definitions 6 to 9).

A label without votes has exactly 0, so votes that would underflow count as `LEAST`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manylabel.kernels.compile import kernel
from manylabel.kernels.heap import find, select_kth, sort_numbers

LEAST = 1e-300
# With a literal 0, Numba compiles the functions that receive it twice.
NONE = np.int64(0)
# Numbers per label that `propose` borrows.
WORKSPACE = 5


class Csr(NamedTuple):
    """The arrays of a sparse matrix in CSR format."""

    ptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float64]


@kernel
def instance_votes(neighbors, similarities, alpha, labels, incomplete, votes, own, touched):
    """Add sim^alpha of each neighbour to its labels (definition 6).

    Returns the number of labels touched and the total weight. ``neighbors`` is padded with -1. A
    neighbour that is ``incomplete`` counts only for its own labels: its weight is added to ``own``
    of each, not to the total weight.
    """
    count = 0
    total = 0.0
    for place in range(neighbors.size):
        row = neighbors[place]
        if row < 0:
            break
        weight = max(np.float64(similarities[place]) ** alpha, LEAST)
        is_open = incomplete.size > 0 and incomplete[row]
        if not is_open:
            total += weight
        for i in range(labels.ptr[row], labels.ptr[row + 1]):
            label = labels.indices[i]
            if votes[label] == 0:
                touched[count] = label
                count += 1
            votes[label] += max(weight * labels.data[i], LEAST)
            if is_open:
                own[label] += weight
    return count, total


@kernel
def feature_votes(features, values, similar, votes, touched):
    """Add value * sim^beta of each feature to its labels (definition 8).

    ``similar`` has the similarities of labels to the power beta, by feature.
    """
    count = 0
    total = 0.0
    for place in range(features.size):
        feature, value = features[place], values[place]
        total += value
        for i in range(similar.ptr[feature], similar.ptr[feature + 1]):
            label = similar.indices[i]
            if votes[label] == 0:
                touched[count] = label
                count += 1
            votes[label] += max(value * similar.data[i], LEAST)
    return count, total


@kernel
def held_out_feature_votes(
    features, values, own, is_open, similar, beta, feature_lengths, label_lengths, pair_lengths,
    bounds, votes, touched,
):  # fmt: skip
    """As `feature_votes`, as if the document had not been in the training set.

    ``similar`` has plain similarities here; ``own`` has the document's labels. Without the
    document, a feature column loses the document's value and its labels' columns lose a one.

    If some documents are incomplete, ``pair_lengths`` has the length of the feature column for each
    entry of ``similar``. An incomplete document (``is_open``) counts there only for its own labels.

    If ``similar`` has only the nearest labels of each feature, ``bounds`` has the greatest
    similarity of the others: one of the document's labels below it is near only by the document.
    """
    count = 0
    total = 0.0
    for place in range(features.size):
        feature, value = features[place], values[place]
        total += value
        length = feature_lengths[feature]
        stretch = 1.0
        if pair_lengths.size == 0:
            left = length * length - value * value
            if left <= 1e-9 * length * length:
                continue
            stretch = length / np.sqrt(left)
        at = 0
        for i in range(similar.ptr[feature], similar.ptr[feature + 1]):
            label = similar.indices[i]
            similarity = similar.data[i]
            # Both are in ascending order.
            while at < own.size and own[at] < label:
                at += 1
            is_own = at < own.size and own[at] == label
            if pair_lengths.size > 0:
                length, stretch = pair_lengths[i], 1.0
                if is_own or not is_open:
                    left = length * length - value * value
                    if left <= 1e-9 * length * length:
                        continue
                    stretch = length / np.sqrt(left)
            if is_own:
                size = label_lengths[label]
                if size <= 1:
                    continue
                similarity -= value / (length * size)
                similarity *= size / np.sqrt(size * size - 1)
                if similarity <= 1e-12 or (bounds.size > 0 and similarity < bounds[feature]):
                    continue
            if votes[label] == 0:
                touched[count] = label
                count += 1
            similarity *= stretch
            if beta != 1.0:  # a power is slow
                similarity **= beta
            votes[label] += max(value * similarity, LEAST)
    return count, total


@kernel
def best_labels(votes, touched, count, top, scratch):
    """Move the labels with the most votes to the front of ``touched``; return their number.

    Ties go to the lower label.
    """
    if count <= top:
        return count
    for i in range(count):
        scratch[i] = votes[touched[i]]
    least = select_kth(scratch, count, top, scratch)
    above = NONE
    for i in range(count):
        if votes[touched[i]] > least:
            touched[i], touched[above] = touched[above], touched[i]
            above += 1
    ties = 0
    for i in range(above, count):
        if votes[touched[i]] == least:
            touched[i], touched[above + ties] = touched[above + ties], touched[i]
            ties += 1
    sort_numbers(touched, above, above + ties)
    return top


@kernel
def propose(
    first, last, neighbors, similarities, near, alpha, labels, incomplete,
    weight, queries, similar, held_out, own, open_rows, beta, feature_lengths, label_lengths,
    pair_lengths, bounds, top_words, limit, also, zeros, lengths,
    out_labels, out_all, out_near, out_words,
):  # fmt: skip
    """Write the candidates of each row, with the votes of its neighbours and of its features.

    Candidates are all labels of neighbours and the ``top_words`` labels by features. With a
    ``limit`` above 0, only that many remain: those with the highest scores by definition 9, where
    neighbours have the weight ``weight`` and features the rest. With ``weight`` 1 features are
    ignored, with 0 neighbours are. Labels in ``also``, unless it has no rows, are always
    candidates.

    Rows are concatenated, each in ascending order of labels; ``lengths`` has the length of each.
    The outputs are the labels and the votes of all neighbours, of the ``near`` first, and of the
    features; each kind is divided by the sum of its weights. An ``incomplete`` training document
    counts in that sum only for labels that it has, because whether it should have the others is
    unknown. ``open_rows`` marks such rows if ``held_out``.

    ``zeros`` has `WORKSPACE` rows with a zero for each label, before and after.
    """
    n_labels = label_lengths.size
    votes_all, votes_near, votes_words = zeros[0], zeros[1], zeros[2]
    n_open = n_labels if incomplete.size > 0 else 0
    open_all, open_near = zeros[3, :n_open], zeros[4, :n_open]
    touched, touched_too = np.empty(n_labels, np.int32), np.empty(n_labels, np.int32)
    scores, scratch = np.empty(n_labels), np.empty(n_labels)
    at = 0
    for row in range(first, last):
        count, n_words = 0, 0
        all_total, near_total, words_total = 0.0, 0.0, 0.0
        if weight > 0:
            count, all_total = instance_votes(
                neighbors[row], similarities[row], alpha, labels, incomplete, votes_all, open_all,
                touched,
            )  # fmt: skip
            if near > 0:
                _, near_total = instance_votes(
                    neighbors[row, :near], similarities[row, :near], alpha, labels, incomplete,
                    votes_near, open_near, touched_too,
                )  # fmt: skip
        if weight < 1:
            features = queries.indices[queries.ptr[row] : queries.ptr[row + 1]]
            values = queries.data[queries.ptr[row] : queries.ptr[row + 1]]
            if held_out:
                mine = own.indices[own.ptr[row] : own.ptr[row + 1]]
                n_words, words_total = held_out_feature_votes(
                    features, values, mine, open_rows.size > 0 and open_rows[row], similar, beta,
                    feature_lengths, label_lengths, pair_lengths, bounds, votes_words, touched_too,
                )  # fmt: skip
            else:
                n_words, words_total = feature_votes(
                    features, values, similar, votes_words, touched_too
                )
            n_best = best_labels(votes_words, touched_too, n_words, top_words, scratch)
            for i in range(n_best):
                if votes_all[touched_too[i]] == 0:
                    touched[count] = touched_too[i]
                    count += 1
        # Without neighbours or features, the votes are 0 and so is the sum.
        words_total = max(words_total, LEAST)
        if 0 < limit < count:
            for i in range(count):
                label = touched[i]
                by_words = (1 - weight) * votes_words[label] / words_total
                by_all = votes_all[label] / known_weight(all_total, open_all, label)
                scores[label] = max(weight * by_all + by_words, LEAST)
            count = best_labels(scores, touched, count, limit, scratch)
        if also.ptr.size > 1:
            count = add_labels(also.indices[also.ptr[row] : also.ptr[row + 1]], touched, count)
        sort_numbers(touched, NONE, count)
        for i in range(count):
            label = touched[i]
            out_labels[at] = label
            out_all[at] = votes_all[label] / known_weight(all_total, open_all, label)
            out_near[at] = votes_near[label] / known_weight(near_total, open_near, label)
            out_words[at] = votes_words[label] / words_total
            at += 1
        lengths[row - first] = count
        if weight > 0:
            forget_neighbors(neighbors[row], labels, votes_all, votes_near, open_all, open_near)
        for i in range(n_words):
            votes_words[touched_too[i]] = 0


@kernel
def add_labels(more, touched, count):
    """Add labels that are not among the first ``count``; return the new number.

    ``more`` is in ascending order; the order of ``touched`` changes.
    """
    sort_numbers(touched, NONE, count)
    n_before = count
    for i in range(more.size):
        label = more[i]
        place = find(touched, NONE, n_before, label)
        if place == n_before or touched[place] != label:
            touched[count] = label
            count += 1
    return count


@kernel
def known_weight(total, own, label):
    """The total weight of the neighbours for which it is known whether they have a label."""
    if own.size > 0:
        total += own[label]
    return max(total, LEAST)


@kernel
def forget_neighbors(neighbors, labels, votes, votes_too, own, own_too):
    """Reset the votes of the neighbours' labels to 0."""
    for place in range(neighbors.size):
        row = neighbors[place]
        if row < 0:
            break
        for i in range(labels.ptr[row], labels.ptr[row + 1]):
            votes[labels.indices[i]] = 0
            votes_too[labels.indices[i]] = 0
            if own.size > 0:
                own[labels.indices[i]] = 0
                own_too[labels.indices[i]] = 0
