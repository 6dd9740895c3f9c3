"""Topic models by enumeration, dense matrices and dictionaries."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np


def posterior(weight, choices):
    """Every combination of choices with its probability."""
    logs = {state: weight(state) for state in itertools.product(*choices)}
    highest = max(logs.values())
    masses = {state: math.exp(value - highest) for state, value in logs.items()}
    total = sum(masses.values())
    return {state: mass / total for state, mass in masses.items()}


def log_dirichlet_multinomial(counts, priors):
    """The logarithm of the probability of draws with these counts, the mixture integrated out."""
    total = math.lgamma(sum(priors)) - math.lgamma(sum(priors) + sum(counts))
    return total + sum(
        math.lgamma(n + a) - math.lgamma(a) for n, a in zip(counts, priors, strict=True)
    )


def labelled_posterior(documents, label_sets, n_words, eta, alpha, beta):
    """Of the labels of all tokens, one after the other, given their documents' labels."""
    tokens = [(doc, word) for doc, words in enumerate(documents) for word in words]
    every = sorted({label for labels in label_sets for label in labels})

    def weight(state):
        pairs = Counter((word, c) for (_, word), c in zip(tokens, state, strict=True))
        of_doc = Counter((doc, c) for (doc, _), c in zip(tokens, state, strict=True))
        value = sum(
            log_dirichlet_multinomial(
                [of_doc[doc, c] for c in labels], [eta / len(labels) + alpha] * len(labels)
            )
            for doc, labels in enumerate(label_sets)
        )
        return value + sum(
            log_dirichlet_multinomial([pairs[w, c] for w in range(n_words)], [beta] * n_words)
            for c in every
        )

    return posterior(weight, [label_sets[doc] for doc, _ in tokens])


def wrong_labelled_chain(documents, label_sets, n_words, eta, alpha, beta, sweeps, seed):
    """A Gibbs sampler that forgets to take a token out of the counts: how often each state came."""
    random = np.random.default_rng(seed)
    tokens = [(doc, word) for doc, words in enumerate(documents) for word in words]
    state = [label_sets[doc][0] for doc, _ in tokens]
    seen = Counter()
    for _ in range(sweeps):
        for i, (doc, word) in enumerate(tokens):
            labels = label_sets[doc]
            masses = []
            for c in labels:
                pair = sum(w == word and z == c for (_, w), z in zip(tokens, state, strict=True))
                whole = sum(z == c for z in state)
                here = sum(d == doc and z == c for (d, _), z in zip(tokens, state, strict=True))
                masses.append(
                    (pair + beta) / (whole + n_words * beta) * (here + eta / len(labels) + alpha)
                )
            state[i] = labels[random.choice(len(labels), p=np.array(masses) / sum(masses))]
        seen[tuple(state)] += 1
    return seen


def expected_tokens(words, phi, prior):
    """Mean tokens by token and label of a document, phi (words x labels) fixed."""
    n_labels = phi.shape[1]

    def weight(state):
        counts = [state.count(c) for c in range(n_labels)]
        value = sum(math.log(phi[w, c]) for w, c in zip(words, state, strict=True))
        return value + log_dirichlet_multinomial(counts, prior)

    return _token_means(posterior(weight, [range(n_labels)] * len(words)), len(words), n_labels)


def expected_tokens_with_label_tokens(words, phi, topics, eta, alpha, gamma, n_label_tokens):
    """The same where the prior comes from label tokens, and these from topics (eq. 8 to 10)."""
    n_topics, n_labels = topics.shape
    n = len(words)

    def weight(state):
        z, labels, of_topics = state[:n], state[n : n + n_label_tokens], state[n + n_label_tokens :]
        prior = [alpha + eta * labels.count(c) / n_label_tokens for c in range(n_labels)]
        value = sum(math.log(phi[w, c]) for w, c in zip(words, z, strict=True))
        value += log_dirichlet_multinomial([z.count(c) for c in range(n_labels)], prior)
        value += sum(math.log(topics[t, c]) for t, c in zip(of_topics, labels, strict=True))
        counts = [of_topics.count(t) for t in range(n_topics)]
        return value + log_dirichlet_multinomial(counts, [gamma] * n_topics)

    choices = [range(n_labels)] * (n + n_label_tokens) + [range(n_topics)] * n_label_tokens
    return _token_means(posterior(weight, choices), n, n_labels)


def _token_means(distribution, n_tokens, n_labels):
    means = np.zeros((n_tokens, n_labels))
    for state, probability in distribution.items():
        for i, c in enumerate(state[:n_tokens]):
            means[i, c] += probability
    return means


