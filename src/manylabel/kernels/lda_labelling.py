"""Gibbs sampling of unlabelled documents over all labels, phi fixed (Rubin et al., eq. 8, 10-12).

A token of word w goes to label c with probability proportional to phi_wc (n_c + a_c), where n_c
counts the document's other tokens under c and a_c is the prior

    a_c = alpha + eta * sum over topics t of theta'_t phi'_tc.

Both distributions are sums of a sparse and a smooth part: phi_wc = s_wc + m_c and
phi'_tc = sigma_tc + mu_t. So the mass of all labels splits exactly into

    labels in use:  sum of phi_wc n_c over the labels that hold tokens of this document;
    word's labels:  sum of s_wc a_c = scale * sum_t (N_t + gamma) G_wt + kappa S_w;
    every label:    sum of m_c a_c  = scale * sum_t (N_t + gamma) M_t  + kappa M;

with G_wt = sum_c s_wc sigma_tc, M_t = sum_c m_c sigma_tc, S_w = sum_c s_wc and M = sum_c m_c
precomputed, scale = eta / (N + T gamma) and kappa = alpha + scale * sum_t (N_t + gamma) mu_t. A
draw picks the part, then a topic if the part has topics, then a label, so no step takes time
proportional to the number of labels. Flat-LDA has no topics, Prior-LDA one, Dependency-LDA many.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from manylabel.kernels.compile import kernel, step, summing_step
from manylabel.kernels.heap import find
from manylabel.kernels.lda_active import (
    NOTHING,
    add_part,
    add_parts,
    clear,
    gather,
    no_parts,
    nothing_used,
    pick_used,
    take,
    take_part,
)
from manylabel.kernels.lda_pairs import pick, pick_guided
from manylabel.kernels.rng import document_name, mix, start_stream, uniform

#: Capacity of the cache of labels that words share with topics.
_POOL = 1 << 18
#: The labels that words of the document share with topics, computed on first use: for each word
#: and topic, where they start (``at``, or -1) and end in ``labels`` and ``sums``, the running sums
#: of s_wc sigma_tc. ``size`` has one element.
Shared = namedtuple("Shared", ["at", "end", "labels", "sums", "size"])
#: A document's topics: the weight of the tokens that each holds, a list of those in use, and the
#: length of the list (one element).
Topics = namedtuple("Topics", ["n", "active", "size"])
#: The masses of a sweep: scale and kappa as in the module's docstring, the topics' part of the mass
#: of every label, and that whole mass.
Masses = namedtuple("Masses", ["scale", "kappa", "topics_everywhere", "everywhere"])
#: A document: its words; by token, the position of its word among them and its label, or -1; by
#: word, the weight of a token, S_w, the topics' part of the mass in this sweep, and the sum of the
#: inverse masses of its tokens; and the findings, as in :func:`label_documents`.
Text = namedtuple(
    "Text",
    [
        "words", "kinds", "weights", "sums", "assigned", "by_topics", "inverse_sum", "out",
        "wanted", "credit",
    ],
)  # fmt: skip


@step
def find_shared(rows, topics, word, topic, shared, kind):
    """Find the labels that a word shares with a topic."""
    if shared.size[0] + rows.smooth.size > shared.labels.size:
        shared.at[:] = -1
        shared.size[0] = 0
    low, high = rows.pointers[word], rows.pointers[word + 1]
    few, few_phi = rows.labels[low:high], rows.phi[low:high]
    low, high = topics.pointers[topic], topics.pointers[topic + 1]
    many, many_phi = topics.labels[low:high], topics.phi[low:high]
    end, total, at = shared.size[0], 0.0, 0
    shared.at[kind, topic] = end
    if rows.dense_at[word] >= 0:
        row = rows.dense[rows.dense_at[word]]
        for i in range(many.size):
            if row[many[i]] > 0.0:
                total += row[many[i]] * many_phi[i]
                shared.labels[end], shared.sums[end] = many[i], total
                end += 1
        few = few[:0]
    elif few.size > many.size:
        few, few_phi, many, many_phi = many, many_phi, few, few_phi
    for i in range(few.size):
        at = find(many, at, many.size, few[i])
        if at == many.size:
            break
        if many[at] == few[i]:
            total += few_phi[i] * many_phi[at]
            shared.labels[end], shared.sums[end] = few[i], total
            end += 1
    shared.end[kind, topic] = end
    shared.size[0] = end


@step
def pick_topic(mixture, gamma, masses, target):
    """Pick a topic t by mass (N_t + gamma) masses[t]; the topics in use come first."""
    last = -1
    for i in range(mixture.size[0]):
        t = mixture.active[i]
        if masses[t] > 0.0:
            last = t
            target -= mixture.n[t] * masses[t]
            if target < 0.0:
                return t
    for t in range(masses.size):
        if masses[t] > 0.0:
            last = t
            target -= gamma * masses[t]
            if target < 0.0:
                return t
    return last


@step
def take_topic(mixture, topic, weight):
    """Take weight from a topic, which leaves the list if nothing remains."""
    mixture.n[topic] -= weight
    if mixture.n[topic] < NOTHING:
        mixture.n[topic] = 0.0
        mixture.size[0] -= 1
        for i in range(mixture.size[0]):
            if mixture.active[i] == topic:
                mixture.active[i] = mixture.active[mixture.size[0]]
                break


@step
def draw_topics(topics, gamma, assigned, kinds, weights, topic_of, mixture, state):
    """Draw the topic of every token's label (eq. 10)."""
    smooth_n, smooth_all = 0.0, 0.0
    for t in range(mixture.n.size):
        smooth_n += topics.smooth[t] * mixture.n[t]
        smooth_all += topics.smooth[t]
    for token in range(assigned.size):
        label, weight = assigned[token], weights[kinds[token]]
        if topic_of[token] >= 0:
            take_topic(mixture, topic_of[token], weight)
            smooth_n -= weight * topics.smooth[topic_of[token]]
        low, high = topics.label_pointers[label], topics.label_pointers[label + 1]
        own = 0.0
        for i in range(low, high):
            own += topics.label_phi[i] * (mixture.n[topics.label_topics[i]] + gamma)
        target = uniform(state) * (own + max(smooth_n, 0.0) + gamma * smooth_all)
        chosen = -1
        if target < own:
            for i in range(low, high):
                chosen = topics.label_topics[i]
                target -= topics.label_phi[i] * (mixture.n[chosen] + gamma)
                if target < 0.0:
                    break
        else:
            chosen = pick_topic(mixture, gamma, topics.smooth, target - own)
        topic_of[token] = chosen
        if mixture.n[chosen] == 0.0:
            mixture.active[mixture.size[0]] = chosen
            mixture.size[0] += 1
        mixture.n[chosen] += weight
        smooth_n += weight * topics.smooth[chosen]


