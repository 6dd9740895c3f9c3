"""Grow one tree of FastXML (Prabhu & Varma 2014): every node splits its documents by nDCG.

Side 1 is the paper's delta = +1, side 0 its delta = -1. A tree is a set of flat arrays, with nodes
in the order of their creation: ``children[node]`` is the left child (side 0), the right child
follows it, and 0 marks a leaf, because the root is never a child.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel
from manylabel.kernels.rng import start_stream, uniform
from manylabel.kernels.trees_logistic import learn


@kernel
def ideal_gains(y_indptr):
    """I_L(y) of equation 3: one over the DCG of a document's labels in the top positions."""
    ideal = np.zeros(y_indptr.size - 1)
    for row in range(ideal.size):
        total = 0.0
        for place in range(y_indptr[row + 1] - y_indptr[row]):
            total += 1 / np.log(2.0 + place)
        if total > 0:
            ideal[row] = 1 / total
    return ideal


@kernel
def alternate(documents, y_indptr, y_indices, gains, ideal, labels, places, sides, max_steps):
    """Optimise rankings and sides in turn (section 4.1) until no document changes sides.

    ``labels`` has the sorted labels of the documents, and ``places[label]`` their positions;
    ``sides`` is changed in place. A step ranks the labels of each side by their summed gain
    (equation 8), then moves each document to the side that ranks its labels better.
    """
    totals = np.empty((2, labels.size))
    discounted = np.empty((2, labels.size))
    for _ in range(max_steps):
        totals[:] = 0
        for i in range(documents.size):
            row = documents[i]
            for e in range(y_indptr[row], y_indptr[row + 1]):
                label = y_indices[e]
                totals[sides[i], places[label]] += ideal[row] * gains[label]
        for side in range(2):
            order = np.argsort(-totals[side], kind="mergesort")
            for rank in range(labels.size):
                discounted[side, order[rank]] = gains[labels[order[rank]]] / np.log(2.0 + rank)
        moved = False
        for i in range(documents.size):
            row = documents[i]
            advantage = 0.0
            for e in range(y_indptr[row], y_indptr[row + 1]):
                place = places[y_indices[e]]
                advantage += discounted[1 - sides[i], place] - discounted[sides[i], place]
            # On a tie the document stays, so that rounding cannot move it back and forth.
            if ideal[row] * advantage > 1e-10:
                sides[i] = 1 - sides[i]
                moved = True
        if not moved:
            break


@kernel
def node_labels(documents, y_indptr, y_indices, places):
    """The sorted labels of the documents; their positions are written to ``places``."""
    count = 0
    for row in documents:
        count += y_indptr[row + 1] - y_indptr[row]
    gathered = np.empty(count, np.int32)
    size = 0
    for row in documents:
        for e in range(y_indptr[row], y_indptr[row + 1]):
            if places[y_indices[e]] < 0:
                places[y_indices[e]] = 0
                gathered[size] = y_indices[e]
                size += 1
    labels = np.sort(gathered[:size])
    for place in range(size):
        places[labels[place]] = place
    return labels


@kernel
def node_columns(
    documents, x_indptr, x_indices, x_data, bias, places, features, indptr, rows, values
):
    """Copy the documents into compressed columns, the last for the bias; return their number.

    ``features`` has the feature of each column. ``places`` is -1 before and after.
    """
    size = 0
    for row in documents:
        for e in range(x_indptr[row], x_indptr[row + 1]):
            feature = x_indices[e]
            if places[feature] < 0:
                places[feature] = size
                features[size] = feature
                indptr[size + 1] = 0
                size += 1
            indptr[places[feature] + 1] += 1
    indptr[0] = 0
    for column in range(size):
        indptr[column + 1] += indptr[column]
    for i in range(documents.size):
        row = documents[i]
        for e in range(x_indptr[row], x_indptr[row + 1]):
            column = places[x_indices[e]]
            rows[indptr[column]] = i
            values[indptr[column]] = x_data[e]
            indptr[column] += 1
    for column in range(size, 0, -1):
        indptr[column] = indptr[column - 1]
    indptr[0] = 0
    for i in range(documents.size):
        rows[indptr[size] + i] = i
        values[indptr[size] + i] = bias
    indptr[size + 1] = indptr[size] + documents.size
    places[features[:size]] = -1
    return size + 1


@kernel
def divide(indptr, rows, values, weights, n_columns, sides):
    """Assign each document to a side by its weighted sum; return the size of side 1.

    The additions are those of :func:`manylabel.kernels.trees_score.find_leaves`, in the same
    order, so a training document always reaches its own leaf.
    """
    sums = np.full(sides.size, np.float64(weights[n_columns - 1]))
    for column in range(n_columns - 1):
        if weights[column] != 0:
            for e in range(indptr[column], indptr[column + 1]):
                sums[rows[e]] += np.float64(weights[column]) * values[e]
    ones = 0
    for i in range(sides.size):
        sides[i] = sums[i] >= 0
        ones += sides[i]
    return ones


@kernel
def partition(documents, sides):
    """Reorder the documents: side 0 first, keeping the order within each side."""
    ordered = np.empty_like(documents)
    size = 0
    for side in range(2):
        for i in range(documents.size):
            if sides[i] == side:
                ordered[size] = documents[i]
                size += 1
    documents[:] = ordered


