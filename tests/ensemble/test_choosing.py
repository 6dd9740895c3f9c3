"""Scorers that do not help are dropped, unless they must stay."""

import numpy as np
import pytest
from scipy import sparse

from manylabel.ensemble.choosing import (
    HeldOut,
    choose_scorers,
    measured_by_sample,
    weigh_by_frequency,
)
from manylabel.ensemble.curves import fit_combination
from manylabel.metrics import evaluate
from manylabel.scoring import Candidates


@pytest.fixture(scope="module")
def held_out():
    """Candidates of which one scorer knows the truth, roughly, and two know nothing."""
    rng = np.random.default_rng(5)
    n_documents, n_labels = 400, 10
    truth = rng.random((n_documents, n_labels)) < 0.3
    pattern = sparse.csr_array(np.ones((n_documents, n_labels), np.int8))
    scores = {
        "idle": rng.random(truth.size),
        "able": np.clip(truth.ravel() + rng.normal(0, 0.6, truth.size), 0, None),
        "noise": rng.random(truth.size),
    }
    Y = sparse.csr_array(truth.astype(np.int8))
    known = np.ones(truth.size, np.bool_)
    return HeldOut(Candidates(pattern), scores, np.full(truth.size, 50), Y, known)


def test_only_what_helps_is_kept(held_out):
    kept, gain = choose_scorers(held_out)
    assert kept == ["able"]
    assert gain["able"] > 0.05


@pytest.mark.parametrize("protected", [("idle",), ("noise",), ("idle", "noise")])
def test_what_must_stay_stays_whether_it_helps_or_not(held_out, protected):
    kept, _ = choose_scorers(held_out, {name: name for name in protected})
    assert set(kept) == {"able", *protected}


def test_a_scorer_stays_as_long_as_the_one_that_it_builds_on(held_out):
    assert set(choose_scorers(held_out, {"idle": "able"})[0]) == {"able", "idle"}
    assert choose_scorers(held_out, {"idle": "noise"})[0] == ["able"]


@pytest.mark.parametrize("differs", [True, False])
def test_scorers_count_differently_among_rare_labels_only_if_that_helps(differs):
    rng = np.random.default_rng(6)
    truth = rng.random((300, 10)) < 0.3
    rare = np.tile(np.arange(10) < 5, 300)
    good, bad = (truth.ravel() + rng.normal(0, noise, truth.size) for noise in (0.4, 1.5))
    scores = {"first": good, "second": bad}
    if differs:
        scores = {"first": np.where(rare, good, bad), "second": np.where(rare, bad, good)}
    pattern = sparse.csr_array(np.ones(truth.shape, np.int8))
    counts = np.where(rare, 3, 300)
    Y, known = sparse.csr_array(truth.astype(np.int8)), np.ones(truth.size, np.bool_)
    held_out = HeldOut(Candidates(pattern), scores, counts, Y, known)
    found = fit_combination(scores, counts, held_out.truth)
    weighed = weigh_by_frequency(held_out, found)
    assert bool(weighed.weights) == differs
    assert differs or weighed is found


@pytest.mark.parametrize("measure", ["ndcg@5", "recall@3", "ranking-loss"])
def test_samples_are_measured_as_if_each_were_alone(held_out, measure):
    log_odds = held_out.scores["able"]
    scores = held_out.candidates.scores(log_odds)
    alone = [
        evaluate(held_out.Y[first::20], scores[first::20], metrics=[measure])[measure]
        for first in range(20)
    ]
    sign = -1 if measure == "ranking-loss" else 1
    found = measured_by_sample(held_out, measure, held_out.Y)(log_odds)
    np.testing.assert_allclose(sign * found, alone, rtol=1e-14)
