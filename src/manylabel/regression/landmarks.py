"""Regressions on all documents that compare each with a sample of them, the landmarks, alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.parallel import single_threaded_blas
from manylabel.predictions import values_at
from manylabel.regression.training import LEAST, OFFSET, Labelled, Regression, postings_of

__all__ = ["JITTER", "Compared", "LandmarkSolution", "WordLandmarks", "compare", "solve_landmarks"]

#: Rows compared with all landmarks at a time.
_ROWS = 512
#: Added to the kernel of landmarks with themselves, because two may be nearly equal.
JITTER = 1e-3


@dataclass(frozen=True)
class Compared:
    """Documents by features whose products approximate kernels.

    With the kernels K of documents and landmarks and M = L L^T of the landmarks, the features are
    Z = K L^-T. A regression on landmarks is a ridge regression on the features.

    Parameters
    ----------
    Y : csr_array of shape (n_documents, n_labels)
    features : ndarray of shape (n_documents, n_landmarks), float32
    lower : ndarray of shape (n_landmarks, n_landmarks), float32
        L.
    products : ndarray of shape (n_landmarks, n_landmarks), float32
        The lower triangle of Z^T Z.
    right : ndarray of shape (n_landmarks, n_labels + 1), float32
        Z^T Y, and Z^T 1 in the last column.
    """

    Y: sparse.csr_array
    features: NDArray[np.float32]
    lower: NDArray[np.float32]
    products: NDArray[np.float32]
    right: NDArray[np.float32]

    def solve(self, ridge: float) -> LandmarkSolution:
        """The weights that minimise the squared error plus the ridge times their squared length."""
        from scipy.linalg import cho_factor, cho_solve

        matrix = self.products.copy("F")
        matrix[np.diag_indices(len(matrix))] += np.float32(ridge)
        with single_threaded_blas():
            factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
            weights = cho_solve(factor, self.right, check_finite=False)
        return LandmarkSolution(
            self.Y, self.features, self.lower, factor[0], weights[:, :-1], weights[:, -1]
        )


@dataclass(frozen=True)
class LandmarkSolution(Labelled):
    """The regression with the smallest squared error among those that read landmarks only.

    Parameters
    ----------
    Y, features, lower
        As in :class:`Compared`.
    factor : ndarray of shape (n_landmarks, n_landmarks), float32
        C with C C^T = Z^T Z + ridge I; the upper triangle is arbitrary.
    raw : ndarray of shape (n_landmarks, n_labels), float32
        The weights of the features for the labels.
    ones : ndarray of shape (n_landmarks,), float32
        The same for a label that all documents have.
    """

    features: NDArray[np.float32]
    lower: NDArray[np.float32]
    factor: NDArray[np.float32]
    raw: NDArray[np.float32]
    ones: NDArray[np.float32]

    def duals(self) -> NDArray[np.float32]:
        """The weight of each landmark for each label minus its mean, by label."""
        from scipy.linalg import solve_triangular

        weights = self.raw - np.outer(self.ones, self.means.astype(np.float32))
        with single_threaded_blas():
            duals = solve_triangular(self.lower, weights, lower=True, trans=1, check_finite=False)
        return np.ascontiguousarray(duals.T)

    def left_out(
        self, documents: NDArray[np.int64], pattern: sparse.csr_array
    ) -> NDArray[np.float64]:
        """Scores of training documents as if each had been left out, with the same landmarks.

        With h_i the leverage of a document, u_i and v_i the expectations of its label and of ones,
        and m the mean of the other documents' labels, the score of document i without itself is
        y_i - (y_i - m - u_i + m v_i) / (1 - h_i).
        """
        out = np.empty(pattern.nnz)
        for start in range(0, documents.size, _ROWS):
            some = documents[start : start + _ROWS]
            own = slice(pattern.indptr[start], pattern.indptr[start + some.size])
            asked = pattern[start : start + some.size]
            expected, of_ones, leverage = self._read(some)
            each, labels = np.repeat(np.arange(some.size), np.diff(asked.indptr)), asked.indices
            y = values_at(self.Y[some], asked).astype(np.float64)
            means = self.means_of_others(labels, y)
            error = y - means - expected[each, labels] + means * of_ones[each]
            out[own] = y - error / (1 - leverage[each])
        return out

    def all_left_out(self) -> NDArray[np.float32]:
        """The same for every label of every document, minus the mean of the others."""
        n_rows = self.Y.shape[0]
        out = np.empty(self.Y.shape, np.float32)
        for start in range(0, n_rows, _ROWS):
            some = np.arange(start, min(start + _ROWS, n_rows))
            expected, of_ones, leverage = self._read(some)
            y = self.Y[some].toarray().astype(np.float32)
            means = ((self._sums - y) / max(n_rows - 1, 1)).astype(np.float32)
            error = y - means - expected + means * of_ones[:, None]
            out[some] = y - means - error / (1 - leverage[:, None])
        return out

    def _read(
        self, documents: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """What is expected of all labels and of ones, and the leverage of documents."""
        from scipy.linalg import solve_triangular

        near = self.features[documents]
        with single_threaded_blas():
            turned = solve_triangular(self.factor, near.T, lower=True, check_finite=False)
            return near @ self.raw, near @ self.ones, np.einsum("ij,ij->j", turned, turned)


def compare(
    kernel: NDArray[np.float32], chosen: NDArray[np.int64], Y: sparse.csr_array
) -> Compared:
    """Prepare regressions on landmarks.

    Time grows with the documents times the square of the landmarks. Memory: 4 bytes per document
    and landmark, besides the kernel, whose memory is reused.

    Parameters
    ----------
    kernel : ndarray of shape (n_documents, n_landmarks), float32
        Of each document and each landmark.
    chosen : ndarray of shape (n_landmarks,)
        The documents that are landmarks.
    Y : csr_array of shape (n_documents, n_labels)
    """
    from scipy.linalg import cholesky
    from scipy.linalg.blas import ssyrk, strsm

    itself = kernel[chosen].astype(np.float64)
    itself[np.diag_indices(chosen.size)] += JITTER
    with single_threaded_blas():
        # The factor in double precision: the inverse of M makes errors greater.
        lower = cholesky(itself, lower=True, overwrite_a=True, check_finite=False)
        lower = np.asfortranarray(lower, np.float32)
        by_landmark = strsm(1, lower, kernel.T, lower=1, overwrite_b=1)
        products = ssyrk(1, by_landmark, lower=1)
    features = by_landmark.T
    right = np.empty((chosen.size, Y.shape[1] + 1), np.float32, order="F")
    right[:, :-1] = (Y.T.tocsr().astype(np.float32) @ features).T
    right[:, -1] = features.sum(axis=0, dtype=np.float64)
    return Compared(Y, features, lower, products, right)


@dataclass(frozen=True)
class WordLandmarks:
    """A regression on landmarks for weighted rows.

    Parameters
    ----------
    rows : csr_array of shape (n_landmarks, n_features), float32
        The rows of the landmarks, of unit length.
    solution : LandmarkSolution
    """

    rows: sparse.csr_array
    solution: LandmarkSolution

    def regression(self) -> Regression:
        """The weights, for labels minus their means."""
        duals = self.solution.duals()
        constants = self.solution.means + LEAST * duals.sum(axis=1, dtype=np.float64)
        return Regression(postings_of(self.rows), duals, constants, self.solution.is_trained)


def solve_landmarks(
    rows: sparse.csr_array, Y: sparse.csr_array, chosen: NDArray[np.int64], ridge: float
) -> WordLandmarks:
    """Solve the regression of labels on weighted rows, with some of the rows as landmarks."""
    landmarks = rows[chosen]
    by_feature = sparse.csr_array(landmarks.T.tocsr())
    kernel = np.empty((rows.shape[0], chosen.size), np.float32)
    for start in range(0, rows.shape[0], _ROWS):
        kernel[start : start + _ROWS] = _kernel(rows[start : start + _ROWS], by_feature)
    return WordLandmarks(landmarks, compare(kernel, chosen, Y).solve(ridge))


def _kernel(rows: sparse.csr_array, by_feature: sparse.csr_array) -> NDArray[np.float32]:
    """The kernel of weighted rows and all landmarks."""
    matrix: NDArray[np.float32] = (rows @ by_feature).toarray()
    matrix += np.float32(OFFSET)
    matrix /= np.float32(1 + OFFSET)
    return np.square(matrix, out=matrix)
