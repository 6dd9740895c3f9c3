"""The proper sampler of Dependency-LDA (Rubin et al., eq. 8, 9 and 10), phi and phi' fixed.

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

import numpy as np

from manylabel.kernels.compile import kernel
from manylabel.kernels.labelling import expand, gather, pick_part, spread_priors
from manylabel.kernels.pairs import find, pick
from manylabel.kernels.rng import document_name, mix, start_stream, uniform

#: A weight below this is no token but a rounding error.
_NOTHING = 1e-9
#: The logarithm of the greatest ratio told from greater ones.
_STEEPEST = 600.0


@kernel
def excess(alpha, delta, n, m):
    """The ratio less 1 of a label with ``n`` word tokens and ``m`` label tokens."""
    if n < _NOTHING:
        return 0.0
    a = alpha + delta * m
    logarithm = math.lgamma(a + delta + n) - math.lgamma(a + delta)
    logarithm += math.lgamma(a) - math.lgamma(a + n)
    return math.exp(min(logarithm, _STEEPEST)) - 1.0


@kernel
def topic_label(topics, topic, label):
    """phi'_tc."""
    high = topics.label_pointers[label + 1]
    at = find(topics.label_topics, topics.label_pointers[label], high, topic)
    phi = topics.smooth[topic]
    if at < high and topics.label_topics[at] == topic:
        phi += topics.label_phi[at]
    return phi


