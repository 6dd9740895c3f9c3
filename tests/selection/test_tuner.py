"""Tuning measures what a model fitted without the document would give, and shares what it can."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from manylabel.exceptions import ParameterError
from manylabel.linear import OneVsRestSVM, SubsetSVM
from manylabel.metrics import evaluate
from manylabel.neighbors import LCIF, FeatureKNN, InstanceKNN, NeighborIndex
from manylabel.selection import PAPER_GRID, Tuner, default_grid
from manylabel.selection.folds import share_mask


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
    given = LCIF(3, alpha=2.0, beta=1.5, lam=0.6, weighting=None)
    search = Tuner(given, grid={"k": [3]}, metric="p@1", refit=False).fit(X, Y)
    rows = []
    for row in range(30):
        rest = np.arange(30) != row
        model = LCIF(3, alpha=2.0, beta=1.5, lam=0.6, weighting=None, threshold="top-1")
        rows.append(model.fit(X[rest], Y[rest]).decision_function(X[[row]]))
    expected = evaluate(Y, sparse.vstack(rows, "csr"), metrics=["p@1"])["p@1"]
    assert search.best_score_ == pytest.approx(expected)


def test_a_given_validation_part_is_measured_with_a_model_of_the_training_part(data):
    X, Y = data
    given = LCIF(5, alpha=1.0, beta=1.0, lam=0.3)
    search = Tuner(given, grid={"k": [5]}, metric="ndcg@3", refit=False)
    search.fit(X[:80], Y[:80], validation=(X[80:], Y[80:]))
    model = LCIF(5, alpha=1.0, beta=1.0, lam=0.3, threshold="top-1").fit(X[:80], Y[:80])
    expected = evaluate(Y[80:], model.decision_function(X[80:]), metrics=["ndcg@3"])["ndcg@3"]
    assert search.best_score_ == pytest.approx(expected)


@pytest.mark.parametrize("cv", ["auto", "loo", 3, 0.3])
def test_neighbours_are_searched_once_a_fold_and_number_of_features(data, cv, monkeypatch):
    searches = []
    for name in ("search", "search_self"):
        original = getattr(NeighborIndex, name)

        def counted(self, *args, original=original, **kwargs):
            searches.append(args)
            return original(self, *args, **kwargs)

        monkeypatch.setattr(NeighborIndex, name, counted)
    grid = {"k": [2, 5, 9], "alpha": [1.0, 2.0], "lam": [0.2, 0.8]}
    given = LCIF(50, alpha=2.0, beta=1.0, lam=0.8)
    search = Tuner(given, grid=grid, cv=cv, staged=False, refit=False).fit(*data)
    # The estimator as it was given, and twelve combinations.
    assert len(search.trials_) == 13
    assert len(searches) == (3 if cv == 3 else 1)


def test_the_full_grid_never_does_worse_than_the_stages(data):
    grid = {"k": [2, 5, 20], "alpha": [1.0, 3.0], "beta": [1.0, 2.0], "lam": [0.0, 0.5, 1.0]}
    staged = Tuner(grid=grid, staged=True, refit=False).fit(*data)
    full = Tuner(grid=grid, staged=False, refit=False).fit(*data)
    assert len(staged.trials_) < len(full.trials_) == 37
    assert full.best_score_ >= staged.best_score_


def test_the_stages_never_try_a_setting_twice(data):
    search = Tuner(grid={"k": [2, 5], "lam": [0.0, 1.0]}, staged=True, rounds=3, refit=False)
    tried = [(r["k"], r["lam"]) for r in search.fit(*data).trials_]
    assert len(tried) == len(set(tried))


def test_a_loss_is_made_small(data):
    grid = {"k": [1, 10], "lam": [0.0, 1.0]}
    search = Tuner(grid=grid, metric="ranking-loss", staged=False, refit=False)
    values = [result["value"] for result in search.fit(*data).trials_]
    assert search.best_score_ == min(values)


@pytest.mark.parametrize("model", [InstanceKNN(), FeatureKNN(), LCIF()])
def test_only_parameters_that_the_estimator_has_are_tuned(data, model):
    search = Tuner(model, refit=False).fit(*data)
    assert list(search.best_params_) == list(type(model).default_grid)
    assert set(search.best_params_) <= set(model.get_params())


def test_the_best_setting_is_fitted_on_everything(data):
    X, Y = data
    untuned = LCIF(k=1, alpha=0.0, lam=1.0)
    search = Tuner(untuned, grid={"keep": [0.5], "k": [20]}, metric="hamming-loss").fit(X, Y)
    assert isinstance(search.best_estimator_, Pipeline)
    assert search.predict(X).shape == Y.shape
    scores, labels = search.scores_and_labels(X, top=3)
    assert (scores != search.decision_function(X, top=3)).nnz == 0
    assert np.diff(labels.indptr).max() <= 3
    assert clone(search).get_params()["metric"] == "hamming-loss"
    assert "| keep | k | hamming-loss | seconds |" in search.table()


def test_the_stages_start_from_the_estimators_own_parameters(data):
    start = LCIF(k=100, alpha=1.0, beta=1.0, lam=0.5)
    search = Tuner(start, grid=PAPER_GRID, rounds=1, refit=False).fit(*data)
    first = search.trials_[0]
    assert (first["k"], first["alpha"], first["beta"], first["lam"]) == (100, 1.0, 1.0, 0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"grid": {"kk": [1]}}, "LCIF has no parameter 'kk' to tune"),
        ({"estimator": "lcif"}, "must be a classifier of manylabel; got 'lcif'"),
        ({"staged": "yes"}, "`staged` must be True, False or \"auto\"; got 'yes'"),
        ({"confirm": 1.0}, "`confirm` must be a share between 0 and 1; got 1"),
        ({"confirm": 0.001}, "`confirm` must leave documents in both sets|puts 0 of 120"),
        ({"cv": 500}, "`cv` must be at most the number of documents, 120; got 500"),
        ({"estimator": OneVsRestSVM(), "cv": "loo"}, "leave-one-out needs a model"),
        ({"estimator": LCIF(second_order=0.5), "cv": "loo"}, "leave-one-out needs a model"),
        ({"grid": {"k": []}}, "at least one value"),
        ({"cv": 1.5}, "`cv` must be a share between 0 and 1; got 1.5"),
        ({"cv": "some"}, '`cv` must be "auto", "loo", a number of folds or a share; got \'some\''),
        ({"metric": "micro-f2"}, "did you mean micro-f1"),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(data, arguments, message):
    with pytest.raises(ParameterError, match=message):
        Tuner(**arguments).fit(*data)


def test_the_estimator_as_it_was_given_is_the_first_trial_and_wins_ties(data):
    given = LCIF(k=7, alpha=1.25)
    search = Tuner(given, grid={"k": [7, 10_000], "alpha": [3.0]}, metric="p@1", refit=False)
    first = search.fit(*data).trials_[0]
    assert (first["k"], first["alpha"]) == (7, 1.25)
    same = Tuner(OneVsRestSVM(C=2.0), grid={"max_iter": [1001]}, cv=0.3, refit=False).fit(*data)
    values = [trial["value"] for trial in same.trials_]
    assert values[0] == values[1]
    assert same.best_params_ == {"max_iter": 1000}


@pytest.mark.parametrize("cv", ["auto", 3, 0.25])
def test_any_classifier_is_tuned_by_folds_or_a_share(data, cv):
    X, Y = data
    search = Tuner(SubsetSVM(C=1.0), grid={"C": [0.1, 1.0], "n_neighbors": [5, 50]}, cv=cv).fit(
        X, Y
    )
    assert len(search.trials_) == 4
    assert search.best_score_ == max(trial["value"] for trial in search.trials_)
    fitted = SubsetSVM(**search.best_params_).fit(X, Y)
    assert (fitted.decision_function(X) != search.decision_function(X)).nnz == 0


def test_folds_give_the_pooled_measure_of_models_fitted_without_them(data):
    X, Y = data
    search = Tuner(OneVsRestSVM(), grid={"C": [1.0]}, cv=2, metric="ndcg@3", refit=False).fit(X, Y)
    from manylabel.corpus.splitting import folds

    parts = folds(Y, 2, 0, stratified=True)
    scores, truth = [], []
    for part in (0, 1):
        model = OneVsRestSVM(threshold="top-1").fit(X[parts != part], Y[parts != part])
        scores.append(model.decision_function(X[parts == part]))
        truth.append(Y[parts == part])
    expected = evaluate(
        sparse.vstack(truth, "csr"), sparse.vstack(scores, "csr"), metrics=["ndcg@3"]
    )
    assert search.best_score_ == pytest.approx(expected["ndcg@3"])


def test_parameters_that_share_nothing_are_tuned_beside_those_that_do(data, monkeypatch):
    searches = []
    original = NeighborIndex.search_self

    def counted(self, *args, **kwargs):
        searches.append(args)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(NeighborIndex, "search_self", counted)
    grid = {"k": [2, 5, 50], "weighting": ["tfidf", None]}
    search = Tuner(grid=grid, staged=False, refit=False).fit(*data)
    # The estimator as it was given, and six combinations.
    assert len(search.trials_) == 7
    # Once for the tf-idf of the estimator itself and of the grid, once for plain cosine.
    assert len(searches) == 2
    for trial in search.trials_:
        alone = LCIF(k=trial["k"], weighting=trial["weighting"])
        again = Tuner(alone, grid={"k": [trial["k"]]}, refit=False).fit(*data)
        assert again.best_score_ == pytest.approx(trial["value"])


def test_a_setting_that_cannot_share_is_fitted_instead(data):
    search = Tuner(LCIF(), grid={"second_order": [0.0, 0.3]}, refit=False).fit(*data)
    assert len(search.trials_) == 2


@pytest.mark.parametrize(
    ("given", "is_beaten"), [({"k": 1, "lam": 1.0}, True), ({"k": 50, "lam": 0.5}, False)]
)
def test_a_winner_must_beat_the_estimator_on_documents_set_aside(data, given, is_beaten):
    grid = {"k": [3, 10, 30], "lam": [0.2, 0.9]}
    search = Tuner(LCIF(**given), grid=grid, metric="p@1", confirm=0.3, refit=False)
    confirmation = search.set_params(random_state=2).fit(*data).confirmation_
    assert confirmation["documents"] == pytest.approx(36, abs=4)
    assert (confirmation["tuned"] > confirmation["untuned"]) == is_beaten
    assert (search.best_params_ != given) == is_beaten
    # Neither the folds nor the thresholds have seen the documents set aside.
    X, Y = data
    aside = share_mask(Y, "confirm", 0.3, 2)
    model = LCIF(**given).fit(X[~aside], Y[~aside])
    expected = evaluate(Y[aside], model.decision_function(X[aside]), metrics=["p@1"])["p@1"]
    assert confirmation["untuned"] == pytest.approx(expected)


def test_thresholds_are_tried_only_where_label_sets_count():
    assert "threshold" in default_grid(LCIF(), "micro-f1")
    assert "threshold" not in default_grid(LCIF(), "ndcg@5")
    assert "k" not in default_grid(LCIF(), "ndcg@5", {"k": 3})
    with pytest.raises(ParameterError, match="no parameters of FeatureKNN to tune for p@1"):
        default_grid(FeatureKNN(), "p@1", ["beta"])


def test_one_feature_is_not_all_features(data):
    search = Tuner(LCIF(), grid={"keep": [1]}, metric="ranking-loss").fit(*data)
    everything, one = (trial["value"] for trial in search.trials_)
    assert one > everything


def test_the_same_setting_written_in_another_way_is_not_tried_again(data):
    search = Tuner(LCIF(alpha=2.0), grid={"alpha": [2, 2.0, 3]}, refit=False).fit(*data)
    assert [trial["alpha"] for trial in search.trials_] == [2.0, 3]