@step
def prior_masses(rows, topics, mixture, eta, alpha, gamma, length):
    """The masses that are constant during a sweep."""
    n_topics = topics.smooth.size
    scale, kappa, topics_everywhere = 0.0, alpha, 0.0
    if n_topics > 0:
        scale = eta / (length + n_topics * gamma)
        for t in range(n_topics):
            kappa += scale * (mixture.n[t] + gamma) * topics.smooth[t]
            topics_everywhere += scale * (mixture.n[t] + gamma) * topics.mass[t]
    everywhere = topics_everywhere + kappa * rows.smooth_sums[rows.smooth.size - 1]
    return Masses(scale, kappa, topics_everywhere, everywhere)


# Adding all topics, vectorised, is faster than adding those in use one by one.
@summing_step
def topics_of_word(topics, mixture, gamma, word):
    """The sum over topics of (N_t + gamma) G_wt."""
    row, n, total = topics.words[word], mixture.n, 0.0
    for t in range(n.size):
        total += n[t] * row[t]
    return total + gamma * topics.word_sums[word]


@step
def draw_by_topic(rows, topics, mixture, gamma, shared, kind, word, mass, state):
    """Draw a label that the word was seen with, by s_wc times the topics' part of the prior."""
    if topics.smooth.size == 1:
        low, high = rows.pointers[word], rows.pointers[word + 1]
        sums, guides = topics.pair_sums, topics.pair_guides
        return rows.labels[pick_guided(sums, guides, low, high, mass / gamma)]
    t = pick_topic(mixture, gamma, topics.words[word], mass)
    if shared.at[kind, t] < 0:
        find_shared(rows, topics, word, t, shared, kind)
    end = shared.end[kind, t]
    mass = uniform(state) * shared.sums[end - 1]
    return shared.labels[pick(shared.sums, shared.at[kind, t], end, mass)]


@step
def draw_anywhere(rows, topics, mixture, gamma, masses, state):
    """Draw any label, by m_c a_c."""
    if uniform(state) * masses.everywhere < masses.topics_everywhere:
        mass = uniform(state) * masses.topics_everywhere / masses.scale
        t = pick_topic(mixture, gamma, topics.mass, mass)
        low, high = topics.pointers[t], topics.pointers[t + 1]
        mass = uniform(state) * topics.smooth_sums[high - 1]
        return topics.labels[pick(topics.smooth_sums, low, high, mass)]
    n_labels = rows.smooth.size
    mass = uniform(state) * rows.smooth_sums[n_labels - 1]
    return np.int32(pick(rows.smooth_sums, 0, n_labels, mass))


