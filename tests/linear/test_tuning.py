from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from linear.linear_problems import make_problem
from naive import svm as naive
from scipy import sparse

from manylabel.kernels import svm
from manylabel.kernels.index import Rows
from manylabel.linear import OneVsRestSVM
from manylabel.linear.tuning import WEIGHTS, choose_weight, hold_out, thin
from manylabel.text import Weighting


@given(st.lists(st.booleans(), min_size=1, max_size=80), st.integers(0, 1000))
def test_a_tenth_of_each_class_is_held_out_and_a_lone_row_is_in_both(classes, seed):
    positive = np.array(classes)
    trained, held = hold_out(positive, [seed, 0])
    for side in (positive, ~positive):
        n = side.sum()
        assert held[side].sum() == (0 if n == 0 else max(1, round(0.1 * n)))
        if n == 1:
            assert trained[side].all()
        else:
            assert (trained[side] == ~held[side]).all()


def test_the_most_accurate_weight_wins_and_ties_go_to_the_one_nearest_1():
    positive = np.arange(40) < 10

    def chosen(accuracy_of):
        return choose_weight(
            positive, lambda weights, *_: np.array([accuracy_of(w) for w in weights]), [0, 0]
        )

    assert chosen(lambda weight: 0.5) == 1
    assert chosen(lambda weight: weight >= 10) == 10
    assert chosen(lambda weight: weight == 3) == 3  # 30 negatives to 10 positives
    assert chosen(lambda weight: weight == 1000) == 1000


def test_of_more_positives_than_negatives_the_ratio_below_1_may_be_chosen():
    positive = np.arange(40) < 32
    picked = choose_weight(positive, lambda weights, *_: (weights < 1).astype(float), [0, 0])
    assert picked == 0.25


def test_a_label_without_negatives_keeps_weight_1():
    assert choose_weight(np.ones(5, bool), lambda *_: pytest.fail("not needed"), [0, 0]) == 1


def test_the_weights_are_those_that_a_naive_search_finds():
    X, Y = make_problem(90, 30, 8, seed=3)
    svm = OneVsRestSVM(
        1.0, tuned=True, weighting=Weighting(None, normalize=False), tol=1e-6, max_iter=10**6
    ).fit(X, Y)
    seed = svm._settings(sparse.csr_array(X), Y).seed
    rows = naive.with_bias(X.toarray(), 1.0)
    for label in range(Y.shape[1] - 1):
        positive = Y.toarray()[:, label].astype(bool)
        weights = [*WEIGHTS, (~positive).sum() / positive.sum()]
        trained, held = hold_out(positive, [seed, label])
        y = np.where(positive, 1.0, -1.0)
        expected = naive.best_weight(rows, y, 1.0, trained, held, weights)
        assert svm.positive_weights_[label] == expected
    assert len(set(svm.positive_weights_)) > 1


def test_a_tuned_label_of_weight_1_is_the_plain_one():
    X, Y = make_problem(seed=4)
    plain, tuned = OneVsRestSVM().fit(X, Y), OneVsRestSVM(tuned=True).fit(X, Y)
    same = np.flatnonzero(tuned.positive_weights_ == 1)
    assert 0 < same.size < Y.shape[1]
    np.testing.assert_array_equal(plain.coef_[:, same].toarray(), tuned.coef_[:, same].toarray())
    assert (plain.positive_weights_ == 1).all()


def test_quick_tuning_finds_most_weights_of_exact_tuning_and_solves_for_them():
    X, Y = make_problem(90, 30, 8, seed=3)
    # So few rows are all near: only the tuning differs.
    settings = {"tuned": True, "threshold": "top", "prune": 0, "tol": 1e-4, "max_iter": 10**5}
    exact, quick = OneVsRestSVM(**settings).fit(X, Y), OneVsRestSVM(near=5, **settings).fit(X, Y)
    same = np.flatnonzero(quick.positive_weights_ == exact.positive_weights_)
    assert same.size >= Y.shape[1] - 1
    assert len(set(quick.positive_weights_[same])) > 1
    np.testing.assert_allclose(
        quick.coef_[:, same].toarray(), exact.coef_[:, same].toarray(), atol=1e-2
    )


@pytest.mark.parametrize("patience", [0, 2])
def test_quick_tuning_ends_when_wrong_negatives_alone_are_as_many_as_all_errors(patience):
    # Row 2 looks like the positive rows: with any weight, it is a wrong negative.
    X = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]], np.float32)
    matrix = sparse.csr_array(X)
    positive = np.array([True, True, False, False, False])
    rows = Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), matrix.data)
    problem = svm.Problem(
        rows, np.ones(5), np.ones(5), np.arange(5, dtype=np.int32), positive, np.ones(2), 1.0
    )
    best = svm.Solution(np.zeros(3), np.zeros(5))
    everything = np.ones(5, bool)
    weights = np.array([1.0, 2.0, 5.0, 10.0])
    accuracy = svm.held_out_accuracy(
        problem, weights, everything, everything, np.arange(5, dtype=np.int32), np.uint64(1),
        1000, 0.1, best, patience,
    )  # fmt: skip
    expected = [0.8, 0, 0, 0] if patience else [0.8] * 4
    np.testing.assert_allclose(accuracy, expected)
    # The solution of weight 1, the nearest of equals.
    np.testing.assert_allclose(best.w[:2], best.alpha * np.where(positive, 1, -1) @ X, atol=1e-9)
    assert problem.costs[1] == 1


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 1000))
def test_thinned_rows_stand_for_as_many_as_before(n_single, n_sampled, seed):
    factors = np.repeat([1.0, 2.5], [n_single, n_sampled])
    kept, times = thin(factors, [seed, 0])
    assert kept[:n_single].all()
    assert (times[:n_single] == 1).all()
    assert kept[n_single:].sum() == -(-n_sampled // 4)
    assert (factors * times)[kept].sum() == pytest.approx(factors.sum())
