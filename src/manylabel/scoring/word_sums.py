"""A dense view of documents that is a sum over their words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.validation import check_dense, check_matrix

__all__ = ["WordSums"]


class WordSums:
    """Rows that are weighted sums of the vectors of words: a dense view with reasons.

    It can be used like the array ``rows @ vectors``. Because it says what it is a sum of, whatever
    is linear in it can be divided among the words.

    Parameters
    ----------
    rows : sparse matrix of shape (n_documents, n_features)
        Weights of words, with the columns of the documents' counts.
    vectors : array-like of shape (n_features, size)
        A vector of each word.

    Examples
    --------
    >>> sums = WordSums(sparse.csr_array([[1, 0], [1, 2]]), [[1.0, 0], [0, 3]])
    >>> np.asarray(sums).tolist()
    [[1.0, 0.0], [1.0, 6.0]]
    >>> sums[1:].shape
    (1, 2)
    """

    def __init__(self, rows: Any, vectors: Any) -> None:
        self.rows = check_matrix(rows, "rows", non_negative=False)
        self.vectors = check_dense(vectors, "vectors")
        n_words = self.rows.shape[1]
        if len(self.vectors) != n_words:
            raise InputError(
                f"`vectors` must have a row for each of the {n_words} columns of `rows`; "
                f"got {len(self.vectors)}."
            )

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of documents and columns."""
        return self.rows.shape[0], self.vectors.shape[1]

    def __len__(self) -> int:
        return self.rows.shape[0]

    def __getitem__(self, rows: Any) -> WordSums:
        """Some of the documents."""
        return WordSums(self.rows[rows], self.vectors)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.rows @ self.vectors, dtype)

    def shares(self, directions: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """What each word adds to the products of the first document with some directions.

        Returns
        -------
        words : ndarray
            Columns of ``rows``.
        shares : ndarray of shape (n_directions, n_words)
        """
        span = slice(self.rows.indptr[0], self.rows.indptr[1])
        words = self.rows.indices[span].astype(np.int64)
        vectors = self.vectors[words].astype(np.float64) * self.rows.data[span][:, None]
        return words, directions.astype(np.float64) @ vectors.T

    @classmethod
    def stacked(cls, parts: list[WordSums]) -> WordSums:
        """Concatenate documents, whose words have the same vectors."""
        return cls(sparse.vstack([part.rows for part in parts], "csr"), parts[0].vectors)
