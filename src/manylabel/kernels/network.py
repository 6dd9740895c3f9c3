"""A network with one hidden layer over sparse rows, trained on some labels of each row.

A row's hidden units are h = max(0, sum_f x_f w_f), with a vector w_f for each feature f; the score
of label l is v_l.h + b_l. The hidden units have no constant, so a score is the sum of b_l and a
term for each feature: x_f times the product of w_f and v_l over the units above 0.

The loss is logistic. A step reads a batch of rows and updates the vectors of its features and
labels by Adam (Kingma and Ba 2015), whose means change only in steps that use the vector. One
thread updates each vector and adds the rows in order, so the result does not depend on threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from manylabel.kernels.compile import kernel, summing_step

# Adam's decay rates of both means, and its constant against division by 0.
_FIRST, _SECOND, _LITTLE = np.float32(0.9), np.float32(0.999), np.float32(1e-8)


class Layer(NamedTuple):
    """Trained vectors, one per row, with Adam's means and numbers of steps."""

    vectors: np.ndarray  # float32
    first: np.ndarray  # of the gradient
    second: np.ndarray  # of its square
    steps: np.ndarray  # of each vector, int32


class Batch(NamedTuple):
    """The rows of one step, and intermediate results."""

    members: np.ndarray  # their numbers, int64
    kept: np.ndarray  # the factor of each hidden unit: 0 if it is dropped out
    hidden: np.ndarray  # the units, and a constant 1 in the last column
    slopes: np.ndarray  # the gradient of the loss with respect to the units' sums


@summing_step
def product(left, i, right, j, size):
    """The inner product of two rows."""
    total = np.float32(0.0)
    for k in range(size):
        total += left[i, k] * right[j, k]
    return total


@kernel
def add_hidden(rows, row, vectors, out, place):
    """Add the vectors of a row's features, each times its value."""
    for i in range(rows.ptr[row], rows.ptr[row + 1]):
        feature, value = rows.features[i], rows.values[i]
        for k in range(vectors.shape[1]):
            out[place, k] += value * vectors[feature, k]


@kernel
def read_batch(first, last, batch, rows, pairs, positive, starts, features, labels, errors):
    """Compute the errors of the pairs of some rows of a batch, and the gradients of their units.

    ``pairs`` has the labels that each row is trained on and ``positive`` marks the true ones;
    ``starts`` is where the errors of each row of the batch begin.
    """
    size = batch.slopes.shape[1]
    for place in range(first, last):
        row = batch.members[place]
        batch.hidden[place, :size] = 0
        add_hidden(rows, row, features, batch.hidden, place)
        for k in range(size):
            kept = batch.kept[place, k] if batch.hidden[place, k] > 0 else np.float32(0)
            batch.kept[place, k] = kept
            batch.hidden[place, k] *= kept
            batch.slopes[place, k] = 0
        at = starts[place]
        for i in range(pairs.ptr[row], pairs.ptr[row + 1]):
            label = pairs.features[i]
            score = product(batch.hidden, place, labels, label, size + 1)
            error = np.float32(1 / (1 + np.exp(-score)) - positive[i])
            errors[at] = error
            at += 1
            for k in range(size):
                batch.slopes[place, k] += error * labels[label, k]
        for k in range(size):
            batch.slopes[place, k] *= batch.kept[place, k]


@kernel
def by_column(members, ptr, columns, place_of, touched, begins, who, which):
    """Group the entries of some rows by column; return the number of columns.

    ``place_of`` is -1 for each column, before and after. ``touched`` has the columns; entries
    ``begins[i]`` to ``begins[i + 1]`` belong to the i-th: ``who`` is the position of their row
    among the members, ``which`` their own position among all entries of the members.
    """
    n_touched = 0
    for member in members:
        for i in range(ptr[member], ptr[member + 1]):
            column = columns[i]
            if place_of[column] < 0:
                place_of[column] = n_touched
                touched[n_touched] = column
                begins[n_touched + 1] = 0
                n_touched += 1
            begins[place_of[column] + 1] += 1
    begins[0] = 0
    for i in range(n_touched):
        begins[i + 1] += begins[i]
    entry = 0
    for place in range(members.size):
        for i in range(ptr[members[place]], ptr[members[place] + 1]):
            at = begins[place_of[columns[i]]]
            begins[place_of[columns[i]]] += 1
            who[at], which[at] = place, entry
            entry += 1
    for i in range(n_touched, 0, -1):
        begins[i] = begins[i - 1]
    begins[0] = 0
    for i in range(n_touched):
        place_of[touched[i]] = -1
    return n_touched


@kernel
def learn(first, last, touched, begins, who, which, factors, inputs, layer, rate):
    """Update some vectors; the gradient is the sum of their entries' inputs times factors."""
    size = layer.vectors.shape[1]
    gradient = np.empty(size, np.float32)
    one = np.float32(1)
    for place in range(first, last):
        gradient[:] = 0
        for i in range(begins[place], begins[place + 1]):
            factor, row = factors[which[i]], who[i]
            for k in range(size):
                gradient[k] += factor * inputs[row, k]
        own = touched[place]
        layer.steps[own] += 1
        right = np.float32(1 / (1 - _FIRST ** layer.steps[own]))
        right_second = np.float32(1 / (1 - _SECOND ** layer.steps[own]))
        for k in range(size):
            mean = _FIRST * layer.first[own, k] + (one - _FIRST) * gradient[k]
            square = _SECOND * layer.second[own, k] + (one - _SECOND) * gradient[k] * gradient[k]
            layer.first[own, k] = mean
            layer.second[own, k] = square
            layer.vectors[own, k] -= (
                rate * (mean * right) / (np.sqrt(square * right_second) + _LITTLE)
            )


@kernel
def candidate_scores(first, last, rows, features, labels, ptr, asked, out):
    """The scores of each row's candidates, which are the entries of a CSR matrix."""
    size = features.shape[1]
    hidden = np.empty((1, size))
    for row in range(first, last):
        hidden[:] = 0
        add_hidden(rows, row, features, hidden, 0)
        for i in range(ptr[row], ptr[row + 1]):
            label = asked[i]
            total = np.float64(labels[label, size])
            for k in range(size):
                if hidden[0, k] > 0:
                    total += hidden[0, k] * labels[label, k]
            out[i] = total
