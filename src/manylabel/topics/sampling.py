"""Infer the labels of unlabelled documents over all labels, in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.topics.label_topics import TopicRows
from manylabel.topics.schedule import CONVERGED, Schedule
from manylabel.topics.word_labels import Rows
from manylabel.validation import csr_parts

__all__ = ["Documents", "Findings", "Sampler"]

#: With no more labels and topics than this, adding up all of them is faster than a sparse draw.
FEW = 64


class Documents(NamedTuple):
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
        """From a canonical matrix."""
        return cls(*csr_parts(X, np.float64), etas, alphas)


class Findings(NamedTuple):
    """The results of inference: means over the samples.

    Parameters
    ----------
    counts, priors : ndarray of shape (n_documents, n_labels)
        Tokens of each label, and its prior weight.
    mixtures : ndarray of shape (n_documents, n_topics)
        The shares of the topics of labels.
    wanted : ndarray of int32, shape (n_labels,)
        The column of a label in ``credit``, or -1.
    credit : ndarray of shape (n_types, n_wanted)
        For a single document: tokens by word and label.
    """

    counts: NDArray[np.float64]
    priors: NDArray[np.float64]
    mixtures: NDArray[np.float64]
    wanted: NDArray[np.int32]
    credit: NDArray[np.float64]


@dataclass(frozen=True)
class Sampler:
    """Everything that prediction needs besides the documents.

    Parameters
    ----------
    rows : Rows
        Of phi.
    topics : list of TopicRows
        Of each phi'; the chains are distributed over them.
    gamma : float
        The prior weight of each topic.
    inference : {"cgs", "cgs_p", "cvb0"}
    schedule : Schedule
    seed : int
    label_tokens : int, optional
        Sample this many label tokens (eq. 9) instead of passing labels straight to the topics.
    few : int
        Up to this many labels and topics, every draw adds up all of them.
    """

    rows: Rows
    topics: list[TopicRows]
    gamma: float
    inference: str
    schedule: Schedule
    seed: int
    label_tokens: int | None = None
    few: int = FEW

    def run(
        self, documents: Documents, start: int, stop: int, labels: NDArray[np.int64] | None = None
    ) -> Findings:
        """Infer the labels of the rows ``start`` to ``stop``.

        With ``labels``, for a single document, tokens are credited to them word by word. The
        mixtures hold the topics of all phi' side by side.
        """
        from manylabel.kernels import lda_cvb0, lda_dependency, lda_few, lda_labelling

        n_rows, n_labels = stop - start, self.rows.smooth.size
        counts, priors = np.zeros((n_rows, n_labels)), np.zeros((n_rows, n_labels))
        wanted, credit = np.full(n_labels, -1, np.int32), np.zeros((0, 0))
        if labels is not None:
            wanted[labels] = np.arange(labels.size)
            n_types = documents.pointers[stop] - documents.pointers[start]
            credit = np.zeros((n_types, labels.size))
        plan = self.schedule
        chains = -(-plan.chains // len(self.topics))
        sampling = (chains, plan.burn_in, plan.samples, plan.lag)
        soft, mixtures = self.inference == "cgs_p", []
        for number, topics in enumerate(self.topics):
            mixtures.append(np.zeros((n_rows, topics.smooth.size)))
            findings = Findings(counts, priors, mixtures[-1], wanted, credit)
            given = (start, stop, documents, self.rows, topics, self.gamma)
            seed = np.uint64(self.seed + number)
            if self.inference == "cvb0":
                lda_cvb0.expect_labels(*given, plan.sweeps, CONVERGED, findings)
            elif self.label_tokens is not None:
                lda_dependency.label_documents(
                    *given, self.label_tokens, sampling, seed, soft, findings
                )
            elif not soft and max(n_labels, topics.smooth.size) <= self.few:
                lda_few.label_documents(*given, sampling, seed, findings)
            else:
                lda_labelling.label_documents(*given, sampling, seed, soft, findings)
        n = len(self.topics)
        return Findings(counts / n, priors / n, np.hstack(mixtures) / n, wanted, credit / n)
