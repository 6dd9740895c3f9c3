"""Settings chosen for each measure, on training documents or, as papers do, on test documents."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from manylabel.compare.choosing import Choice, ChosenFor
from manylabel.compare.data import Data
from manylabel.exceptions import ParameterError
from manylabel.metrics import evaluate
from manylabel.neighbors import IBLR, LCIF, BRkNN, MLkNN
from manylabel.thresholds import Best

METRICS = ("micro-f1", "hamming-loss")
GRID = {"k": (1, 5, 9)}


@pytest.fixture(scope="module")
def data() -> Data:
    rng = np.random.default_rng(0)
    Y = (rng.random((160, 6)) < 0.3).astype(np.int8)
    X = rng.poisson(0.3 + 2 * Y @ (rng.random((6, 25)) < 0.2))
    X, Y = sparse.csr_array(X.astype(float)), sparse.csr_array(Y)
    return Data(X[:110], Y[:110], X[110:], Y[110:])


def value_of(model, data, metric):
    """The measure on test documents of a model that is fitted like any other."""
    model = model.set_params(threshold=Best(metric, at_least_one=False))
    labels = model.fit(data.X_train, data.Y_train).predict(data.X_test)
    return evaluate(data.Y_test, Y_pred=labels, metrics=[metric])[metric]


@pytest.mark.slow
@pytest.mark.parametrize("model", [MLkNN, IBLR])
def test_the_oracle_takes_what_is_best_on_the_test_documents(model, data):
    choice = Choice(model(), GRID, METRICS, "test", data)
    for metric, best in zip(METRICS, (max, min), strict=True):
        expected = {k: value_of(model(k=k), data, metric) for k in GRID["k"]}
        chosen = ChosenFor(choice, metric).fit(data.X_train, data.Y_train)
        labels = chosen.best_estimator_.predict(data.X_test)
        found = evaluate(data.Y_test, Y_pred=labels, metrics=[metric])[metric]
        assert found == pytest.approx(best(expected.values()))
        assert expected[chosen.best_params_["k"]] == pytest.approx(found)


def test_training_documents_choose_without_the_test_documents(data):
    empty = Data(data.X_train, data.Y_train, data.X_test[:0], data.Y_test[:0])
    settings = [
        ChosenFor(Choice(MLkNN(), GRID, METRICS, "train", each), "micro-f1")
        .fit(data.X_train, data.Y_train)
        .best_params_
        for each in (data, empty)
    ]
    assert settings[0] == settings[1]


@pytest.mark.parametrize("model", [BRkNN(variant="b"), LCIF(k=5)])
def test_models_with_thresholds_of_their_own_and_those_without_neighbours_to_share(model, data):
    grid = GRID if isinstance(model, BRkNN) else {"second_order": (0.0, 0.3)}
    chosen = ChosenFor(Choice(model, grid, METRICS, "train", data), "micro-f1")
    assert chosen.fit(data.X_train, data.Y_train).best_params_.keys() == grid.keys()


def test_what_cannot_be_chosen_is_refused(data):
    with pytest.raises(ParameterError, match="`chooses` must be 'train' or 'test'; got 'dev'"):
        Choice(MLkNN(), GRID, METRICS, "dev", data)
    with pytest.raises(
        ParameterError, match="that a threshold can be fitted for, such as micro-f1; got 'p@1'"
    ):
        Choice(MLkNN(), GRID, ("p@1",), "test", data)


def test_a_setting_that_is_best_for_several_measures_is_fitted_once(monkeypatch, data):
    fits = []
    fit = MLkNN.fit
    monkeypatch.setattr(MLkNN, "fit", lambda self, X, Y: (fits.append(self.k), fit(self, X, Y))[1])
    choice = Choice(MLkNN(), {"k": (3,)}, METRICS, "train", data)
    first, second = (ChosenFor(choice, name).fit(data.X_train, data.Y_train) for name in METRICS)
    assert fits == [3]
    assert first.best_estimator_.threshold_ is not second.best_estimator_.threshold_
