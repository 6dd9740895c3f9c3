"""Kernel ridge regression: fitted weights, exact leave-one-out scores, and the ridge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.parallel import run_blocks, single_threaded_blas
from manylabel.predictions import values_at
from manylabel.validation import check_numbers, csr_parts, pointers

__all__ = [
    "LEAST",
    "OFFSET",
    "Labelled",
    "Regression",
    "Solution",
    "Solved",
    "documents_with",
    "effects_of",
    "kernel_of",
    "postings_of",
    "similarities",
    "solve",
    "solve_kernel",
    "without_documents",
]

#: The constant c of the kernel ((s + c) / (1 + c))^2, which is 1 for equal rows of unit length.
OFFSET = 0.1
#: The kernel of rows without a common word.
LEAST = (OFFSET / (1 + OFFSET)) ** 2
#: Rows scored at a time, and unit vectors solved for at a time.
_ROWS, _COLUMNS = 64, 512


@dataclass(frozen=True)
class Regression:
    """The weights of all labels.

    Parameters
    ----------
    postings : csr_array of shape (n_features, n_documents), float32
        The weighted rows of the training documents, by feature.
    duals : ndarray of shape (n_labels, n_documents), float32
        The weight of each document for each label.
    constants : ndarray of shape (n_labels,), float64
        The score of each label for a row that shares no word with any document.
    is_trained : ndarray of shape (n_labels,), bool
        Which labels occur in a training document.
    """

    postings: sparse.csr_array
    duals: NDArray[np.float32]
    constants: NDArray[np.float64]
    is_trained: NDArray[np.bool_]

    def _check_stored(self) -> None:
        """Refuse arrays whose shapes disagree, and values that are not finite."""
        n_labels = len(self.constants)
        if (
            self.duals.shape != (n_labels, self.postings.shape[1])
            or self.constants.ndim != 1
            or self.is_trained.shape != (n_labels,)
        ):
            raise InputError("the regression is damaged: its arrays do not fit each other.")
        check_numbers(self.postings.data, self.duals, self.constants)

    def grown(self, n_labels: int) -> Regression:
        """A regression with further labels, which are not trained."""
        n_new = n_labels - len(self.constants)
        if n_new <= 0:
            return self
        return Regression(
            self.postings,
            np.pad(self.duals, ((0, n_new), (0, 0))),
            np.pad(self.constants, (0, n_new)),
            np.pad(self.is_trained, (0, n_new)),
        )

    def without(self, rows: sparse.csr_array) -> Regression:
        """A regression in which documents with these rows no longer count; others are ignored.

        The weights of the other documents stay as they are.
        """
        gone = documents_with(rows, self.postings)
        if not gone.any():
            return self
        duals = self.duals.copy()
        duals[:, gone] = 0
        lost = LEAST * self.duals[:, gone].sum(axis=1, dtype=np.float64)
        postings = without_documents(self.postings, gone)
        return Regression(postings, duals, self.constants - lost, self.is_trained)

    def scores(
        self, rows: sparse.csr_array, candidates: sparse.csr_array, n_jobs: int | None
    ) -> NDArray[np.float64]:
        """A score of each candidate of weighted rows; 0 for labels that were not trained."""
        from manylabel.kernels import regression
        from manylabel.kernels.index import Rows

        ptr, labels, _ = csr_parts(candidates)
        out = np.empty(labels.size)

        def work(start: int, stop: int) -> None:
            near = Rows(*csr_parts(similarities(rows[start:stop], self.postings)))
            asked = ptr[start : stop + 1]
            own = slice(asked[0], asked[-1])
            regression.candidate_scores(
                0, stop - start, near, OFFSET, self.duals, self.constants,
                asked - asked[0], labels[own], out[own],
            )  # fmt: skip

        run_blocks(work, rows.shape[0], _ROWS, n_jobs)
        return np.where(self.is_trained[labels], out, 0.0)

    def shares(self, rows: sparse.csr_array, label: int) -> NDArray[np.float64]:
        """The share of each feature of a single row in the score of a label.

        What a similarity adds is divided among the common words in proportion to their parts of it.
        """
        effects, documents = effects_of(rows, self.postings)
        weights = np.zeros(self.duals.shape[1])
        weights[documents] = effects * self.duals[label, documents]
        shares: NDArray[np.float64] = rows.data * (self.postings[rows.indices] @ weights)
        return shares


@dataclass(frozen=True)
class Labelled:
    """What every solution knows of the labels of its documents.

    Parameters
    ----------
    Y : csr_array of shape (n_documents, n_labels)
    """

    Y: sparse.csr_array

    @property
    def is_trained(self) -> NDArray[np.bool_]:
        """Which labels occur."""
        return self._sums > 0

    @property
    def means(self) -> NDArray[np.float64]:
        """The share of documents that have each label."""
        return self._sums / self.Y.shape[0]

    def means_of_others(
        self, labels: NDArray[np.int32], y: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The same without one document, which has the label or not."""
        means: NDArray[np.float64] = (self._sums[labels] - y) / max(self.Y.shape[0] - 1, 1)
        return means

    @cached_property
    def _sums(self) -> NDArray[np.int64]:
        return np.bincount(self.Y.indices, minlength=self.Y.shape[1])


