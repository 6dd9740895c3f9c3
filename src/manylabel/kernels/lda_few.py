"""Gibbs sampling of unlabelled documents over few labels, phi fixed (Rubin et al., eq. 8, 10-12).

The distributions are those of :mod:`lda_labelling`. With few labels, adding up the masses of all of
them takes less time than to split them into parts: the probabilities of a document's words fit into
the fastest cache and are used in every sweep of every chain.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel, step
from manylabel.kernels.lda_labelling import add_prior, expand
from manylabel.kernels.rng import document_name, mix, start_stream, uniform


@step
def draw(rates, row, weights, sums, state):
    """Draw a column of a row of rates, in proportion to rate times weight."""
    total = 0.0
    for i in range(weights.size):
        total += rates[row, i] * weights[i]
        sums[i] = total
    target = uniform(state) * total
    for i in range(weights.size):
        if target < sums[i]:
            return i
    return weights.size - 1


@step
def fill_words(rows, words, phi):
    """Phi of a document's words, by word and label."""
    for kind in range(words.size):
        for label in range(rows.smooth.size):
            phi[kind, label] = rows.smooth[label]
        for i in range(rows.pointers[words[kind]], rows.pointers[words[kind] + 1]):
            phi[kind, rows.labels[i]] += rows.phi[i]


@step
def fill_topics(topics, by_label):
    """Phi' by label and topic."""
    for label in range(by_label.shape[0]):
        for t in range(by_label.shape[1]):
            by_label[label, t] = topics.smooth[t]
    for t in range(by_label.shape[1]):
        for i in range(topics.pointers[t], topics.pointers[t + 1]):
            by_label[topics.labels[i], t] += topics.phi[i]


@kernel
def label_documents(start, stop, documents, rows, topics, gamma, plan, seed, findings):
    """Sample the rows ``start`` to ``stop``, as :func:`lda_labelling.label_documents` does."""
    chains, burn_in, samples, lag = plan
    n_labels, n_topics = rows.smooth.size, topics.smooth.size
    share = 1.0 / (chains * samples)
    state = np.empty(1, np.uint64)
    by_label = np.empty((n_labels, n_topics))
    fill_topics(topics, by_label)
    # By label: tokens, prior, both together; by topic: tokens, and with gamma.
    n, prior, both = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
    n_of, of = np.empty(n_topics), np.empty(n_topics)
    sums = np.empty(max(n_labels, n_topics))
    for row in range(start, stop):
        first, last = documents.pointers[row], documents.pointers[row + 1]
        n_types = last - first
        eta, alpha = documents.etas[row], documents.alphas[row]
        out, theta = findings.counts[row - start], findings.mixtures[row - start]
        words = documents.words[first:last]
        kinds, weights = expand(documents.values, first, n_types)
        name = document_name(documents.words, documents.values, first, last)
        phi = np.empty((n_types, n_labels))
        fill_words(rows, words, phi)
        assigned = np.empty(kinds.size, np.int32)
        topic_of = np.empty(kinds.size, np.int32)
        if kinds.size == 0:
            for t in range(n_topics):
                theta[t] += 1.0 / n_topics
        for chain in range(chains if kinds.size > 0 else 0):
            start_stream(state, seed, mix(name ^ mix(np.uint64(chain))))
            assigned[:] = -1
            topic_of[:] = -1
            n[:] = 0.0
            n_of[:] = 0.0
            length = 0.0
            for sweep in range(burn_in + (samples - 1) * lag + 1):
                sampled = sweep >= burn_in and (sweep - burn_in) % lag == 0
                scale = eta / (length + n_topics * gamma) if n_topics > 0 else 0.0
                for label in range(n_labels):
                    prior[label] = alpha
                    for t in range(n_topics):
                        prior[label] += scale * (n_of[t] + gamma) * by_label[label, t]
                    both[label] = n[label] + prior[label]
                for token in range(kinds.size):
                    kind, old = kinds[token], assigned[token]
                    weight = weights[kind]
                    if old >= 0:
                        n[old] = max(n[old] - weight, 0.0)
                        both[old] = n[old] + prior[old]
                    new = draw(phi, kind, both, sums, state)
                    n[new] += weight
                    both[new] = n[new] + prior[new]
                    assigned[token] = new
                    if sampled:
                        out[new] += share * weight
                        if findings.wanted[new] >= 0:
                            findings.credit[kind, findings.wanted[new]] += share * weight
                if n_topics > 1:
                    length = 0.0
                    for t in range(n_topics):
                        of[t] = n_of[t] + gamma
                    for token in range(kinds.size):
                        weight, old = weights[kinds[token]], topic_of[token]
                        length += weight
                        if old >= 0:
                            n_of[old] = max(n_of[old] - weight, 0.0)
                            of[old] = n_of[old] + gamma
                        new = draw(by_label, assigned[token], of, sums, state)
                        n_of[new] += weight
                        of[new] = n_of[new] + gamma
                        topic_of[token] = new
                if sampled:
                    for t in range(n_topics):
                        theta[t] += share * (n_of[t] + gamma) / (length + n_topics * gamma)
        add_prior(topics, eta * theta, alpha, findings.priors[row - start])
