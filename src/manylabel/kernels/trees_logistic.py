"""Learn sparse linear classifiers of two sides by L1-regularised logistic regression.

Minimises ``|w|_1 + sum_i cost_i log(1 + exp(-side_i w.x_i))`` by newGLMNET (Yuan, Ho & Lin 2012):
each Newton step fits a quadratic model by coordinate descent, then does a line search. Exponentials
are computed only once per row and Newton step; coordinate descent needs none.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel
from manylabel.kernels.rng import uniform


@kernel
def shuffle(items, size, state):
    """Put the first ``size`` items in random order."""
    for i in range(size - 1, 0, -1):
        j = int(uniform(state) * (i + 1))
        items[i], items[j] = items[j], items[i]


@kernel
def violation(weight, gradient):
    """How far a coordinate is from optimal: the smallest subgradient of loss plus |weight|."""
    if weight > 0:
        return abs(gradient + 1)
    if weight < 0:
        return abs(gradient - 1)
    return max(-gradient - 1, gradient - 1, 0.0)


@kernel
def learn(indptr, rows, values, n_columns, sides, costs, max_newton, max_sweeps, tolerance, state):
    """Learn the weights of the columns of a matrix in compressed columns.

    ``sides`` has 1 or 0 for each row, ``costs`` the cost of an error on side 0 and on side 1. Stops
    when the violation of optimality is ``tolerance`` times the initial one, or after ``max_newton``
    steps of at most ``max_sweeps`` sweeps of coordinate descent.
    """
    n_rows = sides.size
    weights = np.zeros(n_columns)
    gradients = np.empty(n_columns)
    curvatures = np.empty(n_columns)
    columns = np.arange(n_columns)
    active = np.empty(n_columns, np.int64)
    margins = np.zeros(n_rows)  # w.x
    slopes = np.empty(n_rows)
    bends = np.empty(n_rows)
    steps = np.empty(n_rows)
    worst_before = np.inf
    first_total = 0.0
    sweep_tolerance = 1.0
    for newton in range(max_newton):
        for i in range(n_rows):
            p = 1 / (1 + np.exp(-margins[i]))
            cost = costs[sides[i]]
            slopes[i] = cost * (p - sides[i])
            bends[i] = cost * p * (1 - p)
        total = 0.0
        worst = 0.0
        n_columns_active = n_columns
        s = 0
        while s < n_columns_active:
            j = columns[s]
            gradient = 0.0
            curvature = 1e-12
            for e in range(indptr[j], indptr[j + 1]):
                i, x = rows[e], values[e]
                gradient += x * slopes[i]
                curvature += x * x * bends[i]
            if weights[j] == 0 and abs(gradient) < 1 - worst_before / n_rows:
                n_columns_active -= 1
                columns[s], columns[n_columns_active] = columns[n_columns_active], j
                continue
            gradients[j] = gradient
            curvatures[j] = curvature
            off = violation(weights[j], gradient)
            total += off
            worst = max(worst, off)
            s += 1
        if newton == 0:
            first_total = total
        if total <= tolerance * first_total:
            break
        worst_before = worst
        n_active = n_columns_active
        active[:n_active] = columns[:n_active]
        proposed = weights.copy()
        sweeps = descend(
            indptr, rows, values, active, n_active, weights, proposed, gradients, curvatures,
            bends, steps, sweep_tolerance * first_total, max_sweeps, state,
        )  # fmt: skip
        if not line_search(
            columns[:n_columns_active], weights, proposed, gradients, sides, costs, margins, steps
        ):
            break
        if sweeps == 1:
            sweep_tolerance *= 0.25
    return weights


@kernel
def descend(
    indptr, rows, values, active, n_active, weights, proposed, gradients, curvatures, bends, steps,
    tolerance, max_sweeps, state,
):  # fmt: skip
    """Coordinate descent on the quadratic model; ``steps`` becomes ``(proposed - weights).x``."""
    steps[:] = 0
    n_all = n_active
    worst_before = np.inf
    for sweep in range(1, max_sweeps + 1):
        total = 0.0
        worst = 0.0
        shuffle(active, n_active, state)
        s = 0
        while s < n_active:
            j = active[s]
            gradient = gradients[j] + 1e-12 * (proposed[j] - weights[j])
            for e in range(indptr[j], indptr[j + 1]):
                i = rows[e]
                gradient += values[e] * bends[i] * steps[i]
            if proposed[j] == 0 and abs(gradient) < 1 - worst_before / steps.size:
                n_active -= 1
                active[s], active[n_active] = active[n_active], j
                continue
            off = violation(proposed[j], gradient)
            total += off
            worst = max(worst, off)
            s += 1
            pull = curvatures[j] * proposed[j]
            if gradient + 1 < pull:
                change = -(gradient + 1) / curvatures[j]
            elif gradient - 1 > pull:
                change = -(gradient - 1) / curvatures[j]
            else:
                change = -proposed[j]
            if abs(change) < 1e-12:
                continue
            change = min(max(change, -10.0), 10.0)
            proposed[j] += change
            for e in range(indptr[j], indptr[j + 1]):
                steps[rows[e]] += values[e] * change
        if total <= tolerance:
            if n_active == n_all:
                return sweep
            # Converged on the active columns: check the dropped ones again.
            n_active = n_all
            worst_before = np.inf
        else:
            worst_before = worst
    return max_sweeps


@kernel
def log_loss(z):
    """log(1 + exp(z)) without overflow."""
    return max(z, 0.0) + np.log1p(np.exp(-abs(z)))


@kernel
def line_search(columns, weights, proposed, gradients, sides, costs, margins, steps):
    """Move towards the proposal if the objective decreases enough; return whether it moved."""
    expected = 0.0
    for j in columns:
        expected += gradients[j] * (proposed[j] - weights[j]) + abs(proposed[j]) - abs(weights[j])
    length = 1.0
    for _ in range(20):
        change = 0.0
        for j in columns:
            moved = weights[j] + length * (proposed[j] - weights[j])
            change += abs(moved) - abs(weights[j])
        for i in range(sides.size):
            sign = 1 - 2 * sides[i]
            after = log_loss(sign * (margins[i] + length * steps[i]))
            change += costs[sides[i]] * (after - log_loss(sign * margins[i]))
        if change <= 0.01 * length * expected:
            for j in columns:
                weights[j] += length * (proposed[j] - weights[j])
            for i in range(sides.size):
                margins[i] += length * steps[i]
            return True
        length *= 0.5
    return False
