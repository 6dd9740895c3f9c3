"""Every estimator is the same after it was saved and loaded."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone

import manylabel
from manylabel import load, save
from manylabel.base import MultiLabelClassifier

# Enough for every model to learn something, little enough to be quick.
SMALL = {
    "DependencyLDA": {"n_topics": 3, "train_burn_in": 5, "burn_in": 3, "samples": 2},
    "FastXML": {"n_trees": 3},
    "PfastreXML": {"n_trees": 3},
}


def estimators(base=MultiLabelClassifier):
    for name in manylabel.__all__:
        found = getattr(manylabel, name)
        if isinstance(found, type) and issubclass(found, base):
            yield name, found


def make(name):
    cls = getattr(manylabel, name)
    known = cls().get_params()
    model = cls(**{key: value for key, value in SMALL.get(name, {}).items() if key in known})
    return model.set_params(random_state=0) if "random_state" in known else model


@pytest.fixture(scope="module")
def data():
    """Documents whose words depend on their labels."""
    rng = np.random.default_rng(7)
    Y = (rng.random((90, 6)) < 0.3).astype(np.int8)
    X = rng.poisson(0.1 + 2.0 * (Y @ (rng.random((6, 30)) < 0.25)))
    return sparse.csr_array(X.astype(float)), sparse.csr_array(Y)


@pytest.fixture(scope="module", params=[name for name, _ in estimators()])
def fitted(request, data):
    X, Y = data
    return make(request.param).fit(X[:70], Y[:70, :5])


@pytest.fixture(autouse=True)
def everything_is_mapped(monkeypatch):
    """Map small arrays, too, so that the path of large ones is tested."""
    monkeypatch.setattr("manylabel.store.arrays.MAPPED", 1)


def same_matrix(a, b):
    assert a.shape == b.shape
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(a, part), getattr(b, part), strict=True)


def assert_same_answers(model, other, X):
    same_matrix(model.decision_function(X), other.decision_function(X))
    same_matrix(model.predict(X), other.predict(X))


def test_a_loaded_model_answers_bit_for_bit_the_same(fitted, data, tmp_path):
    save(fitted, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert type(loaded) is type(fitted)
    assert str(loaded.get_params()) == str(fitted.get_params())
    assert_same_answers(fitted, loaded, data[0][70:])
    if fitted.can_explain:
        assert loaded.explain(data[0][70:73]) == fitted.explain(data[0][70:73])


def test_it_can_learn_forget_and_be_saved_where_it_came_from(fitted, data, tmp_path):
    X, Y = data
    save(fitted, tmp_path)
    loaded, known = load(tmp_path), load(tmp_path)
    for model in (loaded, known):
        if hasattr(model, "partial_fit"):
            model.partial_fit(X[70:80], Y[70:80])
        if hasattr(model, "remove"):
            model.remove([1, 70])
    save(loaded, tmp_path)
    assert_same_answers(known, load(tmp_path), X[80:])
    assert_same_answers(loaded, load(tmp_path), X[80:])


def test_learning_after_loading_is_learning_after_fitting(fitted, data, tmp_path):
    if not hasattr(fitted, "partial_fit"):
        pytest.skip("cannot learn more")
    X, Y = data
    stayed = clone(fitted).fit(X[:70], Y[:70, :5])
    save(stayed, tmp_path)
    loaded = load(tmp_path)
    for model in (stayed, loaded):
        model.partial_fit(X[70:80], Y[70:80])
    assert_same_answers(stayed, loaded, X[80:])
    assert_same_answers(fitted, load(tmp_path), X[80:])


def test_a_model_that_was_not_fitted_can_be_saved(fitted, data, tmp_path):
    save(clone(fitted), tmp_path)
    X, Y = data
    assert_same_answers(fitted, load(tmp_path).fit(X[:70], Y[:70, :5]), X[80:])


def test_vectors_of_classes_keep_their_form(fitted, data, tmp_path):
    X = data[0]
    classes = np.array(["a", "b", "c"])[np.arange(90) % 3]
    model = clone(fitted).fit(X, classes)
    save(model, tmp_path)
    loaded = load(tmp_path)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X), strict=True)
    assert loaded.labels_dtype_ == model.labels_dtype_


@pytest.mark.parametrize(
    "name", [n for n, c in estimators(BaseEstimator) if not issubclass(c, MultiLabelClassifier)]
)
def test_what_is_no_classifier_is_the_same_too(name, data, tmp_path):
    X, Y = data
    texts = [" ".join(f"w{i}" for i in X[[row]].indices) for row in range(90)]
    model = getattr(manylabel, name)()
    if name == "LDA":
        model.set_params(n_topics=3, burn_in=5)
    if name == "Tuner":
        model.set_params(grid={"keep": (0.5,), "k": (3, 5)})
    given = texts if name in ("CountVectorizer", "Tagger") else X
    model.fit(given, Y)
    save(model, tmp_path)
    loaded = load(tmp_path)
    answer, again = (
        (one.transform if hasattr(one, "transform") else one.predict)(given)
        for one in (model, loaded)
    )
    if sparse.issparse(answer):
        same_matrix(answer, again)
    else:
        np.testing.assert_array_equal(answer, again, strict=True)
