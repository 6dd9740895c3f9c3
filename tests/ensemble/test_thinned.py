"""Samples of candidates with all true ones: the same curves from fewer numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manylabel.ensemble.choosing import thinned
from manylabel.ensemble.curves import fit_combination


@given(st.lists(st.booleans(), max_size=200), st.integers(1, 100))
def test_all_true_candidates_are_kept(truth, n):
    truth = np.array(truth, np.bool_)
    which, share = thinned(truth, n)
    n_false = np.count_nonzero(~truth)
    assert which[truth].all()
    assert 0 < share <= 1
    assert np.count_nonzero(which & ~truth) == round(share * n_false if n_false else 0)
    if truth.size <= n:
        assert which.all()


def test_a_thinned_sample_has_the_same_log_odds():
    rng = np.random.default_rng(0)
    scores = rng.random(60_000)
    truth = rng.random(60_000) < 1 / (1 + np.exp(6 - 6 * scores))
    counts = np.full(60_000, 10)
    which, share = thinned(truth, 20_000)
    whole = fit_combination({"votes": scores}, counts, truth)
    part = fit_combination({"votes": scores[which]}, counts[which], truth[which], share=share)
    asked = {"votes": np.linspace(0.1, 0.9, 9)}
    few = np.full(9, 10)
    np.testing.assert_allclose(part(asked, few), whole(asked, few), atol=0.15)


def test_groups_are_judged_by_all_candidates():
    # A group with a tenth of true candidates, of which most of the false ones are left out.
    rng = np.random.default_rng(1)
    truth = np.repeat([True, False], [100, 900])
    scores = rng.random(1_000) + truth
    counts = np.where(np.arange(1_000) % 2, 1, 50)
    which, share = thinned(truth, 150)
    assert np.count_nonzero(truth[which]) > np.count_nonzero(~truth[which])
    given_scores = {"votes": scores[which]}
    combination = fit_combination(
        given_scores, counts[which], truth[which], is_cautious=True, share=share
    )
    values = combination({"votes": np.full(2, 0.2)}, np.array([1, 50]))
    assert np.abs(np.diff(values)) > 0  # each group has an offset of its own
