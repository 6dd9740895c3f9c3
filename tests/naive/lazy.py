"""ML-kNN, BRkNN and IBLR-ML from their papers' equations, with lists of neighbours and loops."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from naive.neighbors import search

# Few distinct values make ties and empty rows common.
VALUES = st.sampled_from([0.0, 0.0, 0.0, 1.0, 1.0, 2.0])


@st.composite
def problems(draw):
    """Training rows, their labels, queries, and a k that may exceed the rows."""
    n_rows, n_features = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    X = draw(hnp.arrays(np.float64, (n_rows, n_features), elements=VALUES))
    n_labels = draw(st.integers(2, 5))
    Y = draw(hnp.arrays(np.int8, (n_rows, n_labels), elements=st.integers(0, 1)))
    Q = draw(hnp.arrays(np.float64, (draw(st.integers(1, 5)), n_features), elements=VALUES))
    return X, Y, Q, draw(st.integers(1, 11))


def neighbors(X, Q, k, itself=False):
    """Row numbers of each query's neighbours; ``itself`` leaves row i out for query i."""
    found = search(X, Q, k, skip=range(len(Q)) if itself else None)
    return [[row for row, _ in answer] for answer in found]


def counts(found, Y):
    """How many neighbours of each query carry each label."""
    return [[sum(int(Y[n][label]) for n in row) for label in range(len(Y[0]))] for row in found]


def mlknn(X, Y, Q, k, s):
    """Each label's probability for each query: Zhang & Zhou (2007), figure 1."""
    m, n_labels = len(Y), len(Y[0])
    train = counts(neighbors(X, X, k, itself=True), Y)
    queries = counts(neighbors(X, Q, k), Y)
    answer = [[0.0] * n_labels for _ in Q]
    for label in range(n_labels):
        carriers = sum(int(row[label]) for row in Y)
        prior = (s + carriers) / (s * 2 + m)
        c, c_prime = [0] * (k + 1), [0] * (k + 1)
        for i in range(m):
            delta = train[i][label]
            if Y[i][label]:
                c[delta] += 1
            else:
                c_prime[delta] += 1
        for q, row in enumerate(queries):
            j = row[label]
            present = prior * (s + c[j]) / (s * (k + 1) + sum(c))
            absent = (1 - prior) * (s + c_prime[j]) / (s * (k + 1) + sum(c_prime))
            answer[q][label] = present / (present + absent)
    return answer


def brknn(X, Y, Q, k):
    """Each label's share of the neighbours: Spyromitros et al. (2008), section 3.1."""
    found = neighbors(X, Q, k)
    return [
        [count / max(1, len(row)) for count in numbers]
        for row, numbers in zip(found, counts(found, Y), strict=True)
    ]


def brknn_labels(X, Y, Q, k, variant):
    """The label sets of BRkNN, BRkNN-a and BRkNN-b."""
    answer = []
    for row, shares in zip(neighbors(X, Q, k), brknn(X, Y, Q, k), strict=True):
        ranked = sorted(range(len(shares)), key=lambda label: (-shares[label], label))
        ranked = [label for label in ranked if shares[label] > 0]
        if variant == "b":
            labels_of_neighbors = sum(int(sum(Y[n])) for n in row)
            size = math.floor(labels_of_neighbors / max(1, len(row)) + 0.5)
            answer.append(set(ranked[:size]))
        else:
            given = {label for label in ranked if shares[label] >= 0.5}
            if variant == "a" and not given:
                given = set(ranked[:1])
            answer.append(given)
    return answer


def logistic(A, target, C):
    """Weights and intercept at the optimum, by damped Newton steps.

    The objective is |w|^2 / 2 + (b / 10)^2 / 2 + C * sum of ln(1 + exp(-y (w x + b))).
    """
    Z = np.hstack([np.asarray(A, float), np.full((len(A), 1), 10.0)])
    y = np.where(np.asarray(target) > 0, 1.0, -1.0)

    def objective(v):
        return v @ v / 2 + C * np.logaddexp(0, -y * (Z @ v)).sum()

    v = np.zeros(Z.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-(Z @ v)))
        gradient = v + C * Z.T @ (p - (y > 0))
        step = np.linalg.solve(np.eye(v.size) + C * (Z.T * (p * (1 - p))) @ Z, gradient)
        size = 1.0
        while size > 1e-6 and objective(v - size * step) > objective(v):
            size /= 2
        v = v - size * step
    return v[:-1], v[-1] * 10


def iblr(X, Y, Q, k, C, plus=False):
    """Each label's probability for each query: Cheng & Hüllermeier (2009), equations 9 and 11."""
    train = counts(neighbors(X, X, k, itself=True), Y)
    queries = counts(neighbors(X, Q, k), Y)
    if plus:
        train = [list(a) + list(b) for a, b in zip(train, X, strict=True)]
        queries = [list(a) + list(b) for a, b in zip(queries, Q, strict=True)]
    answer = np.zeros((len(Q), len(Y[0])))
    for label in range(len(Y[0])):
        target = [row[label] for row in Y]
        if len(set(target)) == 1:
            answer[:, label] = target[0]
        else:
            w, b = logistic(train, target, C)
            answer[:, label] = 1 / (1 + np.exp(-(np.array(queries) @ w + b)))
    return answer
