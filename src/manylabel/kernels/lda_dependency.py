"""The full sampler of Dependency-LDA (Rubin et al., eq. 8, 9 and 10), phi and phi' fixed.

A document has M label tokens besides its word tokens; its prior is a_c = alpha + delta m_c, where
delta = eta / M and m_c counts the label tokens c. Given its topic t, a label token is c with
probability proportional to phi'_tc times

    ratio_c = Gamma(a_c + delta + n_c) Gamma(a_c) / (Gamma(a_c + n_c) Gamma(a_c + delta)),

a_c without the token itself. The ratio is 1 for a label that holds no words and above 1 for all
others, so a draw is from phi'_t itself, with mass 1, or from the excess of the labels that hold
words: it costs O(labels in use).
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from manylabel.kernels.compile import kernel, step
from manylabel.kernels.heap import find
from manylabel.kernels.lda_active import (
    NOTHING,
    add,
    add_parts,
    clear,
    gather,
    no_parts,
    nothing_used,
    pick_part,
    pick_used,
    take,
)
from manylabel.kernels.lda_labelling import expand, spread_priors
from manylabel.kernels.lda_pairs import pick, pick_guided
from manylabel.kernels.rng import document_name, mix, start_stream, uniform

#: Cap on the logarithm of a ratio, against overflow.
_STEEPEST = 600.0

#: A document's label tokens: label and topic of each; by label, the number of word tokens (``n``)
#: and label tokens (``m``), and its ratio minus 1; by topic, the number of label tokens.
LabelTokens = namedtuple("LabelTokens", ["labels", "topics", "n", "m", "excess", "topic_n"])


@step
def excess(alpha, delta, n, m):
    """The ratio minus 1 of a label with ``n`` word tokens and ``m`` label tokens."""
    if n < NOTHING:
        return 0.0
    a = alpha + delta * m
    logarithm = math.lgamma(a + delta + n) - math.lgamma(a + delta)
    logarithm += math.lgamma(a) - math.lgamma(a + n)
    return math.exp(min(logarithm, _STEEPEST)) - 1.0


@step
def topic_label(topics, topic, label):
    """phi'_tc."""
    high = topics.label_pointers[label + 1]
    at = find(topics.label_topics, topics.label_pointers[label], high, topic)
    phi = topics.smooth[topic]
    if at < high and topics.label_topics[at] == topic:
        phi += topics.label_phi[at]
    return phi


@step
def draw_from_topic(topics, topic, n_labels, state):
    """Draw a label from phi'_t."""
    low, high = topics.pointers[topic], topics.pointers[topic + 1]
    of_sparse = topics.sums[high - 1] if high > low else 0.0
    target = uniform(state) * (of_sparse + n_labels * topics.smooth[topic])
    if target < of_sparse:
        return topics.labels[pick(topics.sums, low, high, target)]
    return min(int((target - of_sparse) / topics.smooth[topic]), n_labels - 1)


@step
def start_tokens(rows, topics, tokens, used, delta, state):
    """Give every label token a random topic, and a label drawn from that topic."""
    n_topics, n_labels = topics.smooth.size, rows.smooth.size
    tokens.n[:], tokens.m[:], tokens.topic_n[:] = 0.0, 0.0, 0.0
    for i in range(tokens.labels.size):
        t = min(int(uniform(state) * n_topics), n_topics - 1)
        label = draw_from_topic(topics, t, n_labels, state)
        tokens.topics[i], tokens.labels[i] = t, label
        tokens.topic_n[t] += 1.0
        tokens.m[label] += 1.0
        add(used, rows, label, delta)


@step
def draw_labels(rows, topics, tokens, used, parts, alpha, delta, state):
    """Draw the label of every label token (eq. 9)."""
    for i in range(used.size[0]):
        label = used.labels[i]
        tokens.excess[label] = excess(alpha, delta, tokens.n[label], tokens.m[label])
    for i in range(tokens.labels.size):
        old, topic = tokens.labels[i], tokens.topics[i]
        take(used, old, delta)
        tokens.m[old] -= 1.0
        tokens.excess[old] = excess(alpha, delta, tokens.n[old], tokens.m[old])
        above = 0.0
        for j in range(used.size[0]):
            label = used.labels[j]
            parts[j] = 0.0
            if tokens.excess[label] > 0.0:
                parts[j] = tokens.excess[label] * topic_label(topics, topic, label)
                above += parts[j]
        target = uniform(state) * (1.0 + above)
        if target < above:
            chosen = used.labels[pick_part(parts, used.size[0], target)]
        else:
            chosen = draw_from_topic(topics, topic, rows.smooth.size, state)
        add(used, rows, chosen, delta)
        tokens.m[chosen] += 1.0
        tokens.excess[chosen] = excess(alpha, delta, tokens.n[chosen], tokens.m[chosen])
        tokens.labels[i] = chosen


