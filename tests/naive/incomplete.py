"""Documents whose missing labels are unknown, by definition.

For each label, only the documents of which it is known whether they have it are there: the complete
ones, and the incomplete ones that have the label. Everything else is unchanged.
"""

from __future__ import annotations

import math

import numpy as np


def known_for(Y, incomplete, label):
    """Numbers of the documents of which it is known whether they have a label."""
    return [d for d in range(len(Y)) if not incomplete[d] or Y[d][label]]


def votes(near, similar, alpha, Y, incomplete):
    """The share of the neighbours' votes for each label, among the neighbours that know."""
    shares = np.zeros(len(Y[0]))
    for label in range(len(Y[0])):
        known = known_for(Y, incomplete, label)
        mine = [(row, s) for row, s in zip(near, similar, strict=True) if row in known]
        total = sum(s**alpha for _, s in mine)
        if total > 0:
            shares[label] = sum(s**alpha for row, s in mine if Y[row][label]) / total
    return shares


def word_votes(query, X, Y, incomplete, skip=None):
    """The share of the words' votes for each label; ``skip`` is a document that is not there."""
    shares = np.zeros(len(Y[0]))
    for label in range(len(Y[0])):
        known = [d for d in known_for(Y, incomplete, label) if d != skip]
        for word, value in enumerate(query):
            together = sum(X[d][word] for d in known if Y[d][label])
            of_word = math.sqrt(sum(X[d][word] ** 2 for d in known))
            of_label = math.sqrt(sum(1 for d in known if Y[d][label]))
            if value > 0 and together > 0:
                shares[label] += value * together / (of_word * of_label) / sum(query)
    return shares


def pairs(Y, incomplete):
    """The pairs of documents and labels that a linear model may learn from."""
    labels = range(len(Y[0]))
    return {(d, label) for label in labels for d in known_for(Y, incomplete, label)}


def name_counts(found, Y, incomplete):
    """Of each label: how often its name stood in a document that knows, and how often rightly."""
    n_labels = len(Y[0])
    matched, hits = [0] * n_labels, [0] * n_labels
    for document, label in found:
        if document in known_for(Y, incomplete, label):
            matched[label] += 1
            hits[label] += int(Y[document][label])
    return matched, hits
