"""Infer the labels of unlabelled documents that have a few candidates each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.parallel import run_blocks
from manylabel.topics.schedule import CONVERGED, Schedule
from manylabel.topics.word_labels import WordLabels
from manylabel.validation import csr_parts, trusted_csr

__all__ = ["expected_tokens"]

#: Documents per task.
_BLOCK = 32


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
    rows, findings = word_labels.pairs, (tokens, wanted, credit)
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
