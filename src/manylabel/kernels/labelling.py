"""Gibbs sampling of unlabelled documents over all labels, phi fixed (Rubin et al., eq. 8, 10-12).

A token of word w goes to label c with probability proportional to phi_wc (n_c + a_c), where n_c
counts the document's other tokens under c and a_c is the prior

    a_c = alpha + eta * sum over topics t of theta'_t phi'_tc.

Both distributions are sums of a sparse and a smooth part: phi_wc = s_wc + m_c and
phi'_tc = sigma_tc + mu_t. So the mass of all labels splits exactly into

    labels in use:  sum of phi_wc n_c over the labels that hold tokens of this document;
    word's labels:  sum of s_wc a_c = scale * sum_t (N_t + gamma) G_wt + kappa S_w;
    every label:    sum of m_c a_c  = scale * sum_t (N_t + gamma) M_t  + kappa M;

with G_wt = sum_c s_wc sigma_tc, M_t = sum_c m_c sigma_tc, S_w = sum_c s_wc and M = sum_c m_c known
beforehand, scale = eta / (N + T gamma) and kappa = alpha + scale * sum_t (N_t + gamma) mu_t. A draw
picks the part, then a topic where one is involved, then a label: nothing is as long as the number
of labels. Flat-LDA has no topic, Prior-LDA has one, Dependency-LDA many.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel
from manylabel.kernels.pairs import find, pick
from manylabel.kernels.rng import document_name, mix, start_stream, uniform

#: Entries kept of the labels that a word shares with a topic.
_POOL = 1 << 18
#: Looking up a label in a word's row costs about as much as reading so many entries.
_SEARCH = 8
#: A weight below this is no token but a rounding error.
_NOTHING = 1e-9


@kernel
def shared_labels(rows, topics, word, topic, pool_labels, pool_sums, start):
    """The labels that a word shares with a topic and the running sums of s_wc sigma_tc; the end."""
    low, high = rows.pointers[word], rows.pointers[word + 1]
    low_t, high_t = topics.pointers[topic], topics.pointers[topic + 1]
    end, total = start, 0.0
    if high - low <= high_t - low_t:
        for i in range(low, high):
            low_t = find(topics.labels, low_t, high_t, rows.labels[i])
            if low_t == high_t:
                break
            if topics.labels[low_t] == rows.labels[i]:
                total += rows.phi[i] * topics.phi[low_t]
                pool_labels[end], pool_sums[end] = rows.labels[i], total
                end += 1
    else:
        for j in range(low_t, high_t):
            low = find(rows.labels, low, high, topics.labels[j])
            if low == high:
                break
            if rows.labels[low] == topics.labels[j]:
                total += rows.phi[low] * topics.phi[j]
                pool_labels[end], pool_sums[end] = rows.labels[low], total
                end += 1
    return end


@kernel
def gather(rows, word, used, used_n, used_smooth, n_used, place, parts):
    """phi_wc n_c of the labels in use, in their order; the sum."""
    low, high = rows.pointers[word], rows.pointers[word + 1]
    dense = rows.dense_at[word]
    if dense >= 0:
        # Four sums, so that an addition need not wait for the one before it.
        row = rows.dense[dense]
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        whole = n_used - n_used % 4
        for i in range(0, whole, 4):
            parts[i] = (row[used[i]] + used_smooth[i]) * used_n[i]
            parts[i + 1] = (row[used[i + 1]] + used_smooth[i + 1]) * used_n[i + 1]
            parts[i + 2] = (row[used[i + 2]] + used_smooth[i + 2]) * used_n[i + 2]
            parts[i + 3] = (row[used[i + 3]] + used_smooth[i + 3]) * used_n[i + 3]
            a += parts[i]
            b += parts[i + 1]
            c += parts[i + 2]
            d += parts[i + 3]
        for i in range(whole, n_used):
            parts[i] = (row[used[i]] + used_smooth[i]) * used_n[i]
            a += parts[i]
        return (a + b) + (c + d)
    total = 0.0
    by_row = high - low < _SEARCH * n_used
    for i in range(n_used):
        phi = used_smooth[i]
        if not by_row:
            at = find(rows.labels, low, high, used[i])
            if at < high and rows.labels[at] == used[i]:
                phi += rows.phi[at]
        parts[i] = phi * used_n[i]
        total += parts[i]
    if by_row:
        for slot in range(low, high):
            i = place[rows.labels[slot]]
            if i >= 0:
                part = rows.phi[slot] * used_n[i]
                parts[i] += part
                total += part
    return total


@kernel
def pick_part(weights, n, target):
    """The first of ``n`` weights whose running sum exceeds ``target``; the last if none does."""
    for i in range(n):
        target -= weights[i]
        if target < 0.0:
            return i
    return n - 1


@kernel
def pick_topic(topic_n, gamma, active, n_active, masses, target):
    """A topic t by mass (N_t + gamma) masses[t]; the topics in use come first."""
    last = -1
    for i in range(n_active):
        t = active[i]
        if masses[t] > 0.0:
            last = t
            target -= topic_n[t] * masses[t]
            if target < 0.0:
                return t
    for t in range(masses.size):
        if masses[t] > 0.0:
            last = t
            target -= gamma * masses[t]
            if target < 0.0:
                return t
    return last


@kernel
def drop(active, n_active, item):
    """Take an item off the list of those in use; the list's new length."""
    for i in range(n_active):
        if active[i] == item:
            active[i] = active[n_active - 1]
            return n_active - 1
    return n_active


