"""The labelled topic models as classifiers."""

from __future__ import annotations

import numpy as np
import pytest
from naive import topics as naive
from scipy import sparse
from topics.topic_problems import INFERENCES, MODELS, clear_cut

from manylabel.exceptions import InputError, ParameterError
from manylabel.metrics import precision_at
from manylabel.topics import (
    DependencyLDA,
    FlatLDA,
    LabeledLDA,
    PriorLDA,
    SubsetLLDA,
)
from manylabel.topics.word_labels import expected_tokens


@pytest.mark.parametrize("inference", INFERENCES)
@pytest.mark.parametrize("model", MODELS)
def test_the_labels_of_generated_documents_are_found(model, inference, corpus, training):
    X, Y, X_new, Y_new = corpus
    scores = model(training=training, inference=inference).fit(X, Y).decision_function(X_new)
    assert precision_at(Y_new, scores, 1) > 0.9


@pytest.mark.parametrize("inference", INFERENCES)
@pytest.mark.parametrize("model", MODELS)
def test_scores_are_shares_that_sum_to_one(model, inference, corpus, training):
    X, Y, X_new, _ = corpus
    fitted = model(training=training, inference=inference, burn_in=3, samples=3).fit(X, Y)
    X_new = np.vstack([X_new[:3], np.zeros((1, X_new.shape[1]))])
    scores = fitted.decision_function(X_new)
    totals = np.asarray(scores.sum(axis=1)).ravel()
    expected = np.ones(4)
    if model is SubsetLLDA:
        expected[3] = 0.0  # no words, no neighbours, no candidates
    np.testing.assert_allclose(totals, expected, rtol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_the_answer_does_not_depend_on_threads_nor_on_other_documents(model, corpus, training):
    X, Y, X_new, _ = corpus
    X_new = np.vstack([X_new, X_new])
    fitted = model(training=training, inference="cgs", burn_in=3, samples=3).fit(X, Y)
    one = fitted.decision_function(X_new).toarray()
    two = fitted.set_params(n_jobs=2).decision_function(X_new).toarray()
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one[::-1], fitted.decision_function(X_new[::-1]).toarray())
    np.testing.assert_array_equal(one[7:8], fitted.decision_function(X_new[7:8]).toarray())


@pytest.mark.parametrize("model", MODELS)
def test_top_keeps_the_best(model, corpus, training):
    X, Y, X_new, _ = corpus
    fitted = model(training=training).fit(X, Y)
    full, best = (fitted.decision_function(X_new, top=top).toarray() for top in (None, 2))
    assert (np.count_nonzero(best, axis=1) == 2).all()
    np.testing.assert_array_equal(best.max(axis=1), full.max(axis=1))


@pytest.mark.parametrize("inference", INFERENCES)
def test_prior_lda_is_dependency_lda_with_one_topic(inference, corpus, training):
    X, Y, X_new, _ = corpus
    settings = {"training": training, "inference": inference, "eta": 20.0, "alpha_sum": 2.0}
    prior = PriorLDA(**settings).fit(X, Y)
    dependency = DependencyLDA(n_topics=1, topic_chains=1, **settings).fit(X, Y)
    np.testing.assert_allclose(dependency.topics_[0].toarray(), prior.topics_[0].toarray())
    np.testing.assert_allclose(
        dependency.decision_function(X_new).toarray(), prior.decision_function(X_new).toarray()
    )


@pytest.mark.parametrize(("inference", "off"), [("cgs", 0.05), ("cgs_p", 0.03), ("cvb0", 2e-3)])
@pytest.mark.parametrize("combine", ["counts", "posterior", "scaled"])
def test_subset_llda_over_all_labels_with_a_flat_prior_is_flat_lda(
    inference, off, combine, corpus, training
):
    X, Y, X_new, _ = corpus
    settings = {"training": training, "inference": inference, "combine": combine}
    settings |= {"alpha_sum": 6.0, "samples": 200}
    flat = FlatLDA(**settings).fit(X, Y)
    subset = SubsetLLDA(n_neighbors=len(X), eta=0.0, **settings).fit(X, Y)
    scores = subset.decision_function(X_new[:10])
    assert scores.nnz == 60
    np.testing.assert_allclose(
        scores.toarray(), flat.decision_function(X_new[:10]).toarray(), atol=off
    )


