"""Curves from scores to log-odds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from manylabel.ensemble.curves import Combination, Curve, fit_combination, frequency_group, log_loss
from manylabel.ensemble.first_format import combination

N = 4000


@pytest.fixture(scope="module")
def problem():
    """Two parts of which one tells something, and the probabilities that it tells."""
    rng = np.random.default_rng(0)
    useful, noise = rng.normal(size=N), rng.random(N)
    groups = rng.integers(0, 3, N)
    counts = np.array([1, 3, 10])[groups]
    chance = expit(2.0 * useful - 1.0 + 0.5 * groups)
    return {"useful": useful, "noise": noise}, counts, rng.random(N) < chance, chance


def test_curves_rise_through_zero(problem):
    parts, counts, truth, _ = problem
    for curve in fit_combination(parts, counts, truth).curves.values():
        assert (np.diff(curve.values) >= -1e-9).all()
        assert curve(np.zeros(1))[0] == pytest.approx(0, abs=1e-9)


def test_the_chances_behind_the_data_are_found(problem):
    parts, counts, truth, chance = problem
    found = expit(fit_combination(parts, counts, truth)(parts, counts))
    assert np.abs(found - chance).mean() < 0.03
    for count in (1, 3, 10):
        assert found[counts == count].mean() == pytest.approx(
            truth[counts == count].mean(), abs=0.01
        )


def test_noise_gets_hardly_any_weight(problem):
    parts, counts, truth, _ = problem
    curves = fit_combination(parts, counts, truth).curves
    assert np.ptp(curves["noise"].values) < 0.1 * np.ptp(curves["useful"].values)


def test_more_parts_never_make_it_worse_on_what_was_learned(problem):
    parts, counts, truth, _ = problem
    both = log_loss(fit_combination(parts, counts, truth)(parts, counts), truth)
    one = {"noise": parts["noise"]}
    assert both < log_loss(fit_combination(one, counts, truth)(one, counts), truth)


def test_calibration_makes_stretched_log_odds_come_true_again(problem):
    parts, counts, truth, _ = problem
    fitted = fit_combination(parts, counts, truth)
    curves = {n: Curve(c.knots, 3 * c.values) for n, c in fitted.curves.items()}
    refitted = Combination(curves, fitted.offsets + 1).calibrated(parts, counts, truth)
    found = expit(refitted(parts, counts))
    for count in (1, 3, 10):
        mine = counts == count
        assert found[mine].sum() == pytest.approx(truth[mine].sum(), rel=0.02)


@pytest.mark.parametrize("scale", [60, 2000])
def test_calibration_finds_log_odds_of_any_scale(problem, scale):
    parts, counts, truth, _ = problem
    fitted = fit_combination(parts, counts, truth)
    curves = {n: Curve(c.knots, scale * c.values) for n, c in fitted.curves.items()}
    steep = Combination(curves, scale * fitted.offsets).calibrated(parts, counts, truth)
    right = fitted.calibrated(parts, counts, truth)
    assert log_loss(steep(parts, counts), truth) < 1.01 * log_loss(right(parts, counts), truth)


def test_what_counts_more_for_some_frequencies_is_found():
    rng = np.random.default_rng(0)
    scores, counts = rng.normal(size=6_000), np.repeat([1, 3], 3_000)
    truth = rng.random(6_000) < expit(np.where(counts == 1, 2.0, 1.0) * scores)
    parts = {"votes": scores}
    found = fit_combination(parts, counts, truth).calibrated(parts, counts, truth)
    assert found.factors[1] > 1.5 * found.factors[2]


def test_a_group_with_nothing_to_learn_from_stays_as_it_is():
    line = Curve(np.array([0.0, 1.0]), np.array([0.0, 2.0]))
    parts, counts = {"votes": np.array([0.5])}, np.array([1])
    given = Combination({"votes": line}, np.zeros(7))
    refitted = given.calibrated(parts, counts, np.array([True]))
    assert np.delete(refitted.factors, 1).tolist() == [1.0] * 6
    assert abs(refitted.factors[1] - 1) < 0.1


@pytest.mark.parametrize("truth", [np.zeros(5, bool), np.ones(5, bool), np.zeros(0, bool)])
def test_with_nothing_to_learn_every_part_counts_alike(truth):
    parts = {"a": np.zeros(truth.size), "b": np.zeros(truth.size)}
    found = fit_combination(parts, np.zeros(truth.size, int), truth)
    assert found.curves["a"].values.tolist() == found.curves["b"].values.tolist()


@given(st.floats(-3, 3), st.lists(st.floats(-3, 3), min_size=1, max_size=4))
def test_a_curve_shared_out_adds_up(rest, addends):
    curve = Curve(np.array([-1.0, 0.0, 0.5, 2.0]), np.array([-0.5, 0.0, 2.0, 2.5]))
    score = rest + sum(addends)
    shares = [curve.slopes(np.array([score]))[0] * addend for addend in (rest, *addends)]
    assert sum(shares) == pytest.approx(float(curve(np.array([score]))[0]), abs=1e-6)


def test_frequent_labels_are_in_later_groups():
    assert frequency_group(np.array([0, 1, 2, 20, 10_000])).tolist() == [0, 1, 2, 4, 6]


def test_a_combination_from_before_labels_without_documents_had_a_group():
    line = Curve(np.array([0.0, 1.0]), np.array([0.0, 2.0]))
    former = combination(
        {"curves": {"votes": line}, "offsets": np.arange(6.0), "factors": np.arange(6.0)}
    )
    assert former.offsets.tolist() == former.factors.tolist() == [0, 0, 1, 2, 3, 4, 5]


@pytest.fixture(scope="module")
def divided():
    """Two parts, of which one tells the labels of few documents and the other those of many."""
    rng = np.random.default_rng(1)
    parts = {"a": rng.normal(size=8_000), "b": rng.normal(size=8_000)}
    counts = np.repeat([1, 600], 4_000)
    chance = expit(np.where(counts == 1, 2 * parts["a"] + parts["b"], parts["a"] + 2 * parts["b"]))
    return parts, counts, rng.random(8_000) < chance


def test_a_part_that_tells_more_of_rare_labels_weighs_more_there(divided):
    parts, counts, truth = divided
    fitted = fit_combination(parts, counts, truth)
    refitted = fitted.weighted(parts, counts, truth)
    rare, frequent = frequency_group(np.array([1, 600]))
    assert refitted.factor("a", rare) > 1.3 * refitted.factor("a", frequent)
    assert refitted.factor("b", frequent) > 1.3 * refitted.factor("b", rare)
    loss = log_loss(refitted(parts, counts), truth)
    assert loss < 0.99 * log_loss(fitted(parts, counts), truth)


def test_log_odds_are_the_offset_and_what_each_part_is_worth_in_its_group(divided):
    parts, counts, truth = divided
    refitted = fit_combination(parts, counts, truth).weighted(parts, counts, truth)
    group = int(frequency_group(counts[:1])[0])
    shares = [
        refitted.factor(n, group) * curve(parts[n][:1])[0] for n, curve in refitted.curves.items()
    ]
    assert refitted(parts, counts)[0] == pytest.approx(refitted.offsets[group] + sum(shares))


def test_a_new_label_is_not_certain_because_others_have_two_documents_each():
    # Left out, the right labels have one document, and no wrong one has: that says nothing.
    rng = np.random.default_rng(0)
    truth = np.arange(2_000) % 40 == 0
    scores = np.where(truth, 0.6, 0.2) + rng.normal(0, 0.2, truth.size)
    counts = np.where(truth, 1, 2)
    new = np.ones(1, np.int64)
    bold, cautious = (
        fit_combination({"votes": scores}, counts, truth, is_cautious=each)
        for each in (False, True)
    )
    assert bold({"votes": np.zeros(1)}, new)[0] > 0
    assert cautious({"votes": np.zeros(1)}, new)[0] < -2


def test_scores_beyond_all_that_were_seen_add_little_to_a_new_label():
    rng = np.random.default_rng(0)
    truth = np.arange(2_000) % 40 == 0
    scores = np.where(truth, 0.6, 0.2) + rng.normal(0, 0.2, truth.size)
    counts = np.full(truth.size, 3)
    found = fit_combination({"votes": scores}, counts, truth, is_cautious=True)
    end, beyond = found({"votes": np.array([1.2, 10.0])}, counts[:2])
    assert end <= beyond < end + 3


@given(st.integers(0, 10_000))
def test_the_kernel_adds_curves_to_the_last_bit_as_numpy_does(seed):
    rng = np.random.default_rng(seed)
    names = ["a", "b", "c"][: rng.integers(0, 4)]
    curves = {
        name: Curve(np.cumsum(rng.random(size) + 1e-3) - 1, np.cumsum(rng.random(size)))
        for name, size in zip(names, rng.integers(2, 9, len(names)), strict=True)
    }
    weights = {name: rng.random(7) for name in names[1:]}
    combined = Combination(curves, rng.normal(size=7), rng.random(7), weights)
    parts = {
        name: np.concatenate([rng.normal(size=20) * 4, curve.knots])[:20]
        for name, curve in curves.items()
    }
    for name, curve in curves.items():
        parts[name][-curve.knots.size :] = curve.knots
    counts = rng.integers(0, 700, 20)
    groups, total = frequency_group(counts), np.zeros(20)
    for values in combined.by_part(parts, counts).values():
        total += values
    expected = combined.offsets[groups] + combined.factors[groups] * total
    assert combined(parts, counts).tolist() == expected.tolist()


@pytest.mark.parametrize("sums", [[0.3, -1.0, 2.5, 2.5], [-4.0], [], [-np.inf, -np.inf], [800.0]])
def test_a_document_alone_has_the_rivals_that_it_has_among_others(sums):
    rivals = Combination({}, np.zeros(7), rivalry=0.4, sharpness=1.7, usual=0.2)
    others = np.array([1.0, 2.0])
    many, ptr = np.concatenate([others, sums, others]), np.array([0, 2, 2, 4])
    ptr[2:] += len(sums)
    together = rivals.competition(many, ptr)
    alone = rivals.competition(np.array(sums), np.array([0, len(sums)]))
    assert alone.tolist() == [together[1]]