@dataclass(frozen=True)
class Solution(Labelled):
    """The solution for some documents, whatever their kernel.

    Parameters
    ----------
    Y : csr_array of shape (n_documents, n_labels)
    triangle : ndarray of shape (n_documents, n_documents), float32
        The lower triangle of the Cholesky factor of G = K + ridge I.
    raw : ndarray of shape (n_documents, n_labels), float32
        G^-1 Y.
    ones : ndarray of shape (n_documents,), float32
        G^-1 1.
    """

    triangle: NDArray[np.float32]
    raw: NDArray[np.float32]
    ones: NDArray[np.float32]

    def duals(self) -> NDArray[np.float32]:
        """The weight of each document for each label minus its mean, by label."""
        return np.ascontiguousarray(
            (self.raw - np.outer(self.ones, self.means.astype(np.float32))).T
        )

    def left_out(
        self, documents: NDArray[np.int64], pattern: sparse.csr_array
    ) -> NDArray[np.float64]:
        """Scores of training documents as if each had been left out, exactly.

        With u = G^-1 y, v = G^-1 1, d the diagonal of G^-1 and m the mean of the other documents'
        labels, the score of document i without itself is y_i - (u_i - m v_i) / d_i.

        Parameters
        ----------
        documents : ndarray
            Their numbers, ascending.
        pattern : csr_array of shape (len(documents), n_labels)
            The labels that are asked for.
        """
        each = np.repeat(np.arange(documents.size), np.diff(pattern.indptr))
        who, labels = documents[each], pattern.indices
        y = values_at(self.Y[documents], pattern).astype(np.float64)
        means = self.means_of_others(labels, y)
        duals = self.raw[who, labels] - means * self.ones[who]
        return y - duals / self._diagonal_at(documents)[each]

    def all_left_out(self) -> NDArray[np.float32]:
        """The same for every label of every document, minus the mean of the others."""
        each = self._diagonal
        out = np.empty(self.raw.shape, np.float32)
        rest = max(self.Y.shape[0] - 1, 1)
        for start in range(0, len(out), _COLUMNS):
            some = slice(start, start + _COLUMNS)
            y = self.Y[some].toarray()
            means = (self._sums - y) / rest
            out[some] = y - (self.raw[some] - means * self.ones[some, None]) / each[some, None]
            out[some] -= means
        return out

    @cached_property
    def _diagonal(self) -> NDArray[np.float64]:
        """The diagonal of G^-1."""
        return self._solved_diagonal(np.arange(self.Y.shape[0]))

    def _diagonal_at(self, documents: NDArray[np.int64]) -> NDArray[np.float64]:
        """The diagonal of G^-1 at some documents."""
        if "_diagonal" in self.__dict__ or documents.size == self.Y.shape[0]:
            return self._diagonal[documents]
        return self._solved_diagonal(documents)

    def _solved_diagonal(self, documents: NDArray[np.int64]) -> NDArray[np.float64]:
        """The squared lengths of columns of the inverse factor."""
        from scipy.linalg import solve_triangular

        out = np.empty(documents.size)
        with single_threaded_blas():
            for start in range(0, documents.size, _COLUMNS):
                some = documents[start : start + _COLUMNS]
                first = some[0]
                units = np.zeros((self.Y.shape[0] - first, some.size), np.float32, order="F")
                units[some - first, np.arange(some.size)] = 1
                # What is above the first document is 0.
                solved = solve_triangular(
                    self.triangle[first:, first:], units, lower=True, overwrite_b=True,
                    check_finite=False,
                )  # fmt: skip
                out[start : start + _COLUMNS] = np.einsum("ij,ij->j", solved, solved)
        return out


