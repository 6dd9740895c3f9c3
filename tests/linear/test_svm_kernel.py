"""The solver against Newton's method and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import svm as naive
from scipy import sparse
from sklearn.svm import LinearSVC

from manylabel.kernels import svm
from manylabel.kernels.index import Rows
from manylabel.validation import csr_parts

MAX_ITER = 10_000


@st.composite
def problems(draw):
    """Random rows, some of them empty, and classes, not always both."""
    n_rows, n_features = draw(st.integers(1, 25)), draw(st.integers(1, 8))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dense = random.random((n_rows, n_features)) * (random.random((n_rows, n_features)) < 0.5)
    positive = random.random(n_rows) < draw(st.sampled_from([0.0, 0.2, 0.5, 1.0]))
    C, weight = draw(st.sampled_from([0.1, 1.0, 4.0])), draw(st.sampled_from([1.0, 5.0]))
    bias = draw(st.sampled_from([0.0, 1.0]))
    return dense.astype(np.float32).astype(float), positive, C, weight, bias


def solved(dense, positive, C, weight, bias, tol=1e-6, members=None, weights=None):
    rows = Rows(*csr_parts(sparse.csr_array(dense)))
    members = np.arange(len(dense)) if members is None else members
    problem = svm.Problem(
        rows,
        (dense**2).sum(axis=1),
        np.ones(len(dense)) if weights is None else weights,
        members.astype(np.int32),
        positive[members],
        np.array([C, C * weight]),
        bias,
    )
    solution = svm.Solution(np.zeros(dense.shape[1] + 1), np.zeros(members.size))
    order = np.arange(members.size, dtype=np.int32)
    sweeps = svm.solve(problem, solution, order, np.uint64(1), MAX_ITER, tol)
    assert sweeps <= MAX_ITER
    return problem, solution


def in_words(dense, positive, C, weight, bias):
    """The same problem as the naive solver takes it."""
    y = np.where(positive, 1.0, -1.0)
    return naive.with_bias(dense, bias), y, np.where(positive, C * weight, C)


@given(problems())
def test_the_objective_is_that_of_newtons_method(drawn):
    _, solution = solved(*drawn)
    X, y, costs = in_words(*drawn)
    expected = naive.primal(naive.solve(X, y, costs), X, y, costs)
    assert naive.primal(solution.w, X, y, costs) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@given(problems())
def test_the_duality_gap_is_closed_and_w_is_the_sum_of_its_rows(drawn):
    _, (w, alpha) = solved(*drawn)
    X, y, costs = in_words(*drawn)
    assert (alpha >= 0).all()
    np.testing.assert_allclose(w, X.T @ (alpha * y), atol=1e-9)
    assert naive.primal(w, X, y, costs) == pytest.approx(
        naive.dual(alpha, X, y, costs), rel=1e-5, abs=1e-6
    )


def test_coefficients_are_those_of_liblinear():
    random = np.random.default_rng(0)
    dense = random.random((200, 30)) * (random.random((200, 30)) < 0.3)
    dense = dense.astype(np.float32).astype(float)
    positive = dense @ random.normal(size=30) + 0.3 * random.normal(size=200) > 0.2
    theirs = LinearSVC(
        loss="squared_hinge", dual=True, class_weight={1: 3}, tol=1e-8, max_iter=100_000
    ).fit(dense, positive.astype(int))
    _, (w, _) = solved(dense, positive, 1.0, 3.0, 1.0, tol=1e-8)
    np.testing.assert_allclose(w[:-1], theirs.coef_[0], atol=1e-5)
    np.testing.assert_allclose(w[-1], theirs.intercept_[0], atol=1e-5)


def test_rows_that_are_no_members_do_not_matter():
    random = np.random.default_rng(1)
    dense = random.random((40, 6)).astype(np.float32).astype(float)
    positive = random.random(40) < 0.4
    members = np.flatnonzero(random.random(40) < 0.5)
    _, some = solved(dense, positive, 1.0, 1.0, 1.0, members=members)
    _, alone = solved(dense[members], positive[members], 1.0, 1.0, 1.0)
    np.testing.assert_array_equal(some.w, alone.w)


def test_too_few_sweeps_are_told():
    dense, positive = np.random.default_rng(2).random((50, 5)), np.arange(50) % 2 == 0
    problem, _ = solved(dense, positive, 10.0, 1.0, 1.0)
    start = svm.Solution(np.zeros(6), np.zeros(50))
    order = np.arange(50, dtype=np.int32)
    assert svm.solve(problem, start, order, np.uint64(1), 3, 1e-9) == 4


@given(problems(), st.integers(0, 2**16))
def test_leaving_rows_out_gives_the_solution_of_the_others(drawn, seed):
    dense, positive, *rest = drawn
    folds = np.random.default_rng(seed).integers(-1, 2, len(dense)).astype(np.int8)
    problem, (w, alpha) = solved(dense, positive, *rest)
    scores = np.full(len(dense), np.nan)
    order = np.arange(len(dense), dtype=np.int32)
    supports = alpha > 0
    svm.held_out_scores(
        problem, svm.Solution(w, alpha), folds, order, np.uint64(3), MAX_ITER, 1e-6, scores
    )
    assert np.isnan(scores[folds == -1]).all()
    for fold in range(folds.max() + 1):
        left = np.flatnonzero((folds != fold) & supports)
        _, without = solved(dense, positive, *rest, members=left)
        expected = naive.with_bias(dense, rest[-1]) @ without.w
        np.testing.assert_allclose(scores[folds == fold], expected[folds == fold], atol=1e-4)


def test_streams_differ_between_labels_and_between_seeds():
    streams = {svm.stream_of(seed, label) for seed in range(20) for label in range(20)}
    assert len(streams) == 400


def test_rows_are_copied_with_their_own_features():
    random = np.random.default_rng(4)
    dense = (random.random((30, 50)) * (random.random((30, 50)) < 0.1)).astype(np.float32)
    parts = csr_parts(sparse.csr_array(dense))
    rows = Rows(parts[0], parts[1].view(np.uint32), parts[2])
    members = np.array([3, 17, 4, 29], np.int32)
    n_entries = np.count_nonzero(dense[members])
    place_of = np.full(50, -1, np.int32)
    ptr, columns = np.empty(5, np.int64), np.empty(n_entries, np.int32)
    features, values = np.empty(n_entries, np.uint32), np.empty(n_entries, np.float32)
    n_columns = svm.gather(rows, members, place_of, ptr, features, values, columns)
    copied = np.zeros((4, 50), np.float32)
    for row in range(4):
        for i in range(ptr[row], ptr[row + 1]):
            copied[row, columns[features[i]]] = values[i]
    assert (copied == dense[members]).all()
    assert sorted(columns[:n_columns]) == np.flatnonzero(dense[members].any(axis=0)).tolist()
    assert (place_of == -1).all()
