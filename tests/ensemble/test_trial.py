"""What takes long to fit is fitted only if a smaller model helps."""

import numpy as np
import pytest
from scipy import sparse

from manylabel import Ensemble
from manylabel.ensemble.scorers import SCORERS, register, unregister
from manylabel.linear.scorer import LinearScorer
from manylabel.network.scorer import NetworkScorer
from manylabel.predictions import values_at
from manylabel.scoring import Candidates, Documents, Scorer, Training
from manylabel.text.weighting import make_weighting
from manylabel.trees.scorer import TreeScorer

SETTINGS = {"n_jobs": 1, "k": 10, "near": 3, "objective": "likelihood"}


class Slow(Scorer):
    """Knows the labels in full, and in its trial if ``is_able``."""

    name = "slow"
    title = "slow"
    is_able = True
    fits = 0

    def needs_trial(self, training):
        return True

    def trial(self, training, candidates, held):
        out = np.flatnonzero(training.folds[training.held] == 0)
        truth = values_at(training.Y[training.held[out]], held.take(out).pattern)
        return out, truth if self.is_able else np.random.default_rng(0).random(truth.size)

    def fit(self, training, candidates, held):
        type(self).fits += 1
        truth = values_at(training.Y[training.held], held.pattern)
        return truth + np.random.default_rng(1).random(truth.size)

    def score(self, documents, candidates, n_jobs=None):
        return np.ones(len(candidates))


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(2)
    X = sparse.csr_array(rng.poisson(0.2, (200, 60)).astype(float))
    Y = sparse.csr_array((rng.random((200, 8)) < 0.3).astype(np.int8))
    return X, Y


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    for name in ("topics", "linear"):
        monkeypatch.delitem(SCORERS, name)
    register(Slow)
    Slow.fits = 0
    yield
    unregister(Slow)


def test_a_trial_that_does_not_help_spares_the_fit(problem, monkeypatch):
    monkeypatch.setattr(Slow, "is_able", False)
    model = Ensemble(**SETTINGS).fit(*problem)
    assert Slow.fits == 0
    assert "slow" not in model.scorers_
    assert "slow" not in model.report_.gain


def test_a_trial_that_helps_is_followed_by_the_fit(problem):
    model = Ensemble(**SETTINGS).fit(*problem)
    assert Slow.fits == 1
    assert "slow" in model.scorers_


def test_what_the_user_asks_for_is_fitted_without_a_trial(problem, monkeypatch):
    monkeypatch.setattr(Slow, "is_able", False)
    Ensemble(**SETTINGS, scorers=["neighbours", "slow"]).fit(*problem)
    assert Slow.fits == 1


def test_of_those_tried_together_the_least_useful_goes_first(problem, monkeypatch):
    class Twin(Slow):
        name = "twin"
        fits = 0

    asked = []

    def gains(held_out, names):
        asked.append(list(names))
        # Each is dispensable beside the other.
        return {"slow": 0.0, "twin": 1e-4} if len(names) == 2 else dict.fromkeys(names, 0.1)

    monkeypatch.setattr("manylabel.ensemble.fitting.gains_of", gains)
    monkeypatch.setattr(Slow, "trials", "same")
    register(Twin)
    try:
        model = Ensemble(**SETTINGS).fit(*problem)
    finally:
        unregister(Twin)
    assert asked == [["slow", "twin"], ["twin"]]
    assert (Slow.fits, Twin.fits) == (0, 1)
    assert "twin" in model.scorers_


def test_incomplete_documents_take_no_part_in_a_trial(problem, monkeypatch):
    seen = []
    trial = Slow.trial

    def watched(self, training, candidates, held):
        seen.append(len(training.documents))
        return trial(self, training, candidates, held)

    monkeypatch.setattr(Slow, "trial", watched)
    incomplete = np.arange(200) % 4 == 0
    model = Ensemble(**SETTINGS).fit(*problem, incomplete)
    assert seen == [150]
    assert "slow" in model.scorers_


@pytest.mark.parametrize("scorer", [NetworkScorer(), TreeScorer()])
def test_trials_score_the_candidates_of_the_first_fold(problem, scorer):
    X, Y = problem
    documents = Documents(X).weighted(make_weighting("tfidf", np.float32).fit(X))
    folds = (np.arange(200) % 3 - 1).astype(np.int8)
    training = Training(documents, Y, folds, n_jobs=1)
    pattern = sparse.csr_array(np.ones(Y.shape, np.int8))
    held = Candidates(pattern[training.held])
    rows, scores = scorer.trial(training, pattern, held)
    assert training.folds[training.held[rows]].tolist() == [0] * rows.size
    assert scores.shape == (rows.size * 8,)
    assert np.ptp(scores) > 0


def test_the_trial_of_linear_models_scores_a_sample_of_labels_as_the_fit_does():
    rng = np.random.default_rng(5)
    X = sparse.csr_array(rng.poisson(0.2, (90, 40)).astype(float))
    Y = sparse.csr_array((rng.random((90, 50)) < 0.1).astype(np.int8))
    documents = Documents(X).weighted(make_weighting("tfidf", np.float32).fit(X))
    training = Training(documents, Y, (np.arange(90) % 3).astype(np.int8), n_jobs=1)
    pattern = sparse.csr_array((rng.random(Y.shape) < 0.4).astype(np.int8))
    held = Candidates(pattern[training.held])
    rows, tried = LinearScorer().trial(training, pattern, held)
    fitted = LinearScorer().fit(training, pattern, held)
    assert rows.tolist() == list(range(90))
    is_tried = np.isfinite(tried)
    assert 0 < np.unique(held.labels[is_tried]).size < 25
    assert not set(held.labels[is_tried]) & set(held.labels[~is_tried])
    # Training stops early, at a point that depends on the random order of documents.
    assert np.corrcoef(tried[is_tried], fitted[is_tried])[0, 1] > 0.99


def test_only_many_labels_with_few_documents_need_a_trial_of_linear_models():
    def training(n_labels, per_label):
        labels = np.tile(np.arange(n_labels), per_label)
        Y = sparse.csr_array((np.ones(labels.size), (np.arange(labels.size), labels)))
        X = sparse.csr_array(np.ones((labels.size, 1)))
        return Training(Documents(X), Y, np.zeros(labels.size, np.int8))

    assert training(1_000, 5).documents_per_label == 5
    assert LinearScorer().needs_trial(training(1_000, 2))
    assert not LinearScorer().needs_trial(training(1_900, 1))
    assert not LinearScorer().needs_trial(training(100, 50))
    assert not LinearScorer().needs_trial(training(1_000, 30))
