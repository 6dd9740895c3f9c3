"""Vectors of features and labels: score labels, find the best ones, share scores out over words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.parallel import run_blocks, single_threaded_blas
from manylabel.validation import check_numbers, csr_parts, pointers, trusted_csr

if TYPE_CHECKING:
    from manylabel.kernels.vectors import RoundedVectors

__all__ = ["Vectors"]

#: Rows per block that a thread processes.
_ROWS = 128
#: Labels that are scored exactly before the best are chosen, besides these.
_EXTRA_LABELS = 16


@dataclass(frozen=True)
class Vectors:
    """Trained vectors. The score of a label is a sum over the features of a document.

    Parameters
    ----------
    features : ndarray of shape (n_features, size), float32
        A vector of each feature; a document's vector is their sum.
    labels : ndarray of shape (n_labels, size), float32
    constants : ndarray of shape (n_labels,), float32
        Added to the products of a document's and a label's vector.
    is_trained : ndarray of shape (n_labels,), bool
        Which labels occur in a training document.
    """

    features: NDArray[np.float32]
    labels: NDArray[np.float32]
    constants: NDArray[np.float32]
    is_trained: NDArray[np.bool_]

    def _check_stored(self) -> None:
        """Refuse arrays whose shapes disagree, and values that are not finite."""
        n_labels = len(self.labels)
        if (
            self.features.ndim != 2
            or self.labels.ndim != 2
            or self.labels.shape[1] != self.features.shape[1]
            or self.constants.shape != (n_labels,)
            or self.is_trained.shape != (n_labels,)
        ):
            raise InputError("the vectors are damaged: their arrays do not fit each other.")
        check_numbers(self.features, self.labels, self.constants)

    def copy(self) -> Vectors:
        """A copy of the vectors."""
        return Vectors(
            self.features.copy(), self.labels.copy(), self.constants.copy(), self.is_trained
        )

    def grown(self, n_labels: int) -> Vectors:
        """The same with further labels, which are not trained."""
        n_new = n_labels - len(self.labels)
        if n_new <= 0:
            return self
        return replace(
            self,
            labels=np.pad(self.labels, ((0, n_new), (0, 0))),
            constants=np.pad(self.constants, (0, n_new)),
            is_trained=np.pad(self.is_trained, (0, n_new)),
        )

    def of_rows(self, rows: sparse.csr_array, n_jobs: int | None = None) -> NDArray[np.float32]:
        """The vectors of weighted rows."""
        from manylabel.kernels import vectors
        from manylabel.kernels.index import Rows

        given, members = Rows(*csr_parts(rows, np.float32)), np.arange(rows.shape[0])
        out = np.empty((rows.shape[0], self.features.shape[1]), np.float32)

        def work(first: int, last: int) -> None:
            vectors.sum_vectors(first, last, members, given, self.features, out)

        run_blocks(work, rows.shape[0], _ROWS, n_jobs)
        return out

    def scores(
        self, rows: sparse.csr_array, candidates: sparse.csr_array, n_jobs: int | None
    ) -> NDArray[np.float64]:
        """A score of each candidate of weighted rows."""
        return self.products(self.of_rows(rows, n_jobs), candidates, n_jobs)

    def products(
        self, hidden: NDArray[np.float32], candidates: sparse.csr_array, n_jobs: int | None
    ) -> NDArray[np.float64]:
        """The same for rows whose vectors are known."""
        from manylabel.kernels import vectors

        ptr, labels, _ = csr_parts(candidates)
        out = np.empty(labels.size)

        def work(first: int, last: int) -> None:
            vectors.candidate_products(
                first, last, hidden, self.labels, self.constants, ptr, labels, out
            )

        run_blocks(work, hidden.shape[0], _ROWS, n_jobs)
        return out

    def best(
        self,
        rows: sparse.csr_array,
        top: int,
        n_jobs: int | None = None,
        hidden: NDArray[np.float32] | None = None,
    ) -> sparse.csr_array:
        """The labels with the highest scores of weighted rows, as ones.

        Of labels with the same score, the first are taken. Labels that are not trained are left
        out; a row without features has none. ``hidden`` has the rows' vectors, if they are known.
        """
        from manylabel.kernels import vectors

        n_rows, n_known = rows.shape[0], self._n_trained
        hidden = self.of_rows(rows, n_jobs) if hidden is None else hidden
        if n_rows == 1 and rows.indptr[1] and n_known:
            return self._best_of_one(hidden, min(top, n_known))
        # Matrix products of different sizes round differently: choose among a few more.
        n_chosen, top = min(top + _EXTRA_LABELS, n_known), min(top, n_known)
        chosen = np.empty((n_rows, n_chosen), np.int32)

        def work(first: int, last: int) -> None:
            scores = hidden[first:last] @ self.labels.T
            scores += self._shift
            vectors.best_places(scores, chosen[first:last])

        with single_threaded_blas():
            run_blocks(work, n_rows, _ROWS, n_jobs)
        chosen.sort(axis=1)
        shape = n_rows, len(self.labels)
        ptr = pointers(np.full(n_rows, n_chosen))
        pattern = trusted_csr(np.ones(chosen.size, np.int8), chosen.ravel(), ptr, shape)
        scores = self.products(hidden, pattern, n_jobs).reshape(chosen.shape)
        order = np.sort(np.argsort(-scores, axis=1, kind="stable")[:, :top], axis=1)
        labels = np.take_along_axis(chosen, order, axis=1)[np.diff(rows.indptr) > 0].ravel()
        lengths = np.where(np.diff(rows.indptr) > 0, top, 0)
        return trusted_csr(np.ones(labels.size, np.int8), labels, pointers(lengths), shape)

    def _best_of_one(self, hidden: NDArray[np.float32], top: int) -> sparse.csr_array:
        """The same for a single row, whose labels are ruled out by rounded vectors first."""
        from manylabel.kernels import vectors

        unit = max(float(np.abs(hidden).max()), 1e-30) / min(2**15 - 1, 2**24 // hidden.size)
        length, spread = float(np.linalg.norm(hidden)), 0.6 * unit * hidden.size**0.5
        whole = np.rint(hidden[0] / np.float32(unit)).astype(np.int16)
        likely = np.empty(len(self.labels), np.int32)
        highest = np.empty(top, np.float32)
        n_likely = vectors.likely_labels(
            self._rounded, whole, unit, length, spread, self._shift, highest, likely
        )
        likely = likely[:n_likely]
        scores = np.empty(n_likely)
        ptr = np.array([0, n_likely])
        vectors.candidate_products(0, 1, hidden, self.labels, self.constants, ptr, likely, scores)
        labels = likely[np.sort(np.argsort(-scores, kind="stable")[:top])]
        ptr = np.array([0, labels.size], np.int32)
        return trusted_csr(np.ones(labels.size, np.int8), labels, ptr, (1, len(self.labels)))

    @cached_property
    def _rounded(self) -> RoundedVectors:
        from manylabel.kernels.vectors import RoundedVectors

        units = np.maximum(np.abs(self.labels).max(axis=1), np.float32(1e-30)) / np.float32(127)
        codes = np.rint(self.labels / units[:, None]).astype(np.int8)
        lost = self.labels - codes * units[:, None]
        errors, lengths = (np.sqrt(np.einsum("ij,ij->i", e, e)) for e in (lost, self.labels))
        # What single precision loses here is far below a thousandth.
        return RoundedVectors(
            codes,
            *(e.astype(np.float64) for e in (units, 1.001 * errors, 1.001 * (lengths + errors))),
        )

    @cached_property
    def _n_trained(self) -> int:
        return int(np.count_nonzero(self.is_trained))

    @cached_property
    def _shift(self) -> NDArray[np.float32]:
        """The constants; minus infinity for labels that are not trained."""
        return np.where(self.is_trained, self.constants, np.float32(-np.inf))

    def shares(
        self, rows: sparse.csr_array, row: int
    ) -> Callable[[int], tuple[NDArray[np.int32], NDArray[np.float64], float]]:
        """A function from a label to the shares of a row's features, and the constant."""
        span = slice(rows.indptr[row], rows.indptr[row + 1])
        features, values = rows.indices[span], rows.data[span].astype(np.float64)
        vectors = self.features[features].astype(np.float64) * values[:, None]

        def of(label: int) -> tuple[NDArray[np.int32], NDArray[np.float64], float]:
            own = self.labels[label].astype(np.float64)
            return features, vectors @ own, float(self.constants[label])

        return of
