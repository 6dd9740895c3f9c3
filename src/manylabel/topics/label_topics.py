"""phi': topics that are distributions over labels, learned from label sets alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.topics.word_labels import WordLabels

__all__ = ["LabelTopics", "TopicRows", "one_topic"]


class TopicRows(NamedTuple):
    """What the kernels read of phi', and what it makes of a phi."""

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
        """How many topics there are."""
        return self.counts.shape[0]

    def _divisors(self) -> NDArray[np.float64]:
        n_labels = self.counts.shape[1]
        return np.asarray(self.counts.sum(axis=1)).ravel() + n_labels * self.beta

    def of_topic(self, topic: int) -> NDArray[np.float64]:
        """The distribution of one topic over all labels."""
        return (self.counts[[topic]].toarray().ravel() + self.beta) / self._divisors()[topic]

    def toarray(self) -> NDArray[np.float64]:
        """The dense matrix of shape (n_topics, n_labels)."""
        return (self.counts.toarray() + self.beta) / self._divisors()[:, None]

    def with_labels(self, Y: sparse.csr_array) -> LabelTopics:
        """Fold in documents: their labels go to the topics that these distributions expect."""
        n_labels = Y.shape[1]
        counts = sparse.csr_array(
            (self.counts.data, self.counts.indices, self.counts.indptr),
            shape=(self.n_topics, n_labels),
        )
        grown = LabelTopics(counts, self.beta)
        n_documents = np.asarray(Y.sum(axis=0)).ravel()
        present = np.flatnonzero(n_documents)
        share = np.asarray(counts[:, present].todense()) + self.beta
        share /= grown._divisors()[:, None]
        share *= n_documents[present] / share.sum(axis=0)
        topic, column = np.nonzero(share > _KEPT)
        added = sparse.csr_array(
            (share[topic, column], (topic, present[column])), shape=counts.shape
        )
        return LabelTopics(sparse.csr_array(counts + added), self.beta)

    def rows(self, word_labels: WordLabels) -> TopicRows:
        """The arrays that the kernels take, with the products of phi and phi' they need."""
        from manylabel.kernels.pairs import row_sums

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
            self._pair_sums(word_labels),
        )

    def _pair_sums(self, word_labels: WordLabels) -> NDArray[np.float64]:
        """Of a single topic, the running sums of phi phi' over the labels of each word."""
        from manylabel.kernels.pairs import row_sums

        if self.n_topics != 1:
            return np.zeros(0)
        counted = self.counts.toarray().ravel() / self._divisors()
        return row_sums(word_labels.pointers, word_labels.phi * counted[word_labels.labels])

    def __deepcopy__(self, memo: Any) -> LabelTopics:
        """Itself: nothing ever changes it."""
        return self


#: Folding in keeps the topics that expect more of a label than this many tokens.
_KEPT = 1e-3


def one_topic(Y: sparse.csr_array, beta: float) -> LabelTopics:
    """Prior-LDA's only topic: how often each label occurs.

    Examples
    --------
    >>> one_topic(sparse.csr_array([[1, 0], [1, 1]]), 1.0).toarray().tolist()
    [[0.6, 0.4]]
    """
    return LabelTopics(sparse.csr_array(Y.sum(axis=0, dtype=np.float64)[None, :]), beta)


def no_topic(n_labels: int) -> LabelTopics:
    """Flat-LDA's lack of topics."""
    return LabelTopics(sparse.csr_array((0, n_labels), dtype=np.float64), 0.0)
