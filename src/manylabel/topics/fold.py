"""New labelled documents, credited to their labels by what is known already."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.topics.sampling import SETTLED
from manylabel.topics.word_labels import WordLabels
from manylabel.validation import csr_parts

__all__ = ["own_credit"]

#: Sweeps of CVB0 over each new document.
_SWEEPS = 30


def own_credit(
    word_labels: WordLabels, X: sparse.csr_array, Y: sparse.csr_array, eta: float, alpha: float
) -> sparse.csr_array:
    """Expected tokens of each (word, label) pair of new documents; labels may be new."""
    from manylabel.kernels import candidates

    n_words, n_labels = X.shape[1], Y.shape[1]
    known = word_labels.with_counts(sparse.csr_array((n_words, n_labels)))
    pointers, words, values = csr_parts(X, np.float64)
    label_ptr, labels, _ = csr_parts(Y, np.float64)
    n_own = np.diff(label_ptr)
    prior = np.repeat(eta / np.maximum(n_own, 1) + alpha, n_own)
    # One-dimensional arrays of words, labels and tokens, a document each.
    found: list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]] = []
    for row in range(X.shape[0]):
        entries = slice(pointers[row], pointers[row + 1])
        own = labels[label_ptr[row] : label_ptr[row + 1]]
        credit = np.zeros((entries.stop - entries.start, own.size))
        candidates.expect_candidates(
            row,
            row + 1,
            pointers,
            words,
            values,
            known.rows,
            label_ptr,
            labels,
            prior,
            _SWEEPS,
            SETTLED,
            np.zeros(labels.size),
            np.arange(own.size, dtype=np.int32),
            credit,
        )
        pair_words = np.repeat(words[entries], own.size)
        found.append((pair_words, np.tile(own, credit.shape[0]), credit.ravel()))
    if not found:
        return sparse.csr_array((n_words, n_labels))
    pair_words, pair_labels, tokens = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return sparse.csr_array((tokens, (pair_words, pair_labels)), shape=(n_words, n_labels))