@kernel
def draw_from_topic(topics, topic, n_labels, state):
    """A label by phi'_t."""
    low, high = topics.pointers[topic], topics.pointers[topic + 1]
    of_sparse = topics.sums[high - 1] if high > low else 0.0
    target = uniform(state) * (of_sparse + n_labels * topics.smooth[topic])
    if target < of_sparse:
        return topics.labels[pick(topics.sums, low, high, target)]
    return min(int((target - of_sparse) / topics.smooth[topic]), n_labels - 1)


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
    n_label_tokens,
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
    """Sample the rows ``start`` to ``stop``; as :func:`labelling.label_documents`."""
    n_labels, n_topics = rows.smooth.size, topics.smooth.size
    share = 1.0 / (chains * samples)
    state = np.empty(1, np.uint64)
    used = np.empty(n_labels, np.int32)  # labels that hold tokens of either kind
    used_n = np.empty(n_labels)  # word tokens
    used_m = np.empty(n_labels)  # label tokens
    used_both = np.empty(n_labels)  # n + delta m
    used_smooth = np.empty(n_labels)
    used_excess = np.empty(n_labels)
    place = np.full(n_labels, -1, np.int32)
    parts = np.empty(n_labels)
    topic_n = np.empty(n_topics)
    topic_mass = np.empty(n_topics)
    token_label = np.empty(n_label_tokens, np.int32)
    token_topic = np.empty(n_label_tokens, np.int32)
    for row in range(start, stop):
        first = doc_ptr[row]
        n_types = doc_ptr[row + 1] - first
        out, prior_out = counts[row - start], priors[row - start]
        alpha, delta = alphas[row], etas[row] / n_label_tokens
        kinds, weights = expand(values, first, n_types)
        assigned = np.empty(kinds.size, np.int32)
        soft_kappa = np.zeros(n_types)
        soft_tau = np.zeros((n_types if soft else 0, n_topics))
        name = document_name(words, values, first, doc_ptr[row + 1])
        for chain in range(chains):
            start_stream(state, seed, mix(name ^ mix(np.uint64(chain))))
            assigned[:] = -1
            topic_n[:] = 0.0
            n_used = 0
            for i in range(n_label_tokens):
                t = min(int(uniform(state) * n_topics), n_topics - 1)
                label = draw_from_topic(topics, t, n_labels, state)
                token_topic[i], token_label[i] = t, label
                topic_n[t] += 1.0
                n_used = enter(
                    rows, label, used, used_n, used_m, used_both, used_smooth, n_used, place
                )
                used_m[place[label]] += 1.0
                used_both[place[label]] += delta
            # Sweep 0 gives every token its first label.
            for sweep in range(burn_in + (samples - 1) * lag + 1):
                sampled = sweep >= burn_in and (sweep - burn_in) % lag == 0
                for token in range(kinds.size):
                    kind = kinds[token]
                    word, weight = words[first + kind], weights[kind]
                    old = assigned[token]
                    if old >= 0:
                        used_n[place[old]] -= weight
                        used_both[place[old]] -= weight
                        n_used = leave(
                            old, used, used_n, used_m, used_both, used_smooth, n_used, place
                        )
                    in_use = gather(rows, word, used, used_both, used_smooth, n_used, place, parts)
                    low, high = rows.pointers[word], rows.pointers[word + 1]
                    of_word = alpha * rows.sums[high - 1] if high > low else 0.0
                    everywhere = alpha * rows.smooth_sums[n_labels - 1]
                    total = in_use + of_word + everywhere
                    target = uniform(state) * total
                    if soft and sampled:
                        soft_kappa[kind] += alpha * share * weight / total
                        for i in range(n_used):
                            part = parts[i] * share * weight / total
                            out[used[i]] += part
                            if wanted[used[i]] >= 0:
                                credit[kind, wanted[used[i]]] += part
                    if target < in_use:
                        chosen = used[pick_part(parts, n_used, target)]
                    elif target < in_use + of_word:
                        mass = (target - in_use) / alpha
                        chosen = rows.labels[pick(rows.sums, low, high, mass)]
                    else:
                        mass = (target - in_use - of_word) / alpha
                        chosen = np.int32(pick(rows.smooth_sums, 0, n_labels, mass))
                    n_used = enter(
                        rows, chosen, used, used_n, used_m, used_both, used_smooth, n_used, place
                    )
                    used_n[place[chosen]] += weight
                    used_both[place[chosen]] += weight
                    assigned[token] = chosen
                    if sampled and not soft:
                        out[chosen] += share * weight
                        if wanted[chosen] >= 0:
                            credit[kind, wanted[chosen]] += share * weight
                for i in range(n_used):
                    used_excess[i] = excess(alpha, delta, used_n[i], used_m[i])
                for turn in range(2):
                    for i in range(n_label_tokens):
                        old = token_label[i]
                        at = place[old]
                        used_m[at] -= 1.0
                        used_both[at] -= delta
                        used_excess[at] = excess(alpha, delta, used_n[at], used_m[at])
                        above = 0.0
                        for j in range(n_used):
                            parts[j] = 0.0
                            if used_excess[j] > 0.0:
                                parts[j] = used_excess[j] * topic_label(
                                    topics, token_topic[i], used[j]
                                )
                                above += parts[j]
                        target = uniform(state) * (1.0 + above)
                        if target < above:
                            chosen = used[pick_part(parts, n_used, target)]
                        else:
                            chosen = draw_from_topic(topics, token_topic[i], n_labels, state)
                        n_used = enter(
                            rows,
                            chosen,
                            used,
                            used_n,
                            used_m,
                            used_both,
                            used_smooth,
                            n_used,
                            place,
                        )
                        at = place[chosen]
                        used_m[at] += 1.0
                        used_both[at] += delta
                        used_excess[at] = excess(alpha, delta, used_n[at], used_m[at])
                        token_label[i] = chosen
                    if turn == 0:
                        for i in range(n_label_tokens):
                            topic_n[token_topic[i]] -= 1.0
                            total = 0.0
                            for t in range(n_topics):
                                total += topics.smooth[t] * (topic_n[t] + gamma)
                                topic_mass[t] = topics.smooth[t] * (topic_n[t] + gamma)
                            label = token_label[i]
                            for j in range(
                                topics.label_pointers[label], topics.label_pointers[label + 1]
                            ):
                                t = topics.label_topics[j]
                                topic_mass[t] += topics.label_phi[j] * (topic_n[t] + gamma)
                                total += topics.label_phi[j] * (topic_n[t] + gamma)
                            t = pick_part(topic_mass, n_topics, uniform(state) * total)
                            token_topic[i] = t
                            topic_n[t] += 1.0
                # Label tokens moved without taking emptied labels off the list.
                i = 0
                while i < n_used:
                    before = n_used
                    n_used = leave(
                        used[i], used, used_n, used_m, used_both, used_smooth, n_used, place
                    )
                    if n_used == before:
                        i += 1
                if sampled:
                    for i in range(n_used):
                        prior_out[used[i]] += share * delta * used_m[i]
            for i in range(n_used):
                place[used[i]] = -1
        for label in range(n_labels):
            prior_out[label] += alpha
        if soft:
            spread_priors(
                rows, topics, words, first, n_types, soft_kappa, soft_tau, out, wanted, credit
            )


@kernel
def enter(rows, label, used, used_n, used_m, used_both, used_smooth, n_used, place):
    """Put a label on the list of those in use if it is not there; the list's length."""
    if place[label] >= 0:
        return n_used
    place[label] = n_used
    used[n_used], used_smooth[n_used] = label, rows.smooth[label]
    used_n[n_used], used_m[n_used], used_both[n_used] = 0.0, 0.0, 0.0
    return n_used + 1


@kernel
def leave(label, used, used_n, used_m, used_both, used_smooth, n_used, place):
    """Take a label off the list if it holds no token of either kind; the list's length."""
    at = place[label]
    if used_n[at] >= _NOTHING or used_m[at] >= 0.5:
        return n_used
    last = n_used - 1
    used[at], used_n[at], used_m[at] = used[last], used_n[last], used_m[last]
    used_both[at], used_smooth[at] = used_both[last], used_smooth[last]
    place[used[at]] = at
    place[label] = -1
    return last
