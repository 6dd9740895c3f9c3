"""Unlabelled documents over all labels, in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.topics.label_topics import TopicRows
from manylabel.topics.schedule import Schedule
from manylabel.topics.word_labels import Rows
from manylabel.validation import csr_parts

__all__ = ["SETTLED", "Documents", "Sampler", "lengths"]

#: CVB0 stops when a sweep moves no more than this share of a document.
SETTLED = 1e-3


def lengths(X: sparse.csr_array) -> NDArray[np.float64]:
    """The weight of each document: its number of words, if it holds counts."""
    return np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()


@dataclass(frozen=True)
class Documents:
    """Rows of counts as arrays, with each row's prior weights."""

    pointers: NDArray[np.int64]
    words: NDArray[np.int32]
    values: NDArray[np.float64]
    etas: NDArray[np.float64]
    alphas: NDArray[np.float64]

    @classmethod
    def of(
        cls, X: sparse.csr_array, etas: NDArray[np.float64], alphas: NDArray[np.float64]
    ) -> Documents:
        """Of a canonical matrix."""
        return cls(*csr_parts(X, np.float64), etas, alphas)


@dataclass(frozen=True)
class Sampler:
    """Everything that prediction needs besides the documents.

    Parameters
    ----------
    rows : Rows
        Of phi.
    topics : list of TopicRows
        Of each phi'; the chains are spread over them.
    gamma : float
        The prior weight of each topic.
    inference : {"cgs", "cgs_p", "cvb0"}
    schedule : Schedule
    seed : int
    label_tokens : int, optional
        Sample so many label tokens (eq. 9) instead of passing labels straight to the topics.
    """

    rows: Rows
    topics: list[TopicRows]
    gamma: float
    inference: str
    schedule: Schedule
    seed: int
    label_tokens: int | None = None

    def run(
        self, documents: Documents, start: int, stop: int, wanted: Any = None, credit: Any = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean tokens and mean prior of every label, for the rows ``start`` to ``stop``.

        ``wanted`` maps labels to columns of ``credit``, where the tokens of a single document are
        added by word and label.
        """
        from manylabel.kernels import cvb0, label_tokens, labelling

        n_labels = self.rows.smooth.size
        shape = (stop - start, n_labels)
        counts, priors = np.zeros(shape), np.zeros(shape)
        if wanted is None:
            wanted, credit = np.full(n_labels, -1, np.int32), np.zeros((0, 0))
        plan = self.schedule
        chains = -(-plan.chains // len(self.topics))
        sampling = (chains, plan.burn_in, plan.samples, plan.lag)
        outputs = (counts, priors, wanted, credit)
        for number, topics in enumerate(self.topics):
            given = (
                start, stop, documents.pointers, documents.words, documents.values,
                self.rows, topics, documents.etas, documents.alphas, self.gamma,
            )  # fmt: skip
            seed, soft = np.uint64(self.seed + number), self.inference == "cgs_p"
            if self.inference == "cvb0":
                cvb0.expect_labels(*given, plan.sweeps, SETTLED, *outputs)
            elif self.label_tokens is not None:
                label_tokens.label_documents(
                    *given, self.label_tokens, *sampling, seed, soft, *outputs
                )
            else:
                labelling.label_documents(*given, *sampling, seed, soft, *outputs)
        for array in (counts, priors, credit):
            array /= len(self.topics)
        return counts, priors
