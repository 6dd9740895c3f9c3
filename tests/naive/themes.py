"""The posterior of a mixture of themes, by loops over dictionaries."""

from __future__ import annotations

import math


def word_probabilities(shares, background, topic, topic_weights, theme, theme_weights):
    """Of every word, in a document of one theme."""
    found = {word: shares[0] * value for word, value in enumerate(background)}
    for share, words, weights in ((1, topic, topic_weights), (2, theme, theme_weights)):
        for word, weight in zip(words, weights, strict=True):
            found[word] += shares[share] * weight
    return found


def posterior(counts, prior, distributions):
    """Of every theme, given the counts of words and each theme's probabilities of words."""
    logs = [
        math.log(chance) + sum(n * math.log(words[word]) for word, n in counts.items())
        for chance, words in zip(prior, distributions, strict=True)
    ]
    top = max(logs)
    weights = [math.exp(log - top) for log in logs]
    return [weight / sum(weights) for weight in weights]


def label_chances(counts, prior, distributions, labels, chances):
    """The probability of every label, if documents without labels are drawn again."""
    none = math.prod(1 - chance for chance in chances)
    found = {}
    for probability, mine in zip(posterior(counts, prior, distributions), labels, strict=True):
        for label, chance in zip(mine, chances, strict=True):
            found[label] = found.get(label, 0) + probability * chance / (1 - none)
    return found
