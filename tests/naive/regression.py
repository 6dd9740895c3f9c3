"""Kernel ridge regression in loops, solved from scratch for every question."""

import numpy as np


def kernel(a, b, offset):
    """The kernel of two rows, which are dictionaries from feature to value."""
    similarity = sum(value * b.get(feature, 0.0) for feature, value in a.items())
    return ((similarity + offset) / (1 + offset)) ** 2


def score(rows, truth, new, ridge, offset):
    """The score of each label for a new row; ``truth`` has a list of 0 and 1 for each row."""
    n, n_labels = len(rows), len(truth[0])
    matrix = np.array([[kernel(a, b, offset) for b in rows] for a in rows])
    matrix += ridge * np.eye(n)
    near = [kernel(new, row, offset) for row in rows]
    scores = []
    for label in range(n_labels):
        own = np.array([float(labels[label]) for labels in truth])
        mean = own.mean()
        duals = np.linalg.solve(matrix, own - mean)
        scores.append(mean + sum(k * dual for k, dual in zip(near, duals, strict=True)))
    return scores


def left_out(rows, truth, which, ridge, offset):
    """The scores of a row by a regression on all others."""
    others = [i for i in range(len(rows)) if i != which]
    return score([rows[i] for i in others], [truth[i] for i in others], rows[which], ridge, offset)