def test_cvb0_over_candidates_follows_its_equations(corpus, training):
    X_new = sparse.csr_array(corpus[2][:5])
    priors = np.random.default_rng(0).random((5, 6)) + 0.1
    tokens = expected_tokens(
        training.word_labels,
        X_new,
        sparse.csr_array(priors),
        inference="cvb0",
        schedule=FlatLDA(burn_in=4, samples=1)._schedule(),
    ).toarray()
    phi = training.word_labels.toarray()
    for row in range(5):
        expected = naive.cvb0_document(corpus[2][row], phi, priors[row], sweeps=4).sum(axis=0)
        np.testing.assert_allclose(tokens[row], expected, rtol=1e-9)


@pytest.mark.slow
def test_fast_and_proper_inference_agree_on_the_leading_labels():
    X, Y = clear_cut()
    settings = {"inference": "cgs_p", "n_topics": 2, "samples": 50, "topic_chains": 1}
    fast = DependencyLDA(**settings).fit(X, Y)
    proper = DependencyLDA(sampler="proper", training=fast.training_, **settings).fit(X, Y)
    fast_set, proper_set = fast.predict(X), proper.predict(X)
    assert (fast_set == proper_set).mean() > 0.98
    assert (fast_set == Y).mean() > 0.98


def test_topics_group_the_labels_that_go_together():
    X, Y = clear_cut()
    model = DependencyLDA(n_topics=2, topic_chains=2).fit(X, Y)
    groups = [{label // 4 for label, _ in model.topic_labels(topic, top=4)} for topic in range(4)]
    for chain in (groups[:2], groups[2:]):
        assert sorted(map(tuple, chain)) == [(0,), (1,)]
    with pytest.raises(InputError, match="topics are numbered 0 to 3; got 4"):
        model.topic_labels(4)


def test_the_prior_follows_the_labels_frequencies():
    X, Y = clear_cut()
    shares = PriorLDA(eta=1.0, alpha_sum=1e-9, label_beta=0.0).fit(X, Y).label_prior(X[:1])
    np.testing.assert_allclose(shares[0], Y.sum(axis=0) / Y.sum(), rtol=1e-6)


def test_the_prior_of_dependency_lda_follows_the_document():
    X, Y = clear_cut()
    shares = DependencyLDA(n_topics=2, topic_chains=1).fit(X, Y).label_prior(X[:2])
    assert shares[0, :4].sum() > 0.8
    assert shares[1, 4:].sum() > 0.8


def test_candidates_are_the_neighbours_labels_by_similarity():
    X = sparse.csr_array([[1.0, 0, 0], [1, 1, 0], [0, 0, 1]])
    Y = sparse.csr_array([[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    model = SubsetLLDA(
        n_neighbors=2, power=3.0, weighting=None, eta=1.0, alpha_sum=1e-9, inference="cvb0"
    )
    near = np.sqrt(0.5) ** 3
    shares = np.array([[1, near / (1 + near), 0]])
    np.testing.assert_allclose(
        model.fit(X, Y).label_prior([[1.0, 0, 0]]).toarray(), shares / shares.sum(), rtol=1e-6
    )


def test_neighbours_found_before_give_the_same_scores(corpus, training):
    X, Y, X_new, _ = corpus
    model = SubsetLLDA(training=training).fit(X, Y)
    X_new = sparse.csr_array(X_new)
    found = model.source_.index.search(model.weighting_.transform(X_new), model.n_neighbors)
    ours = model.scores_from_neighbors(X_new, found)
    np.testing.assert_array_equal(ours.toarray(), model.decision_function(X_new).toarray())


@pytest.mark.parametrize("threshold", ["cardinality", "per-label", "best:micro-f1", 0.2, "top-2"])
def test_thresholds_are_fitted_on_documents_left_out(threshold):
    X, Y = clear_cut()
    predicted = FlatLDA(threshold=threshold).fit(X, sparse.csr_array(Y)).predict(X)
    assert abs(predicted.sum() / len(X) - 2) <= 0.5


def test_labelled_lda_has_two_names():
    assert LabeledLDA is FlatLDA


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (FlatLDA(alpha_sum=0), "`alpha_sum` must be a number above 0; got 0"),
        (FlatLDA(combine="sum"), "`combine` must be 'counts', 'posterior' or 'scaled'; got 'sum'"),
        (FlatLDA(train_chains=0), "`train_chains` must be a whole number of at least 1; got 0"),
        (PriorLDA(eta=-1.0), "`eta` must be a number at least 0; got -1"),
        (DependencyLDA(sampler="slow"), "`sampler` must be 'fast' or 'proper'; got 'slow'"),
        (DependencyLDA(topic_gamma=0.0), "`topic_gamma` must be a number above 0; got 0"),
        (DependencyLDA(label_beta=0.0), "`label_beta` must be a number above 0; got 0"),
        (
            DependencyLDA(sampler="proper", inference="cvb0"),
            "`sampler` must be 'fast' with `inference` 'cvb0', which draws no label tokens",
        ),
        (SubsetLLDA(n_neighbors=0), "`n_neighbors` must be a whole number of at least 1; got 0"),
    ],
)
def test_bad_parameters_are_refused(model, message):
    with pytest.raises(ParameterError, match=message):
        model.fit([[1.0]], [[1, 0]])


def test_one_label_and_unseen_words_are_no_trouble():
    X, Y = np.array([[1.0, 0, 0], [2, 0, 0]]), np.ones((2, 1), int)
    for model in MODELS:
        fitted = model().fit(X, sparse.csr_array(Y))
        scores = fitted.decision_function([[1.0, 2, 0], [0, 0, 0]])
        assert scores.shape == (2, 1)
        assert scores.toarray()[0, 0] == pytest.approx(1.0, rel=1e-5)


def test_a_long_document_uses_more_labels_than_the_table_holds_at_first():
    random = np.random.default_rng(0)
    X, Y = random.integers(0, 5, (40, 60)), random.integers(0, 2, (40, 300))
    model = DependencyLDA(inference="cgs", burn_in=2, samples=2, topic_burn_in=5, alpha_sum=300.0)
    scores = model.fit(X, Y).decision_function(X[:2] * 20)
    np.testing.assert_allclose(np.asarray(scores.sum(axis=1)).ravel(), 1.0, rtol=1e-6)


def test_a_threshold_is_fitted_on_the_documents_themselves_if_they_are_few():
    X, Y = clear_cut()
    predicted = FlatLDA(threshold="cardinality").fit(X[:6], Y[:6]).predict(X[:6])
    assert predicted.sum() == 12


@pytest.mark.parametrize(
    ("model", "of_few", "of_many"),
    [
        (FlatLDA, 0.1, 0.1),
        (PriorLDA, 0.1, 0.01),
        (DependencyLDA, 0.1, 0.01),
        (SubsetLLDA, 0.01, 0.01),
    ],
)
def test_the_default_pseudo_count_depends_on_the_model_and_the_number_of_words(
    model, of_few, of_many
):
    few, Y = clear_cut()
    many = np.pad(few, ((0, 0), (0, 1000 - few.shape[1])))
    for X, expected in ((few, of_few), (many, of_many)):
        fitted = model(burn_in=1, train_burn_in=1, train_chains=1).fit(X, Y)
        assert fitted.word_labels_.beta == expected
