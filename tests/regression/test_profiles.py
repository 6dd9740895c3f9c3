"""Profiles agree with two regressions in loops, and their scorer keeps the contract."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from manylabel import Ensemble
from manylabel.exceptions import InputError
from manylabel.regression.landmarks import JITTER
from manylabel.regression.profiles import (
    PROFILE_OFFSET,
    Profiles,
    compare_profiles,
    learn_profiles,
    profiles_of,
)
from manylabel.regression.scorers import ProfileScorer
from manylabel.regression.training import LEAST, OFFSET, solve
from manylabel.scoring import Candidates, Documents, Training
from manylabel.scoring.candidates import all_pairs
from manylabel.text.weighting import make_weighting
from tests.naive import regression as naive
from tests.regression.test_regression import as_dictionaries, problem

OFFSETS = OFFSET, PROFILE_OFFSET
sizes = st.tuples(st.integers(0, 99), st.integers(3, 8), st.integers(1, 6), st.integers(2, 4))


def learned(rows, Y, ridges=(0.3, 1.0)):
    """Profiles of which every other one is a landmark, and the second solution."""
    solved = solve(rows, Y, ridges[0])
    units, axes = profiles_of(solved)
    chosen = every_other(rows)
    solution = compare_profiles(units, chosen, Y).solve(ridges[1])
    return learn_profiles(solved, units, axes, solution, chosen), solution


def every_other(rows):
    """The numbers of every other row, from the first on."""
    return np.arange(0, rows.shape[0], 2)


def has_profiles(rows, Y):
    """Whether all profiles are long enough to have a direction."""
    return bool((np.linalg.norm(solve(rows, Y, 0.3).all_left_out(), axis=1) > 1e-3).all())


@given(sizes)
@settings(deadline=None, max_examples=30)
def test_scores_and_shares_are_those_of_the_loops(shape):
    rows, Y = problem(*shape)
    new, _ = problem(shape[0] + 1, *shape[1:])
    assume(has_profiles(rows, Y))
    profiles, _ = learned(rows, Y)
    every = all_pairs(new.shape[0], Y.shape[1])
    scores = profiles.scores(new, every, None).reshape(-1, Y.shape[1])
    given_rows, truth = as_dictionaries(rows), Y.toarray().tolist()
    for place, row in enumerate(as_dictionaries(new)):
        asked = naive.profile(given_rows, truth, row, 0.3, OFFSET)
        if np.linalg.norm(asked) < 1e-3:
            continue  # the direction of a vector this short is mostly rounding
        marks = every_other(rows)
        expected = naive.score_by_profile(
            given_rows, truth, row, (0.3, 1.0), OFFSETS, marks, JITTER
        )
        expected = np.where(profiles.is_trained, expected, 0.0)
        np.testing.assert_allclose(scores[place], expected, atol=2e-3)
        for label in np.flatnonzero(profiles.is_trained):
            shares, rest = profiles.shares(new[[place]], label)
            assert shares.sum() + rest == pytest.approx(scores[place, label], abs=1e-5)


@given(sizes)
@settings(deadline=None, max_examples=30)
def test_a_left_out_document_is_scored_by_the_others_alone(shape):
    rows, Y = problem(*shape)
    assume(has_profiles(rows, Y))
    _, solution = learned(rows, Y)
    everything = np.arange(rows.shape[0])
    scores = solution.left_out(everything, all_pairs(*Y.shape)).reshape(Y.shape)
    given_rows, truth = as_dictionaries(rows), Y.toarray().tolist()
    for which in everything:
        expected = naive.score_by_profile(
            given_rows, truth, None, (0.3, 1.0), OFFSETS, every_other(rows), JITTER, which
        )
        np.testing.assert_allclose(scores[which], expected, atol=5e-3)


@pytest.fixture(scope="module")
def pairs_of_labels():
    """Two words stand for a label each; a third label needs both of them."""
    rng = np.random.default_rng(3)
    words = rng.random((1_200, 6)) < 0.5
    Y = np.stack([words[:, 0], words[:, 1], words[:, 0] & words[:, 1]], axis=1)
    return sparse.csr_array(words.astype(np.float32)), sparse.csr_array(Y.astype(np.int8))


def trained(X, Y, n_jobs=None):
    """A scorer, and its out-of-sample scores of every other document."""
    folds = np.where(np.arange(X.shape[0]) % 2, 0, -1).astype(np.int8)
    documents = Documents(X).weighted(make_weighting(None, np.float32).fit(X))
    scorer = ProfileScorer()
    training = Training(documents, Y, folds, n_jobs=n_jobs)
    held = Candidates(all_pairs(training.held.size, Y.shape[1]))
    return scorer, scorer.fit(training, all_pairs(*Y.shape), held), training, held


def test_the_number_of_threads_and_the_size_of_a_batch_change_nothing(pairs_of_labels):
    X, Y = pairs_of_labels
    (one, held_one, training, _), (two, held_two, _, _) = (trained(X, Y, n) for n in (1, 2))
    np.testing.assert_array_equal(held_one, held_two)
    every = Candidates(all_pairs(*Y.shape))
    scores = one.score(training.documents, every, 1)
    np.testing.assert_array_equal(scores, two.score(training.documents, every, 2))
    single = one.score(training.documents[np.array([7])], Candidates(all_pairs(1, 3)))
    np.testing.assert_array_equal(single, scores.reshape(-1, 3)[7])


def test_it_learns_and_a_trial_does_too(pairs_of_labels):
    X, Y = pairs_of_labels
    scorer, scores, training, held = trained(X, Y)
    truth = Y[training.held].toarray()
    assert ((scores.reshape(-1, 3) > 0.5) == truth).mean() > 0.95
    rows, tried = scorer.trial(training, all_pairs(*Y.shape), held)
    assert rows.tolist() == list(range(training.held.size))
    assert ((tried.reshape(-1, 3) > 0.5) == truth).mean() > 0.9


def test_an_ensemble_explains_and_forgets_with_it(pairs_of_labels):
    X, Y = pairs_of_labels
    model = Ensemble(k=20, scorers=["neighbours", "regression", "profile"]).fit(X, Y)
    assert "profile" in model.report_.gain
    (why,) = model.explain(X[:1], labels=[2])[0]
    assert why.total == pytest.approx(why.score, abs=1e-6)
    profile = next(reason for reason in why.reasons if reason.kind == "profile")
    assert sum(each.share for each in profile.reasons) == pytest.approx(profile.share, abs=1e-6)
    before = model.scorers_["profile"].profiles.postings.nnz
    model.remove([5])
    assert model.scorers_["profile"].profiles.postings.nnz < before


def test_the_ensemble_reads_it_where_there_is_enough_to_learn_from(pairs_of_labels):
    X, Y = pairs_of_labels
    assert "profile" in Ensemble(k=20).fit(X, Y).report_.gain
    assert "profile" not in Ensemble(k=20).fit(X[:900], Y[:900]).report_.gain
    assert "profile" not in Ensemble(k=20, effort="quick").fit(X, Y).report_.gain
    Y = sparse.csr_array((1_000, 2_001), dtype=np.int8)
    training = Training(Documents(Y), Y, np.zeros(1_000, np.int8))
    assert not ProfileScorer().wants(training)


def test_new_labels_have_no_score(pairs_of_labels):
    X, Y = pairs_of_labels
    profiles = learned(X[:50], Y[:50])[0].grown(5)
    assert profiles.is_trained.tolist() == [True, True, True, False, False]
    scores = profiles.scores(X[:3], all_pairs(3, 5), None).reshape(3, 5)
    assert not scores[:, 3:].any()


def test_damaged_arrays_are_refused(pairs_of_labels):
    X, Y = pairs_of_labels
    known = vars(learned(X[:50], Y[:50])[0])
    with pytest.raises(InputError, match="the profiles are damaged"):
        Profiles(**known | {"units": known["units"][:, 1:]})._check_stored()


def test_a_forgotten_document_leaves_nothing():
    rows, Y = problem(5, 9, 4, 3)
    profiles, _ = learned(rows, Y)
    less = profiles.without(rows[[2, 4]])
    gone = ~less.steps.any(axis=1) & profiles.steps.any(axis=1)
    assert less.postings.nnz == profiles.postings.nnz - rows[[2, 4]].nnz
    mine = gone[profiles.landmarks]
    assert mine.any()
    assert not less.units[:, mine].any()
    assert not less.duals[:, mine].any()
    lost = profiles.steps[gone].sum(axis=0)
    np.testing.assert_allclose(less.start, profiles.start - LEAST * lost, atol=1e-6)
    assert profiles.without(rows[[2]] * np.float32(0.5)) is profiles