@kernel
def draw_topics(
    topics, gamma, assigned, kinds, weights, topic_of, topic_n, active, n_active, state
):
    """Draw the topic of every token's label (eq. 10); the number of topics in use."""
    smooth_n, smooth_all = 0.0, 0.0
    for i in range(n_active):
        smooth_n += topics.smooth[active[i]] * topic_n[active[i]]
    for t in range(topic_n.size):
        smooth_all += topics.smooth[t]
    for token in range(assigned.size):
        weight = weights[kinds[token]]
        old = topic_of[token]
        if old >= 0:
            topic_n[old] -= weight
            smooth_n -= weight * topics.smooth[old]
            if topic_n[old] < _NOTHING:
                topic_n[old] = 0.0
                n_active = drop(active, n_active, old)
        low, high = (
            topics.label_pointers[assigned[token]],
            topics.label_pointers[assigned[token] + 1],
        )
        own = 0.0
        for i in range(low, high):
            own += topics.label_phi[i] * (topic_n[topics.label_topics[i]] + gamma)
        target = uniform(state) * (own + max(smooth_n, 0.0) + gamma * smooth_all)
        chosen = -1
        if target < own:
            for i in range(low, high):
                chosen = topics.label_topics[i]
                target -= topics.label_phi[i] * (topic_n[chosen] + gamma)
                if target < 0.0:
                    break
        else:
            chosen = pick_topic(topic_n, gamma, active, n_active, topics.smooth, target - own)
        topic_of[token] = chosen
        if topic_n[chosen] == 0.0:
            active[n_active] = chosen
            n_active += 1
        topic_n[chosen] += weight
        smooth_n += weight * topics.smooth[chosen]
    return n_active


@kernel
def expand(values, first, n_types):
    """The word of each token, by its place in the document, and the weight of a word's tokens."""
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


