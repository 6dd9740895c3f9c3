"""Settings that are chosen by leave-one-out."""

from __future__ import annotations

import numpy as np
import pytest

import manylabel
from manylabel import LCIF, FeatureKNN, InstanceKNN
from manylabel.exceptions import ParameterError
from manylabel.metrics import ndcg_at
from manylabel.neighbors.automatic import choose_settings, documents_to_try
from manylabel.neighbors.grids import AUTOMATIC
from manylabel.selection import Tuner

MODELS = [InstanceKNN, FeatureKNN, LCIF]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    Y = (rng.random((120, 12)) < 0.2).astype(int)
    X = rng.poisson(0.1 + 1.5 * Y @ (rng.random((12, 40)) < 0.15))
    return X, Y


def held_out_ndcg(model):
    return ndcg_at(model.Y_, model._held_out_scores(model.X_, model.Y_)[0], 5)


@pytest.mark.parametrize("model_class", MODELS)
def test_the_choice_equals_the_same_numbers_given_by_hand(model_class, data):
    chosen = model_class().fit(*data)
    names = [name for name in AUTOMATIC if name in chosen.get_params()]
    given = {name: chosen.settings_[name] for name in names}
    assert set(given.values()).isdisjoint({"auto"})
    by_hand = model_class(**given).fit(*data)
    expected, scores = by_hand.decision_function(data[0]), chosen.decision_function(data[0])
    np.testing.assert_array_equal(scores.toarray(), expected.toarray())


@pytest.mark.parametrize("model_class", MODELS)
def test_the_choice_is_at_least_as_good_as_the_start(model_class, data):
    chosen = model_class().fit(*data)
    names = [name for name in AUTOMATIC if name in chosen.get_params()]
    start = model_class(**{name: AUTOMATIC[name][0] for name in names}).fit(*data)
    assert held_out_ndcg(chosen) >= held_out_ndcg(start)


def test_only_what_is_auto_is_chosen(data):
    model = LCIF(7, beta=0.5).fit(*data)
    assert (model.settings_["k"], model.settings_["beta"]) == (7, 0.5)
    assert model.settings_["lam"] in AUTOMATIC["lam"]
    assert model.get_params()["lam"] == "auto"


def test_few_documents_choose_nothing(data):
    X, Y = data
    expected = {name: values[0] for name, values in AUTOMATIC.items()}
    assert LCIF().fit(X[:20], Y[:20]).settings_ == expected
    assert documents_to_try(np.ones(49, np.bool_)).size == 0
    assert documents_to_try(np.ones(5_000, np.bool_)).size == 1_000


def test_incomplete_documents_do_not_judge(data):
    known = np.arange(120) % 2 == 0
    numbers = documents_to_try(known)
    assert numbers.size == 60
    assert known[numbers].all()
    assert LCIF().fit(*data, incomplete=~known).settings_["lam"] in AUTOMATIC["lam"]


def test_later_documents_keep_the_choice(data):
    X, Y = data
    model = LCIF().fit(X[:80], Y[:80])
    chosen = dict(model.settings_)
    model.partial_fit(X[80:], Y[80:])
    assert model.settings_ == chosen
    np.testing.assert_array_equal(
        model.decision_function(X).toarray(),
        LCIF(**chosen).fit(X, Y).decision_function(X).toarray(),
    )
    model.compact()
    assert model.settings_ == chosen


def test_the_choice_is_saved(data, tmp_path):
    model = LCIF().fit(*data)
    manylabel.save(model, tmp_path / "model")
    loaded = manylabel.load(tmp_path / "model")
    assert loaded.settings_ == model.settings_
    assert loaded.get_params() == model.get_params()


def test_every_parameter_is_chosen_beside_the_others():
    best = {"k": 20, "alpha": 4.0, "beta": 2.0, "lam": 0.4}
    tried = []

    def worth(setting):
        tried.append(setting)
        return -sum(abs(setting[name] - value) / value for name, value in best.items())

    assert choose_settings(dict.fromkeys(best, "auto"), worth) == best
    assert len(tried) <= 2 * sum(len(values) for values in AUTOMATIC.values())


def test_a_tuner_tries_the_automatic_choice_first(data):
    search = Tuner(LCIF(), grid={"k": [5, 10]}, metric="ndcg@5", refit=False).fit(*data)
    assert [trial["k"] for trial in search.trials_] == ["auto", 5, 10]
    shown = search.trials_[0]["value"]
    assert shown == pytest.approx(held_out_ndcg(LCIF().fit(*data)))


@pytest.mark.parametrize("name", list(AUTOMATIC))
def test_other_words_than_auto_are_refused(name, data):
    with pytest.raises(ParameterError, match=f"`{name}` must be"):
        LCIF(**{name: "best"}).fit(*data)
