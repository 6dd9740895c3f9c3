"""phi': topics that are distributions over labels, learned from label sets alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.topics.fold import own_credit
from manylabel.topics.word_labels import WordLabels

__all__ = ["LabelTopics", "TopicRows", "no_topic", "one_topic"]

#: New labels have at least this weight in every topic, so that they can be folded in.
_LEAST_BETA = 1e-12


class TopicRows(NamedTuple):
    """The arrays of phi' that the kernels read, and its products with a phi."""

    pointers: NDArray[np.int64]
    labels: NDArray[np.int32]
    phi: NDArray[np.float64]
    sums: NDArray[np.float64]
    smooth_sums: NDArray[np.float64]
    label_pointers: NDArray[np.int64]
    label_topics: NDArray[np.int32]
    label_phi: NDArray[np.float64]
    smooth: NDArray[np.float64]
    words: NDArray[np.float32]
    word_sums: NDArray[np.float64]
    mass: NDArray[np.float64]
    pair_sums: NDArray[np.float64]
    pair_guides: NDArray[np.int32]


@dataclass(frozen=True)
class LabelTopics:
    r"""The topic-label distributions of one chain.

    :math:`\phi'_{tc} = (n_{tc} + \beta) / (n_t + C \beta)`, kept as counts of the pairs that occur.

    Parameters
    ----------
    counts : csr_array of shape (n_topics, n_labels), float64
    beta : float
    """

    counts: sparse.csr_array
    beta: float

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        return self.counts.shape[0]

    def _divisors(self) -> NDArray[np.float64]:
        divisors = np.asarray(self.counts.sum(axis=1)).ravel() + self.counts.shape[1] * self.beta
        return np.maximum(divisors, np.finfo(float).tiny)

    def of_topic(self, topic: int) -> NDArray[np.float64]:
        """The distribution of one topic over all labels."""
        return (self.counts[[topic]].toarray().ravel() + self.beta) / self._divisors()[topic]

    def of_labels(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """The probabilities of some labels, by topic and label."""
        return (self.counts[:, labels].toarray() + self.beta) / self._divisors()[:, None]

    def toarray(self) -> NDArray[np.float64]:
        """The dense matrix of shape (n_topics, n_labels)."""
        return (self.counts.toarray() + self.beta) / self._divisors()[:, None]

    def with_labels(self, Y: sparse.csr_array, gamma: float) -> LabelTopics:
        """Fold in documents: their labels go to the topics of the document and the label (eq. 10).

        ``gamma`` is the prior weight of each topic. Y may have new labels.
        """
        shape = (self.n_topics, Y.shape[1])
        arrays = (self.counts.data, self.counts.indices, self.counts.indptr)
        counts = sparse.csr_array(arrays, shape=shape)
        every_topic = sparse.csr_array(np.ones((Y.shape[0], self.n_topics)))
        known = WordLabels.from_counts(counts.T.tocsr(), max(self.beta, _LEAST_BETA))
        added = own_credit(known, Y.astype(np.float64), every_topic, 0.0, gamma)
        return LabelTopics(sparse.csr_array(counts + added.T.tocsr()), self.beta)

    def rows(self, word_labels: WordLabels) -> TopicRows:
        """The arrays that the kernels read, with products of phi and phi'; cached."""
        made_for, rows = self.__dict__.get("_rows", (None, None))
        if made_for is not word_labels:
            rows = self._make_rows(word_labels)
            self.__dict__["_rows"] = (word_labels, rows)
        return rows

    def _make_rows(self, word_labels: WordLabels) -> TopicRows:
        from manylabel.kernels.lda_pairs import row_sums

        divisors = self._divisors()
        by_topic = sparse.csr_array(self.counts, copy=True)
        by_topic.sort_indices()
        by_topic.data = by_topic.data / np.repeat(divisors, np.diff(by_topic.indptr))
        by_label = by_topic.T.tocsr()
        pointers = by_topic.indptr.astype(np.int64)
        labels = by_topic.indices.astype(np.int32)
        sparse_phi = sparse.csr_array(
            (word_labels.phi, word_labels.labels, word_labels.pointers),
            shape=(word_labels.n_words, word_labels.n_labels),
        )
        words = np.asarray((sparse_phi @ by_label).toarray(), np.float32)
        return TopicRows(
            pointers,
            labels,
            by_topic.data,
            row_sums(pointers, by_topic.data),
            row_sums(pointers, by_topic.data * word_labels.smooth[labels]),
            by_label.indptr.astype(np.int64),
            by_label.indices.astype(np.int32),
            by_label.data,
            self.beta / divisors,
            words,
            words.sum(axis=1, dtype=np.float64),
            by_topic @ word_labels.smooth,
            *self._pair_sums(word_labels),
        )

    def _pair_sums(self, word_labels: WordLabels) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """For a single topic, the running sums of phi phi' over the labels of each word."""
        from manylabel.kernels.lda_pairs import row_guides, row_sums

        if self.n_topics != 1:
            return np.zeros(0), np.zeros(0, np.int32)
        counted = self.counts.toarray().ravel() / self._divisors()
        sums = row_sums(word_labels.pointers, word_labels.phi * counted[word_labels.labels])
        return sums, row_guides(word_labels.pointers, sums)

    def _store_state(self) -> dict[str, Any]:
        """The state to store: without the rows, which can be rebuilt."""
        return {"counts": self.counts, "beta": self.beta}

    def __deepcopy__(self, memo: Any) -> LabelTopics:
        """Itself: it is immutable."""
        return self


def one_topic(Y: sparse.csr_array, beta: float) -> LabelTopics:
    """Prior-LDA's only topic: how often each label occurs.

    Examples
    --------
    >>> one_topic(sparse.csr_array([[1, 0], [1, 1]]), 1.0).toarray().tolist()
    [[0.6, 0.4]]
    """
    return LabelTopics(sparse.csr_array(Y.sum(axis=0, dtype=np.float64)[None, :]), beta)


def no_topic(n_labels: int) -> LabelTopics:
    """An empty set of topics, for Flat-LDA."""
    return LabelTopics(sparse.csr_array((0, n_labels), dtype=np.float64), 0.0)