@kernel
def expand(values, first, n_types):
    """The word of each token, by its position in the document, and the weight of each token."""
    n_tokens = 0
    weights = np.empty(n_types)
    for kind in range(n_types):
        n_tokens += int(np.ceil(values[first + kind]))
        weights[kind] = values[first + kind] / np.ceil(values[first + kind])
    kinds = np.empty(n_tokens, np.int32)
    token = 0
    for kind in range(n_types):
        for _ in range(int(np.ceil(values[first + kind]))):
            kinds[token] = kind
            token += 1
    return kinds, weights


@step
def draw_labels(
    rows, topics, gamma, text, masses, used, parts, mixture, shared, soft, share, state
):
    """Draw the label of every token (eq. 8), and add ``share`` of each to the findings."""
    in_use, gathered = 0.0, -1
    for token in range(text.kinds.size):
        kind = text.kinds[token]
        word, weight, old = text.words[kind], text.weights[kind], text.assigned[token]
        # Tokens of the same word are adjacent, so the parts need only small updates.
        if kind == gathered:
            if old >= 0:
                in_use = take_part(used, parts, in_use, old, weight)
        else:
            if old >= 0:
                take(used, old, weight)
            in_use, gathered = gather(rows, word, used, parts), kind
        by_topics, by_word = text.by_topics[kind], masses.kappa * text.sums[kind]
        total = in_use + by_topics + by_word + masses.everywhere
        if soft and share > 0.0:
            part = share * weight / total
            text.inverse_sum[kind] += part
            add_parts(used, parts, part, text.out, kind, text.wanted, text.credit)
        target = uniform(state) * total
        if target < in_use:
            chosen = pick_used(used, parts, target)
        elif target < in_use + by_topics:
            mass = (target - in_use) / masses.scale
            chosen = draw_by_topic(rows, topics, mixture, gamma, shared, kind, word, mass, state)
        elif target < in_use + by_topics + by_word:
            mass = (target - in_use - by_topics) / masses.kappa
            low, high = rows.pointers[word], rows.pointers[word + 1]
            chosen = rows.labels[pick_guided(rows.sums, rows.guides, low, high, mass)]
        else:
            chosen = draw_anywhere(rows, topics, mixture, gamma, masses, state)
        in_use = add_part(rows, word, used, parts, in_use, chosen, weight)
        text.assigned[token] = chosen
        if not soft and share > 0.0:
            text.out[chosen] += share * weight
            if text.wanted[chosen] >= 0:
                text.credit[kind, text.wanted[chosen]] += share * weight


