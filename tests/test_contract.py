"""The contract of every classifier."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import manylabel
from manylabel.base import MultiLabelClassifier
from manylabel.exceptions import InputError

# Enough of everything for every model to learn something, little enough to be quick.
SMALL = {
    "DependencyLDA": {"topic_burn_in": 20},
    "FastXML": {"n_trees": 3},
    "PfastreXML": {"n_trees": 3},
}


def classifiers():
    for name in manylabel.__all__:
        found = getattr(manylabel, name)
        if isinstance(found, type) and issubclass(found, MultiLabelClassifier):
            model = found(**SMALL.get(name, {}))
            yield model.set_params(random_state=0) if hasattr(model, "random_state") else model


@pytest.fixture(scope="module")
def data():
    """Documents whose words depend on their labels."""
    rng = np.random.default_rng(7)
    Y = (rng.random((90, 6)) < 0.3).astype(np.int8)
    X = rng.poisson(0.1 + 2.0 * (Y @ (rng.random((6, 30)) < 0.25)))
    return sparse.csr_array(X.astype(float)), sparse.csr_array(Y)


@pytest.fixture(scope="module")
def trained(data):
    """Copies of classifiers that were fitted once for each number of documents."""
    X, Y = data
    models = {}

    def copied(model, n):
        key = type(model), n
        if key not in models:
            models[key] = clone(model).fit(X[:n], Y[:n])
        return deepcopy(models[key])

    return copied


@pytest.fixture(scope="module", params=list(classifiers()), ids=lambda model: type(model).__name__)
def fitted(request, trained):
    return trained(request.param, 70)


def as_fitted(trained, model, X, Y):
    return trained(model, 70)


def with_more_documents(trained, model, X, Y):
    return trained(model, 60).partial_fit(X[60:70], Y[60:70])


def with_a_new_label(trained, model, X, Y):
    wider = sparse.csr_array(sparse.hstack([Y[60:70], np.ones((10, 1), np.int8)], "csr"))
    return trained(model, 60).partial_fit(X[60:70], wider)


def with_fewer_documents(trained, model, X, Y):
    return trained(model, 70).remove([3, 41])


def with_everything_at_once(trained, model, X, Y):
    return with_a_new_label(trained, model, X, Y).remove([3, 65])


HISTORIES = {
    as_fitted: (),
    with_more_documents: ("can_learn",),
    with_a_new_label: ("can_learn",),
    with_fewer_documents: ("can_forget",),
    with_everything_at_once: ("can_learn", "can_forget"),
}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((model, history), id=f"{type(model).__name__}-{history.__name__}")
        for model in classifiers()
        for history, needs in HISTORIES.items()
        if all(getattr(model, flag) for flag in needs)
    ],
)
def lived(request, trained, data):
    """A classifier after some of what can happen to it."""
    model, history = request.param
    return history(trained, model, *data)


def test_scores_are_canonical_and_finite(lived, data):
    scores = lived.decision_function(data[0][70:])
    assert isinstance(scores, sparse.csr_array)
    assert scores.shape == (20, lived.n_labels_)
    assert scores.has_canonical_format
    assert np.isfinite(scores.data).all()


def test_top_keeps_the_best_by_the_tie_rule(lived, data):
    everything = lived.decision_function(data[0][70:])
    best = lived.decision_function(data[0][70:], top=2)
    for row in range(20):
        labels = everything.indices[everything.indptr[row] : everything.indptr[row + 1]]
        values = everything.data[everything.indptr[row] : everything.indptr[row + 1]]
        expected = sorted(labels[np.lexsort((labels, -values))[:2]].tolist())
        assert best.indices[best.indptr[row] : best.indptr[row + 1]].tolist() == expected


def test_saving_and_loading_changes_nothing(lived, data, tmp_path):
    manylabel.save(lived, tmp_path / "model")
    same = manylabel.load(tmp_path / "model").decision_function(data[0][70:])
    mine = lived.decision_function(data[0][70:])
    np.testing.assert_array_equal(same.indices, mine.indices)
    np.testing.assert_array_equal(same.data, mine.data)


def test_documents_that_come_and_go_leave_no_trace(fitted, data):
    if not (fitted.can_learn and fitted.can_forget):
        return
    X, Y = data
    model = deepcopy(fitted)
    model.partial_fit(X[70:75], Y[70:75]).remove(np.arange(70, 75))
    np.testing.assert_allclose(
        model.decision_function(X[75:]).toarray(),
        fitted.decision_function(X[75:]).toarray(),
        rtol=1e-6,
        atol=1e-9,
    )


def test_predictions_are_sets_of_known_labels(fitted, data):
    labels = fitted.predict(data[0][70:])
    assert labels.shape == (20, 6)
    assert set(np.unique(labels.toarray())) <= {0, 1}


def test_it_learns_more_than_label_frequencies(fitted, data):
    X, Y = data
    scores = fitted.decision_function(X[70:], top=1)
    guess = int(np.asarray(Y[:70].sum(axis=0)).argmax())
    truth = Y[70:].toarray()
    rows = np.repeat(np.arange(20), np.diff(scores.indptr))
    assert truth[rows, scores.indices].mean() > truth[:, guess].mean()


def test_a_document_is_scored_alone_as_among_others(lived, data):
    X, _ = data
    together = lived.decision_function(X[70:]).toarray()
    alone = np.vstack([lived.decision_function(X[[row]]).toarray() for row in range(70, 75)])
    np.testing.assert_allclose(alone, together[:5], rtol=1e-6, atol=1e-9)


def test_the_number_of_threads_changes_nothing(fitted, data):
    X, Y = data
    two = clone(fitted).set_params(n_jobs=2).fit(X[:70], Y[:70])
    np.testing.assert_array_equal(
        two.decision_function(X[70:]).toarray(), fitted.decision_function(X[70:]).toarray()
    )


def test_empty_documents_and_wrong_shapes(fitted):
    empty = sparse.csr_array((2, 30))
    assert fitted.decision_function(empty).shape == (2, 6)
    assert fitted.predict(empty).shape == (2, 6)
    with pytest.raises(ValueError, match="30 features"):
        fitted.decision_function(sparse.csr_array((2, 29)))
    with pytest.raises(InputError, match="must not be negative"):
        fitted.decision_function(-np.ones((1, 30)))


def test_explanations_add_up(lived, data):
    X, _ = data
    if not lived.can_explain:
        with pytest.raises(InputError, match="cannot explain"):
            lived.explain(X[70:71])
        return
    scores = lived.decision_function(X[70:73])
    dense = scores.toarray()
    for row, explanations in enumerate(lived.explain(X[70:73], top=2)):
        for why in explanations:
            given = why.score if why.probability is None else why.probability
            assert given == pytest.approx(dense[row, why.label], rel=1e-6, abs=1e-9)
            assert why.total == pytest.approx(why.score, rel=1e-6, abs=1e-9)
            for part in why.reasons:
                if part.reasons and part.kind not in ("neighbour", "trees"):
                    shares = sum(reason.share for reason in part.reasons)
                    assert shares == pytest.approx(part.share, rel=1e-6, abs=1e-9)


def test_labels_to_explain_can_be_chosen_by_their_scores(lived, data):
    if not lived.can_explain:
        return
    X, _ = data
    worst = lived.explain(X[70:72], labels=lambda scores: scores.indices[[scores.data.argmin()]])
    scores = lived.decision_function(X[70:72])
    for row, (why,) in enumerate(worst):
        given = why.score if why.probability is None else why.probability
        assert given == pytest.approx(scores[[row]].data.min(), rel=1e-6, abs=1e-9)


def test_labels_that_do_not_exist_are_not_explained(fitted, data):
    if fitted.can_explain:
        for label in (-1, 6, 99):
            with pytest.raises(InputError, match=rf"^labels are numbered 0 to 5; got {label}\.$"):
                fitted.explain(data[0][70:71], labels=[0, label])


def test_a_label_that_is_no_candidate_has_no_reasons(fitted):
    if fitted.can_explain:
        nothing = sparse.csr_array((1, 30))
        (why,) = fitted.explain(nothing, labels=[2])[0]
        if fitted.decision_function(nothing).nnz == 0:
            assert (why.score, why.reasons) == (0.0, ())


def test_a_model_that_was_not_fitted_says_so(fitted, data):
    with pytest.raises(NotFittedError):
        clone(fitted).predict(data[0])


def test_labels_must_be_zeros_and_ones_of_the_same_rows(fitted, data):
    X, Y = data
    with pytest.raises(InputError, match="same number of rows; got 90 and 89"):
        clone(fitted).fit(X, Y[:89])
    with pytest.raises(InputError, match="must contain only 0 and 1"):
        clone(fitted).fit(X, 2 * Y)
