"""Collapsed Gibbs sampling of unlabelled topics (Rubin et al., eq. 5).

(n_wt + beta) (n_dt + gamma) / (n_t + V beta) splits into three parts, as in SparseLDA (Yao, Mimno
and McCallum, 2009): topics of the word, topics of the document, and all topics. The first two are
short lists. A word's list starts at ``list_ptr[word]`` and has ``list_size[word]`` topics.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel
from manylabel.kernels.lda_active import NOTHING
from manylabel.kernels.rng import mix, start_stream, uniform


@kernel
def change(list_ptr, list_size, list_topics, list_n, word, topic, amount):
    """Add to a word's count under a topic; the list grows or shrinks as needed."""
    low = list_ptr[word]
    for i in range(low, low + list_size[word]):
        if list_topics[i] == topic:
            list_n[i] += amount
            if list_n[i] < NOTHING:
                list_size[word] -= 1
                list_topics[i] = list_topics[low + list_size[word]]
                list_n[i] = list_n[low + list_size[word]]
            return
    i = low + list_size[word]
    list_topics[i], list_n[i] = topic, amount
    list_size[word] += 1


@kernel
def sweep(
    doc_ptr,
    token_ptr,
    words,
    weights,
    assigned,
    list_ptr,
    list_size,
    list_topics,
    list_n,
    topic_n,
    gamma,
    beta,
    n_words,
    state,
    soft,
    soft_n,
):
    """Draw every token's topic once; return the tokens' total log-likelihood.

    A token without a topic (-1) gets its first one. With ``soft``, full conditional distributions
    are added to ``soft_n`` (words x topics).
    """
    n_topics = topic_n.size
    smoothing = n_words * beta
    doc_n = np.zeros(n_topics)
    in_doc = np.empty(n_topics, np.int32)
    place = np.full(n_topics, -1, np.int32)
    every = 0.0  # sum of gamma beta / (n_t + V beta)
    for t in range(n_topics):
        every += gamma * beta / (topic_n[t] + smoothing)
    log_likelihood = 0.0
    for doc in range(doc_ptr.size - 1):
        n_in_doc = 0
        length, of_doc = 0.0, 0.0
        for entry in range(doc_ptr[doc], doc_ptr[doc + 1]):
            for token in range(token_ptr[entry], token_ptr[entry + 1]):
                length += weights[entry]
                t = assigned[token]
                if t >= 0:
                    if place[t] < 0:
                        place[t] = n_in_doc
                        in_doc[n_in_doc] = t
                        n_in_doc += 1
                    doc_n[t] += weights[entry]
        for i in range(n_in_doc):
            of_doc += doc_n[in_doc[i]] * beta / (topic_n[in_doc[i]] + smoothing)
        for entry in range(doc_ptr[doc], doc_ptr[doc + 1]):
            word, weight = words[entry], weights[entry]
            low = list_ptr[word]
            for token in range(token_ptr[entry], token_ptr[entry + 1]):
                old = assigned[token]
                if old >= 0:
                    before = beta / (topic_n[old] + smoothing)
                    of_doc -= doc_n[old] * before
                    every -= gamma * before
                    topic_n[old] -= weight
                    doc_n[old] -= weight
                    after = beta / (topic_n[old] + smoothing)
                    every += gamma * after
                    if doc_n[old] < NOTHING:
                        doc_n[old] = 0.0
                        n_in_doc -= 1
                        in_doc[place[old]] = in_doc[n_in_doc]
                        place[in_doc[n_in_doc]] = place[old]
                        place[old] = -1
                    else:
                        of_doc += doc_n[old] * after
                    change(list_ptr, list_size, list_topics, list_n, word, old, -weight)
                of_word = 0.0
                for i in range(low, low + list_size[word]):
                    t = list_topics[i]
                    of_word += list_n[i] * (doc_n[t] + gamma) / (topic_n[t] + smoothing)
                of_doc = max(of_doc, 0.0)
                total = of_word + of_doc + every
                if soft:
                    for i in range(low, low + list_size[word]):
                        t = list_topics[i]
                        part = list_n[i] * (doc_n[t] + gamma) / (topic_n[t] + smoothing)
                        soft_n[word, t] += weight * part / total
                    for t in range(n_topics):
                        part = (doc_n[t] + gamma) * beta / (topic_n[t] + smoothing)
                        soft_n[word, t] += weight * part / total
                target = uniform(state) * total
                chosen = n_topics - 1
                if target < of_word:
                    for i in range(low, low + list_size[word]):
                        chosen = list_topics[i]
                        part = list_n[i] * (doc_n[chosen] + gamma)
                        target -= part / (topic_n[chosen] + smoothing)
                        if target < 0.0:
                            break
                elif target < of_word + of_doc and n_in_doc > 0:
                    target -= of_word
                    for i in range(n_in_doc):
                        chosen = in_doc[i]
                        target -= doc_n[chosen] * beta / (topic_n[chosen] + smoothing)
                        if target < 0.0:
                            break
                else:
                    target -= of_word + of_doc
                    for t in range(n_topics):
                        target -= gamma * beta / (topic_n[t] + smoothing)
                        if target < 0.0:
                            chosen = t
                            break
                assigned[token] = chosen
                before = beta / (topic_n[chosen] + smoothing)
                if place[chosen] < 0:
                    place[chosen] = n_in_doc
                    in_doc[n_in_doc] = chosen
                    n_in_doc += 1
                of_doc -= doc_n[chosen] * before
                every -= gamma * before
                topic_n[chosen] += weight
                doc_n[chosen] += weight
                after = beta / (topic_n[chosen] + smoothing)
                of_doc += doc_n[chosen] * after
                every += gamma * after
                change(list_ptr, list_size, list_topics, list_n, word, chosen, weight)
                log_likelihood += weight * np.log(total / (length - weight + n_topics * gamma))
        for i in range(n_in_doc):
            t = in_doc[i]
            doc_n[t] = 0.0
            place[t] = -1
    return log_likelihood


