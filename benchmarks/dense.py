"""Straightforward samplers of the topic models, which look at every label for every draw."""

from __future__ import annotations

import time

import numpy as np
from numba import njit
from scipy import sparse
from threadpoolctl import threadpool_limits

__all__ = ["nanoseconds"]

_GAMMA, _ALPHA, _ETA = 0.05, 0.01, 150.0


@njit(nogil=True)
def _sample(words, counts, phi, prior, label_topics, sweeps):
    """One document in Numba. Without columns in ``label_topics`` the prior is fixed."""
    n_labels, n_topics = label_topics.shape
    mass, topic_mass, prior = np.empty(n_labels), np.empty(n_topics), prior.copy()
    n_tokens = int(counts.sum())
    assigned, topic_of = np.full(n_tokens, -1), np.full(n_tokens, -1)
    label_n, topic_n = np.zeros(n_labels), np.zeros(n_topics)
    for _ in range(sweeps):
        if n_topics > 0:
            share = (topic_n + _GAMMA) / (topic_n.sum() + _GAMMA * n_topics)
            for label in range(n_labels):
                total = 0.0
                for topic in range(n_topics):
                    total += share[topic] * label_topics[label, topic]
                prior[label] = _ALPHA + _ETA * total
        token = 0
        for entry in range(words.size):
            row = phi[words[entry]]
            for _ in range(int(counts[entry])):
                if assigned[token] >= 0:
                    label_n[assigned[token]] -= 1
                total = 0.0
                for label in range(n_labels):
                    total += row[label] * (label_n[label] + prior[label])
                    mass[label] = total
                target = np.random.random() * total  # noqa: NPY002 - Numba seeds no Generator
                label = min(np.searchsorted(mass, target, side="right"), n_labels - 1)
                assigned[token] = label
                label_n[label] += 1
                if n_topics > 0:
                    if topic_of[token] >= 0:
                        topic_n[topic_of[token]] -= 1
                    total = 0.0
                    for topic in range(n_topics):
                        total += label_topics[label, topic] * (topic_n[topic] + _GAMMA)
                        topic_mass[topic] = total
                    target = np.random.random() * total  # noqa: NPY002
                    topic = min(np.searchsorted(topic_mass, target, side="right"), n_topics - 1)
                    topic_of[token] = topic
                    topic_n[topic] += 1
                token += 1
    return label_n


def _sample_numpy(words, counts, phi, prior, label_topics, sweeps):
    """The same in NumPy."""
    random = np.random.default_rng(0)
    tokens = np.repeat(words, counts.astype(int))
    n_labels, n_topics = label_topics.shape
    assigned, topic_of = np.full(tokens.size, -1), np.full(tokens.size, -1)
    label_n, topic_n = np.zeros(n_labels), np.zeros(n_topics)

    def draw(masses: np.ndarray) -> int:
        sums = masses.cumsum()
        return min(int(sums.searchsorted(random.random() * sums[-1], side="right")), sums.size - 1)

    for _ in range(sweeps):
        if n_topics:
            share = (topic_n + _GAMMA) / (topic_n.sum() + _GAMMA * n_topics)
            prior = _ALPHA + _ETA * (label_topics @ share)
        for token, word in enumerate(tokens):
            if assigned[token] >= 0:
                label_n[assigned[token]] -= 1
            assigned[token] = draw(phi[word] * (label_n + prior))
            label_n[assigned[token]] += 1
            if n_topics:
                if topic_of[token] >= 0:
                    topic_n[topic_of[token]] -= 1
                topic_of[token] = draw(label_topics[assigned[token]] * (topic_n + _GAMMA))
                topic_n[topic_of[token]] += 1
    return label_n


def nanoseconds(
    X: sparse.csr_array, phi: np.ndarray, topics: np.ndarray, compiled: bool, sweeps: int = 4
) -> float:
    """CPU time of a draw of a label, and of a topic if there are any (by topic and label)."""
    n_labels = phi.shape[1]
    # A word's labels and a label's topics side by side, as the sampler reads them.
    phi, topics = np.ascontiguousarray(phi), np.ascontiguousarray(topics.T)
    prior = np.full(n_labels, 0.5 * X.sum() / X.shape[0] / n_labels)
    sample = _sample if compiled else _sample_numpy
    documents = [(X[[row]].indices, X[[row]].data) for row in range(X.shape[0])]
    sample(*documents[0], phi, prior, topics, 1)
    start = time.process_time()
    # Threads that wait for each other would count as CPU time.
    with threadpool_limits(1):
        for words, counts in documents:
            sample(words, counts, phi, prior, topics, sweeps)
    return 1e9 * (time.process_time() - start) / (X.sum() * sweeps)
