"""The parts of measures that a paired test compares, and the test."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as given_by
from hypothesis import settings
from hypothesis import strategies as st
from naive import bootstrap
from scipy import stats

from manylabel.compare.plan import Plan
from manylabel.compare.significance import N_RESAMPLES, holm, resample, worse_than_best, z_test
from manylabel.compare.units import ratio, units
from manylabel.metrics.registry import Inputs, get_measure

NAMES = Plan("", (), ()).names_measured()
#: Shares of labels that are found by some document, and a mean of ratios of sums.
NO_RATIO = ("coverage@", "psndcg@")


@st.composite
def problems(draw) -> Inputs:
    n, n_labels = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth, labels, train = (
        (rng.random((n, n_labels)) < draw(st.sampled_from([0.0, 0.3, 0.7]))).astype(int)
        for _ in range(3)
    )
    return Inputs(truth, rng.integers(0, 4, (n, n_labels)) / 4, labels, train)


@settings(deadline=None, max_examples=60)
@given_by(problems())
def test_the_parts_of_a_measure_add_up_to_it(given):
    for name in NAMES:
        parts = units(given, name)
        if parts is None:
            assert name.startswith(NO_RATIO)
            continue
        value = get_measure(name).compute(given)
        if np.isnan(value) or not parts[1].sum():
            assert np.isnan(value) or value == 0, name
        else:
            assert ratio(parts) == pytest.approx(value), name


def test_measures_that_need_what_is_not_given_have_no_parts():
    given = Inputs([[1, 0]], None, [[1, 0]], None)
    assert units(given, "p@1") is None
    assert units(given, "micro-f1") is not None


def test_a_model_that_is_clearly_worse_is_told_from_the_best():
    rng = np.random.default_rng(0)
    ones = np.ones(400)
    good = rng.random(400)
    values = {
        "best": np.stack([good, ones]),
        "equal": np.stack([good[::-1], ones]),
        "worse": np.stack([good - 0.2, ones]),
    }
    p_values = worse_than_best(values, "best")
    assert list(p_values) == ["equal", "worse"]
    assert p_values["equal"] > 0.5
    assert p_values["worse"] < 0.01


def test_the_test_agrees_with_a_t_test_on_means():
    from scipy.stats import ttest_rel

    rng = np.random.default_rng(1)
    a, b = rng.random(300), rng.random(300) * 0.95
    found = worse_than_best(
        {"a": np.stack([a, np.ones(300)]), "b": np.stack([b, np.ones(300)])}, "a"
    )
    assert found["b"] == pytest.approx(ttest_rel(a, b).pvalue, abs=0.03)


def test_intervals_and_any_pair_are_as_in_a_bootstrap_by_hand():
    rng = np.random.default_rng(4)
    n = 12
    units = {name: np.stack([rng.random(n), 1 + rng.random(n)]) for name in "abc"}
    drawn = np.random.default_rng(0)
    draws = [row for _ in range(N_RESAMPLES // 50) for row in drawn.integers(n, size=(50, n))]
    found = resample(units)
    for name in units:
        assert found.interval(name) == pytest.approx(bootstrap.interval(units[name], draws))
    by_hand = {
        (one, other): bootstrap.p_value(units[one], units[other], draws)
        for one, other in (("a", "b"), ("a", "c"), ("b", "c"))
    }
    for pair, p_value in by_hand.items():
        assert found.p_value(*pair) == pytest.approx(p_value, abs=1 / N_RESAMPLES)
    assert found.pairs() == pytest.approx(holm(by_hand), abs=3 / N_RESAMPLES)
    assert found.against("a") == worse_than_best(units, "a")


def test_models_of_other_documents_are_not_tested():
    parts = {"a": np.ones((2, 5)), "b": np.ones((2, 4))}
    assert worse_than_best(parts, "a") == {}


def test_holm_never_lowers_a_p_value_or_changes_their_order():
    found = holm({"a": 0.2, "b": 0.001, "c": 0.19})
    assert found == {"a": 0.38, "b": 0.003, "c": 0.38}


def test_the_z_test_is_that_of_means_where_denominators_are_ones():
    rng = np.random.default_rng(0)
    first, second = rng.random(300), rng.random(300) + 0.05
    ones = np.ones(300)
    found = z_test(np.array([first, ones]), np.array([second, ones]))
    differences = first - second
    z = differences.mean() / (differences.std(ddof=1) / np.sqrt(300))
    assert found == pytest.approx(2 * stats.norm.sf(abs(z)))


def test_the_z_test_and_the_bootstrap_agree_about_ratios():
    rng = np.random.default_rng(1)
    below = rng.integers(1, 6, 400).astype(float)
    units = {
        name: np.array([below * (rng.random(400) < skill), below])
        for name, skill in (("a", 0.6), ("b", 0.55))
    }
    best = max(units, key=lambda name: units[name][0].sum())
    (bootstrap,) = worse_than_best(units, best).values()
    assert z_test(units["a"], units["b"]) == pytest.approx(bootstrap, abs=0.02)


def test_models_that_always_agree_cannot_be_told_apart():
    same = np.array([[1.0, 0.0], [1.0, 1.0]])
    assert z_test(same, same) == 1.0
