"""Vectors of features and labels, trained together.

A row's vector is h = sum_f x_f w_f, with a vector w_f for each feature f; the score of label l is
v_l.h + b_l, a sum over features. Training makes the labels of a row more probable than others: the
loss is the cross-entropy of a softmax over the labels of the batch and labels drawn at random. A
step is scaled by the squares of all earlier gradients of the same vector (Duchi et al. 2011), one
number per vector. One thread updates each vector and adds the rows in order, so the result does not
depend on threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manylabel.kernels.compile import kernel
from manylabel.kernels.heap import push
from manylabel.kernels.network import add_hidden


class RoundedVectors(NamedTuple):
    """Vectors as whole numbers times a unit, the lengths of what that leaves out, and their own."""

    codes: NDArray[np.int8]
    units: NDArray[np.float64]
    errors: NDArray[np.float64]
    lengths: NDArray[np.float64]


@kernel
def sum_vectors(first, last, members, rows, vectors, out):
    """The vectors of some rows: the sums of their features' vectors."""
    for place in range(first, last):
        out[place] = 0
        add_hidden(rows, members[place], vectors, out, place)


@kernel
def choose_labels(members, pairs, drawn, place_of, chosen):
    """The labels of some rows and those drawn, each once; return how many.

    ``place_of`` is -1 for each label before, and the place of each chosen one after.
    """
    n_chosen = 0
    for member in members:
        for i in range(pairs.ptr[member], pairs.ptr[member + 1]):
            label = pairs.features[i]
            if place_of[label] < 0:
                place_of[label] = n_chosen
                chosen[n_chosen] = label
                n_chosen += 1
    for label in drawn:
        if place_of[label] < 0:
            place_of[label] = n_chosen
            chosen[n_chosen] = label
            n_chosen += 1
    return n_chosen


@kernel
def errors_of_scores(first, members, pairs, place_of, shift, scores):
    """Replace scores by the softmax minus the truth, for the rows from the first member on.

    The labels of a row share a probability of 1. Rows without labels have no errors.
    """
    n_labels = scores.shape[1]
    for row in range(scores.shape[0]):
        member = members[first + row]
        begin, end = pairs.ptr[member], pairs.ptr[member + 1]
        if begin == end:
            scores[row] = 0
            continue
        highest = np.float32(-np.inf)
        for place in range(n_labels):
            scores[row, place] += shift[place]
            highest = max(highest, scores[row, place])
        total = np.float32(0)
        for place in range(n_labels):
            scores[row, place] = np.exp(scores[row, place] - highest)
            total += scores[row, place]
        share = np.float32(1) / total
        for place in range(n_labels):
            scores[row, place] *= share
        own = np.float32(1.0 / (end - begin))
        for i in range(begin, end):
            scores[row, place_of[pairs.features[i]]] -= own


@kernel
def descend(vectors, squares, own, gradient, rate):
    """Move one vector against its gradient."""
    size = gradient.size
    total = np.float32(0)
    for k in range(size):
        total += gradient[k] * gradient[k]
    squares[own] += total / size
    step = np.float32(rate / np.sqrt(squares[own]))
    for k in range(size):
        vectors[own, k] -= step * gradient[k]


@kernel
def learn_labels(first, last, chosen, errors, sums, vectors, squares, constants, others, rate):
    """Update the vectors and constants of some of the chosen labels.

    ``sums`` has their gradients; ``others`` the squares of the constants' gradients.
    """
    for place in range(first, last):
        label = chosen[place]
        descend(vectors, squares, label, sums[place], rate)
        slope = np.float32(0)
        for row in range(errors.shape[0]):
            slope += errors[row, place]
        others[label] += slope * slope
        constants[label] -= np.float32(rate / np.sqrt(others[label])) * slope


@kernel
def learn_features(
    first, last, touched, begins, who, which, values, slopes, vectors, squares, rate
):
    """Update the vectors of some features; ``slopes`` are the gradients of the rows' vectors."""
    gradient = np.empty(vectors.shape[1], np.float32)
    for place in range(first, last):
        gradient[:] = 0
        for i in range(begins[place], begins[place + 1]):
            value, row = values[which[i]], who[i]
            for k in range(gradient.size):
                gradient[k] += value * slopes[row, k]
        descend(vectors, squares, touched[place], gradient, rate)


@kernel
def candidate_products(first, last, hidden, labels, constants, ptr, asked, out):
    """The scores of each row's candidates, which are the entries of a CSR matrix."""
    for row in range(first, last):
        for i in range(ptr[row], ptr[row + 1]):
            label = asked[i]
            total = np.float64(constants[label])
            for k in range(hidden.shape[1]):
                total += np.float64(hidden[row, k]) * labels[label, k]
            out[i] = total


@kernel
def best_places(scores, out):
    """The columns with the greatest scores of each row, in any order; of equal ones, the first."""
    highest = np.empty(out.shape[1], np.float32)
    for row in range(scores.shape[0]):
        size = 0
        for column in range(scores.shape[1]):
            # Most columns are below all in the heap.
            if size < highest.size or scores[row, column] > highest[0]:
                size = push(highest, out[row], size, scores[row, column], np.int32(column))


@kernel
def _whole_products(codes, whole, out):
    """The products of rounded vectors with one; a loop of its own, because it is vectorised."""
    for label in range(codes.shape[0]):
        total = np.int32(0)
        for k in range(codes.shape[1]):
            total += np.int32(codes[label, k]) * np.int32(whole[k])
        out[label] = total


@kernel
def likely_labels(rounded, whole, unit, hidden, spread, shift, highest, out):
    """The labels that can be among the best of one row, in ascending order; return how many.

    Products of vectors that are rounded to whole numbers, with a bound on the error, rule out most.

    Parameters
    ----------
    rounded : RoundedVectors
    whole : int16[:]
        The row's vector, divided by ``unit`` and rounded.
    unit, hidden, spread : float
        The unit, the length of the row's vector, and a bound on the length of its rounding error.
    shift : float32[:]
        Added to the scores; minus infinity for labels that are never among the best.
    highest : float32[:]
        Working space, as long as the number of labels that are wanted.
    out : int32[:]
        As long as the number of labels.
    """
    n_labels = shift.size
    products, upper = np.empty(n_labels, np.int32), np.empty(n_labels, np.float32)
    _whole_products(rounded.codes, whole, products)
    places = np.empty(highest.size, np.int32)
    n_kept = 0
    for label in range(n_labels):
        product = rounded.units[label] * unit * np.float64(products[label])
        score = product + np.float64(shift[label])
        # The last two terms are far above what single precision loses.
        error = rounded.errors[label] * hidden + rounded.lengths[label] * (spread + 1e-5 * hidden)
        error += 1e-6 * abs(score)
        upper[label] = score + error
        lower = np.float32(score - error)
        if n_kept < highest.size or lower > highest[0]:
            n_kept = push(highest, places, n_kept, lower, np.int32(label))
    n_likely = 0
    for label in range(n_labels):
        if upper[label] >= highest[0] and shift[label] > -np.inf:
            out[n_likely] = label
            n_likely += 1
    return n_likely
