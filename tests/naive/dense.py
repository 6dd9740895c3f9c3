"""The k nearest dense rows, and their votes, by the definition and nothing else."""

from __future__ import annotations

import math

import numpy as np


def unit(row):
    """A row of length one in single precision."""
    norm = math.sqrt(sum(value * value for value in row))
    return [float(np.float32(value / norm)) if norm else 0.0 for value in row]


def search(X, Q, k, skip=None, alive=None):
    """For each query a list of (row, similarity) above 0: most similar first, then lower row."""
    rows = [unit(row) for row in X]
    answers = []
    for number, query in enumerate(Q):
        q, found = unit(query), []
        for row, values in enumerate(rows):
            if (skip is not None and skip[number] == row) or (alive is not None and not alive[row]):
                continue
            total = 0.0
            for x, y in zip(values, q, strict=True):
                total += x * y
            similarity = float(np.float32(total))
            if similarity > 0:
                found.append((row, similarity))
        found.sort(key=lambda pair: (-pair[1], pair[0]))
        answers.append(found[:k])
    return answers


def share(neighbors, labels, label, alpha, incomplete):
    """The share of the neighbours' votes for a label; ``labels`` has the set of each document.

    A document whose other labels are unknown counts only where it has the label.
    """
    votes = total = 0.0
    for row, similarity in neighbors:
        weight = similarity**alpha
        if label in labels[row]:
            votes += weight
            total += weight
        elif not incomplete[row]:
            total += weight
    return votes / total if total else 0.0