@dataclass(frozen=True)
class Solved(Solution):
    """The solution for weighted rows.

    Parameters
    ----------
    rows : csr_array of shape (n_documents, n_features), float32
        Of unit length.
    """

    rows: sparse.csr_array

    def regression(self) -> Regression:
        """The weights, for labels minus their means."""
        duals = self.duals()
        constants = self.means + LEAST * duals.sum(axis=1, dtype=np.float64)
        return Regression(postings_of(self.rows), duals, constants, self.is_trained)


def postings_of(rows: sparse.csr_array) -> sparse.csr_array:
    """Weighted rows by feature."""
    return sparse.csr_array(rows.T.tocsr())


def similarities(rows: sparse.csr_array, postings: sparse.csr_array) -> sparse.csr_array:
    """The similarities of weighted rows to all documents."""
    return rows.astype(np.float32, copy=False) @ postings


def effects_of(
    rows: sparse.csr_array, postings: sparse.csr_array
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """What one unit of similarity to each similar document adds to the kernel of a single row."""
    near = similarities(rows, postings)
    return (near.data.astype(np.float64) + 2 * OFFSET) / (1 + OFFSET) ** 2, near.indices


def documents_with(rows: sparse.csr_array, postings: sparse.csr_array) -> NDArray[np.bool_]:
    """Which documents have these rows: one for each row, the first of several."""
    documents = sparse.csr_array(postings.T.tocsr())
    found = np.zeros(documents.shape[0], np.bool_)
    for number in range(rows.shape[0]):
        row = rows[[number]]
        for document in np.sort(similarities(row, postings).indices):
            if not found[document] and _are_equal(documents[[document]], row):
                found[document] = True
                break
    return found


def without_documents(postings: sparse.csr_array, gone: NDArray[np.bool_]) -> sparse.csr_array:
    """Postings that have nothing of some documents."""
    postings = postings.copy()
    postings.data[gone[postings.indices]] = 0
    postings.eliminate_zeros()
    return postings


def _are_equal(one: sparse.csr_array, other: sparse.csr_array) -> bool:
    """Whether two rows have the same features with the same values, except for rounding."""
    return np.array_equal(one.indices, other.indices) and np.allclose(one.data, other.data)


def solve(rows: sparse.csr_array, Y: sparse.csr_array, ridge: float) -> Solved:
    """Solve the regression of labels on weighted rows of unit length.

    Memory: 4 bytes per pair of documents, and 8 per document and label.
    """
    solution = solve_kernel(kernel_of(rows), Y, ridge)
    return Solved(Y, solution.triangle, solution.raw, solution.ones, rows)


def kernel_of(rows: sparse.csr_array) -> NDArray[np.float32]:
    """The kernel of all pairs of weighted rows of unit length: its lower triangle."""
    from manylabel.kernels import regression_pairs
    from manylabel.kernels.index import Rows

    n = rows.shape[0]
    given = Rows(*csr_parts(rows, np.float32))
    order = np.argsort(given.features, kind="stable")
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    documents = np.repeat(np.arange(n, dtype=np.int32), np.diff(given.ptr))[order]
    lengths = np.bincount(given.features, minlength=rows.shape[1])
    postings = Rows(pointers(lengths).astype(np.int64), documents, given.values[order])
    # In this order of memory a column is contiguous, as the row of the transposed matrix.
    matrix = np.zeros((n, n), np.float32, order="F")
    regression_pairs.add_products(0, n, given, places, postings, matrix.T)
    # A few columns at a time stay in the processor's cache.
    for start in range(0, n, _ROWS):
        some = matrix[start:, start : start + _ROWS]
        some += np.float32(OFFSET)
        some /= np.float32(1 + OFFSET)
        np.square(some, out=some)
    return matrix


def solve_kernel(matrix: NDArray[np.float32], Y: sparse.csr_array, ridge: float) -> Solution:
    """Solve for the kernel of all pairs of documents, whose memory is reused.

    Only its lower triangle is read.
    """
    from scipy.linalg import cho_factor, cho_solve

    n = Y.shape[0]
    matrix[np.diag_indices(n)] += ridge
    with single_threaded_blas():
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        right = np.empty((n, Y.shape[1] + 1), np.float32, order="F")
        right[:, :-1], right[:, -1] = Y.toarray(), 1
        solved = cho_solve(factor, right, overwrite_b=True, check_finite=False)
    return Solution(Y, factor[0], solved[:, :-1], solved[:, -1])
