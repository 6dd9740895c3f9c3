"""CVB0, deterministic inference by expected counts (Asuncion et al., 2009).

One distribution over labels is kept for each word of a document, not for each token, so a word
that occurs often costs no more, and real weights are as good as counts. When a word is updated, the
expected contribution of one of its tokens is left out.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel


@kernel
def start(doc_ptr, values, label_ptr, labels, slot_ptr, slots, share, pair_n, label_n):
    """Share every word evenly among its document's labels and count."""
    for doc in range(doc_ptr.size - 1):
        first = label_ptr[doc]
        n_own = label_ptr[doc + 1] - first
        for entry in range(doc_ptr[doc], doc_ptr[doc + 1]):
            base = slot_ptr[doc] + (entry - doc_ptr[doc]) * n_own
            for j in range(n_own):
                share[base + j] = 1.0 / n_own
                pair_n[slots[base + j]] += values[entry] * share[base + j]
                label_n[labels[first + j]] += values[entry] * share[base + j]


@kernel
def sweep(
    doc_ptr,
    values,
    label_ptr,
    labels,
    slot_ptr,
    slots,
    share,
    pair_n,
    label_n,
    eta,
    alpha,
    beta,
    n_words,
):
    """Update every word of every labelled document; the sum of the tokens' log-likelihoods."""
    widest = 0
    for doc in range(doc_ptr.size - 1):
        widest = max(widest, label_ptr[doc + 1] - label_ptr[doc])
    doc_n = np.empty(widest)
    mass = np.empty(widest)
    smoothing = n_words * beta
    log_likelihood = 0.0
    for doc in range(doc_ptr.size - 1):
        first = label_ptr[doc]
        n_own = label_ptr[doc + 1] - first
        if n_own == 0:
            continue
        prior = eta / n_own + alpha
        doc_n[:n_own] = prior
        length = 0.0
        for entry in range(doc_ptr[doc], doc_ptr[doc + 1]):
            base = slot_ptr[doc] + (entry - doc_ptr[doc]) * n_own
            length += values[entry]
            for j in range(n_own):
                doc_n[j] += values[entry] * share[base + j]
        for entry in range(doc_ptr[doc], doc_ptr[doc + 1]):
            base = slot_ptr[doc] + (entry - doc_ptr[doc]) * n_own
            value = values[entry]
            one = min(value, 1.0)
            total = 0.0
            for j in range(n_own):
                own = one * share[base + j]
                mass[j] = (
                    (pair_n[slots[base + j]] - own + beta)
                    / (label_n[labels[first + j]] - own + smoothing)
                    * (doc_n[j] - own)
                )
                total += mass[j]
            for j in range(n_own):
                old = share[base + j]
                share[base + j] = mass[j] / total
                change = value * (share[base + j] - old)
                doc_n[j] += change
                pair_n[slots[base + j]] += change
                label_n[labels[first + j]] += change
            log_likelihood += value * np.log(total / (length - one + n_own * prior))
    return log_likelihood


