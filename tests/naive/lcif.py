"""Instance kNN, feature kNN and LCIF by their definitions, on dense lists."""

from __future__ import annotations

import math

import numpy as np

from naive import neighbors


def instance_scores(X, Y, Q, k, alpha, skip=None):
    """Definition 6: for each query a dictionary label -> score."""
    answers = []
    for near in neighbors.search(X, Q, k, skip):
        total = sum(s**alpha for _, s in near)
        scores = {}
        for row, s in near:
            for label in np.flatnonzero(Y[row]):
                scores[int(label)] = scores.get(int(label), 0.0) + s**alpha / total
        answers.append(scores)
    return answers


def feature_similarity(X, Y):
    """Definition 7: cosine of every feature column and label column."""
    n_features, n_labels = X.shape[1], Y.shape[1]
    similar = np.zeros((n_features, n_labels))
    for f in range(n_features):
        for label in range(n_labels):
            a, b = X[:, f], Y[:, label]
            lengths = math.sqrt((a**2).sum()) * math.sqrt((b**2).sum())
            if lengths > 0:
                similar[f, label] = (a * b).sum() / lengths
    return similar


def feature_scores(X, Y, Q, beta):
    """Definition 8: for each query a dictionary label -> score, of labels with any."""
    similar = feature_similarity(X, Y)
    answers = []
    for q in Q:
        scores = {}
        for label in range(Y.shape[1]):
            total = sum(
                q[f] * similar[f, label] ** beta
                for f in range(X.shape[1])
                if q[f] > 0 and similar[f, label] > 0
            )
            if total > 0:
                scores[label] = total / q.sum()
        answers.append(scores)
    return answers


def lcif_scores(X, Y, Q, k, alpha, beta, lam):
    """Definition 9, on the labels that either part proposes."""
    by_instance = instance_scores(X, Y, Q, k, alpha) if lam > 0 else [{} for _ in Q]
    by_feature = feature_scores(X, Y, Q, beta) if lam < 1 else [{} for _ in Q]
    return [
        {
            label: lam * mine.get(label, 0.0) + (1 - lam) * other.get(label, 0.0)
            for label in mine.keys() | other.keys()
        }
        for mine, other in zip(by_instance, by_feature, strict=True)
    ]