@step
def draw_topics(topics, tokens, gamma, mass, state):
    """Draw the topic of every label token (eq. 10)."""
    n_topics = topics.smooth.size
    for i in range(tokens.labels.size):
        label = tokens.labels[i]
        tokens.topic_n[tokens.topics[i]] -= 1.0
        total = 0.0
        for t in range(n_topics):
            mass[t] = topics.smooth[t] * (tokens.topic_n[t] + gamma)
            total += mass[t]
        for j in range(topics.label_pointers[label], topics.label_pointers[label + 1]):
            t = topics.label_topics[j]
            part = topics.label_phi[j] * (tokens.topic_n[t] + gamma)
            mass[t] += part
            total += part
        t = pick_part(mass, n_topics, uniform(state) * total)
        tokens.topics[i] = t
        tokens.topic_n[t] += 1.0


@kernel
def label_documents(
    start, stop, documents, rows, topics, gamma, n_label_tokens, plan, seed, soft, findings
):
    """Sample the rows ``start`` to ``stop``, as :func:`lda_labelling.label_documents` does."""
    doc_ptr, words, values = documents.pointers, documents.words, documents.values
    wanted, credit = findings.wanted, findings.credit
    chains, burn_in, samples, lag = plan
    n_labels, n_topics = rows.smooth.size, topics.smooth.size
    share = 1.0 / (chains * samples)
    state = np.empty(1, np.uint64)
    # A label's weight here is n + delta m.
    used, parts = nothing_used(n_labels), no_parts(n_labels)
    tokens = LabelTokens(
        np.empty(n_label_tokens, np.int32),
        np.empty(n_label_tokens, np.int32),
        np.zeros(n_labels),
        np.zeros(n_labels),
        np.zeros(n_labels),
        np.zeros(n_topics),
    )
    topic_mass = np.empty(n_topics)
    for row in range(start, stop):
        first = doc_ptr[row]
        n_types = doc_ptr[row + 1] - first
        alpha, delta = documents.alphas[row], documents.etas[row] / n_label_tokens
        out, prior = findings.counts[row - start], findings.priors[row - start]
        theta = findings.mixtures[row - start]
        everywhere = alpha * rows.smooth_sums[n_labels - 1]
        kinds, weights = expand(values, first, n_types)
        assigned = np.empty(kinds.size, np.int32)
        soft_kappa, soft_tau = np.zeros(n_types), np.zeros((n_types if soft else 0, n_topics))
        name = document_name(words, values, first, doc_ptr[row + 1])
        for chain in range(chains):
            start_stream(state, seed, mix(name ^ mix(np.uint64(chain))))
            assigned[:] = -1
            clear(used)
            start_tokens(rows, topics, tokens, used, delta, state)
            # Sweep 0 gives every token its first label.
            for sweep in range(burn_in + (samples - 1) * lag + 1):
                sampled = sweep >= burn_in and (sweep - burn_in) % lag == 0
                for token in range(kinds.size):
                    kind = kinds[token]
                    word, weight = words[first + kind], weights[kind]
                    if assigned[token] >= 0:
                        take(used, assigned[token], weight)
                        tokens.n[assigned[token]] -= weight
                    in_use = gather(rows, word, used, parts)
                    low, high = rows.pointers[word], rows.pointers[word + 1]
                    by_word = alpha * rows.sums[high - 1] if high > low else 0.0
                    total = in_use + by_word + everywhere
                    target = uniform(state) * total
                    if soft and sampled:
                        part = share * weight / total
                        soft_kappa[kind] += alpha * part
                        add_parts(used, parts, part, out, kind, wanted, credit)
                    if target < in_use:
                        chosen = pick_used(used, parts, target)
                    elif target < in_use + by_word:
                        mass = (target - in_use) / alpha
                        chosen = rows.labels[pick_guided(rows.sums, rows.guides, low, high, mass)]
                    else:
                        mass = (target - in_use - by_word) / alpha
                        chosen = np.int32(pick(rows.smooth_sums, 0, n_labels, mass))
                    add(used, rows, chosen, weight)
                    tokens.n[chosen] += weight
                    assigned[token] = chosen
                    if sampled and not soft:
                        out[chosen] += share * weight
                        if wanted[chosen] >= 0:
                            credit[kind, wanted[chosen]] += share * weight
                draw_labels(rows, topics, tokens, used, parts, alpha, delta, state)
                draw_topics(topics, tokens, gamma, topic_mass, state)
                draw_labels(rows, topics, tokens, used, parts, alpha, delta, state)
                if sampled:
                    for i in range(n_label_tokens):
                        prior[tokens.labels[i]] += share * delta
                    whole = n_label_tokens + n_topics * gamma
                    for t in range(n_topics):
                        theta[t] += share * (tokens.topic_n[t] + gamma) / whole
        clear(used)
        for label in range(n_labels):
            prior[label] += alpha
        if soft:
            own = words[first : first + n_types]
            spread_priors(rows, topics, own, soft_kappa, soft_tau, out, wanted, credit)