@kernel
def expect_labels(
    start,
    stop,
    doc_ptr,
    words,
    values,
    rows,
    topics,
    etas,
    alphas,
    gamma,
    sweeps,
    settled,
    counts,
    priors,
    wanted,
    credit,
):
    """Expected tokens of all labels for unlabelled documents, phi fixed.

    ``counts``, ``priors``, ``wanted`` and ``credit`` are as in :func:`labelling.label_documents`.
    All words are updated from the counts of the sweep before. A token's own contribution is left
    out for the labels its word was seen with; for all others it is below beta's share, and counted.
    """
    n_labels, n_topics = rows.smooth.size, topics.smooth.size
    theta = np.empty(n_labels)  # n_c + a_c
    fresh = np.empty(n_labels)
    in_rows = np.empty(n_labels)
    prior = np.empty(n_labels)
    topic_n = np.empty(n_topics)
    for row in range(start, stop):
        first = doc_ptr[row]
        n_types = doc_ptr[row + 1] - first
        out, prior_out = counts[row - start], priors[row - start]
        n_pairs, length = 0, 0.0
        for kind in range(n_types):
            word = words[first + kind]
            n_pairs += rows.pointers[word + 1] - rows.pointers[word]
            length += values[first + kind]
        share = np.zeros(n_pairs)
        inverse = np.zeros(n_types)
        topic_n[:] = 0.0
        spread_topics(topics, topic_n, 0.0, etas[row], alphas[row], gamma, prior)
        theta[:] = prior
        for _ in range(sweeps if length > 0.0 else 0):
            everywhere = 0.0
            for label in range(n_labels):
                everywhere += rows.smooth[label] * theta[label]
                fresh[label], in_rows[label] = 0.0, 0.0
            at, inverse_sum = 0, 0.0
            for kind in range(n_types):
                word, value = words[first + kind], values[first + kind]
                one = min(value, 1.0)
                total = everywhere
                low, high = rows.pointers[word], rows.pointers[word + 1]
                for i in range(low, high):
                    label = rows.labels[i]
                    own = one * share[at + i - low]
                    total += rows.phi[i] * (theta[label] - own) - rows.smooth[label] * own
                inverse[kind] = 1.0 / total
                inverse_sum += value / total
                for i in range(low, high):
                    label = rows.labels[i]
                    phi = rows.phi[i] + rows.smooth[label]
                    share[at] = phi * (theta[label] - one * share[at]) / total
                    fresh[label] += value * share[at]
                    in_rows[label] += value / total
                    at += 1
            moved = 0.0
            for label in range(n_labels):
                # Words that were never seen with the label give it the smooth part.
                fresh[label] += rows.smooth[label] * theta[label] * (inverse_sum - in_rows[label])
            if n_topics > 1:
                expect_topics(topics, fresh, length, gamma, topic_n)
                spread_topics(topics, topic_n, length, etas[row], alphas[row], gamma, prior)
            for label in range(n_labels):
                moved += abs(fresh[label] + prior[label] - theta[label])
                if wanted[label] >= 0:
                    for kind in range(n_types):
                        credit[kind, wanted[label]] = (
                            values[first + kind] * rows.smooth[label] * theta[label] * inverse[kind]
                        )
                theta[label] = fresh[label] + prior[label]
            if moved <= settled * length:
                break
        at = 0
        for kind in range(n_types):
            word = words[first + kind]
            for i in range(rows.pointers[word], rows.pointers[word + 1]):
                if wanted[rows.labels[i]] >= 0:
                    credit[kind, wanted[rows.labels[i]]] = values[first + kind] * share[at]
                at += 1
        for label in range(n_labels):
            out[label] += theta[label] - prior[label]
            prior_out[label] += prior[label]


@kernel
def expect_topics(topics, label_n, length, gamma, topic_n):
    """Expected tokens of each topic, from expected tokens of each label."""
    n_topics = topics.smooth.size
    theta = np.empty(n_topics)
    fresh = np.zeros(n_topics)
    smooth, shared = 0.0, 0.0
    for t in range(n_topics):
        theta[t] = topic_n[t] + gamma
        smooth += theta[t] * topics.smooth[t]
    for label in range(label_n.size):
        low, high = topics.label_pointers[label], topics.label_pointers[label + 1]
        total = smooth
        for i in range(low, high):
            total += topics.label_phi[i] * theta[topics.label_topics[i]]
        part = label_n[label] / total
        shared += part
        for i in range(low, high):
            t = topics.label_topics[i]
            fresh[t] += part * topics.label_phi[i] * theta[t]
    for t in range(n_topics):
        topic_n[t] = fresh[t] + shared * topics.smooth[t] * theta[t]


@kernel
def spread_topics(topics, topic_n, length, eta, alpha, gamma, prior):
    """The prior of every label: alpha + eta theta' phi' (eq. 12)."""
    n_topics = topics.smooth.size
    for t in range(n_topics):
        alpha += eta * (topic_n[t] + gamma) / (length + n_topics * gamma) * topics.smooth[t]
    prior[:] = alpha
    for t in range(n_topics):
        weight = eta * (topic_n[t] + gamma) / (length + n_topics * gamma)
        for i in range(topics.pointers[t], topics.pointers[t + 1]):
            prior[topics.labels[i]] += weight * topics.phi[i]
