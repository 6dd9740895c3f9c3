"""Collapsed Gibbs sampling of labelled documents (Rubin et al., eq. 2).

A document's tokens are assigned only to its own labels, so a draw costs O(labels of the document).
An entry of weight x stands for ceil(x) tokens of equal weight; for counts, these are the word's
occurrences.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel
from manylabel.kernels.rng import uniform


@kernel
def assign_at_random(
    doc_ptr,
    token_ptr,
    weights,
    label_ptr,
    labels,
    slot_ptr,
    slots,
    assigned,
    pair_n,
    label_n,
    state,
):
    """Give every token one of its document's labels and count."""
    for doc in range(doc_ptr.size - 1):
        first = label_ptr[doc]
        n_own = label_ptr[doc + 1] - first
        if n_own == 0:
            continue
        for entry in range(doc_ptr[doc], doc_ptr[doc + 1]):
            base = slot_ptr[doc] + (entry - doc_ptr[doc]) * n_own
            for token in range(token_ptr[entry], token_ptr[entry + 1]):
                j = int(uniform(state) * n_own)
                assigned[token] = j
                pair_n[slots[base + j]] += weights[entry]
                label_n[labels[first + j]] += weights[entry]


@kernel
def sweep(
    doc_ptr,
    token_ptr,
    weights,
    label_ptr,
    labels,
    slot_ptr,
    slots,
    assigned,
    pair_n,
    label_n,
    eta,
    alpha,
    beta,
    n_words,
    state,
    soft,
    soft_pair_n,
    soft_label_n,
):
    """Draw every token's label once; return the tokens' total log-likelihood.

    Each label of a document has the prior ``eta / (number of its labels) + alpha``. If ``soft``,
    each token's full conditional distribution is added to the soft counts (CGS_p).
    """
    widest = 0
    for doc in range(doc_ptr.size - 1):
        widest = max(widest, label_ptr[doc + 1] - label_ptr[doc])
    doc_n = np.empty(widest)  # with the prior: n_cd + alpha'_c
    word_n = np.empty(widest)  # n_wc
    own_n = np.empty(widest)  # n_c
    inverse = np.empty(widest)  # 1 / (n_c + V beta)
    mass = np.empty(widest)
    soft_n = np.empty(widest)
    smoothing = n_words * beta
    log_likelihood, product = 0.0, 1.0
    for doc in range(doc_ptr.size - 1):
        first = label_ptr[doc]
        n_own = label_ptr[doc + 1] - first
        if n_own == 0:
            continue
        prior = eta / n_own + alpha
        for j in range(n_own):
            doc_n[j] = prior
            own_n[j] = label_n[labels[first + j]]
            inverse[j] = 1.0 / (own_n[j] + smoothing)
        length = 0.0
        for entry in range(doc_ptr[doc], doc_ptr[doc + 1]):
            for token in range(token_ptr[entry], token_ptr[entry + 1]):
                doc_n[assigned[token]] += weights[entry]
                length += weights[entry]
        for entry in range(doc_ptr[doc], doc_ptr[doc + 1]):
            base = slot_ptr[doc] + (entry - doc_ptr[doc]) * n_own
            weight = weights[entry]
            rest = 1.0 / (length - weight + n_own * prior)
            for j in range(n_own):
                word_n[j] = pair_n[slots[base + j]]
                soft_n[j] = 0.0
            for token in range(token_ptr[entry], token_ptr[entry + 1]):
                old = assigned[token]
                doc_n[old] -= weight
                word_n[old] -= weight
                own_n[old] -= weight
                inverse[old] = 1.0 / (own_n[old] + smoothing)
                total = 0.0
                for j in range(n_own):
                    total += (word_n[j] + beta) * inverse[j] * doc_n[j]
                    mass[j] = total
                chosen = 0
                if n_own > 1:
                    target = uniform(state) * total
                    while chosen < n_own - 1 and mass[chosen] <= target:
                        chosen += 1
                if soft:
                    before = 0.0
                    for j in range(n_own):
                        soft_n[j] += weight * (mass[j] - before) / total
                        before = mass[j]
                assigned[token] = chosen
                doc_n[chosen] += weight
                word_n[chosen] += weight
                own_n[chosen] += weight
                inverse[chosen] = 1.0 / (own_n[chosen] + smoothing)
                if weight == 1.0:
                    # One logarithm for many tokens.
                    product *= total * rest
                    if product < 1e-250:
                        log_likelihood += np.log(product)
                        product = 1.0
                else:
                    log_likelihood += weight * np.log(total * rest)
            for j in range(n_own):
                pair_n[slots[base + j]] = word_n[j]
                if soft:
                    soft_pair_n[slots[base + j]] += soft_n[j]
                    soft_label_n[labels[first + j]] += soft_n[j]
        for j in range(n_own):
            label_n[labels[first + j]] = own_n[j]
    return log_likelihood + np.log(product)


@kernel
def add_estimate(pair_labels, pair_n, label_n, beta, n_words, share, pair_phi, smooth):
    """Add ``share`` of phi = (n_wc + beta) / (n_c + V beta), eq. 3, to its two parts."""
    for label in range(label_n.size):
        smooth[label] += share * beta / (label_n[label] + n_words * beta)
    for slot in range(pair_labels.size):
        pair_phi[slot] += share * pair_n[slot] / (label_n[pair_labels[slot]] + n_words * beta)