@kernel
def label_documents(
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
    chains,
    burn_in,
    samples,
    lag,
    seed,
    soft,
    counts,
    priors,
    wanted,
    credit,
):
    """Sample the rows ``start`` to ``stop``.

    Adds the tokens a label, averaged over the samples, to ``counts`` and the mean prior to
    ``priors`` (both by row from ``start``, and by label). With ``soft``, the full conditional
    distributions are summed instead of draws (CGS_p). ``wanted`` maps a label to a column of
    ``credit`` or to -1; there a single document's tokens are added by word and label.
    """
    n_labels, n_topics = rows.smooth.size, topics.smooth.size
    share = 1.0 / (chains * samples)
    state = np.empty(1, np.uint64)
    used = np.empty(n_labels, np.int32)  # labels that hold tokens
    used_n = np.empty(n_labels)  # how many
    used_smooth = np.empty(n_labels)  # their smooth part of phi
    place = np.full(n_labels, -1, np.int32)  # where a label stands in the list
    parts = np.empty(n_labels)
    topic_n = np.zeros(n_topics)
    active_topics = np.empty(n_topics, np.int32)
    pool_labels = np.empty(_POOL + n_labels, np.int32)
    pool_sums = np.empty(_POOL + n_labels, np.float64)
    smooth_total = rows.smooth_sums[n_labels - 1]
    for row in range(start, stop):
        first = doc_ptr[row]
        n_types = doc_ptr[row + 1] - first
        out, prior_out = counts[row - start], priors[row - start]
        eta, alpha = etas[row], alphas[row]
        kinds, weights = expand(values, first, n_types)
        n_tokens, all_tokens = kinds.size, 0.0
        for kind in range(n_types):
            all_tokens += values[first + kind]
        tau_sum, kappa_sum = np.zeros(n_topics), 0.0
        if n_tokens == 0:
            kappa_sum = alpha
            for t in range(n_topics):
                tau_sum[t] = eta / n_topics
                kappa_sum += tau_sum[t] * topics.smooth[t]
        name = document_name(words, values, first, doc_ptr[row + 1])
        assigned = np.empty(n_tokens, np.int32)
        topic_of = np.empty(n_tokens, np.int32)
        shared_at = np.full((n_types, n_topics), -1, np.int32)
        shared_end = np.empty((n_types, n_topics), np.int32)
        pool_end = 0
        base = np.empty(n_types)
        inverse_sum = np.empty(n_types)
        soft_kappa = np.zeros(n_types)
        soft_tau = np.zeros((n_types if soft else 0, n_topics))
        n_used = 0
        for chain in range(chains if n_tokens > 0 else 0):
            start_stream(state, seed, mix(name ^ mix(np.uint64(chain))))
            assigned[:] = -1
            topic_of[:] = -1
            topic_n[:] = 0.0
            length, n_active = 0.0, 0
            for i in range(n_used):
                place[used[i]] = -1
            n_used = 0
            # Sweep 0 gives every token its first label.
            for sweep in range(burn_in + (samples - 1) * lag + 1):
                sampled = sweep >= burn_in and (sweep - burn_in) % lag == 0
                scale, kappa, topics_everywhere = 0.0, alpha, 0.0
                if n_topics > 0:
                    scale = eta / (length + n_topics * gamma)
                    for t in range(n_topics):
                        kappa += scale * (topic_n[t] + gamma) * topics.smooth[t]
                        topics_everywhere += scale * (topic_n[t] + gamma) * topics.mass[t]
                everywhere = topics_everywhere + kappa * smooth_total
                for kind in range(n_types):
                    word = words[first + kind]
                    of_topics = gamma * topics.word_sums[word]
                    for i in range(n_active):
                        t = active_topics[i]
                        of_topics += topic_n[t] * topics.words[word, t]
                    base[kind] = scale * of_topics
                    inverse_sum[kind] = 0.0
                for token in range(n_tokens):
                    kind = kinds[token]
                    word, weight = words[first + kind], weights[kind]
                    old = assigned[token]
                    if old >= 0:
                        at = place[old]
                        used_n[at] -= weight
                        if used_n[at] < _NOTHING:
                            n_used -= 1
                            used[at], used_n[at] = used[n_used], used_n[n_used]
                            used_smooth[at] = used_smooth[n_used]
                            place[used[at]] = at
                            place[old] = -1
                    in_use = gather(rows, word, used, used_n, used_smooth, n_used, place, parts)
                    low, high = rows.pointers[word], rows.pointers[word + 1]
                    of_word = rows.sums[high - 1] if high > low else 0.0
                    total = in_use + base[kind] + kappa * of_word + everywhere
                    if soft and sampled:
                        inverse_sum[kind] += share * weight / total
                        for i in range(n_used):
                            part = parts[i] * share * weight / total
                            out[used[i]] += part
                            if wanted[used[i]] >= 0:
                                credit[kind, wanted[used[i]]] += part
                    target = uniform(state) * total
                    if target < in_use:
                        chosen = used[pick_part(parts, n_used, target)]
                    elif target < in_use + base[kind]:
                        mass = (target - in_use) / scale
                        if n_topics == 1:
                            slot = pick(topics.pair_sums, low, high, mass / gamma)
                            chosen = rows.labels[slot]
                        else:
                            t = pick_topic(
                                topic_n, gamma, active_topics, n_active, topics.words[word], mass
                            )
                            if shared_at[kind, t] < 0:
                                if pool_end > _POOL:
                                    shared_at[:] = -1
                                    pool_end = 0
                                shared_at[kind, t] = pool_end
                                pool_end = shared_labels(
                                    rows, topics, word, t, pool_labels, pool_sums, pool_end
                                )
                                shared_end[kind, t] = pool_end
                            end = shared_end[kind, t]
                            mass = uniform(state) * pool_sums[end - 1]
                            chosen = pool_labels[pick(pool_sums, shared_at[kind, t], end, mass)]
                    elif target < in_use + base[kind] + kappa * of_word:
                        mass = (target - in_use - base[kind]) / kappa
                        chosen = rows.labels[pick(rows.sums, low, high, mass)]
                    elif uniform(state) * everywhere < topics_everywhere:
                        mass = uniform(state) * topics_everywhere / scale
                        t = pick_topic(topic_n, gamma, active_topics, n_active, topics.mass, mass)
                        low, high = topics.pointers[t], topics.pointers[t + 1]
                        mass = uniform(state) * topics.smooth_sums[high - 1]
                        chosen = topics.labels[pick(topics.smooth_sums, low, high, mass)]
                    else:
                        mass = uniform(state) * smooth_total
                        chosen = pick(rows.smooth_sums, 0, n_labels, mass)
                    if place[chosen] < 0:
                        place[chosen] = n_used
                        used[n_used], used_n[n_used] = chosen, 0.0
                        used_smooth[n_used] = rows.smooth[chosen]
                        n_used += 1
                    used_n[place[chosen]] += weight
                    assigned[token] = chosen
                    if sampled and not soft:
                        out[chosen] += share * weight
                        if wanted[chosen] >= 0:
                            credit[kind, wanted[chosen]] += share * weight
                if soft and sampled:
                    for kind in range(n_types):
                        soft_kappa[kind] += kappa * inverse_sum[kind]
                        for t in range(n_topics):
                            soft_tau[kind, t] += scale * (topic_n[t] + gamma) * inverse_sum[kind]
                if n_topics > 1:
                    length = all_tokens
                    n_active = draw_topics(
                        topics,
                        gamma,
                        assigned,
                        kinds,
                        weights,
                        topic_of,
                        topic_n,
                        active_topics,
                        n_active,
                        state,
                    )
                if sampled:
                    kappa_sum += share * alpha
                    for t in range(n_topics):
                        tau = share * eta * (topic_n[t] + gamma) / (length + n_topics * gamma)
                        tau_sum[t] += tau
                        kappa_sum += tau * topics.smooth[t]
        for i in range(n_used):
            place[used[i]] = -1
        for label in range(n_labels):
            prior_out[label] += kappa_sum
        for t in range(n_topics):
            for i in range(topics.pointers[t], topics.pointers[t + 1]):
                prior_out[topics.labels[i]] += tau_sum[t] * topics.phi[i]
        if soft:
            spread_priors(
                rows, topics, words, first, n_types, soft_kappa, soft_tau, out, wanted, credit
            )


@kernel
def spread_priors(rows, topics, words, first, n_types, soft_kappa, soft_tau, out, wanted, credit):
    """Add what comes from the prior, (s_wc + m_c) a_c, to the sums of full conditionals."""
    n_topics = topics.smooth.size
    tau, kappa = np.zeros(n_topics), 0.0
    for kind in range(n_types):
        kappa += soft_kappa[kind]
        for t in range(n_topics):
            tau[t] += soft_tau[kind, t]
        word = words[first + kind]
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
            for kind in range(n_types):
                prior = soft_kappa[kind]
                for j in range(topics.label_pointers[label], topics.label_pointers[label + 1]):
                    prior += topics.label_phi[j] * soft_tau[kind, topics.label_topics[j]]
                credit[kind, wanted[label]] += rows.smooth[label] * prior
