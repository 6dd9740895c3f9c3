"""A regression on all documents that compares texts with a sample of them, the landmarks, alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.parallel import single_threaded_blas
from manylabel.predictions import values_at
from manylabel.regression.training import LEAST, OFFSET, Regression, postings_of

__all__ = ["JITTER", "LandmarkSolution", "solve_landmarks"]

#: Rows compared with all landmarks at a time.
_ROWS = 512
#: Added to the kernel of landmarks with themselves, because two may be nearly equal.
JITTER = 1e-3


@dataclass(frozen=True)
class LandmarkSolution:
    """The regression with the smallest squared error among those that read landmarks only.

    With the kernels K of documents and landmarks and M of the landmarks, the weights are those of
    ridge regression on the features Z = K L^-T, where L L^T = M.

    Parameters
    ----------
    rows : csr_array of shape (n_documents, n_features), float32
        Of unit length.
    Y : csr_array of shape (n_documents, n_labels)
    landmarks : csr_array of shape (n_landmarks, n_features), float32
        The rows of the landmarks.
    inverse : ndarray of shape (n_landmarks, n_landmarks)
        C^-1 L^-1, where C C^T = Z^T Z + ridge I.
    raw : ndarray of shape (n_landmarks, n_labels)
        The weights of the landmarks for the labels.
    ones : ndarray of shape (n_landmarks,)
        The same for a label that all documents have.
    """

    rows: sparse.csr_array
    Y: sparse.csr_array
    landmarks: sparse.csr_array
    inverse: NDArray[np.float64]
    raw: NDArray[np.float64]
    ones: NDArray[np.float64]

    def regression(self) -> Regression:
        """The weights, for labels minus their means."""
        means = self._sums / self.Y.shape[0]
        duals = np.ascontiguousarray((self.raw - np.outer(self.ones, means)).T)
        constants = means + LEAST * duals.sum(axis=1)
        return Regression(
            postings_of(self.landmarks), duals.astype(np.float32), constants, self._sums > 0
        )

    def left_out(
        self, documents: NDArray[np.int64], pattern: sparse.csr_array
    ) -> NDArray[np.float64]:
        """Scores of training documents as if each had been left out, with the same landmarks.

        With h_i the leverage of a document, u_i and v_i the expectations of its label and of ones,
        and m the mean of the other documents' labels, the score of document i without itself is
        y_i - (y_i - m - u_i + m v_i) / (1 - h_i).
        """
        by_feature = _by_feature(self.landmarks)
        out = np.empty(pattern.nnz)
        for start in range(0, documents.size, _ROWS):
            some = documents[start : start + _ROWS]
            own = slice(pattern.indptr[start], pattern.indptr[start + some.size])
            asked = pattern[start : start + some.size]
            near = _kernel(self.rows[some], by_feature).astype(np.float64)
            each, labels = np.repeat(np.arange(some.size), np.diff(asked.indptr)), asked.indices
            with single_threaded_blas():
                expected, of_ones = near @ self.raw, near @ self.ones
                turned = near @ self.inverse.T
            leverage = np.einsum("ij,ij->i", turned, turned)
            y = values_at(self.Y[some], asked).astype(np.float64)
            means = (self._sums[labels] - y) / max(self.Y.shape[0] - 1, 1)
            error = y - means - expected[each, labels] + means * of_ones[each]
            out[own] = y - error / (1 - leverage[each])
        return out

    @property
    def _sums(self) -> NDArray[np.int64]:
        return np.bincount(self.Y.indices, minlength=self.Y.shape[1])


def solve_landmarks(
    rows: sparse.csr_array, Y: sparse.csr_array, chosen: NDArray[np.int64], ridge: float
) -> LandmarkSolution:
    """Solve the regression of labels on weighted rows, with some of the rows as landmarks.

    Time grows with the documents times the square of the landmarks. Memory: 20 bytes per pair of
    landmarks, and 8 per landmark and label.
    """
    from scipy.linalg import cholesky, solve_triangular
    from scipy.linalg.blas import dsyrk

    landmarks, n = rows[chosen], chosen.size
    by_feature = _by_feature(landmarks)
    products, sums = np.zeros((n, n), order="F"), np.zeros(n)
    by_label = np.zeros((Y.shape[1], n))
    itself = _kernel(landmarks, by_feature).astype(np.float64)
    itself[np.diag_indices(n)] += JITTER
    with single_threaded_blas():
        for start in range(0, rows.shape[0], _ROWS):
            near = _kernel(rows[start : start + _ROWS], by_feature)
            # Single precision would not do: the inverse of M makes errors greater.
            products = dsyrk(1, near.astype(np.float64), beta=1, c=products, trans=1, overwrite_c=1)
            sums += near.sum(axis=0, dtype=np.float64)
            by_label += Y[start : start + _ROWS].T.astype(np.float32) @ near
        lower = cholesky(itself, lower=True, overwrite_a=True, check_finite=False)

        def solved(matrix: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
            return solve_triangular(matrix, right, lower=True, check_finite=False)

        products = np.triu(products) + np.triu(products, 1).T
        inner = solved(lower, solved(lower, products).T)
        inner[np.diag_indices(n)] += ridge
        inverse = solved(cholesky(inner, lower=True, check_finite=False), solved(lower, np.eye(n)))
        raw = inverse.T @ (inverse @ by_label.T)
        ones = inverse.T @ (inverse @ sums)
    return LandmarkSolution(rows, Y, landmarks, inverse, raw, ones)


def _by_feature(landmarks: sparse.csr_array) -> sparse.csr_array:
    return sparse.csr_array(landmarks.T.tocsr())


def _kernel(rows: sparse.csr_array, by_feature: sparse.csr_array) -> NDArray[np.float32]:
    """The kernel of weighted rows and all landmarks."""
    matrix: NDArray[np.float32] = (rows @ by_feature).toarray()
    matrix += np.float32(OFFSET)
    matrix /= np.float32(1 + OFFSET)
    return np.square(matrix, out=matrix)
