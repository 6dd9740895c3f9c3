"""Fold in new labelled documents: credit their words to their labels by the current phi."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.topics.schedule import CONVERGED
from manylabel.topics.word_labels import WordLabels
from manylabel.validation import csr_parts

__all__ = ["own_credit"]

#: Sweeps of CVB0 over each new document.
_SWEEPS = 30
#: Documents per batch; a batch's credit is collected before it is added up.
_BATCH = 1024


def own_credit(
    word_labels: WordLabels, X: sparse.csr_array, Y: sparse.csr_array, eta: float, alpha: float
) -> sparse.csr_array:
    """Expected tokens of each (word, label) pair of new documents; labels may be new.

    Examples
    --------
    >>> known = WordLabels.from_counts(sparse.csr_array([[5.0, 0], [0, 5]]), 0.1)
    >>> X, Y = sparse.csr_array([[2.0, 1]]), sparse.csr_array([[1, 1]])
    >>> own_credit(known, X, Y, 1.0, 0.0).toarray().round().tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    total = sparse.csr_array((X.shape[1], Y.shape[1]))
    known = word_labels.with_counts(total)
    for start in range(0, X.shape[0], _BATCH):
        batch = slice(start, start + _BATCH)
        total = total + _batch_credit(known, X[batch], Y[batch], eta, alpha)
    return sparse.csr_array(total)


def _batch_credit(
    known: WordLabels, X: sparse.csr_array, Y: sparse.csr_array, eta: float, alpha: float
) -> sparse.csr_array:
    """The same for one batch, whose labels are all known."""
    from manylabel.kernels import lda_subset

    pointers, words, values = csr_parts(X, np.float64)
    label_ptr, labels, _ = csr_parts(Y, np.float64)
    n_own = np.diff(label_ptr)
    prior = np.repeat(eta / np.maximum(n_own, 1) + alpha, n_own)
    unused, pairs = np.zeros(labels.size), known.pairs_for(X.shape[0])
    # One-dimensional arrays of words, labels and tokens, per document.
    credited: list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]] = []
    for row in range(X.shape[0]):
        entries = slice(pointers[row], pointers[row + 1])
        own = labels[label_ptr[row] : label_ptr[row + 1]]
        credit = np.zeros((entries.stop - entries.start, own.size))
        lda_subset.expect_candidates(
            row,
            row + 1,
            (pointers, words, values),
            pairs,
            (label_ptr, labels, prior),
            _SWEEPS,
            CONVERGED,
            (unused, np.arange(own.size, dtype=np.int32), credit),
        )
        pair_words = np.repeat(words[entries], own.size)
        credited.append((pair_words, np.tile(own, credit.shape[0]), credit.ravel()))
    pair_words, pair_labels, tokens = (
        np.concatenate(arrays) for arrays in zip(*credited, strict=True)
    )
    shape = (X.shape[1], Y.shape[1])
    return sparse.csr_array((tokens, (pair_words, pair_labels)), shape=shape)
