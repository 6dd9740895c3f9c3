"""Newton's method against SciPy's minimiser."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from manylabel.logistic import fit_logistic, log_losses, sigmoid


@st.composite
def problems(draw):
    """Columns of very different sizes, and a truth that depends on them, or is one-sided."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_columns = draw(st.integers(1, 60)), draw(st.integers(1, 6))
    design = rng.normal(size=(n_rows, n_columns)) * draw(st.sampled_from([0.01, 1.0, 20.0]))
    truth = rng.random(n_rows) < draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    expected = rng.normal(size=n_columns)
    lowest = np.where(rng.random(n_columns) < 0.5, expected - rng.random(n_columns), -np.inf)
    return design, truth, expected, draw(st.sampled_from([0.1, 1.0, 10.0])), lowest


def loss(weights, design, truth, expected, precision, given=0.0):
    log_odds = given + design @ weights
    away = weights - expected
    return np.sum(np.logaddexp(0, log_odds) - truth * log_odds) + precision * away @ away / 2


@given(problems(), st.sampled_from([0.0, -2.0]))
def test_no_weights_are_likelier(problem, given):
    design, truth, expected, precision, lowest = problem
    found = fit_logistic(design, truth, expected, expected, precision, lowest, given)
    best = minimize(
        loss,
        expected,
        (design, truth, expected, precision, given),
        method="L-BFGS-B",
        bounds=[(low if np.isfinite(low) else None, None) for low in lowest],
    )
    assert (found >= lowest).all()
    reached = loss(found, design, truth, expected, precision, given)
    assert reached <= best.fun + 1e-5 * (1 + abs(best.fun))


def test_narrow_numbers_do():
    rng = np.random.default_rng(1)
    design = rng.normal(size=(500, 4))
    truth = design @ [1.0, -2.0, 0.0, 0.5] + rng.logistic(size=500) > 0
    wide = fit_logistic(design, truth, np.zeros(4), prior_precision=0.1)
    narrow = fit_logistic(design.astype(np.float32), truth, np.zeros(4), prior_precision=0.1)
    assert narrow == pytest.approx(wide, abs=1e-3)
    assert wide == pytest.approx([1.0, -2.0, 0.0, 0.5], abs=0.5)


def test_columns_that_say_nothing_are_no_trouble():
    design = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    found = fit_logistic(design, np.array([True, True, False]), np.zeros(3))
    assert found[1] == 0
    assert found[0] + found[2] == pytest.approx(np.log(2), abs=1e-3)


def test_extreme_log_odds_stay_finite():
    far = np.array([-800.0, 800.0])
    assert sigmoid(far).tolist() == [0.0, 1.0]
    assert log_losses(far, np.array([True, False])).tolist() == [800.0, 800.0]
    assert log_losses(far, np.array([False, True])).tolist() == [0.0, 0.0]
