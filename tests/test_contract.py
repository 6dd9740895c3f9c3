"""What every classifier promises, whatever it is made of."""

from __future__ import annotations

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


@pytest.fixture(scope="module", params=list(classifiers()), ids=lambda model: type(model).__name__)
def fitted(request, data):
    X, Y = data
    return clone(request.param).fit(X[:70], Y[:70])


def test_scores_are_canonical_and_finite(fitted, data):
    scores = fitted.decision_function(data[0][70:])
    assert isinstance(scores, sparse.csr_array)
    assert scores.shape == (20, 6)
    assert scores.has_canonical_format
    assert np.isfinite(scores.data).all()


def test_top_keeps_the_best_by_the_tie_rule(fitted, data):
    everything = fitted.decision_function(data[0][70:])
    best = fitted.decision_function(data[0][70:], top=2)
    for row in range(20):
        labels = everything.indices[everything.indptr[row] : everything.indptr[row + 1]]
        values = everything.data[everything.indptr[row] : everything.indptr[row + 1]]
        expected = sorted(labels[np.lexsort((labels, -values))[:2]].tolist())
        assert best.indices[best.indptr[row] : best.indptr[row + 1]].tolist() == expected


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


def test_a_document_is_scored_alone_as_among_others(fitted, data):
    X, _ = data
    together = fitted.decision_function(X[70:]).toarray()
    alone = np.vstack([fitted.decision_function(X[[row]]).toarray() for row in range(70, 75)])
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


def test_explanations_add_up(fitted, data):
    if not hasattr(fitted, "explain"):
        assert type(fitted).__name__ in {"BRkNN", "MLkNN", "IBLR"}
        return
    X, _ = data
    scores = fitted.decision_function(X[70:73]).toarray()
    for row, explanations in enumerate(fitted.explain(X[70:73], top=2)):
        for why in explanations:
            given = why.score if why.probability is None else why.probability
            assert given == pytest.approx(scores[row, why.label], rel=1e-6, abs=1e-9)
            assert why.total == pytest.approx(why.score, rel=1e-6, abs=1e-9)


def test_a_model_that_was_not_fitted_says_so(fitted, data):
    with pytest.raises(NotFittedError):
        clone(fitted).predict(data[0])


def test_labels_must_be_zeros_and_ones_of_the_same_rows(fitted, data):
    X, Y = data
    with pytest.raises(InputError, match="same number of rows; got 90 and 89"):
        clone(fitted).fit(X, Y[:89])
    with pytest.raises(InputError, match="must hold only 0 and 1"):
        clone(fitted).fit(X, 2 * Y)
