"""Similarities of features and labels (LCIF, definition 7), kept up to date as documents change."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.kernels.votes import Csr
from manylabel.neighbors.changed_rows import ChangedRows
from manylabel.parallel import map_blocks
from manylabel.predictions import best_of_rows, values_at
from manylabel.validation import check_rows, trusted_csr, widened

__all__ = ["FeatureSimilarity", "to_power"]

#: Documents per task; pairs of a feature and a label whose cosines are computed at a time.
BLOCK, PAIRS = 65_536, 1_000_000
#: From this many pairs on, changes are noted, and similarities are computed when they are needed,
#: until this many labels have changed.
LARGE, MANY_CHANGES = 1_000_000, 2_000

Sums = tuple[sparse.csr_array, NDArray[np.float64], NDArray[np.float64]]


class FeatureSimilarity:
    """Cosines of the columns of a feature matrix and of a label matrix.

    It keeps sums over documents, so documents can be added and removed.

    Parameters
    ----------
    X : csr_array of shape (n_documents, n_features)
    Y : csr_array of shape (n_documents, n_labels)
    labels_per_feature : int, optional
        Maximum labels per feature, nearest first: the scalable variant of section 3.2.
    incomplete : ndarray of bool, optional
        Documents that may have more labels than are known. Such a document is part of the columns
        of its own labels only: for any other label, both columns leave it out.
    """

    #: Of incomplete documents, by feature and label: the squares of those that have the label.
    _open_squares: sparse.csr_array | None = None
    #: With incomplete documents, the length of the feature's column for each entry of ``plain``.
    pair_lengths: NDArray[np.float64] = np.empty(0)
    #: The greatest cosine of each feature that is not kept, 0 if all are; older folders lack it.
    bounds: NDArray[np.float64] = np.empty(0)
    #: Changes that `plain` and `bounds` lack; only in memory.
    _changes: ChangedRows | None = None

    def __init__(
        self,
        X: sparse.csr_array,
        Y: sparse.csr_array,
        labels_per_feature: int | None,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        self.labels_per_feature = labels_per_feature
        self._together, self._squares, self._counts = _sums(X, Y)
        if incomplete is not None and incomplete.any():
            self._squares = _column_squares(X[~incomplete])
            self._open_squares = _square_products(X[incomplete], Y[incomplete])
        self.feature_lengths: NDArray[np.float64]
        self.label_lengths: NDArray[np.float64]
        self._refresh()

    def update(
        self,
        X: sparse.csr_array,
        Y: sparse.csr_array,
        sign: int,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Add documents (sign 1) or remove them (sign -1)."""
        if Y.shape[1] < self._counts.size:
            Y = widened(Y, self._counts.size)
        self.grow(Y.shape[1])
        if self._is_large(incomplete):
            labels, features = np.unique(Y.indices), np.unique(X.indices)
            together, squares, counts = _sums(X, Y)
            self._note(sign * together, sign * squares, sign * counts, labels, features)
            return
        self.catch_up()
        together, squares, counts = _sums(X, Y)
        if incomplete is not None and incomplete.any():
            squares = _column_squares(X[~incomplete])
            self._add_open(sign * _square_products(X[incomplete], Y[incomplete]))
        self._together = self._together + sign * together
        self._squares = np.maximum(self._squares + sign * squares, 0)
        self._counts = self._counts + sign * counts
        if sign < 0:
            self._clear_rounding()
        self._refresh()

    def relabel(
        self,
        X: sparse.csr_array,
        lost: sparse.csr_array,
        got: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Change the labels of documents: remove the lost ones, add the new ones."""
        self.grow(got.shape[1])
        if self._is_large(incomplete):
            change = sparse.csr_array(_products(X, got) - _products(X, widened(lost, got.shape[1])))
            change.sort_indices()
            counts = np.asarray(got.sum(axis=0), np.float64).ravel()
            counts[: lost.shape[1]] -= np.asarray(lost.sum(axis=0)).ravel()
            labels, nothing = np.flatnonzero(counts), np.empty(0, np.int64)
            self._note(change, np.zeros(self._squares.size), counts, labels, nothing)
            return
        self.catch_up()
        if incomplete is not None and incomplete.any():
            which = np.flatnonzero(incomplete)
            lost.resize((lost.shape[0], got.shape[1]))
            change = _square_products(X[which], got[which]) - _square_products(
                X[which], lost[which]
            )
            self._add_open(sparse.csr_array(change))
        self._together = self._together + (_products(X, got) - _products(X, lost))
        self._counts = self._counts + np.asarray(got.sum(axis=0) - lost.sum(axis=0)).ravel()
        self._clear_rounding()
        self._refresh()

    def _is_large(self, incomplete: NDArray[np.bool_] | None) -> bool:
        """Whether to compute similarities again takes long, and only some rows can be."""
        has_open = self._open_squares is not None or (incomplete is not None and incomplete.any())
        return self._together.nnz >= LARGE and not has_open

    def _note(
        self,
        change: sparse.csr_array,
        squares: NDArray[np.float64],
        counts: NDArray[np.float64],
        labels: NDArray[np.int64],
        features: NDArray[np.int64],
    ) -> None:
        """Change the sums; similarities follow when they are asked for."""
        if self._changes is None:
            self._changes = ChangedRows(self._together, self.feature_lengths, self.bounds)
        tiny = 1e-9 if self._together.dtype == np.float64 else 1e-6
        self._squares = np.maximum(self._squares + squares, 0)
        self._squares[self._squares < tiny] = 0
        self._counts = self._counts + counts
        self.feature_lengths = np.sqrt(self._squares)
        self.label_lengths = np.sqrt(self._counts)
        self._changes.add(change, labels, features, tiny)
        if self._changes.labels.size > MANY_CHANGES:
            self.catch_up()

    def catch_up(self) -> None:
        """Compute all similarities again if there were changes."""
        if self._changes is not None:
            self._together, self._changes = self._changes.whole(), None
            self._clear_rounding()
            self._refresh()

    def part(
        self, rows: sparse.csr_array, held_out: bool = False
    ) -> tuple[sparse.csr_array, Csr, NDArray[np.float64], NDArray[np.float64]]:
        """The similarities that some weighted rows need.

        Returns
        -------
        rows : csr_array
            With the numbers of features in the other arrays.
        similar : Csr
        feature_lengths, bounds : ndarray
            The bounds are exact only if ``held_out``.
        """
        changes = self._changes
        if changes is None:
            return rows, self.plain, self.feature_lengths, self.bounds
        used = np.unique(rows.indices)
        places = np.searchsorted(used, rows.indices).astype(rows.indices.dtype)
        plain, bounds = self.plain, np.zeros(used.size)
        labels: list[NDArray[np.int32]] = [np.empty(0, np.int32)]
        cosines: list[NDArray[np.float64]] = [np.empty(0)]
        for at, feature in enumerate(used.tolist()):
            mine = slice(plain.ptr[feature], plain.ptr[feature + 1])
            row = changes.row(
                feature, plain.indices[mine], float(self.feature_lengths[feature]),
                self.label_lengths, self.labels_per_feature, held_out,
            )  # fmt: skip
            if row is None:
                bound = self.bounds[feature] if self.bounds.size else 0.0
                row = plain.indices[mine], plain.data[mine], bound
            labels.append(row[0])
            cosines.append(row[1])
            bounds[at] = row[2]
        ptr = np.cumsum([each.size for each in labels])
        similar = Csr(ptr, np.concatenate(labels), np.concatenate(cosines))
        shape = rows.shape[0], used.size
        mapped = trusted_csr(rows.data, places, rows.indptr, shape)
        return (
            mapped,
            similar,
            self.feature_lengths[used],
            bounds if self.bounds.size else bounds[:0],
        )

    def _store_state(self) -> dict[str, Any]:
        self.catch_up()
        return {name: value for name, value in vars(self).items() if name != "_changes"}

    def _add_open(self, squares: sparse.csr_array) -> None:
        """Add squares of incomplete documents; None when nothing is left of them."""
        known = self._open_squares
        total = squares if known is None else sparse.csr_array(known + squares)
        total.data[total.data < 1e-9] = 0
        total.eliminate_zeros()
        total.sort_indices()
        self._open_squares = total if total.nnz else None

    def _pair_squares(self, start: int = 0, stop: int | None = None) -> NDArray[np.float64]:
        """The squared length of the feature's column, for each pair of some features."""
        together = self._together[start:stop]
        squares = np.repeat(self._squares[start:stop], np.diff(together.indptr))
        if self._open_squares is not None:
            squares += values_at(self._open_squares[start:stop], together)
        return squares

    def _clear_rounding(self) -> None:
        """Clear the rounding errors that remain when every document of a pair is removed."""
        together = self._together
        tiny = 1e-9 if together.dtype == np.float64 else 1e-6
        self._squares[self._squares < tiny] = 0
        without = self._pair_squares() == 0
        without |= self._counts[together.indices] == 0
        together.data[without | (together.data < tiny)] = 0
        together.eliminate_zeros()

    def grow(self, n_labels: int) -> None:
        """Extend the sums to new labels."""
        n_new = n_labels - self._counts.size
        if n_new > 0:
            self._together = widened(self._together, n_labels)
            if self._changes is not None:
                self._changes.grow(n_labels)
            if self._open_squares is not None:
                self._open_squares = widened(self._open_squares, n_labels)
            self._counts = np.pad(self._counts, (0, n_new))
            self.label_lengths = np.pad(self.label_lengths, (0, n_new))

    def _refresh(self) -> None:
        """Divide the sums by the lengths of the columns.

        Some features at a time: a large corpus has hundreds of millions of pairs, and most of them
        are not kept.
        """
        self.feature_lengths = np.sqrt(self._squares)
        self.label_lengths = np.sqrt(self._counts)
        parts = [self._refreshed(*span) for span in _spans(self._together.indptr, PAIRS)]
        sizes, indices, data, lengths, bounds = map(np.concatenate, zip(*parts, strict=True))
        self.plain = Csr(np.concatenate([[0], np.cumsum(sizes)]), indices, data)
        self.pair_lengths, self.bounds = lengths, bounds

    def _refreshed(self, start: int, stop: int) -> tuple[NDArray[Any], ...]:
        """Of some features: the number of labels of each, the labels, cosines and pair lengths.

        The last array has the bound of each feature.
        """
        together = self._together
        ptr = together.indptr[start : stop + 1].astype(np.int64)
        entries = slice(ptr[0], ptr[-1])
        ptr -= ptr[0]
        indices = together.indices[entries].astype(np.int32, copy=False)
        if self._open_squares is None:
            pair_lengths = np.repeat(self.feature_lengths[start:stop], np.diff(ptr))
        else:
            pair_lengths = np.sqrt(self._pair_squares(start, stop))
        data = together.data[entries] / (pair_lengths * self.label_lengths[indices])
        bounds = np.zeros(stop - start)
        if self.labels_per_feature is not None:
            keep = best_of_rows(ptr, data, self.labels_per_feature)
            features = np.repeat(np.arange(stop - start), np.diff(ptr))
            np.maximum.at(bounds, features[~keep], data[~keep])
            ptr = np.concatenate([[0], np.cumsum(keep)])[ptr]
            indices, data, pair_lengths = indices[keep], data[keep], pair_lengths[keep]
        if self._open_squares is None:
            pair_lengths = np.empty(0)
        return np.diff(ptr), indices, data, pair_lengths, bounds

    def _check_stored(self) -> None:
        """Refuse similarities of features or labels that do not exist."""
        n_features, n_labels = self._together.shape
        check_rows(self.plain.ptr, self.plain.indices, n_labels, self.plain.data)
        lengths = (
            (n_features, (self.plain.ptr[1:], self._squares, self.feature_lengths)),
            (n_labels, (self._counts, self.label_lengths)),
        )
        if any(array.shape != (n,) for n, arrays in lengths for array in arrays) or (
            self.pair_lengths.size not in (0, self.plain.indices.size)
            or self.bounds.size not in (0, n_features)
            or (self._open_squares is not None and self._open_squares.shape != self._together.shape)
        ):
            raise InputError("the similarities of words and labels are damaged.")


def to_power(similar: Csr, beta: float) -> Csr:
    """Similarities to a power."""
    return similar if beta == 1 else similar._replace(data=similar.data**beta)


def _spans(ptr: NDArray[Any], size: int) -> list[tuple[int, int]]:
    """Consecutive rows of a matrix, each span with at most ``size`` entries or of one row.

    Examples
    --------
    >>> _spans(np.array([0, 2, 3, 9, 9]), 4)
    [(0, 2), (2, 3), (3, 4)]
    """
    spans: list[tuple[int, int]] = []
    start, n_rows = 0, ptr.size - 1
    while not spans or start < n_rows:
        stop = int(np.searchsorted(ptr, int(ptr[start]) + size, side="right")) - 1
        spans.append((start, min(max(stop, start + 1), n_rows)))
        start = spans[-1][1]
    return spans


def _sums(X: sparse.csr_array, Y: sparse.csr_array) -> Sums:
    """Products of the columns, squared lengths of features and counts of labels.

    Documents are added in blocks, and the blocks in order, so rounding does not depend on where
    they are computed.
    """
    blocks = map_blocks(_sums_of_block, (X, Y), max(X.shape[0], 1), BLOCK, fixed=True)
    together, squares, counts = next(blocks)
    for more in blocks:
        together, squares, counts = together + more[0], squares + more[1], counts + more[2]
    return together, squares, counts


def _sums_of_block(X: sparse.csr_array, Y: sparse.csr_array, start: int, stop: int) -> Sums:
    """The sums over some of the documents."""
    X, Y = X[start:stop], Y[start:stop]
    return _products(X, Y), _column_squares(X), np.asarray(Y.sum(axis=0), np.float64).ravel()


def _products(X: sparse.csr_array, Y: sparse.csr_array) -> sparse.csr_array:
    """Feature columns times label columns, by feature."""
    together = X.T.tocsr() @ Y.astype(X.dtype)
    together.sort_indices()
    return together


def _square_products(X: sparse.csr_array, Y: sparse.csr_array) -> sparse.csr_array:
    """Squares of features, summed over the documents of each label."""
    squares = sparse.csr_array((X.data.astype(np.float64) ** 2, X.indices, X.indptr), shape=X.shape)
    return _products(squares, Y)


def _column_squares(X: sparse.csr_array) -> NDArray[np.float64]:
    """The squared lengths of the columns."""
    squares = np.bincount(X.indices, weights=X.data**2, minlength=X.shape[1])
    return squares.astype(np.float64)  # a matrix without entries gives integers
