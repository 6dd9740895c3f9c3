"""CVB0: deterministic inference by expected counts (Asuncion et al., 2009).

There is one distribution over labels for each word of a document, not for each token, so frequent
words cost no more than others, and weights need not be integers. When a word is updated, the
expected contribution of one of its tokens is left out.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel
from manylabel.kernels.lda_labelling import add_prior


@kernel
def start(doc_ptr, values, label_ptr, labels, slot_ptr, slots, share, pair_n, label_n):
    """Divide every word equally among its document's labels and count."""
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
    """Update every word of every labelled document; return the tokens' total log-likelihood."""
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
def expect_labels(start, stop, documents, rows, topics, gamma, sweeps, settled, findings):
    """Expected tokens of all labels for unlabelled documents, phi fixed.

    The findings are as in :func:`lda_labelling.label_documents`. All words are updated from the
    counts of the previous sweep. phi is the sum of a sparse and a smooth part; only the sparse part
    of a token's own contribution is left out, not the smooth part, which comes from beta.
    """
    doc_ptr, words, values = documents.pointers, documents.words, documents.values
    wanted, credit = findings.wanted, findings.credit
    n_labels, n_topics = rows.smooth.size, topics.smooth.size
    theta = np.empty(n_labels)  # n_c + a_c
    before = np.empty(n_labels)
    fresh = np.empty(n_labels)
    prior = np.empty(n_labels)
    topic_n = np.empty(n_topics)
    for row in range(start, stop):
        first = doc_ptr[row]
        n_types = doc_ptr[row + 1] - first
        eta, alpha = documents.etas[row], documents.alphas[row]
        out, prior_out = findings.counts[row - start], findings.priors[row - start]
        n_shares, length = 0, 0.0
        for kind in range(n_types):
            word = words[first + kind]
            length += values[first + kind]
            if rows.dense_at[word] >= 0:
                n_shares += n_labels
            else:
                n_shares += rows.pointers[word + 1] - rows.pointers[word]
        share = np.zeros(n_shares, np.float32)
        inverse = np.zeros(n_types)
        topic_n[:] = 0.0
        spread_topics(topics, topic_n, 0.0, eta, alpha, gamma, prior)
        theta[:] = prior
        for _ in range(sweeps if length > 0.0 else 0):
            everywhere, inverse_sum = 0.0, 0.0
            for label in range(n_labels):
                everywhere += rows.smooth[label] * theta[label]
                fresh[label], before[label] = 0.0, theta[label]
            at = 0
            for kind in range(n_types):
                word, value = words[first + kind], values[first + kind]
                if rows.dense_at[word] >= 0:
                    row_phi = rows.dense[rows.dense_at[word]]
                    own = share[at : at + n_labels]
                    inverse[kind] = share_dense(row_phi, value, theta, everywhere, own, fresh)
                else:
                    low, high = rows.pointers[word], rows.pointers[word + 1]
                    own = share[at : at + high - low]
                    inverse[kind] = share_sparse(
                        rows.labels[low:high],
                        rows.phi[low:high],
                        value,
                        theta,
                        everywhere,
                        own,
                        fresh,
                    )
                at += own.size
                inverse_sum += value * inverse[kind]
            for label in range(n_labels):
                fresh[label] += rows.smooth[label] * theta[label] * inverse_sum
            if n_topics > 1:
                expect_topics(topics, fresh, gamma, topic_n)
                spread_topics(topics, topic_n, length, eta, alpha, gamma, prior)
            moved = 0.0
            for label in range(n_labels):
                moved += abs(fresh[label] + prior[label] - theta[label])
                theta[label] = fresh[label] + prior[label]
            if moved <= settled * length:
                break
        for label in range(n_labels):
            out[label] += theta[label] - prior[label]
            prior_out[label] += prior[label]
        whole = topic_n.sum() + n_topics * gamma
        for t in range(n_topics):
            findings.mixtures[row - start, t] += (topic_n[t] + gamma) / whole
        if credit.size > 0:
            at = 0
            for kind in range(n_types):
                word, value = words[first + kind], values[first + kind]
                low, high = rows.pointers[word], rows.pointers[word + 1]
                dense = rows.dense_at[word] >= 0
                for label in range(n_labels):
                    if wanted[label] >= 0:
                        part = rows.smooth[label] * before[label] * inverse[kind]
                        credit[kind, wanted[label]] += value * part
                for i in range(n_labels if dense else high - low):
                    label = i if dense else rows.labels[low + i]
                    if wanted[label] >= 0:
                        credit[kind, wanted[label]] += value * share[at + i]
                at += n_labels if dense else high - low


@kernel
def share_dense(phi, value, theta, everywhere, share, fresh):
    """Divide a word among all labels by phi (theta - its own), and add; return 1 / total mass."""
    one = np.float32(min(value, 1.0))
    for label in range(share.size):
        share[label] = phi[label] * (theta[label] - one * share[label])
    # Four sums, so that an addition need not wait for the previous one.
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = share.size - share.size % 4
    for label in range(0, whole, 4):
        a += share[label]
        b += share[label + 1]
        c += share[label + 2]
        d += share[label + 3]
    for label in range(whole, share.size):
        a += share[label]
    inverse = 1.0 / (everywhere + (a + b) + (c + d))
    for label in range(share.size):
        share[label] *= inverse
        fresh[label] += value * share[label]
    return inverse


@kernel
def share_sparse(labels, phi, value, theta, everywhere, share, fresh):
    """As :func:`share_dense`, for a word that was seen with few labels."""
    one = min(value, 1.0)
    total = everywhere
    for i in range(labels.size):
        share[i] = phi[i] * (theta[labels[i]] - one * share[i])
        total += share[i]
    for i in range(labels.size):
        share[i] /= total
        fresh[labels[i]] += value * share[i]
    return 1.0 / total


@kernel
def expect_topics(topics, label_n, gamma, topic_n):
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
    """Set the prior of every label from the expected topics."""
    n_topics = topics.smooth.size
    prior[:] = 0.0
    add_prior(topics, eta * (topic_n + gamma) / (length + n_topics * gamma), alpha, prior)
