"""Propensity-scored measures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metrics.problems import problems
from naive import measures as naive

from manylabel import metrics
from manylabel.exceptions import InputError, ParameterError


@given(problem=problems(), A=st.sampled_from([0.5, 0.55, 0.6]), B=st.sampled_from([0.4, 1.5, 2.6]))
def test_propensities_agree_with_their_definition(problem, A, B):
    expected = naive.inverse_propensity(problem.train, problem.n_labels, A, B)
    np.testing.assert_allclose(1 / metrics.propensities(problem.Y_train, A, B), expected)


@pytest.mark.parametrize(
    ("fast", "slow"),
    [(metrics.psp_at, naive.psp_at), (metrics.psndcg_at, naive.psndcg_at)],
    ids=["psp", "psndcg"],
)
@given(problem=problems(), k=st.integers(1, 8))
def test_agrees_with_its_definition(fast, slow, problem, k):
    weight = [1.0 + label for label in range(problem.n_labels)]
    assert fast(problem.Y, problem.S, 1 / np.array(weight), k) == pytest.approx(
        slow(problem.truth, problem.scores, weight, k), nan_ok=True
    )


@given(problem=problems(), k=st.integers(1, 8))
def test_ranking_the_truth_by_its_weight_is_perfect(problem, k):
    propensity = 1 / (1.0 + np.arange(problem.n_labels))
    best = problem.Y.multiply(1 / propensity[None, :]).tocsr()
    if problem.Y.nnz:
        assert metrics.psp_at(problem.Y, best, propensity, k) == pytest.approx(1.0)
        assert metrics.psndcg_at(problem.Y, best, propensity, k) == pytest.approx(1.0)


def test_equal_propensities_of_single_labels_give_plain_precision():
    Y, scores = [[1, 0], [0, 1]], [[0.9, 0.1], [0.9, 0.1]]
    assert metrics.psp_at(Y, scores, [0.5, 0.5], 1) == metrics.precision_at(Y, scores, 1)


def test_rare_labels_have_the_smaller_propensity():
    Y = np.zeros((100, 2))
    Y[:50, 0] = Y[:2, 1] = 1
    frequent, rare = metrics.propensities(Y)
    assert 0 < rare < frequent < 1


def test_bad_propensities_are_refused():
    with pytest.raises(InputError, match="one number for each of 2 labels; got the shape"):
        metrics.psp_at([[1, 0]], [[1, 0]], [0.5])
    with pytest.raises(InputError, match="`propensity` must be positive; the smallest is 0"):
        metrics.psp_at([[1, 0]], [[1, 0]], [0.5, 0.0])
    with pytest.raises(ParameterError, match="`B` must be above 0"):
        metrics.propensities([[1]], B=0)
    with pytest.raises(InputError, match="Y_train must have at least one row"):
        metrics.propensities(np.zeros((0, 2)))