@kernel
def label_documents(start, stop, documents, rows, topics, gamma, plan, seed, soft, findings):
    """Sample the rows ``start`` to ``stop``; the plan is chains, burn-in, samples and lag.

    Means over the samples are added to the findings: tokens and prior of each label, and the share
    of each topic, by row from ``start``. With ``soft``, the full conditional distributions of
    tokens are summed instead of draws (CGS_p). ``wanted`` maps a label to a column of ``credit`` or
    to -1; ``credit`` receives a single document's tokens by word and label.
    """
    doc_ptr, values = documents.pointers, documents.values
    wanted, credit = findings.wanted, findings.credit
    chains, burn_in, samples, lag = plan
    n_labels, n_topics = rows.smooth.size, topics.smooth.size
    share = 1.0 / (chains * samples)
    state = np.empty(1, np.uint64)
    used, parts = nothing_used(n_labels), no_parts(n_labels)
    mixture = Topics(np.zeros(n_topics), np.empty(n_topics, np.int32), np.zeros(1, np.int64))
    pool = _POOL + n_labels
    pool_labels, pool_sums = np.empty(pool, np.int32), np.empty(pool)
    for row in range(start, stop):
        first = doc_ptr[row]
        n_types = doc_ptr[row + 1] - first
        eta, alpha = documents.etas[row], documents.alphas[row]
        out, theta = findings.counts[row - start], findings.mixtures[row - start]
        words = documents.words[first : first + n_types]
        kinds, weights = expand(values, first, n_types)
        name = document_name(documents.words, values, first, doc_ptr[row + 1])
        topic_of = np.empty(kinds.size, np.int32)
        shared = Shared(
            np.full((n_types, n_topics), -1, np.int32),
            np.empty((n_types, n_topics), np.int32),
            pool_labels,
            pool_sums,
            np.zeros(1, np.int64),
        )
        text = Text(
            words,
            kinds,
            weights,
            sums_of(rows, words),
            np.empty(kinds.size, np.int32),
            np.empty(n_types),
            np.empty(n_types),
            out,
            wanted,
            credit,
        )
        soft_kappa, soft_tau = np.zeros(n_types), np.zeros((n_types if soft else 0, n_topics))
        if kinds.size == 0:
            theta += 1.0 / max(n_topics, 1)
        for chain in range(chains if kinds.size > 0 else 0):
            start_stream(state, seed, mix(name ^ mix(np.uint64(chain))))
            text.assigned[:] = -1
            topic_of[:] = -1
            mixture.n[:] = 0.0
            mixture.size[0] = 0
            clear(used)
            length = 0.0
            # Sweep 0 gives every token its first label.
            for sweep in range(burn_in + (samples - 1) * lag + 1):
                sampled = sweep >= burn_in and (sweep - burn_in) % lag == 0
                masses = prior_masses(rows, topics, mixture, eta, alpha, gamma, length)
                for kind in range(n_types):
                    of_topics = topics_of_word(topics, mixture, gamma, words[kind])
                    text.by_topics[kind] = masses.scale * of_topics
                    text.inverse_sum[kind] = 0.0
                counted = share if sampled else 0.0
                draw_labels(
                    rows, topics, gamma, text, masses, used, parts, mixture, shared, soft, counted,
                    state,
                )  # fmt: skip
                if soft and sampled:
                    for kind in range(n_types):
                        soft_kappa[kind] += masses.kappa * text.inverse_sum[kind]
                        for t in range(n_topics):
                            part = masses.scale * (mixture.n[t] + gamma)
                            soft_tau[kind, t] += part * text.inverse_sum[kind]
                if n_topics > 1:
                    length = values[first : first + n_types].sum()
                    draw_topics(
                        topics, gamma, text.assigned, kinds, weights, topic_of, mixture, state
                    )
                if sampled:
                    for t in range(n_topics):
                        theta[t] += share * (mixture.n[t] + gamma) / (length + n_topics * gamma)
        clear(used)
        add_prior(topics, eta * theta, alpha, findings.priors[row - start])
        if soft:
            spread_priors(rows, topics, words, soft_kappa, soft_tau, out, wanted, credit)


@kernel
def sums_of(rows, words):
    """S_w of the words of a document."""
    sums = np.zeros(words.size)
    for kind in range(words.size):
        low, high = rows.pointers[words[kind]], rows.pointers[words[kind] + 1]
        if high > low:
            sums[kind] = rows.sums[high - 1]
    return sums


@step
def add_prior(topics, tau, alpha, prior):
    """Add the prior of every label, alpha + sum over topics of tau_t phi'_tc (eq. 12)."""
    kappa = alpha
    for t in range(tau.size):
        kappa += tau[t] * topics.smooth[t]
    for label in range(prior.size):
        prior[label] += kappa
    for t in range(tau.size):
        for i in range(topics.pointers[t], topics.pointers[t + 1]):
            prior[topics.labels[i]] += tau[t] * topics.phi[i]


@kernel
def spread_priors(rows, topics, words, soft_kappa, soft_tau, out, wanted, credit):
    """Add the prior's part, (s_wc + m_c) a_c, to the sums of full conditionals."""
    n_topics = topics.smooth.size
    tau, kappa = np.zeros(n_topics), 0.0
    for kind in range(words.size):
        kappa += soft_kappa[kind]
        for t in range(n_topics):
            tau[t] += soft_tau[kind, t]
        word = words[kind]
        for i in range(rows.pointers[word], rows.pointers[word + 1]):
            label = rows.labels[i]
            prior = soft_kappa[kind]
            for j in range(topics.label_pointers[label], topics.label_pointers[label + 1]):
                prior += topics.label_phi[j] * soft_tau[kind, topics.label_topics[j]]
            out[label] += rows.phi[i] * prior
            if wanted[label] >= 0:
                credit[kind, wanted[label]] += rows.phi[i] * prior
    for label in range(rows.smooth.size):
        prior = kappa
        for j in range(topics.label_pointers[label], topics.label_pointers[label + 1]):
            prior += topics.label_phi[j] * tau[topics.label_topics[j]]
        out[label] += rows.smooth[label] * prior
        if wanted[label] >= 0:
            for kind in range(words.size):
                prior = soft_kappa[kind]
                for j in range(topics.label_pointers[label], topics.label_pointers[label + 1]):
                    prior += topics.label_phi[j] * soft_tau[kind, topics.label_topics[j]]
                credit[kind, wanted[label]] += rows.smooth[label] * prior
