"""Tuning measures what a model fitted without the document would give, and searches once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from manylabel.exceptions import ParameterError
from manylabel.metrics import evaluate
from manylabel.neighbors import LCIF, FeatureKNN, InstanceKNN, NeighborIndex
from manylabel.selection import DEFAULT_GRID, PAPER_GRID, NeighborSearchCV


@pytest.fixture(scope="module")
def data():
    """Documents whose words depend on their labels."""
    rng = np.random.default_rng(0)
    Y = (rng.random((120, 8)) < 0.25).astype(np.int8)
    words = rng.random((8, 40)) < 0.2
    X = rng.poisson(0.1 + 1.5 * (Y @ words))
    return sparse.csr_array(X.astype(float)), sparse.csr_array(Y)


def test_leave_one_out_values_are_those_of_models_without_the_document(data):
    X, Y = data[0][:30], data[1][:30]
    grid = {"k": [3], "alpha": [2.0], "beta": [1.5], "lam": [0.6]}
    search = NeighborSearchCV(LCIF(weighting=None), grid=grid, metric="p@1", refit=False).fit(X, Y)
    rows = []
    for row in range(30):
        rest = np.arange(30) != row
        model = LCIF(3, alpha=2.0, beta=1.5, lam=0.6, weighting=None, threshold="top-1")
        rows.append(model.fit(X[rest], Y[rest]).decision_function(X[[row]]))
    expected = evaluate(Y, sparse.vstack(rows, "csr"), metrics=["p@1"])["p@1"]
    assert search.best_score_ == pytest.approx(expected)


def test_a_given_validation_part_is_measured_with_a_model_of_the_training_part(data):
    X, Y = data
    grid = {"k": [5], "alpha": [1.0], "beta": [1.0], "lam": [0.3]}
    search = NeighborSearchCV(grid=grid, metric="ndcg@3", refit=False)
    search.fit(X[:80], Y[:80], validation=(X[80:], Y[80:]))
    model = LCIF(5, alpha=1.0, beta=1.0, lam=0.3, threshold="top-1").fit(X[:80], Y[:80])
    expected = evaluate(Y[80:], model.decision_function(X[80:]), metrics=["ndcg@3"])["ndcg@3"]
    assert search.best_score_ == pytest.approx(expected)


@pytest.mark.parametrize("cv", ["loo", 3, 0.3])
def test_neighbours_are_searched_once_a_fold_and_number_of_features(data, cv, monkeypatch):
    searches = []
    for name in ("search", "search_self"):
        original = getattr(NeighborIndex, name)

        def counted(self, *args, original=original, **kwargs):
            searches.append(args)
            return original(self, *args, **kwargs)

        monkeypatch.setattr(NeighborIndex, name, counted)
    grid = {"k": [2, 5, 9], "alpha": [1.0, 2.0], "lam": [0.2, 0.8]}
    search = NeighborSearchCV(grid=grid, cv=cv, staged=False, refit=False).fit(*data)
    assert len(search.results_) == 12
    assert len(searches) == (3 if cv == 3 else 1)


def test_the_full_grid_never_does_worse_than_the_stages(data):
    grid = {"k": [2, 5, 20], "alpha": [1.0, 3.0], "beta": [1.0, 2.0], "lam": [0.0, 0.5, 1.0]}
    staged = NeighborSearchCV(grid=grid, refit=False).fit(*data)
    full = NeighborSearchCV(grid=grid, staged=False, refit=False).fit(*data)
    assert len(staged.results_) < len(full.results_) == 36
    assert full.best_score_ >= staged.best_score_


def test_the_stages_never_try_a_setting_twice(data):
    search = NeighborSearchCV(grid={"k": [2, 5], "lam": [0.0, 1.0]}, rounds=3, refit=False)
    tried = [(r["k"], r["lam"]) for r in search.fit(*data).results_]
    assert len(tried) == len(set(tried))


def test_a_loss_is_made_small(data):
    grid = {"k": [1, 10], "lam": [0.0, 1.0]}
    search = NeighborSearchCV(grid=grid, metric="ranking-loss", staged=False, refit=False)
    values = [result["value"] for result in search.fit(*data).results_]
    assert search.best_score_ == min(values)


@pytest.mark.parametrize("model", [InstanceKNN(), FeatureKNN(), LCIF()])
def test_only_parameters_that_the_estimator_has_are_tuned(data, model):
    search = NeighborSearchCV(model, refit=False).fit(*data)
    known = {"keep", *model.get_params()}
    assert list(search.best_params_) == [name for name in DEFAULT_GRID if name in known]


def test_the_best_setting_is_fitted_on_everything(data):
    X, Y = data
    search = NeighborSearchCV(grid={"keep": [0.5], "k": [3]}).fit(X, Y)
    assert isinstance(search.best_estimator_, Pipeline)
    assert search.predict(X).shape == Y.shape
    assert clone(search).get_params()["metric"] == "micro-f1"
    assert "| keep | k | micro-f1 | seconds |" in search.table()


def test_the_stages_start_from_the_estimators_own_parameters(data):
    start = LCIF(k=100, alpha=1.0, beta=1.0, lam=0.5)
    search = NeighborSearchCV(start, grid=PAPER_GRID, rounds=1, refit=False).fit(*data)
    first = search.results_[0]
    assert (first["k"], first["alpha"], first["beta"], first["lam"]) == (100, 1.0, 1.0, 0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"grid": {"kk": [1]}}, "LCIF has no parameter 'kk' to tune"),
        ({"grid": {"candidates": [1]}}, "'candidates' cannot be tuned here"),
        ({"grid": {"k": []}}, "at least one value"),
        ({"cv": 1.5}, "`cv` must be a share between 0 and 1; got 1.5"),
        ({"cv": "some"}, "`cv` must be \"loo\", a number or a share; got 'some'"),
        ({"metric": "micro-f2"}, "did you mean micro-f1"),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(data, arguments, message):
    with pytest.raises(ParameterError, match=message):
        NeighborSearchCV(**arguments).fit(*data)
