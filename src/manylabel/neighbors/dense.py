"""Exact neighbours among dense rows, such as embeddings of sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manylabel.exceptions import InputError
from manylabel.neighbors.removing import RemovableRows
from manylabel.neighbors.strategies import Neighbors
from manylabel.parallel import Callback, run_blocks, single_threaded_blas
from manylabel.validation import check_dense, check_whole

__all__ = ["DenseIndex"]

#: Queries and rows per matrix product: 4 MB of products.
_QUERIES, _ROWS = 128, 8_192
#: Pairs of a query and a row whose similarity is computed exactly at a time.
_PAIRS = 1_024


class DenseIndex(RemovableRows):
    """The k most similar rows by cosine, exactly, among dense rows.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Rows are scaled to unit length. Rows of zeros are never found.

    Attributes
    ----------
    n_rows : int
        Row numbers in use, including removed rows.
    n_features : int

    Notes
    -----
    The index takes 4 bytes per number. A search multiplies matrices in single precision. Rows whose
    product is near the k-th greatest or above, within a bound for the rounding errors, are
    compared again in double precision, feature by feature. So the answer depends neither on the
    number of threads nor on the other queries.

    Examples
    --------
    >>> index = DenseIndex([[1.0, 0.2], [-1, 1], [0.5, 0.5]])
    >>> neighbors = index.search([[2, 1]], k=2)
    >>> neighbors.indices.tolist(), neighbors.similarities.round(3).tolist()
    ([[0, 2]], [[0.9649999737739563, 0.9490000009536743]])
    """

    def __init__(self, X: Any) -> None:
        rows = check_dense(X)
        self.n_features = int(rows.shape[1])
        # Replaced, never changed: a result that was kept can be checked for being up to date.
        self._pieces: tuple[NDArray[np.float32], ...] = (_unit(rows),)
        self._alive = np.empty(0, np.bool_)

    @property
    def n_rows(self) -> int:
        """Row numbers in use, including removed rows."""
        return sum(map(len, self._pieces))

    @property
    def state(self) -> tuple[object, object]:
        """Two objects that stay the same as long as the same rows can be found."""
        return self._pieces, self._alive

    def search(
        self, Q: Any, k: int, *, n_jobs: int | None = None, callback: Callback | None = None
    ) -> Neighbors:
        """Find the k most similar rows of each query.

        Parameters
        ----------
        Q : array-like of shape (n_queries, n_features)
        k : int
            Capped at the number of rows.
        n_jobs : int, optional
            Threads.
        callback : callable, optional
            Called with (queries done, total queries).

        Returns
        -------
        Neighbors
            Only rows with a similarity above 0; of equally similar ones, the first.
        """
        queries = _unit(check_dense(Q, "Q", n_columns=self.n_features))
        return self._search(queries, np.full(len(queries), -1), k, n_jobs, callback)

    def search_self(
        self,
        k: int,
        *,
        rows: ArrayLike | None = None,
        n_jobs: int | None = None,
        callback: Callback | None = None,
    ) -> Neighbors:
        """Find the k most similar *other* rows of each row: leave-one-out.

        Parameters
        ----------
        k : int
        rows : array of int, optional
            Only these rows are queries; all by default.
        n_jobs, callback
            As for :meth:`search`.
        """
        wanted = np.arange(self.n_rows) if rows is None else np.asarray(rows, np.int64)
        return self._search(self.rows(wanted), wanted, k, n_jobs, callback)

    def add(self, X: Any) -> NDArray[np.int64]:
        """Add rows; they are found from now on.

        Returns
        -------
        numbers : array of int64
            The new rows' numbers.
        """
        rows = _unit(check_dense(X, n_columns=self.n_features))
        numbers = np.arange(self.n_rows, self.n_rows + len(rows))
        pieces = [*self._pieces, rows]
        # So the number of pieces, and of times that a row is copied, is logarithmic in the number
        # of additions. The first piece may be a memory-mapped file.
        while len(pieces) > 2 and len(pieces[-2]) <= 2 * len(pieces[-1]):
            pieces[-2:] = [np.concatenate(pieces[-2:])]
        self._pieces = tuple(pieces)
        self._keep_new(numbers.size)
        return numbers

    def compact(self) -> NDArray[np.int64]:
        """Drop removed rows and number the others from 0.

        Returns
        -------
        numbers : array of int64
            The old number of each row, in the order of the new numbers.
        """
        kept = self._kept()
        if self._alive.size or len(self._pieces) > 1:
            self._pieces, self._alive = (self.rows(kept),), np.empty(0, np.bool_)
        return kept

    def rows(self, numbers: ArrayLike | None = None) -> NDArray[np.float32]:
        """The indexed rows, of unit length."""
        if numbers is None:
            return np.concatenate(self._pieces)
        wanted = np.asarray(numbers, np.int64)
        if len(self._pieces) == 1:
            return np.asarray(self._pieces[0][wanted])
        out = np.empty((wanted.size, self.n_features), np.float32)
        ends = np.cumsum([len(piece) for piece in self._pieces])
        home = np.searchsorted(ends, wanted, side="right")
        for place, piece in enumerate(self._pieces):
            mine = home == place
            out[mine] = piece[wanted[mine] - ends[place] + len(piece)]
        return out

    def _check_stored(self) -> None:
        """Refuse rows that do not fit each other, and values that no unit row has."""
        for piece in self._pieces:
            if (
                piece.ndim != 2
                or piece.shape[1] != self.n_features
                or piece.dtype != np.float32
                or (piece.size and not (piece.min() >= -1.001 and piece.max() <= 1.001))
            ):
                raise InputError("the dense index is damaged: its rows are not of unit length.")
        self._check_alive("dense index")

    def _search(
        self,
        queries: NDArray[np.float32],
        skip: NDArray[np.int64],
        k: int,
        n_jobs: int | None,
        callback: Callback | None,
    ) -> Neighbors:
        """Search for blocks of unit queries; ``skip`` is a row to leave out for each, or -1."""
        k = min(check_whole("k", k, 1), max(self.n_rows, 1))
        indices = np.full((len(queries), k), -1, np.int32)
        similarities = np.zeros((len(queries), k), np.float32)
        compared = np.zeros(len(queries), np.int64)

        def work(first: int, last: int) -> None:
            some = queries[first:last]
            at, numbers = self._likely(some, skip[first:last], k)
            exact = self._similarities(some, at, numbers)
            compared[first] = exact.size
            order = np.lexsort((numbers, -exact, at))
            order = order[exact[order] > 0]
            at = at[order]
            place = np.arange(at.size) - np.searchsorted(at, at)
            best = place < k
            at, place, order = at[best] + first, place[best], order[best]
            indices[at, place] = numbers[order]
            similarities[at, place] = exact[order]

        with single_threaded_blas():
            run_blocks(work, len(queries), _QUERIES, n_jobs, callback)
        return Neighbors(indices, similarities, "blas", int(compared.sum()), 0)

    def _likely(
        self, queries: NDArray[np.float32], skip: NDArray[np.int64], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs of a query and a row that may be one of its k nearest, whatever the rounding.

        A product in single precision differs from the exact one by at most ``n_features`` times the
        unit roundoff, 2^-24, because the rows are of unit length. A row that is below the k-th
        greatest product by twice that, and by what rounding the exact similarity may add, has k
        rows above it.
        """
        slack = 2.1 * (self.n_features + 1) * 2.0**-24
        floor = np.full(len(queries), -slack, np.float32)
        greatest = np.zeros((len(queries), k), np.float32)
        found_at, found = np.empty(0, np.int64), np.empty(0, np.int64)
        values, offset = np.empty(0, np.float32), 0
        for piece in self._pieces:
            for start in range(0, len(piece), _ROWS):
                products = queries @ piece[start : start + _ROWS].T
                begin, end = offset + start, offset + start + products.shape[1]
                if self._alive.size:
                    products[:, ~self._alive[begin:end]] = -np.inf
                own = np.flatnonzero((skip >= begin) & (skip < end))
                products[own, skip[own] - begin] = -np.inf
                at, columns = np.nonzero(products >= floor[:, None])
                if not at.size:
                    continue
                new = products[at, columns]
                greatest = _greatest(greatest, at, new)
                floor = (greatest[:, 0] - slack).astype(np.float32)
                found_at = np.concatenate([found_at, at])
                found = np.concatenate([found, columns + begin])
                values = np.concatenate([values, new])
                likely = values >= floor[found_at]
                found_at, found, values = found_at[likely], found[likely], values[likely]
            offset += len(piece)
        return found_at, found

    def _similarities(
        self, queries: NDArray[np.float32], at: NDArray[np.int64], numbers: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """The exact similarity of each pair: products added from the left, and rounded once."""
        exact = np.empty(at.size, np.float32)
        for start in range(0, at.size, _PAIRS):
            some = slice(start, start + _PAIRS)
            products = self.rows(numbers[some]).astype(np.float64)
            products *= queries[at[some]]
            # Other sums of NumPy choose the order of additions by the shape.
            exact[some] = np.cumsum(products, axis=1, out=products)[:, -1]
        return exact


def _greatest(
    known: NDArray[np.float32], at: NDArray[np.int64], new: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The k greatest values of each row, the least of them first, after new ones have come."""
    n_rows, k = known.shape
    counts = np.bincount(at, minlength=n_rows)
    place = np.arange(at.size) - np.repeat(np.cumsum(counts) - counts, counts)
    every = np.full((n_rows, k + int(counts.max())), -np.inf, np.float32)
    every[:, :k] = known
    every[at, k + place] = new
    width = every.shape[1]
    return np.partition(every, width - k, axis=1)[:, width - k :]


def _unit(X: NDArray[Any]) -> NDArray[np.float32]:
    """Rows of unit length; rows of zeros as they are."""
    out = np.empty(X.shape, np.float32)
    for start in range(0, len(X), _ROWS):
        rows = X[start : start + _ROWS].astype(np.float64)
        # A power of two, which rounds nothing: squares neither overflow nor vanish.
        _, exponents = np.frexp(np.abs(rows).max(axis=1, initial=0.0))
        rows = np.ldexp(rows, -exponents[:, None])
        lengths = np.sqrt(np.cumsum(rows * rows, axis=1)[:, -1:])
        out[start : start + _ROWS] = rows / np.where(lengths > 0, lengths, 1.0)
    return out
