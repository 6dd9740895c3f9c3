"""Linear SVMs with squared hinge loss by dual coordinate descent on sparse rows.

The primal is 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i w.x_i)^2. Its dual has a variable alpha_i >= 0
for each row, with w = sum_i alpha_i y_i x_i; one step solves it for one of them
(Hsieh et al. 2008, algorithm 3, with D_ii = 1 / (2 C_i)).

Rows have a constant feature for the bias that is not stored; its weight is the last entry of w.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from manylabel.kernels.compile import kernel
from manylabel.kernels.heap import find, select_kth
from manylabel.kernels.index import Rows
from manylabel.kernels.lookup import ONE, REST, SIX, entry, ones

# Sweep the active places until their largest violation has fallen to this share.
_PROGRESS = 0.3
# Skip a step if the violation is below this share of the goal.
_IDLE = 0.1
# With more weights per candidate than this, a feature's weights are searched, not read.
_FAR = 16


class Problem(NamedTuple):
    """One label against the rest; a ``place`` i refers to row ``members[i]`` of the matrix."""

    rows: Rows
    squares: np.ndarray  # |x|^2 of every row of the matrix, without the constant feature
    weights: np.ndarray  # weight of every row of the matrix, above 0; ones by default
    members: np.ndarray  # the rows to train on, int32
    positive: np.ndarray  # whether each of them has the label
    costs: np.ndarray  # C of the negative and of the positive rows; times a row's weight it is C_i
    bias: float  # value of the constant feature


class Solution(NamedTuple):
    """The primal and the dual variables, which must be changed together."""

    w: np.ndarray
    alpha: np.ndarray


@kernel
def gather(rows, members, place_of, ptr, features, values, columns):
    """Copy some rows, with features renumbered as they appear; the number of distinct features.

    ``place_of`` has a -1 for each feature, before and after; ``columns`` gets the old numbers.
    """
    n_columns, at = 0, 0
    ptr[0] = 0
    for place in range(members.size):
        row = members[place]
        for i in range(rows.ptr[row], rows.ptr[row + 1]):
            feature = rows.features[i]
            if place_of[feature] < 0:
                place_of[feature] = n_columns
                columns[n_columns] = feature
                n_columns += 1
            features[at], values[at] = place_of[feature], rows.values[i]
            at += 1
        ptr[place + 1] = at
    for i in range(n_columns):
        place_of[columns[i]] = -1
    return n_columns


@kernel
def stream_of(seed, label):
    """The start of a label's own random stream (splitmix64 of both)."""
    state = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(label)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@kernel
def margin(problem, place, w):
    """w.x of a row, including the bias."""
    features, values = problem.rows.features, problem.rows.values
    row = problem.members[place]
    start, stop = problem.rows.ptr[row], problem.rows.ptr[row + 1]
    # Four sums, so that an addition need not wait for the previous one.
    a = b = c = d = 0.0
    i = start
    while i + 4 <= stop:
        a += w[features[i]] * values[i]
        b += w[features[i + 1]] * values[i + 1]
        c += w[features[i + 2]] * values[i + 2]
        d += w[features[i + 3]] * values[i + 3]
        i += 4
    while i < stop:
        a += w[features[i]] * values[i]
        i += 1
    return (a + b) + (c + d) + w[w.size - 1] * problem.bias


@kernel
def add_row(problem, place, step, w):
    """Add a multiple of a row to w."""
    row = problem.members[place]
    for i in range(problem.rows.ptr[row], problem.rows.ptr[row + 1]):
        w[problem.rows.features[i]] += step * problem.rows.values[i]
    w[w.size - 1] += step * problem.bias


@kernel
def shuffle(order, size, state):
    """Shuffle the first entries; return the new random state."""
    for i in range(size - 1):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        left = np.uint64(size - i)
        j = i + np.int64(((state >> np.uint64(32)) * left) >> np.uint64(32))
        order[i], order[j] = order[j], order[i]
    return state


