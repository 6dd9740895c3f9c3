"""phi: how likely each word is under each label, stored for the pairs that occur together.

With it, :func:`expected_tokens` infers the labels of documents that have a few candidates each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.kernels.lookup import Lookup
from manylabel.parallel import run_blocks
from manylabel.scoring.lookups import Lookups
from manylabel.topics.schedule import CONVERGED, Schedule
from manylabel.validation import check_numbers, check_rows, csr_parts, trusted_csr

__all__ = ["Pairs", "Rows", "WordLabels", "expected_tokens"]

#: Documents per task.
_BLOCK = 32


class Rows(NamedTuple):
    """The arrays of phi that the kernels read."""

    pointers: NDArray[np.int64]
    labels: NDArray[np.int32]
    phi: NDArray[np.float64]
    sums: NDArray[np.float64]
    smooth: NDArray[np.float64]
    smooth_sums: NDArray[np.float64]
    dense_at: NDArray[np.int32]
    dense: NDArray[np.float32]
    guides: NDArray[np.int32]


class Pairs(NamedTuple):
    """The arrays of phi that the kernels for a few candidates read."""

    pointers: NDArray[np.int64]
    labels: NDArray[np.int32]
    phi: NDArray[np.float64]
    smooth: NDArray[np.float64]
    lookup: Lookup


#: A word that occurs with more than one in this many labels has a dense row.
_DENSE = 8


@dataclass(frozen=True)
class WordLabels:
    r"""The label-word distributions of a trained model.

    :math:`\phi_{wc} = (n_{wc} + \beta) / (n_c + V \beta)` is the sum of a part that is zero unless
    word and label occurred together, and a part that is the same for every word.

    Parameters
    ----------
    pointers : ndarray of int64, shape (n_words + 1,)
        Where the pairs of each word start.
    labels : ndarray of int32, shape (n_pairs,)
        The pairs' labels, ascending for each word.
    phi : ndarray of float64, shape (n_pairs,)
        The first part.
    smooth : ndarray of float64, shape (n_labels,)
        The second part.
    tokens : ndarray of float64, shape (n_labels,)
        The number of tokens of each label.
    beta : float
    """

    pointers: NDArray[np.int64]
    labels: NDArray[np.int32]
    phi: NDArray[np.float64]
    smooth: NDArray[np.float64]
    tokens: NDArray[np.float64]
    beta: float

    def _check_stored(self) -> None:
        """Refuse pairs of words and labels that do not exist."""
        check_rows(self.pointers, self.labels, self.n_labels, self.phi)
        if self.tokens.shape != (self.n_labels,):
            raise InputError("the words of labels are damaged.")
        check_numbers(self.phi, self.smooth, self.tokens)

    @property
    def n_words(self) -> int:
        """The number of words."""
        return self.pointers.size - 1

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return self.smooth.size

    def pairs_for(self, n_documents: int) -> Pairs:
        """The arrays that the kernels for a few candidates of each document read."""
        lookup = self._lookups.after(n_documents)
        return Pairs(self.pointers, self.labels, self.phi, self.smooth, lookup)

    @cached_property
    def _lookups(self) -> Lookups:
        """Where the pairs of single labels are, for words with many."""
        return Lookups(self.pointers, self.labels, self.n_labels)

    @cached_property
    def rows(self) -> Rows:
        """The arrays that the kernels read."""
        from manylabel.kernels.lda_pairs import row_guides, row_sums

        sums = row_sums(self.pointers, self.phi)
        return Rows(
            self.pointers,
            self.labels,
            self.phi,
            sums,
            self.smooth,
            np.cumsum(self.smooth),
            *self._dense_rows(),
            row_guides(self.pointers, sums),
        )

    def _dense_rows(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The dense row of each word, or -1, and the dense rows of frequent words."""
        often = np.flatnonzero(np.diff(self.pointers) * _DENSE > self.n_labels)
        dense_at = np.full(self.n_words, -1, np.int32)
        dense_at[often] = np.arange(often.size)
        dense = np.zeros((often.size, self.n_labels), np.float32)
        for row, word in enumerate(often):
            pairs = slice(self.pointers[word], self.pointers[word + 1])
            dense[row, self.labels[pairs]] = self.phi[pairs]
        return dense_at, dense

    @cached_property
    def by_label(self) -> sparse.csc_array:
        """The first part by column, that is, by label."""
        shape = (self.n_words, self.n_labels)
        return sparse.csr_array((self.phi, self.labels, self.pointers), shape=shape).tocsc()

    def of_label(self, label: int) -> NDArray[np.float64]:
        """The distribution of one label over all words."""
        distribution = np.full(self.n_words, self.smooth[label])
        start, stop = self.by_label.indptr[label : label + 2]
        distribution[self.by_label.indices[start:stop]] += self.by_label.data[start:stop]
        return distribution

    def toarray(self) -> NDArray[np.float64]:
        """The dense matrix of shape (n_words, n_labels), for small models."""
        return self.by_label.toarray() + self.smooth

    @classmethod
    def from_counts(cls, counts: sparse.csr_array, beta: float) -> WordLabels:
        """From counts of pairs (eq. 3).

        Parameters
        ----------
        counts : csr_array of shape (n_words, n_labels)
        beta : float

        Examples
        --------
        >>> WordLabels.from_counts(sparse.csr_array([[2.0], [0.0]]), 1.0).toarray().ravel().tolist()
        [0.75, 0.25]
        """
        counts = sparse.csr_array(counts)
        counts.sort_indices()
        tokens = np.asarray(counts.sum(axis=0), np.float64).ravel()
        divisors = tokens + counts.shape[0] * beta
        labels = counts.indices.astype(np.int32, copy=False)
        return cls(
            counts.indptr.astype(np.int64, copy=False),
            labels,
            counts.data / divisors[labels],
            beta / divisors,
            tokens,
            beta,
        )

    def with_counts(self, counts: sparse.csr_array) -> WordLabels:
        """Add counts of (word, label) pairs; ``counts`` may have more labels."""
        before = np.zeros(counts.shape[1])
        before[: self.n_labels] = self.tokens + self.n_words * self.beta
        own = (self.phi * before[self.labels], self.labels, self.pointers)
        return self.from_counts(sparse.csr_array(own, shape=counts.shape) + counts, self.beta)

    def __deepcopy__(self, memo: Any) -> WordLabels:
        """Itself: it is immutable."""
        return self


