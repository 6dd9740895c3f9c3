"""Curves rank the candidates of a document, and rivals lower each other's log-odds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.ensemble import log_odds_among_rivals, ranking_loss
from scipy import sparse

from manylabel.ensemble.choosing import HeldOut, add_rivals
from manylabel.ensemble.curves import Combination, Curve, fit_combination, log_loss
from manylabel.ensemble.ranking import Lists, rank_curves
from manylabel.exceptions import InputError
from manylabel.metrics import evaluate
from manylabel.scoring import Candidates

scores = st.floats(-8, 8).map(lambda value: round(value, 3))
candidates = st.lists(st.tuples(scores, st.booleans()), min_size=1, max_size=6)


@settings(deadline=None)
@given(st.lists(candidates, min_size=1, max_size=5))
def test_loss_and_gradient_follow_their_definition(documents):
    rows = [row for row, some in enumerate(documents) for _ in some]
    values = np.array([score for some in documents for score, _ in some])
    lists = Lists.of(rows, [is_true for some in documents for _, is_true in some])
    loss, gradient = lists.loss(values)
    assert loss == pytest.approx(ranking_loss(documents), abs=1e-9)
    for at in range(values.size):
        step = np.zeros(values.size)
        step[at] = 1e-5
        slope = (lists.loss(values + step)[0] - lists.loss(values - step)[0]) / 2e-5
        assert gradient[at] == pytest.approx(slope, abs=1e-5)


def test_no_score_is_too_high_for_the_loss():
    loss, gradient = Lists.of([0, 0, 4, 4], [True, False] * 2).loss(np.array([0, 2e3, 3e3, 0.0]))
    assert loss == pytest.approx(2e3)
    assert np.isfinite(gradient).all()


def line(slope=1.0):
    return Curve(np.array([0.0, 1.0]), np.array([0.0, slope]))


@settings(deadline=None)
@given(
    st.lists(st.lists(scores, max_size=5), min_size=1, max_size=5),
    st.floats(0, 2),
    st.floats(0.3, 3),
    scores,
)
def test_rivals_lower_log_odds_as_defined(documents, rivalry, sharpness, usual):
    sums = np.array([score for some in documents for score in some])
    ptr = np.concatenate([[0], np.cumsum([len(some) for some in documents])])
    combination = Combination(
        {"votes": line()}, np.zeros(7), rivalry=rivalry, sharpness=sharpness, usual=usual
    )
    found = combination.log_odds({"votes": sums}, np.full(sums.size, 3), ptr)
    expected = log_odds_among_rivals(documents, rivalry, sharpness, usual)
    np.testing.assert_allclose(found, [value for some in expected for value in some], atol=1e-9)
    # A document's answers do not depend on those beside it.
    for row, some in enumerate(documents):
        own = {"votes": np.array(some)}
        alone = combination.log_odds(own, np.full(len(some), 3), np.array([0, len(some)]))
        np.testing.assert_array_equal(alone, found[ptr[row] : ptr[row + 1]])


def made(n_documents=600, n_labels=12, seed=0):
    """Documents with one to three labels, and two scorers.

    One is better at ranking, but all its scores of a document share a random level. So its scores
    tell less about a single candidate than those of the other.
    """
    rng = np.random.default_rng(seed)
    truth = np.zeros((n_documents, n_labels), bool)
    for row in truth:
        row[rng.choice(n_labels, rng.integers(1, 4), replace=False)] = True
    level = rng.normal(0, 2, (n_documents, 1))
    parts = {
        "ranks": (truth + level + rng.normal(0, 0.5, truth.shape)).ravel(),
        "judges": (truth + rng.normal(0, 1.0, truth.shape)).ravel(),
    }
    pattern = sparse.csr_array(np.ones(truth.shape, np.int8))
    Y, known = sparse.csr_array(truth.astype(np.int8)), np.ones(truth.size, np.bool_)
    return HeldOut(Candidates(pattern), parts, np.full(truth.size, 50), Y, known)


def ndcg(held_out, combination):
    found = held_out.candidates.scores(combination(held_out.scores, held_out.counts))
    return evaluate(held_out.Y, found, metrics=["ndcg@5"])["ndcg@5"]


def test_curves_that_rank_are_taken_if_they_rank_other_documents_better():
    learn, judge = made(), made(seed=1)
    likely = fit_combination(learn.scores, learn.counts, learn.truth)
    ranking = rank_curves(learn, likely, "ndcg@5", learn.Y)
    assert ranking is not likely
    assert ndcg(judge, ranking) > ndcg(judge, likely)


def test_curves_that_learned_nothing_to_rank_by_are_not_taken():
    held_out = made(40)
    rng = np.random.default_rng(1)
    noise = HeldOut(
        held_out.candidates,
        {"noise": rng.random(held_out.counts.size)},
        held_out.counts,
        held_out.Y,
        held_out.known,
    )
    likely = fit_combination(noise.scores, noise.counts, noise.truth)
    assert rank_curves(noise, likely, "ndcg@5", noise.Y) is likely


def test_documents_without_true_candidates_leave_curves_as_they_are():
    held_out = made(20)
    nothing = sparse.csr_array(held_out.Y.shape, dtype=np.int8)
    empty = HeldOut(held_out.candidates, held_out.scores, held_out.counts, nothing, held_out.known)
    likely = fit_combination(empty.scores, empty.counts, empty.truth)
    assert rank_curves(empty, likely, "ndcg@5", empty.Y) is likely
    ptr = empty.candidates.pattern.indptr
    assert likely.with_rivals(empty.scores, empty.counts, empty.truth, ptr) is likely


def test_rivals_make_probabilities_truer_and_leave_rankings_as_they_are():
    learn, judge = made(), made(seed=1)
    before = rank_curves(
        learn, fit_combination(learn.scores, learn.counts, learn.truth), "ndcg@5", learn.Y
    ).calibrated(learn.scores, learn.counts, learn.truth)
    ptr = learn.candidates.pattern.indptr
    after = add_rivals(learn, before)
    assert 0 < after.rivalry * after.sharpness <= 1
    asked = judge.scores, judge.counts
    odds = after.log_odds(*asked, judge.candidates.pattern.indptr)
    assert log_loss(odds, judge.truth) < 0.95 * log_loss(before(*asked), judge.truth)
    for row in range(20):
        mine = slice(*judge.candidates.pattern.indptr[row : row + 2])
        np.testing.assert_array_equal(np.argsort(odds[mine]), np.argsort(before(*asked)[mine]))
    # On average, rivals make no difference.
    assert after.competition(after(learn.scores, learn.counts), ptr).mean() == pytest.approx(0)


def test_rivals_that_tell_nothing_are_left_out():
    rng = np.random.default_rng(2)
    truth = rng.random((300, 12)) < 0.2
    scores = {"votes": (truth + rng.normal(0, 0.7, truth.shape)).ravel()}
    held_out = HeldOut(
        Candidates(sparse.csr_array(np.ones(truth.shape, np.int8))),
        scores,
        np.full(truth.size, 50),
        sparse.csr_array(truth.astype(np.int8)),
        np.ones(truth.size, np.bool_),
    )
    # Each candidate is true or false by itself, whatever the others are.
    found = fit_combination(scores, held_out.counts, held_out.truth)
    assert add_rivals(held_out, found) is found


def test_combinations_saved_before_rivals_have_none():
    parts = {"votes": np.array([0.2, 0.7])}
    former = object.__new__(Combination)
    former.__dict__.update(
        curves={"votes": line()}, offsets=np.zeros(7), factors=np.ones(7), weights={}
    )
    found = former.log_odds(parts, np.array([1, 1]), np.array([0, 2]))
    np.testing.assert_array_equal(found, parts["votes"])


@pytest.mark.parametrize("number", [float("nan"), float("inf"), "1"])
def test_damaged_numbers_of_rivals_are_refused(number):
    damaged = Combination({"votes": line()}, np.zeros(7), rivalry=0.5, sharpness=number)
    with pytest.raises(InputError, match="rivals have no number"):
        damaged._check_stored()