@kernel
def solve(problem, solution, order, stream, max_iter, tol):
    """Optimise the places in ``order``, starting from a solution; return the number of sweeps.

    Places at zero whose gradient keeps them there are dropped. The remaining ones are swept until
    their largest violation is well below the initial one, then all are swept again. The loop ends
    when a sweep over all finds no violation above ``tol``. Shrinking by the last sweep's largest
    gradient, as liblinear does, takes far more sweeps over all: with a bias, most negative rows are
    so near the margin that it drops hardly any.

    Returns ``max_iter + 1`` without convergence.
    """
    w, alpha = solution
    n_active = order.size
    whole, goal = True, tol
    state = stream
    for sweep in range(max_iter):
        state = shuffle(order, n_active, state)
        violation = 0.0
        i = 0
        while i < n_active:
            place = np.int64(order[i])
            positive = problem.positive[place]
            sign = 1.0 if positive else -1.0
            row = problem.members[place]
            diagonal = 0.5 / (problem.costs[1 if positive else 0] * problem.weights[row])
            old = alpha[place]
            gradient = sign * margin(problem, place, w) - 1.0 + diagonal * old
            if old == 0.0 and gradient >= 0.0:
                n_active -= 1
                order[i], order[n_active] = order[n_active], order[i]
                continue
            i += 1
            violation = max(violation, abs(gradient))
            if abs(gradient) <= _IDLE * goal:
                continue
            curvature = problem.squares[row] + problem.bias**2 + diagonal
            alpha[place] = max(0.0, old - gradient / curvature)
            add_row(problem, place, (alpha[place] - old) * sign, w)
        if whole:
            if violation <= tol:
                return sweep + 1
            whole, goal = False, max(tol, _PROGRESS * violation)
        elif violation <= goal:
            whole, n_active = True, order.size
    return max_iter + 1


@kernel
def leave_out(problem, solution, folds, fold, order, stream, max_iter, tol):
    """Turn a solution into the one for the rows that are not in a fold.

    Only the support vectors are optimised again, starting from their values; other rows rarely
    become support vectors.
    """
    w, alpha = solution
    size = 0
    for place in range(alpha.size):
        if alpha[place] == 0:
            continue
        if folds[problem.members[place]] == fold:
            sign = 1.0 if problem.positive[place] else -1.0
            add_row(problem, place, -alpha[place] * sign, w)
            alpha[place] = 0
        else:
            order[size] = place
            size += 1
    solve(problem, solution, order[:size], stream, max_iter, tol)


@kernel
def held_out_scores(problem, solution, folds, order, stream, max_iter, tol, scores):
    """Score each row by the solution without the rows of its fold; fold -1 is not scored."""
    without = Solution(np.empty(solution.w.size), np.empty(solution.alpha.size))
    # Loops, because NumPy's functions take Numba longer to compile.
    n_folds = -1
    for row in range(folds.size):
        n_folds = max(n_folds, folds[row])
    for fold in range(n_folds + 1):
        for i in range(solution.w.size):
            without.w[i] = solution.w[i]
        for i in range(solution.alpha.size):
            without.alpha[i] = solution.alpha[i]
        leave_out(problem, without, folds, fold, order, stream, max_iter, tol)
        for place in range(scores.size):
            if folds[problem.members[place]] == fold:
                scores[place] = margin(problem, place, without.w)


@kernel
def held_out_accuracy(
    problem, weights, trained, held, order, stream, max_iter, tol, best, patience
):
    """Weighted accuracy on held-out rows for each weight of the positive rows.

    It ends early, with zeros for the remaining weights, once all rows are right: a greater weight
    would at best be a tie. With a ``patience`` above 0 it also ends after so many weights in a row
    that were worse than the best, or once no greater weight can win, since wrong negative rows
    only become more with the weight. ``best`` gets the solution of the best weight.
    """
    accuracy = np.zeros(weights.size)
    highest, chosen, n_worse = -1.0, 0.0, 0
    solution = Solution(np.zeros(best.w.size), np.zeros(best.alpha.size))
    cost = problem.costs[1]
    places = np.flatnonzero(trained)
    for i in range(weights.size):
        problem.costs[1] = cost * weights[i]
        order[: places.size] = places
        solve(problem, solution, order[: places.size], stream, max_iter, tol)
        right, total, alarms = 0.0, 0.0, 0.0
        for place in np.flatnonzero(held):
            weight = problem.weights[problem.members[place]]
            total += weight
            given = margin(problem, place, solution.w) > 0
            if given == problem.positive[place]:
                right += weight
            elif given:
                alarms += weight
        accuracy[i] = right / total if total > 0.0 else 0.0
        tie = accuracy[i] == highest and abs(weights[i] - 1.0) < abs(chosen - 1.0)
        if accuracy[i] > highest or tie:
            chosen = weights[i]
            for j in range(best.w.size):
                best.w[j] = solution.w[j]
            for j in range(best.alpha.size):
                best.alpha[j] = solution.alpha[j]
        n_worse = n_worse + 1 if accuracy[i] < highest else 0
        highest = max(highest, accuracy[i])
        hopeless = weights[i] >= 1.0 and total - alarms <= highest * total
        if highest == 1.0 and weights[i] >= 1.0:
            break
        if patience > 0 and (n_worse == patience or hopeless):
            break
    problem.costs[1] = cost
    return accuracy


