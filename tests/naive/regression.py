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


def score_by_landmarks(rows, truth, landmarks, new, ridge, offset, jitter):
    """The score of each label for a new row, which is compared with some rows only.

    The weights minimise the squared error of all rows plus ridge times their own squared length, by
    the kernel of the landmarks.
    """
    near = np.array([[kernel(row, mark, offset) for mark in landmarks] for row in rows])
    length = np.array([[kernel(a, b, offset) for b in landmarks] for a in landmarks])
    length += jitter * np.eye(len(landmarks))
    asked = np.array([kernel(new, mark, offset) for mark in landmarks])
    scores = []
    for label in range(len(truth[0])):
        own = np.array([float(labels[label]) for labels in truth])
        right = near.T @ (own - own.mean())
        weights = np.linalg.solve(near.T @ near + ridge * length, right)
        scores.append(own.mean() + asked @ weights)
    return scores


def profile(rows, truth, new, ridge, offset):
    """What a regression on some rows expects of all labels of a new row, minus their means."""
    means = np.array(truth, float).mean(axis=0)
    return np.array(score(rows, truth, new, ridge, offset)) - means


def score_by_profile(rows, truth, new, ridges, offsets, chosen, jitter, which=None):
    """The score of each label by a second regression, on profiles, compared with chosen ones only.

    A training row has the profile that the others give it, a new row that of all. ``which`` is a
    training row to score by the others; then ``new`` does not count.
    """
    everything = range(len(rows))
    mine = []
    for i in everything:
        others = [j for j in everything if j != i]
        given = [rows[j] for j in others], [truth[j] for j in others]
        mine.append(profile(*given, rows[i], ridges[0], offsets[0]))
    asked = profile(rows, truth, new, ridges[0], offsets[0]) if which is None else mine[which]
    known = [i for i in everything if i != which]
    units = [_as_dictionary(vector) for vector in mine]
    landmarks = [units[i] for i in chosen]
    given = [units[i] for i in known], [truth[i] for i in known]
    return score_by_landmarks(
        *given, landmarks, _as_dictionary(asked), ridges[1], offsets[1], jitter
    )


def _as_dictionary(vector):
    length = np.sqrt(sum(value**2 for value in vector))
    return {} if length == 0 else {i: value / length for i, value in enumerate(vector)}