def fast_inference(words, phi, topics, eta, alpha, gamma):
    """Mean tokens by token and label in the stationary state of fast inference (eq. 8, 10, 12)."""
    n_topics, n_labels = topics.shape
    n = len(words)
    labelings = list(itertools.product(range(n_labels), repeat=n))
    topicings = list(itertools.product(range(n_topics), repeat=n))
    states = list(itertools.product(labelings, topicings))
    number = {state: i for i, state in enumerate(states)}
    transition = np.zeros((len(states), len(states)))
    for state in states:
        ways = {state: 1.0}
        theta = np.array([state[1].count(t) + gamma for t in range(n_topics)])
        prior = eta * theta / theta.sum() @ topics + alpha
        for i in range(n):
            ways = _step(
                ways,
                0,
                i,
                lambda z, _, i=i, prior=prior: phi[words[i]] * (_others(z, i, n_labels) + prior),
            )
        for i in range(n):
            ways = _step(
                ways, 1, i, lambda t, z, i=i: topics[:, z[i]] * (_others(t, i, n_topics) + gamma)
            )
        for after, probability in ways.items():
            transition[number[state], number[after]] += probability
    stationary = np.full(len(states), 1 / len(states))
    for _ in range(500):
        stationary = stationary @ transition
    return _token_means(
        {z: sum(stationary[number[z, t]] for t in topicings) for z in labelings}, n, n_labels
    )


def _others(values, i, size):
    """Counts of all values but the i-th."""
    return np.bincount(values[:i] + values[i + 1 :], minlength=size)


def _step(ways, part, i, masses):
    """Draw the i-th value of one part of a state again."""
    after = Counter()
    for state, probability in ways.items():
        weights = masses(state[part], state[1 - part])
        for value, share in enumerate(weights / weights.sum()):
            changed = (*state[part][:i], value, *state[part][i + 1 :])
            both = (changed, state[1]) if part == 0 else (state[0], changed)
            after[both] += probability * share
    return after


def cvb0_labelled(X, Y, eta, alpha, beta, sweeps):
    """Expected (word, label) counts of labelled documents."""
    n_words, n_labels = X.shape[1], Y.shape[1]
    share = np.zeros((*X.shape, n_labels))
    for d, w in zip(*np.nonzero(X), strict=True):
        if Y[d].any():
            share[d, w] = Y[d] / Y[d].sum()
    for _ in range(sweeps):
        for d, w in zip(*np.nonzero(X), strict=True):
            own = np.flatnonzero(Y[d])
            tokens = X[:, :, None] * share
            one = min(X[d, w], 1.0) * share[d, w]
            masses = (
                (tokens[:, w].sum(axis=0) - one + beta)
                / (tokens.sum(axis=(0, 1)) - one + n_words * beta)
                * (tokens[d].sum(axis=0) - one + eta / max(own.size, 1) + alpha)
            )[own]
            if own.size:
                share[d, w, own] = masses / masses.sum()
    return (X[:, :, None] * share).sum(axis=0)


def cvb0_document(x, phi, prior, sweeps):
    """Expected tokens by word and label of one document, phi fixed, words one after the other."""
    words = np.flatnonzero(x)
    share = phi[words] * prior
    share /= share.sum(axis=1, keepdims=True)
    for _ in range(sweeps):
        for i, w in enumerate(words):
            counts = x[words] @ share
            masses = phi[w] * (counts - min(x[w], 1.0) * share[i] + prior)
            share[i] = masses / masses.sum()
    return x[words, None] * share


def cvb0_all_labels(x, seen, smooth, topics, eta, alpha, gamma, sweeps):
    """Expected tokens of all labels, their prior and the topics' shares, for one document.

    phi is ``seen`` (words x labels) plus ``smooth`` (labels). All words are updated at once, and a
    token's own contribution is left out of the first part only.
    """
    words, length = np.flatnonzero(x), x.sum()
    n_topics = topics.shape[0]
    topic_n = np.zeros(n_topics)

    def prior():
        return eta * (topic_n + gamma) / (topic_n.sum() + n_topics * gamma) @ topics + alpha

    tokens = np.zeros((words.size, smooth.size))
    by_pair = np.zeros_like(tokens)
    theta = prior()
    for _ in range(sweeps):
        for i, w in enumerate(words):
            pairs = seen[w] * (theta - min(x[w], 1.0) * by_pair[i])
            masses = pairs + smooth * theta
            by_pair[i] = pairs / masses.sum()
            tokens[i] = x[w] * masses / masses.sum()
        counts = tokens.sum(axis=0)
        by_topic = topics * (topic_n + gamma)[:, None]
        topic_n = by_topic / by_topic.sum(axis=0) @ counts
        theta = counts + prior()
    assert np.isclose(topic_n.sum(), length)
    return tokens, prior(), (topic_n + gamma) / (length + n_topics * gamma)


def generate(random, n_documents, n_words, n_labels, length):
    """Documents drawn from the labelled model itself: X, Y and the true phi (words x labels)."""
    phi = random.dirichlet([0.1] * n_words, size=n_labels).T
    X, Y = np.zeros((n_documents, n_words)), np.zeros((n_documents, n_labels), int)
    for d in range(n_documents):
        labels = random.choice(n_labels, size=random.integers(1, 4), replace=False)
        Y[d, labels] = 1
        theta = random.dirichlet([5.0] * labels.size)
        X[d] = random.multinomial(length, phi[:, labels] @ theta)
    return X, Y, phi
