"""Run one long chain over partitions of the documents, which are swept at the same time.

Approximate distributed LDA (Newman et al., 2009): in each sweep every partition starts from the
total counts after the sweep before, and the changes of all partitions are added up. Random numbers
depend only on seed, sweep and document, so a sweep of a partition is a pure function: it can run
anywhere, and again after a fault, and the result is the same bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.parallel import current_place, map_blocks
from manylabel.topics.schedule import Progress, Schedule
from manylabel.topics.training import split_tokens

__all__ = ["CHECKPOINT", "Partitions", "SweptPartition", "sample_partitions"]

#: Sweeps between checkpoints, where blocks run at a place that saves them.
CHECKPOINT = 10


@dataclass(frozen=True, eq=False)
class Partitions:
    """Documents and constants, which sweeps do not change.

    Parameters
    ----------
    X : csr_array of shape (n_documents, n_words)
    bounds : ndarray of shape (n_partitions + 1,)
        Where each partition begins.
    n_topics : int
    gamma, beta : float
        Prior weights of each topic in a document and of each word in a topic.
    seed : int
    schedule : Schedule
    """

    X: sparse.csr_array
    bounds: NDArray[np.int64]
    n_topics: int
    gamma: float
    beta: float
    seed: int
    schedule: Schedule

    #: As for shards of an index: a place may recognise this object by its identity.
    immutable = True

    @classmethod
    def of(cls, X: sparse.csr_array, n: int, *constants: Any) -> Partitions:
        """Divide documents into ``n`` partitions with about the same number of words."""
        sizes = np.concatenate([[0], np.cumsum(np.asarray(X.sum(axis=1)).ravel())])
        inner = np.searchsorted(sizes, sizes[-1] * np.arange(1, n) / n)
        bounds = np.concatenate([[0], inner, [X.shape[0]]]).astype(np.int64)
        return cls(X, bounds, *constants)


@dataclass(frozen=True, eq=False)
class SweptPartition:
    """The state of a partition after a sweep.

    Parameters
    ----------
    assigned : ndarray of int32
        The topic of each token.
    change : csr_array of shape (n_words, n_topics)
        The change in the counts.
    log_likelihood : float
        Of the partition's tokens.
    """

    assigned: NDArray[np.int32]
    change: sparse.csr_array
    log_likelihood: float

    immutable = True
    #: Not needed after the next sweep.
    transient = True


def sample_partitions(
    partitions: Partitions, n_jobs: int | None, progress: Progress
) -> tuple[sparse.csr_array, list[float]]:
    """Mean counts over the samples, and the log-likelihood after each sweep."""
    place, schedule = current_place(), partitions.schedule
    n_partitions = partitions.bounds.size - 1
    counts = sparse.csr_array((partitions.X.shape[1], partitions.n_topics))
    total = counts.copy()
    states: tuple[SweptPartition, ...] = ()
    history: list[float] = []
    first = 0
    earlier = None if place is None else place.load_progress(partitions)
    if earlier is not None:
        first, counts, total, states, history = earlier
    for sweep in range(first, schedule.sweeps + 1):
        # Sweep 0 gives every token its first topic.
        states = tuple(
            map_blocks(
                _sweep_partition,
                (partitions, counts, states, sweep),
                n_partitions,
                1,
                n_jobs,
                fixed=True,
            )
        )
        for state in states:
            counts = counts + state.change
        counts.eliminate_zeros()
        if sweep > 0:
            history.append(sum(state.log_likelihood for state in states))
            progress.swept(history[-1])
            if schedule.is_sample(sweep):
                total = total + counts
        if place is not None and sweep % CHECKPOINT == CHECKPOINT - 1:
            place.save_progress(partitions, (sweep + 1, counts, total, states, history))
    return sparse.csr_array(total / schedule.samples), history


def _sweep_partition(
    partitions: Partitions,
    counts: sparse.csr_array,
    states: tuple[SweptPartition, ...],
    sweep: int,
    number: int,
    stop: int,
) -> SweptPartition:
    """Draw the topic of every token of a partition once; blocks are of one partition."""
    from manylabel.kernels import lda_topics

    first, last = partitions.bounds[number : number + 2]
    X = partitions.X[first:last]
    n_words, n_topics = counts.shape
    token_ptr, weights = split_tokens(X.data)
    if states:
        assigned = states[number].assigned.copy()
    else:
        assigned = np.full(token_ptr[-1], -1, np.int32)
    # A word of this partition gains at most one topic per token here.
    here = np.bincount(X.indices, np.diff(token_ptr), n_words).astype(np.int64)
    sizes = np.diff(counts.indptr).astype(np.int64)
    list_ptr = np.concatenate([[0], np.cumsum(np.minimum(sizes + here, n_topics))])
    list_topics, list_n = np.zeros(list_ptr[-1], np.int32), np.zeros(list_ptr[-1])
    positions = np.repeat(list_ptr[:-1] - counts.indptr[:-1], sizes) + np.arange(counts.nnz)
    list_topics[positions], list_n[positions] = counts.indices, counts.data
    topic_n = np.bincount(counts.indices, counts.data, n_topics).astype(np.float64)
    log_likelihood = lda_topics.sweep_by_document(
        X.indptr.astype(np.int64),
        token_ptr,
        X.indices.astype(np.int32),
        weights,
        assigned,
        list_ptr,
        sizes,
        list_topics,
        list_n,
        topic_n,
        partitions.gamma,
        partitions.beta,
        n_words,
        np.uint64(partitions.seed),
        np.uint64(sweep),
        np.uint64(first),
    )
    kept = np.arange(list_ptr[-1]) - np.repeat(list_ptr[:-1], np.diff(list_ptr))
    kept = kept < np.repeat(sizes, np.diff(list_ptr))
    coords = (np.repeat(np.arange(n_words), sizes), list_topics[kept])
    after = sparse.csr_array((list_n[kept], coords), shape=counts.shape)
    change = sparse.csr_array(after - counts)
    change.eliminate_zeros()
    return SweptPartition(assigned, change, float(log_likelihood))