@kernel
def share_at_random(words, values, share, word_n, topic_n, state):
    """Divide every word among the topics at random and count."""
    n_topics = topic_n.size
    for entry in range(words.size):
        total = 0.0
        for t in range(n_topics):
            share[entry, t] = -np.log(1.0 - uniform(state)) + 1e-12
            total += share[entry, t]
        for t in range(n_topics):
            share[entry, t] /= total
            word_n[words[entry], t] += values[entry] * share[entry, t]
            topic_n[t] += values[entry] * share[entry, t]


@kernel
def expect(doc_ptr, words, values, share, word_n, topic_n, gamma, beta):
    """One sweep of CVB0 over all topics; return the tokens' total log-likelihood."""
    n_topics = topic_n.size
    smoothing = word_n.shape[0] * beta
    doc_n = np.empty(n_topics)
    mass = np.empty(n_topics)
    log_likelihood = 0.0
    for doc in range(doc_ptr.size - 1):
        doc_n[:] = gamma
        length = 0.0
        for entry in range(doc_ptr[doc], doc_ptr[doc + 1]):
            length += values[entry]
            for t in range(n_topics):
                doc_n[t] += values[entry] * share[entry, t]
        for entry in range(doc_ptr[doc], doc_ptr[doc + 1]):
            word, value = words[entry], values[entry]
            one = min(value, 1.0)
            total = 0.0
            for t in range(n_topics):
                own = one * share[entry, t]
                mass[t] = (
                    (word_n[word, t] - own + beta)
                    / (topic_n[t] - own + smoothing)
                    * (doc_n[t] - own)
                )
                total += mass[t]
            for t in range(n_topics):
                old = share[entry, t]
                share[entry, t] = mass[t] / total
                change = value * (share[entry, t] - old)
                doc_n[t] += change
                word_n[word, t] += change
                topic_n[t] += change
            log_likelihood += value * np.log(total / (length - one + n_topics * gamma))
    return log_likelihood


@kernel
def sweep_by_document(
    doc_ptr,
    token_ptr,
    words,
    weights,
    assigned,
    list_ptr,
    list_size,
    list_topics,
    list_n,
    topic_n,
    gamma,
    beta,
    n_words,
    seed,
    number,
    first,
):
    """As `sweep`, but each document has its own random stream, from seed, sweep and document.

    ``number`` is the number of the sweep and ``first`` that of the first document (both uint64), so
    draws do not depend on where this runs, or how often.
    """
    state = np.empty(1, np.uint64)
    soft_n = np.empty((0, 0))
    of_sweep = mix(seed ^ mix(number))
    log_likelihood = 0.0
    for doc in range(doc_ptr.size - 1):
        start_stream(state, of_sweep, first + np.uint64(doc))
        log_likelihood += sweep(
            doc_ptr[doc : doc + 2],
            token_ptr,
            words,
            weights,
            assigned,
            list_ptr,
            list_size,
            list_topics,
            list_n,
            topic_n,
            gamma,
            beta,
            n_words,
            state,
            False,
            soft_n,
        )
    return log_likelihood
