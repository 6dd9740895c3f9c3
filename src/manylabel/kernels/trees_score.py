"""Score documents with trees: find each tree's leaf, then average the leaves."""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel


@kernel
def find_leaves(
    x_indptr, x_indices, x_data, start, stop, n_features, roots, children, bias,
    weight_indptr, weight_features, weights,
):  # fmt: skip
    """The leaf of each of the documents ``start`` to ``stop`` in each tree."""
    leaves = np.empty((stop - start, roots.size), np.int32)
    dense = np.zeros(n_features)
    for row in range(start, stop):
        for e in range(x_indptr[row], x_indptr[row + 1]):
            dense[x_indices[e]] = x_data[e]
        for tree in range(roots.size):
            node = roots[tree]
            while children[node] != 0:
                total = np.float64(bias[node])
                for e in range(weight_indptr[node], weight_indptr[node + 1]):
                    total += np.float64(weights[e]) * dense[weight_features[e]]
                node = children[node] + (1 if total >= 0 else 0)
            leaves[row - start, tree] = node
        for e in range(x_indptr[row], x_indptr[row + 1]):
            dense[x_indices[e]] = 0
    return leaves


@kernel
def average(leaves, n_labels, leaf_indptr, leaf_labels, shares):
    """The mean share of each label over the leaves of a row, as CSR arrays."""
    n_rows, n_trees = leaves.shape
    totals = np.zeros(n_labels)
    met = np.zeros(n_labels, np.bool_)
    touched = np.empty(n_labels, np.int32)
    indptr = np.zeros(n_rows + 1, np.int64)
    indices = np.empty(1024, np.int32)
    data = np.empty(1024, np.float64)
    for row in range(n_rows):
        count = 0
        for tree in range(n_trees):
            leaf = leaves[row, tree]
            for e in range(leaf_indptr[leaf], leaf_indptr[leaf + 1]):
                label = leaf_labels[e]
                if not met[label]:
                    met[label] = True
                    touched[count] = label
                    count += 1
                totals[label] += shares[e]
        begin = indptr[row]
        end = begin + count
        if end > indices.size:
            longer = max(end, 2 * indices.size)
            indices = np.append(indices, np.empty(longer - indices.size, np.int32))
            data = np.append(data, np.empty(longer - data.size, np.float64))
        indices[begin:end] = np.sort(touched[:count])
        for e in range(begin, end):
            data[e] = totals[indices[e]] / n_trees
            totals[indices[e]] = 0
            met[indices[e]] = False
        indptr[row + 1] = end
    return indptr, indices[: indptr[n_rows]], data[: indptr[n_rows]]


@kernel
def products(
    x_indptr, x_indices, x_data, start, stop, n_features, indptr, labels,
    centroid_indptr, centroid_features, centroids,
):  # fmt: skip
    """Products of the documents ``start`` to ``stop`` with the centroids of their candidates.

    ``indptr`` and ``labels`` list the candidates of each of these documents.
    """
    sums = np.empty(labels.size)
    dense = np.zeros(n_features)
    for row in range(start, stop):
        for e in range(x_indptr[row], x_indptr[row + 1]):
            dense[x_indices[e]] = x_data[e]
        for place in range(indptr[row - start], indptr[row - start + 1]):
            label = labels[place]
            total = 0.0
            for e in range(centroid_indptr[label], centroid_indptr[label + 1]):
                total += dense[centroid_features[e]] * centroids[e]
            sums[place] = total
        for e in range(x_indptr[row], x_indptr[row + 1]):
            dense[x_indices[e]] = 0
    return sums