@kernel
def add_weights(rows, row, coef, scores):
    """Add a row's products with the weights of every label; ``coef`` has one row per feature."""
    for i in range(rows.ptr[row], rows.ptr[row + 1]):
        feature, value = rows.features[i], np.float64(rows.values[i])
        for j in range(coef.ptr[feature], coef.ptr[feature + 1]):
            scores[coef.features[j]] += value * coef.values[j]


@kernel
def best_scores(first, last, rows, coef, intercept, out_labels, out_scores):
    """The best labels of each row in ascending order, and their scores.

    ``out_labels`` has one column per label to keep; at least as many intercepts must be finite.
    """
    n_kept = out_labels.shape[1]
    scores = np.empty(intercept.size)
    scratch = np.empty(intercept.size)
    for row in range(first, last):
        scores[:] = intercept
        add_weights(rows, row, coef, scores)
        lowest = select_kth(scores, scores.size, n_kept, scratch)
        n_ties = n_kept
        for label in range(scores.size):
            n_ties -= scores[label] > lowest
        place = 0
        for label in range(scores.size):
            tie = scores[label] == lowest and n_ties > 0
            if scores[label] > lowest or tie:
                n_ties -= tie
                out_labels[row, place], out_scores[row, place] = label, scores[label]
                place += 1


@kernel
def find_weights(coef, lookup, features, label, places):
    """Where the weights of a label are for each of some features; -1 where there is none."""
    for i in range(features.size):
        start, stop = coef.ptr[features[i]], coef.ptr[features[i] + 1]
        at = lookup.at[features[i]] if lookup.at.size > 0 else -1
        if at >= 0:
            place = entry(lookup.bits[at], lookup.before[at], label)
            places[i] = start + place if place >= 0 else -1
            continue
        place = find(coef.features, start, stop, label)
        places[i] = place if place < stop and coef.features[place] == label else -1


@kernel
def _mark(asked, marks, before):
    """Mark some ascending labels, 64 in a number; ``before`` has how many there are before it."""
    for i in range(asked.size):
        label = np.uint64(asked[i])
        word = label >> SIX
        if marks[word] == 0:
            before[word] = i
        marks[word] |= ONE << (label & REST)


@kernel
def _add_weights(coef, feature, value, asked, marks, before, scores):
    """Add a feature's weights to the scores of some labels, which are marked."""
    start, stop = coef.ptr[feature], coef.ptr[feature + 1]
    if stop - start > _FAR * asked.size:
        for i in range(asked.size):
            start = find(coef.features, start, stop, asked[i])
            if start == stop:
                break
            if coef.features[start] == asked[i]:
                scores[i] += value * coef.values[start]
        return
    for place in range(np.uint64(start), np.uint64(stop)):
        label = np.uint64(np.uint32(coef.features[place]))
        word, bit = marks[label >> SIX], ONE << (label & REST)
        if word & bit:
            i = np.uint64(before[label >> SIX]) + ones(word & (bit - ONE))
            scores[i] += value * coef.values[place]


@kernel
def candidate_scores(first, last, rows, coef, lookup, intercept, ptr, labels, out_scores):
    """The scores of each row's candidates, which are the entries of a CSR matrix.

    Weights are added in the order of the features, however they are found, so the sums are the
    same to the last bit. Nothing but a bit per label takes time or memory in proportion to all
    labels.
    """
    n_words = (intercept.size + 63) // 64
    marks, before = np.zeros(n_words, np.uint64), np.empty(n_words, np.int32)
    for row in range(first, last):
        asked, scores = labels[ptr[row] : ptr[row + 1]], out_scores[ptr[row] : ptr[row + 1]]
        for i in range(asked.size):
            scores[i] = intercept[asked[i]]
        _mark(asked, marks, before)
        for i in range(rows.ptr[row], rows.ptr[row + 1]):
            feature, value = rows.features[i], np.float64(rows.values[i])
            at = lookup.at[feature] if lookup.at.size > 0 else -1
            if at < 0:
                _add_weights(coef, feature, value, asked, marks, before, scores)
                continue
            start, bits, earlier = coef.ptr[feature], lookup.bits[at], lookup.before[at]
            for j in range(asked.size):
                place = entry(bits, earlier, asked[j])
                if place >= 0:
                    scores[j] += value * coef.values[np.uint64(start + place)]
        for i in range(asked.size):
            marks[np.uint64(asked[i]) >> SIX] = 0
