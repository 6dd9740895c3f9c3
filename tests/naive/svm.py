"""Support vector machines with squared hinge loss, by Newton's method on the primal."""

from __future__ import annotations

import numpy as np


def with_bias(X, bias):
    """The rows with a constant feature."""
    return np.column_stack([X, np.full(len(X), bias)])


def primal(w, X, y, costs):
    """1/2 |w|^2 + sum_i C_i max(0, 1 - y_i w.x_i)^2."""
    slack = np.maximum(0, 1 - y * (X @ w))
    return 0.5 * w @ w + costs @ slack**2


def primal_gradient(w, X, y, costs):
    slack = np.maximum(0, 1 - y * (X @ w))
    return w - 2 * X.T @ (costs * slack * y)


def dual(alpha, X, y, costs):
    """sum_i alpha_i - 1/2 |sum_i alpha_i y_i x_i|^2 - sum_i alpha_i^2 / (4 C_i)."""
    w = X.T @ (alpha * y)
    return alpha.sum() - 0.5 * w @ w - (alpha**2 / (4 * costs)).sum()


def solve(X, y, costs):
    """The minimiser of the primal, by Newton's method with steps halved until they descend."""
    w = np.zeros(X.shape[1])
    for _ in range(200):
        gradient = primal_gradient(w, X, y, costs)
        if np.abs(gradient).max() < 1e-9:
            break
        inside = y * (X @ w) < 1
        hessian = np.eye(w.size) + 2 * X[inside].T @ (costs[inside, None] * X[inside])
        step = np.linalg.solve(hessian, gradient)
        value, share = primal(w, X, y, costs), 1.0
        while share > 1e-9 and primal(w - share * step, X, y, costs) > value:
            share /= 2
        w = w - share * step
    return w


def best_weight(X, y, C, trained, held, weights):
    """The weight of the positive rows with the highest accuracy on the held-out rows."""
    outcomes = []
    for weight in weights:
        costs = np.where(y[trained] > 0, C * weight, C)
        w = solve(X[trained], y[trained], costs)
        right = np.mean((X[held] @ w > 0) == (y[held] > 0))
        outcomes.append((-right, abs(weight - 1), weight))
    return min(outcomes)[2]


def candidates(neighbors, label_sets):
    """The labels of each document's neighbours."""
    return [set().union(*(label_sets[n] for n in row if n >= 0)) for row in neighbors]