def expected_tokens(
    word_labels: WordLabels,
    X: sparse.csr_array,
    priors: sparse.csr_array,
    *,
    inference: str,
    schedule: Schedule,
    seed: int = 0,
    n_jobs: int | None = None,
    wanted: NDArray[np.int32] | None = None,
    credit: NDArray[np.float64] | None = None,
) -> sparse.csr_array:
    """The mean number of each document's tokens that go to each of its candidates.

    Parameters
    ----------
    word_labels : WordLabels
    X : csr_array of shape (n_documents, n_words)
    priors : csr_array of shape (n_documents, n_labels)
        The stored labels are a document's candidates, the values their prior weights.
    inference : {"cgs", "cgs_p", "cvb0"}
    schedule : Schedule
    seed : int
    n_jobs : int, optional
    wanted, credit : ndarray, optional
        For a single document: ``wanted`` maps each candidate to a column of ``credit`` or to -1.
        The candidate's tokens of each word are added to that column.

    Returns
    -------
    tokens : csr_array like ``priors``

    Examples
    --------
    >>> known = WordLabels.from_counts(sparse.csr_array([[5.0, 0], [0, 5]]), 0.1)
    >>> plan = Schedule(chains=1, burn_in=10, samples=1, lag=1)
    >>> X, priors = sparse.csr_array([[3.0, 1]]), sparse.csr_array([[0.1, 0.1]])
    >>> tokens = expected_tokens(known, X, priors, inference="cvb0", schedule=plan)
    >>> tokens.toarray().round().tolist()
    [[3.0, 1.0]]
    """
    from manylabel.kernels import lda_subset

    documents, labels = csr_parts(X, np.float64), csr_parts(priors, np.float64)
    tokens = np.zeros(priors.nnz)
    if wanted is None or credit is None:
        wanted, credit = np.empty(0, np.int32), np.empty((0, 0))
    rows, findings = word_labels.pairs_for(X.shape[0]), (tokens, wanted, credit)
    plan = (schedule.chains, schedule.burn_in, schedule.samples, schedule.lag)
    soft, stream = inference == "cgs_p", np.uint64(seed)

    def work(start: int, stop: int) -> None:
        given = (start, stop, documents, rows, labels)
        if inference == "cvb0":
            lda_subset.expect_candidates(*given, schedule.sweeps, CONVERGED, findings)
        else:
            lda_subset.sample_candidates(*given, plan, stream, soft, findings)

    run_blocks(work, X.shape[0], _BLOCK, n_jobs)
    return trusted_csr(tokens, priors.indices, priors.indptr, priors.shape)
