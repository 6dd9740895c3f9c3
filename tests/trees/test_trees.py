"""FastXML and PfastreXML as estimators."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from naive import trees as naive
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from manylabel.exceptions import InputError, ParameterError
from manylabel.metrics import precision_at, propensities, psp_at
from manylabel.trees import FastXML, PfastreXML

MODELS = [FastXML, PfastreXML]

# scikit-learn's checks that our contract contradicts, each with the reason.
EXPECTED_FAILURES = {
    "check_classifiers_multilabel_output_format_decision_function": "scores are sparse",
    "check_classifier_multioutput": "scores are sparse",
    "check_methods_subset_invariance": "dense scores of what is no candidate depend on the lowest",
}


def corpus(n_rows=120, n_topics=6, seed=0):
    """Documents whose labels are their topics; a topic has five words, and all share ten more."""
    random = np.random.default_rng(seed)
    Y = np.zeros((n_rows, n_topics), int)
    X = random.poisson(0.3, (n_rows, 5 * n_topics + 10))
    X[:, : 5 * n_topics] = 0
    for row in range(n_rows):
        for topic in random.choice(n_topics, random.integers(1, 3), replace=False):
            Y[row, topic] = 1
            X[row, 5 * topic : 5 * topic + 5] += random.poisson(2, 5)
    return sparse.csr_array(X), sparse.csr_array(Y)


def leaves_of(model, X):
    return model.forest_.leaves(model._weighted(X))


@pytest.mark.parametrize("model", MODELS)
def test_separable_topics_are_learned(model):
    X, Y = corpus()
    X_test, Y_test = corpus(seed=1)
    fitted = model(n_trees=20, random_state=0).fit(X, Y)
    assert precision_at(Y_test, fitted.decision_function(X_test), 1) > 0.9
    predicted = fitted.predict(X_test)
    assert isinstance(predicted, sparse.csr_array)
    assert predicted.multiply(Y_test).sum() > 0.75 * Y_test.sum()


@pytest.mark.parametrize("model", MODELS)
def test_the_leaves_of_a_tree_hold_every_document_once(model):
    X, Y = corpus()
    fitted = model(n_trees=3, max_leaf=5, random_state=0).fit(X, Y)
    forest = fitted.forest_
    leaves = leaves_of(fitted, X)
    assert (forest.children[leaves] == 0).all()
    counts = np.bincount(leaves.ravel(), minlength=forest.sizes.size)
    is_leaf = forest.children == 0
    np.testing.assert_array_equal(counts[is_leaf], forest.sizes[is_leaf])
    inner = np.flatnonzero(~is_leaf)
    left = forest.children[inner]
    np.testing.assert_array_equal(forest.sizes[inner], forest.sizes[left] + forest.sizes[left + 1])
    assert (forest.sizes[forest.roots] == X.shape[0]).all()


@pytest.mark.parametrize("model", MODELS)
def test_leaves_keep_the_mean_gain_of_their_documents(model):
    X, Y = corpus(60)
    fitted = model(n_trees=2, max_leaf=5, random_state=0).fit(X, Y)
    gains = np.ones(6) if model is FastXML else 1 / propensities(Y)
    forest = fitted.forest_
    label_sets = [set(np.flatnonzero(row)) for row in Y.toarray()]
    leaves = leaves_of(fitted, X)
    for leaf in np.unique(leaves):
        members = [label_sets[row] for row in np.flatnonzero((leaves == leaf).any(axis=1))]
        span = slice(forest.leaf_indptr[leaf], forest.leaf_indptr[leaf + 1])
        kept = dict(zip(forest.leaf_labels[span].tolist(), forest.shares[span], strict=True))
        assert kept == pytest.approx(naive.leaf_shares(members, gains), rel=1e-5)
        assert (np.diff(forest.shares[span]) <= 0).all()


def test_a_leaf_keeps_no_more_labels_than_asked_for():
    X, Y = corpus(60)
    forest = FastXML(n_trees=2, max_leaf=60, leaf_labels=2, random_state=0).fit(X, Y).forest_
    assert np.diff(forest.leaf_indptr).tolist() == [2, 2]


def test_scores_are_the_means_over_the_leaves_that_a_walk_finds():
    X, Y = corpus(80)
    queries = corpus(10, seed=2)[0]
    model = FastXML(n_trees=4, max_leaf=5, random_state=0).fit(X, Y)
    forest = model.forest_
    rows = model._weighted(queries).toarray()
    spans = list(zip(forest.weight_indptr[:-1], forest.weight_indptr[1:], strict=True))
    weights = [
        dict(zip(forest.weight_features[a:b], forest.weights[a:b].astype(float), strict=True))
        for a, b in spans
    ]
    scores = model.decision_function(queries).toarray()
    for row, found in zip(rows, scores, strict=True):
        expected = np.zeros(6)
        for root in forest.roots:
            leaf = naive.leaf(row, root, forest.children, forest.bias.astype(float), weights)
            span = slice(forest.leaf_indptr[leaf], forest.leaf_indptr[leaf + 1])
            expected[forest.leaf_labels[span]] += forest.shares[span] / forest.roots.size
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_pfastrexml_mixes_the_logarithms_of_trees_and_centroids():
    X, Y = corpus(60)
    queries = corpus(8, seed=2)[0]
    model = PfastreXML(n_trees=3, max_leaf=5, alpha=0.7, gamma=4.0, random_state=0).fit(X, Y)
    scores = model.decision_function(queries)
    weighted = model._weighted(queries)
    shares = model.forest_.scores(model.forest_.leaves(weighted), 6)
    training, rows = model._weighted(X).toarray(), weighted.toarray()
    np.testing.assert_array_equal(scores.indices, shares.indices)
    for row in range(8):
        for position in range(scores.indptr[row], scores.indptr[row + 1]):
            members = training[Y.toarray()[:, scores.indices[position]] == 1]
            expected = naive.rerank(shares.data[position], rows[row], members, 0.7, 4.0)
            assert scores.data[position] == pytest.approx(expected, rel=1e-5)


def test_pfastrexml_divides_gains_by_propensities():
    X, Y = corpus(60)
    model = PfastreXML(n_trees=1, A=0.6, B=2.6, random_state=0).fit(X, Y)
    expected = naive.propensities(Y.toarray().sum(axis=0), 60, 0.6, 2.6)
    np.testing.assert_allclose(model.propensities_, expected)
    np.testing.assert_allclose(model._gains(Y), 1 / np.array(expected))


def test_pfastrexml_finds_rare_labels_that_fastxml_misses():
    random = np.random.default_rng(0)
    # Label 0 is everywhere; the other labels are rare and each has a word.
    rare = random.integers(1, 21, 200)
    Y = np.zeros((200, 21), int)
    Y[:, 0] = 1
    Y[np.arange(200), rare] = 1
    X = np.eye(21)[rare] + random.random((200, 21)) * 0.2
    psp = {}
    for model in MODELS:
        scores = model(n_trees=10, random_state=0).fit(X[:100], Y[:100]).decision_function(X[100:])
        psp[model] = psp_at(Y[100:], scores, propensities(Y[:100]), 1)
    assert psp[PfastreXML] > psp[FastXML]


@pytest.mark.parametrize("model", MODELS)
def test_the_trees_are_the_same_at_any_number_of_threads(model):
    X, Y = corpus(90)
    one, two = (model(n_trees=5, random_state=3, n_jobs=n).fit(X, Y) for n in (1, 2))
    for name, array in asdict(one.forest_).items():
        np.testing.assert_array_equal(array, asdict(two.forest_)[name])
    a, b = one.decision_function(X), two.decision_function(X)
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_array_equal(a.data, b.data)


def test_a_tree_does_not_depend_on_how_many_follow_it():
    X, Y = corpus(60)
    few, many = (FastXML(n_trees=n, random_state=3, threshold=0.5).fit(X, Y) for n in (1, 3))
    n_nodes = few.forest_.children.size
    np.testing.assert_array_equal(few.forest_.children, many.forest_.children[:n_nodes])
    assert not np.array_equal(
        many.forest_.weights[: few.forest_.weights.size],
        many.forest_.weights[few.forest_.weights.size :][: few.forest_.weights.size],
    )


DEGENERATE = {
    "one document": (np.ones((1, 3)), np.array([[1, 0]])),
    "identical documents": (np.ones((30, 3)), np.tile([[1, 0], [0, 1]], (15, 1))),
    "empty documents": (np.zeros((30, 3)), np.tile([[1, 0], [0, 1]], (15, 1))),
    "no labels at all": (np.eye(30), np.zeros((30, 2), int)),
    "one label": (np.eye(30), sparse.csr_array(np.ones((30, 1), int))),
    "a label without documents": (np.eye(30), np.tile([[1, 0], [0, 0]], (15, 1))),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_corpora_are_no_trouble(model, case):
    X, Y = DEGENERATE[case]
    fitted = model(n_trees=2, max_leaf=3, random_state=0).fit(X, Y)
    scores = fitted.decision_function(X)
    assert scores.shape == Y.shape
    assert np.isfinite(scores.data).all()
    assert fitted.predict(X).shape == Y.shape
    if case == "identical documents":
        assert fitted.forest_.children.tolist() == [0, 0]
    if case == "a label without documents":
        assert 1 not in scores.indices


@pytest.mark.parametrize("model", MODELS)
def test_explanations_sum_to_the_scores(model):
    X, Y = corpus(60)
    fitted = model(n_trees=5, random_state=0).fit(X, Y)
    scores = fitted.decision_function(X[:4])
    for row, explanations in enumerate(fitted.explain(X[:4], top=2)):
        assert len(explanations) == 2
        assert explanations[0].score >= explanations[1].score
        for why in explanations:
            assert why.score == pytest.approx(scores[row, why.label])
            assert why.total == pytest.approx(why.score)


def test_a_tree_of_an_explanation_is_named_by_its_number():
    X, Y = corpus(60)
    reasons = FastXML(n_trees=5, random_state=0).fit(X, Y).explain(X[:1], top=1)[0][0].reasons
    assert {reason.kind for reason in reasons} == {"tree"}
    assert {reason.index for reason in reasons} <= set(range(5))


def test_the_trees_below_a_pfastrexml_explanation_sum_to_their_mean_share():
    X, Y = corpus(60)
    model = PfastreXML(n_trees=5, random_state=0).fit(X, Y)
    trees, centroid = model.explain(X[:1], top=1)[0][0].reasons
    assert (trees.kind, centroid.kind) == ("trees", "centroid")
    mean = sum(reason.share for reason in trees.reasons)
    assert trees.share == pytest.approx(0.8 * np.log(mean))


def test_a_label_that_is_no_candidate_has_no_reasons():
    X, Y = np.eye(30), np.tile([[1, 0], [0, 0]], (15, 1))
    (why,) = FastXML(n_trees=2, random_state=0).fit(X, Y).explain(X[:1], labels=[1])[0]
    assert (why.score, why.reasons) == (0.0, ())


@pytest.mark.parametrize("label", [-1, 2])
def test_labels_that_do_not_exist_are_not_explained(label):
    model = FastXML(n_trees=2, random_state=0).fit(np.eye(4), np.eye(2, dtype=int)[[0, 0, 1, 1]])
    with pytest.raises(InputError, match=f"labels are numbered 0 to 1; got {label}."):
        model.explain(np.eye(4)[:1], labels=[0, label])


def test_top_keeps_the_best_labels():
    X, Y = corpus(60)
    model = FastXML(n_trees=5, random_state=0).fit(X, Y)
    assert (np.diff(model.decision_function(X, top=1).indptr) == 1).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_trees": 0}, "`n_trees` must be a whole number of at least 1; got 0."),
        ({"max_leaf": 0}, "`max_leaf` must be a whole number of at least 1; got 0."),
        ({"C": -1}, "`C` must be a number at least 0; got -1."),
        ({"alpha": 2}, "`alpha` must be a number between 0 and 1; got 2."),
        ({"gamma": -1}, "`gamma` must be a number at least 0; got -1."),
    ],
)
def test_parameters_outside_their_domain_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        PfastreXML(**parameters).fit(np.eye(3), np.eye(3, dtype=int))


@parametrize_with_checks(
    [model(n_trees=5, random_state=0) for model in MODELS],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
