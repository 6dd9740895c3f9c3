"""Slow, obvious versions of what the ensemble computes."""

import numpy as np


def votes(neighbors, similarities, alpha, Y):
    """Definition 6: each label's share of the neighbours' similarities to a power."""
    weights = np.array([float(s) ** alpha for s in similarities])
    total = np.zeros(Y.shape[1])
    for number, weight in zip(neighbors, weights, strict=True):
        total += weight * Y[number]
    return total / weights.sum() if weights.sum() else total


def word_votes(x, X, Y):
    """Definitions 7 and 8 with beta 1: cosines of feature and label columns, weighed by x."""
    scores = np.zeros(Y.shape[1])
    for feature, value in enumerate(x):
        for label in range(Y.shape[1]):
            lengths = np.linalg.norm(X[:, feature]) * np.linalg.norm(Y[:, label])
            if value and lengths:
                scores[label] += value * (X[:, feature] @ Y[:, label]) / lengths
    return scores / x.sum() if x.sum() else scores


def best(scores, top):
    """The labels with the highest positive scores, ties to the lower; in rising order."""
    order = sorted((label for label in range(scores.size) if scores[label] > 0),
                   key=lambda label: (-scores[label], label))  # fmt: skip
    return sorted(order[:top])


def ranking_loss(documents):
    """Of each true candidate: minus the log of its share beside all false ones of the document.

    ``documents`` has a list of (score, is true) for each document.
    """
    loss = 0.0
    for candidates in documents:
        false = [score for score, is_true in candidates if not is_true]
        for score, is_true in candidates:
            if is_true:
                shares = [np.exp(other) for other in [score, *false]]
                loss -= np.log(np.exp(score) / sum(shares))
    return loss


def log_odds_among_rivals(documents, rivalry, sharpness, usual):
    """Sums of evidence, lowered where all candidates of a document fit well."""
    return [
        [
            own - rivalry * (np.log(sum(np.exp(sharpness * other) for other in sums)) - usual)
            for own in sums
        ]
        for sums in documents
    ]
