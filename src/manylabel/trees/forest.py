"""Grow trees, store them as flat arrays, and average the leaves that documents reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.parallel import Callback, run_blocks
from manylabel.predictions import keep_top
from manylabel.validation import check_numbers, check_rows, csr_parts

__all__ = ["Forest", "grow_forest"]

#: Documents per block that a thread scores.
BLOCK = 256


@dataclass(frozen=True)
class Forest:
    """The nodes of all trees, tree after tree, each tree's root first.

    Parameters
    ----------
    roots : ndarray of int32 of shape (n_trees,)
        The first node of each tree.
    children : ndarray of int32 of shape (n_nodes,)
        The left child; the right one follows it. 0 marks a leaf.
    bias : ndarray of float32 of shape (n_nodes,)
    sizes : ndarray of int32 of shape (n_nodes,)
        Training documents that reached the node.
    weight_indptr, weight_features, weights : ndarray
        The sparse classifiers of the inner nodes, as the arrays of a CSR matrix. A document goes
        right if weights times features plus bias is not negative.
    leaf_indptr, leaf_labels, shares : ndarray
        The labels of the leaves, best first, with the mean gain over the leaf's documents.
    """

    roots: NDArray[np.int32]
    children: NDArray[np.int32]
    bias: NDArray[np.float32]
    sizes: NDArray[np.int32]
    weight_indptr: NDArray[np.int64]
    weight_features: NDArray[np.int32]
    weights: NDArray[np.float32]
    leaf_indptr: NDArray[np.int64]
    leaf_labels: NDArray[np.int32]
    shares: NDArray[np.float32]

    def _check_stored(self) -> None:
        """Refuse trees whose branches lead nowhere, or in circles."""
        if any(array.dtype.kind != "i" or array.ndim != 1 for array in (self.children, self.roots)):
            raise InputError("the trees are damaged: their arrays do not fit each other.")
        n_nodes = self.children.size
        nodes = np.arange(n_nodes)
        inner = self.children != 0
        leads = (self.children > nodes) & (self.children < n_nodes - 1)
        sizes = [self.bias.shape, self.sizes.shape, (self.weight_indptr.size - 1,)]
        sizes.append((self.leaf_indptr.size - 1,))
        if (
            not leads[inner].all()
            or any(size != (n_nodes,) for size in sizes)
            or not 0 <= self.roots.min(initial=0) <= self.roots.max(initial=0) < max(n_nodes, 1)
        ):
            raise InputError("the trees are damaged: their arrays do not fit each other.")
        most = np.iinfo(np.int32).max
        check_rows(self.weight_indptr, self.weight_features, most, self.weights)
        check_rows(self.leaf_indptr, self.leaf_labels, most, self.shares)
        check_numbers(self.bias, self.weights, self.shares)

    def leaves(self, X: sparse.csr_array, n_jobs: int | None = None) -> NDArray[np.int32]:
        """The leaf of each document in each tree, of shape (n_documents, n_trees)."""
        from manylabel.kernels.trees_score import find_leaves

        parts = csr_parts(X)
        leaves = np.empty((X.shape[0], self.roots.size), np.int32)

        def work(start: int, stop: int) -> None:
            leaves[start:stop] = find_leaves(
                *parts,
                start,
                stop,
                X.shape[1],
                self.roots,
                self.children,
                self.bias,
                self.weight_indptr,
                self.weight_features,
                self.weights,
            )

        run_blocks(work, X.shape[0], BLOCK, n_jobs)
        return leaves

    def scores(
        self,
        leaves: NDArray[np.int32],
        n_labels: int,
        top: int | None = None,
        n_jobs: int | None = None,
    ) -> sparse.csr_array:
        """The mean of the leaves of each row; a label of any leaf is a candidate."""
        from manylabel.kernels.trees_score import average

        n_rows = leaves.shape[0]
        blocks: list[sparse.csr_array] = [sparse.csr_array((0, n_labels))] * -(-n_rows // BLOCK)

        def work(start: int, stop: int) -> None:
            indptr, indices, data = average(
                leaves[start:stop], n_labels, self.leaf_indptr, self.leaf_labels, self.shares
            )
            block = sparse.csr_array((data, indices, indptr), shape=(stop - start, n_labels))
            blocks[start // BLOCK] = block if top is None else keep_top(block, top)

        run_blocks(work, n_rows, BLOCK, n_jobs)
        return sparse.vstack(blocks, format="csr") if blocks else sparse.csr_array((0, n_labels))


def grow_forest(
    X: sparse.csr_array,
    Y: sparse.csr_array,
    gains: NDArray[np.float64],
    ideal: NDArray[np.float64],
    *,
    n_trees: int,
    max_leaf: int,
    leaf_labels: int,
    C: float,
    bias: float,
    seed: int,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> Forest:
    """Grow trees in parallel, each with its own random stream.

    Parameters
    ----------
    X : csr_array of shape (n_documents, n_features)
        Weights.
    Y : csr_array of shape (n_documents, n_labels)
    gains : ndarray of shape (n_labels,)
        The gain of a label at the first rank.
    ideal : ndarray of shape (n_documents,)
        The factor of a document's DCG.
    n_trees, max_leaf, leaf_labels, C, bias
        As in :class:`FastXML`.
    seed : int
    n_jobs : int, optional
    callback : callable, optional
        Called with (trees done, total trees).
    """
    from manylabel.kernels.trees_grow import grow

    x_parts = csr_parts(X)
    y_indptr, y_indices, _ = csr_parts(Y, np.int8)
    trees: list[tuple[NDArray, ...]] = [()] * n_trees

    def work(start: int, stop: int) -> None:
        for tree in range(start, stop):
            trees[tree] = grow(
                *x_parts,
                X.shape[1],
                y_indptr,
                y_indices,
                gains,
                ideal,
                max_leaf,
                leaf_labels,
                C,
                bias,
                np.uint64(seed),
                np.uint64(tree),
            )

    run_blocks(work, n_trees, 1, n_jobs, callback)
    return _joined(trees)


def _joined(trees: list[tuple[NDArray, ...]]) -> Forest:
    """Concatenate trees."""
    (children, bias, sizes, weight_indptr, features, weights, leaf_indptr, labels, shares) = (
        list(arrays) for arrays in zip(*trees, strict=True)
    )
    roots = np.cumsum([0] + [nodes.size for nodes in children[:-1]]).astype(np.int32)
    for root, nodes in zip(roots, children, strict=True):
        nodes[nodes > 0] += root
    return Forest(
        roots,
        np.concatenate(children),
        np.concatenate(bias),
        np.concatenate(sizes),
        _joined_pointers(weight_indptr),
        np.concatenate(features),
        np.concatenate(weights),
        _joined_pointers(leaf_indptr),
        np.concatenate(labels),
        np.concatenate(shares),
    )


def _joined_pointers(pointers: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Row pointers of vertically stacked matrices."""
    lengths = np.concatenate([np.diff(each) for each in pointers])
    return np.concatenate([[0], np.cumsum(lengths)])
