"""Results by label frequency, and tests between two models."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from manylabel import metrics
from manylabel.exceptions import InputError, ParameterError


def training_labels(frequencies):
    """Labels that occur as often as asked."""
    Y = np.zeros((max(frequencies), len(frequencies)), np.int8)
    for label, frequency in enumerate(frequencies):
        Y[:frequency, label] = 1
    return Y


def test_fixed_bins_follow_the_tail():
    frequencies = [0, 1, 1, 2, 5, 6, 20, 21, 100, 101, 501]
    bins = metrics.by_frequency(np.ones(11), training_labels(frequencies), "fixed")
    assert [(b.name, b.n_labels) for b in bins] == [
        ("0", 1),
        ("1", 2),
        ("2-5", 2),
        ("6-20", 2),
        ("21-100", 2),
        ("101-500", 1),
        ("501-2000", 1),
    ]


def test_bins_average_the_values_of_their_labels():
    bins = metrics.by_frequency([0.1, 0.3, 0.8], training_labels([1, 1, 3]), "fixed")
    assert [b.value for b in bins] == pytest.approx([0.2, 0.8])


def test_quintiles_hold_a_fifth_of_the_labels_each():
    frequencies = np.arange(1, 51)
    bins = metrics.by_frequency(frequencies / 50, training_labels(frequencies))
    assert [(b.low, b.high, b.n_labels) for b in bins] == [
        (1, 10, 10),
        (11, 20, 10),
        (21, 30, 10),
        (31, 40, 10),
        (41, 50, 10),
    ]


def test_labels_of_equal_frequency_share_a_quintile():
    bins = metrics.by_frequency(np.ones(10), training_labels([1] * 7 + [2, 3, 9]))
    assert [(b.name, b.n_labels) for b in bins] == [("1", 7), ("2", 1), ("3-9", 2)]


def test_quintiles_leave_out_labels_without_training_documents():
    bins = metrics.by_frequency([1.0, 0.0], training_labels([2, 0]))
    assert [(b.name, b.n_labels, b.value) for b in bins] == [("2", 1, 1.0)]


def test_own_edges_get_a_last_bin_for_the_rest():
    bins = metrics.by_frequency(np.ones(3), training_labels([1, 4, 9]), [2, 5])
    assert [b.name for b in bins] == ["0-2", "3-5", "6-9"]


def test_labels_without_a_value_are_left_out():
    [only] = metrics.by_frequency([np.nan, 0.5], training_labels([1, 1]), "fixed")
    assert (only.n_labels, only.value) == (1, 0.5)
    assert metrics.by_frequency([np.nan], training_labels([1])) == []


@pytest.mark.parametrize(
    ("method", "theirs"), [("t", stats.ttest_rel), ("wilcoxon", stats.wilcoxon)]
)
def test_paired_tests_agree_with_scipy(method, theirs):
    rng = np.random.default_rng(0)
    first, second = rng.random(30), rng.random(30)
    result = metrics.paired_test(first, second, method)
    assert result.n == 30
    assert result.difference == pytest.approx((first - second).mean())
    assert result.p_value == pytest.approx(theirs(first, second).pvalue)


def test_degenerate_pairs_have_a_plain_answer():
    assert metrics.paired_test([0.5, 0.5], [0.5, 0.5]).p_value == 1.0
    assert metrics.paired_test([1.0, 1.0], [0.5, 0.5]).p_value == 0.0
    assert math.isnan(metrics.paired_test([1.0], [0.5]).p_value)
    assert metrics.paired_test([1.0, np.nan, 0.5], [0.5, 0.5, np.nan]).n == 1


def test_two_models_are_compared_in_every_bin():
    first, second = [0.5, 0.7, 0.9, 0.2], [0.4, 0.5, 0.6, np.nan]
    rows = metrics.compare_by_frequency(first, second, training_labels([1, 1, 1, 3]), "fixed")
    assert [(r.name, r.test.n) for r in rows] == [("1", 3)]
    assert rows[0].first - rows[0].second == pytest.approx(rows[0].test.difference)
    assert rows[0].test == metrics.paired_test(first[:3], second[:3])


def test_bad_input_is_refused():
    with pytest.raises(InputError, match=r"got the shapes \(1,\) and \(2,\)"):
        metrics.paired_test([1.0], [1.0, 2.0])
    with pytest.raises(ParameterError, match="`method` must be 't' or 'wilcoxon'"):
        metrics.paired_test([1.0, 2.0], [1.0, 3.0], "sign")
    with pytest.raises(ParameterError, match="`bins` must be 'quintiles', 'fixed' or a list"):
        metrics.by_frequency([1.0], training_labels([1]), "deciles")
