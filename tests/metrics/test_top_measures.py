"""Measures of the first k labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metrics.problems import problems
from naive import measures as naive
from scipy import sparse
from sklearn.metrics import ndcg_score

from manylabel import metrics
from manylabel.exceptions import InputError, ParameterError

PAIRS = [
    (metrics.precision_at, naive.precision_at),
    (metrics.recall_at, naive.recall_at),
    (metrics.r_precision_at, naive.r_precision_at),
    (metrics.ndcg_at, naive.ndcg_at),
    (metrics.coverage_at, naive.coverage_at),
]


@pytest.mark.parametrize(("fast", "slow"), PAIRS, ids=lambda f: f.__name__)
@given(problem=problems(), k=st.integers(1, 8))
def test_agrees_with_its_definition(fast, slow, problem, k):
    assert fast(problem.Y, problem.S, k) == pytest.approx(
        slow(problem.truth, problem.scores, k), nan_ok=True
    )


@given(problem=problems(every_label_scored=True, min_labels=2), k=st.integers(1, 6))
def test_ndcg_agrees_with_scikit_learn_once_ties_are_broken(problem, k):
    tie_broken = problem.dense_scores - 1e-6 * np.arange(problem.n_labels)
    expected = ndcg_score(problem.dense_truth, tie_broken, k=k, ignore_ties=True)
    assert metrics.ndcg_at(problem.Y, problem.S, k) == pytest.approx(expected)


def test_precision_divides_by_k_even_with_fewer_candidates():
    scores = sparse.csr_array(np.array([[0.0, 0.8, 0.0]]))
    assert metrics.precision_at([[0, 1, 0]], scores, 5) == pytest.approx(0.2)


def test_a_stored_zero_is_a_candidate_and_a_missing_label_is_not():
    stored = sparse.csr_array((np.array([0.0]), np.array([2]), np.array([0, 1])), shape=(1, 3))
    assert metrics.precision_at([[0, 0, 1]], stored, 1) == 1.0
    nothing = sparse.csr_array((1, 3))
    assert metrics.precision_at([[1, 0, 0]], nothing, 1) == 0.0


def test_equal_scores_are_ordered_by_label():
    assert metrics.precision_at([[1, 0]], [[0.5, 0.5]], 1) == 1.0
    assert metrics.precision_at([[0, 1]], [[0.5, 0.5]], 1) == 0.0


def test_values_by_document_mark_the_left_out_with_nan():
    values = metrics.recall_at([[1, 0], [0, 0]], [[0.9, 0.1], [0.9, 0.1]], 1, average=False)
    np.testing.assert_array_equal(values, [1.0, np.nan])


@given(problem=problems(), k=st.integers(1, 4))
def test_permuting_documents_changes_no_mean(problem, k):
    order = np.arange(len(problem.truth))[::-1]
    for fast, _ in PAIRS:
        assert fast(problem.Y[order], problem.S[order], k) == pytest.approx(
            fast(problem.Y, problem.S, k), nan_ok=True
        )


def test_shapes_must_agree():
    with pytest.raises(InputError, match=r"must have the same shape; got \(1, 2\) and \(1, 3\)"):
        metrics.precision_at([[1, 0]], [[0.1, 0.2, 0.3]])


def test_there_must_be_something_to_measure():
    with pytest.raises(InputError, match="at least one row and one label"):
        metrics.precision_at(np.zeros((0, 3)), np.zeros((0, 3)))


def test_k_must_be_positive():
    with pytest.raises(ParameterError, match="`k` must be a whole number of at least 1; got 0"):
        metrics.precision_at([[1]], [[1.0]], 0)