@kernel
def leaf_shares(documents, y_indptr, y_indices, gains, labels, places, top):
    """The best ``top`` labels of a leaf and their mean gain, best first."""
    totals = np.zeros(labels.size)
    for row in documents:
        for e in range(y_indptr[row], y_indptr[row + 1]):
            totals[places[y_indices[e]]] += gains[y_indices[e]]
    order = np.argsort(-totals, kind="mergesort")[:top]
    return labels[order], (totals[order] / documents.size).astype(np.float32)


@kernel
def enlarged(array, size):
    """The array, or a longer copy if it holds fewer than ``size`` items."""
    if array.size >= size:
        return array
    longer = np.empty(max(size, 2 * array.size), array.dtype)
    longer[: array.size] = array
    return longer


@kernel
def grow(
    x_indptr, x_indices, x_data, n_features, y_indptr, y_indices, gains, ideal, max_leaf, leaf_top,
    C, bias_feature, seed, tree,
):  # fmt: skip
    """Grow a tree on all documents, with the random stream ``tree`` of ``seed``.

    ``gains`` has the gain of each label and ``ideal`` the normalisation of each document's DCG.
    Returns children, bias, sizes (documents of a node), the weights of the nodes (row pointers,
    features, weights) and the labels of the leaves (row pointers, labels, shares).
    """
    n_rows = x_indptr.size - 1
    state = np.empty(1, np.uint64)
    start_stream(state, seed, tree)
    documents = np.arange(n_rows).astype(np.int32)
    sides = np.empty(n_rows, np.int8)
    label_places = np.full(gains.size, -1, np.int32)
    feature_places = np.full(n_features, -1, np.int32)
    features = np.empty(n_features, np.int32)
    indptr = np.empty(n_features + 2, np.int64)
    rows = np.empty(x_indices.size + n_rows, np.int32)
    values = np.empty(x_indices.size + n_rows, np.float32)

    capacity = 2 * n_rows
    starts = np.zeros(capacity, np.int32)
    sizes = np.zeros(capacity, np.int32)
    children = np.zeros(capacity, np.int32)
    bias = np.zeros(capacity, np.float32)
    weight_indptr = np.zeros(capacity + 1, np.int64)
    leaf_indptr = np.zeros(capacity + 1, np.int64)
    weight_features = np.empty(1024, np.int32)
    weights = np.empty(1024, np.float32)
    leaf_labels = np.empty(1024, np.int32)
    shares = np.empty(1024, np.float32)

    sizes[0] = n_rows
    n_nodes = 1
    node = 0
    while node < n_nodes:
        here = documents[starts[node] : starts[node] + sizes[node]]
        side = sides[: here.size]
        labels = node_labels(here, y_indptr, y_indices, label_places)
        n_weights, n_shares = weight_indptr[node], leaf_indptr[node]
        ones = 0
        if here.size > max_leaf:
            for i in range(here.size):
                side[i] = uniform(state) < 0.5
            alternate(here, y_indptr, y_indices, gains, ideal, labels, label_places, side, 50)
            ones = side.sum()
        if 0 < ones < here.size:
            n_columns = node_columns(
                here, x_indptr, x_indices, x_data, bias_feature, feature_places, features, indptr,
                rows, values,
            )  # fmt: skip
            # Both sides have the same total weight, which keeps the tree balanced.
            costs = C * here.size / np.array([here.size - ones, ones], np.float64)
            coef = learn(indptr, rows, values, n_columns, side, costs, 10, 10, 0.01, state)
            coef[n_columns - 1] *= bias_feature
            coef = coef.astype(np.float32)
            ones = divide(indptr, rows, values, coef, n_columns, side)
        if 0 < ones < here.size:
            partition(here, side)
            children[node] = n_nodes
            starts[n_nodes] = starts[node]
            sizes[n_nodes] = here.size - ones
            starts[n_nodes + 1] = starts[node] + here.size - ones
            sizes[n_nodes + 1] = ones
            n_nodes += 2
            bias[node] = coef[n_columns - 1]
            used = np.flatnonzero(coef[: n_columns - 1])
            weight_features = enlarged(weight_features, n_weights + used.size)
            weights = enlarged(weights, n_weights + used.size)
            weight_features[n_weights : n_weights + used.size] = features[used]
            weights[n_weights : n_weights + used.size] = coef[used]
            n_weights += used.size
        else:
            best, means = leaf_shares(
                here, y_indptr, y_indices, gains, labels, label_places, leaf_top
            )
            leaf_labels = enlarged(leaf_labels, n_shares + best.size)
            shares = enlarged(shares, n_shares + best.size)
            leaf_labels[n_shares : n_shares + best.size] = best
            shares[n_shares : n_shares + best.size] = means
            n_shares += best.size
        label_places[labels] = -1
        node += 1
        weight_indptr[node], leaf_indptr[node] = n_weights, n_shares
    return (
        children[:n_nodes],
        bias[:n_nodes],
        sizes[:n_nodes],
        weight_indptr[: n_nodes + 1],
        weight_features[:n_weights],
        weights[:n_weights],
        leaf_indptr[: n_nodes + 1],
        leaf_labels[:n_shares],
        shares[:n_shares],
    )
