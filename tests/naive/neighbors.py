"""The k most similar rows, by the definition and nothing else."""

from __future__ import annotations

import math

import numpy as np


def unit(row):
    """A dense row of length one in single precision."""
    norm = math.sqrt(sum(value**2 for value in row))
    return [float(np.float32(value * (1 / norm))) if norm else 0.0 for value in row]


def similarity(a, b):
    """The products of two unit rows added in the order of the features."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return float(np.float32(total))


def search(X, Q, k, skip=None, alive=None):
    """For each query a list of (row, similarity), higher similarity first, then lower row."""
    rows = [unit(row) for row in X]
    answers = []
    for number, query in enumerate(Q):
        q = unit(query)
        found = []
        for row, values in enumerate(rows):
            if skip is not None and skip[number] == row:
                continue
            if alive is not None and not alive[row]:
                continue
            s = similarity(values, q)
            if s > 0:
                found.append((row, s))
        found.sort(key=lambda pair: (-pair[1], pair[0]))
        answers.append(found[:k])
    return answers
