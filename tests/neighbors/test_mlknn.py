"""ML-kNN's scores are the probabilities of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import lazy as naive
from naive.lazy import problems
from scipy import sparse

from manylabel.corpus import read
from manylabel.exceptions import ParameterError
from manylabel.metrics import evaluate
from manylabel.neighbors import brknn
from manylabel.neighbors.mlknn import MLkNN
from manylabel.thresholds import Fixed

SMOOTHING = st.sampled_from([1.0, 0.5, 3.0])


@given(problems(), SMOOTHING)
def test_scores_are_the_papers_probabilities(problem, smoothing):
    X, Y, Q, k = problem
    scores = MLkNN(k, smoothing=smoothing, weighting=None).fit(X, Y).decision_function(Q)
    expected = np.array(naive.mlknn(X, Y, Q, k, smoothing))
    rows = np.repeat(np.arange(len(Q)), np.diff(scores.indptr))
    np.testing.assert_allclose(scores.data, expected[rows, scores.indices], rtol=1e-12)
    assert scores.has_canonical_format


@given(problems())
def test_candidates_are_the_neighbours_labels_and_whatever_is_likely(problem):
    X, Y, Q, k = problem
    scores = MLkNN(k, weighting=None).fit(X, Y).decision_function(Q)
    counts = np.array(naive.counts(naive.neighbors(X, Q, k), Y))
    likely = np.array(naive.mlknn(X, Y, Q, k, 1.0)) >= 0.5
    rows, columns = np.nonzero((counts > 0) | likely)
    assert scores.tocoo().row.tolist() == rows.tolist()
    assert scores.indices.tolist() == columns.tolist()


@given(problems(), SMOOTHING)
def test_the_papers_rule_gives_what_is_more_likely_than_not(problem, smoothing):
    X, Y, Q, k = problem
    rule = Fixed(0.5, at_least_one=False)
    model = MLkNN(k, smoothing=smoothing, weighting=None, threshold=rule).fit(X, Y)
    probability = np.array(naive.mlknn(X, Y, Q, k, smoothing))
    sure = np.abs(probability - 0.5) > 1e-9
    np.testing.assert_array_equal(model.predict(Q)[sure], (probability > 0.5)[sure])


@given(problems())
def test_weighted_features_change_the_neighbours_and_nothing_else(problem):
    X, Y, Q, k = problem
    model = MLkNN(k, weighting="tfidf").fit(X, Y)
    rows, queries = (model.weighting_.transform(part).toarray() for part in (X, Q))
    scores = model.decision_function(Q)
    expected = np.array(naive.mlknn(rows, Y, queries, k, 1.0))
    at = np.repeat(np.arange(len(Q)), np.diff(scores.indptr))
    np.testing.assert_allclose(scores.data, expected[at, scores.indices], rtol=1e-12)


def test_a_frequent_label_is_likely_without_any_neighbour():
    X = np.ones((6, 1)).tolist() + [[0.0]] * 20
    Y = [[1, 0]] * 3 + [[0, 1]] * 3 + [[1, 0]] * 20
    model = MLkNN(2).fit(X, Y)
    assert model.predict([[0.0]]).tolist() == [[1, 0]]
    assert model.decision_function([[0.0]]).indices.tolist() == [0]


def test_posteriors_are_stored_up_to_a_labels_frequency():
    Y = np.zeros((30, 3), np.int8)
    Y[:20, 0] = Y[:2, 1] = 1
    model = MLkNN(5).fit(np.random.default_rng(0).random((30, 4)), Y)
    assert model.posteriors_.shape == (3, 6)
    assert np.diff(model.posteriors_.indptr).tolist() == [6, 3, 1]
    assert ((model.posteriors_.data > 0) & (model.posteriors_.data < 1)).all()


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(3)
    X = sparse.random(3000, 60, 0.1, random_state=rng, format="csr")
    return X, sparse.csr_array(rng.random((3000, 30)) < 0.1).astype(np.int8)


def test_the_number_of_threads_does_not_change_a_bit(corpus):
    one, two = (MLkNN(n_jobs=n, threshold="cardinality").fit(*corpus) for n in (1, 2))
    assert one.threshold_.threshold_ == two.threshold_.threshold_
    a, b = (model.decision_function(corpus[0]) for model in (one, two))
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_array_equal(a.data, b.data)


def test_a_threshold_is_learned_from_neighbours_other_than_the_document_itself(corpus, monkeypatch):
    X, Y = corpus
    model = MLkNN(5, threshold="cardinality").fit(X, Y)
    found = model.index_.search_self(5).indices
    counts = brknn.label_counts(found, Y)
    expected = model.posteriors_.toarray()[counts.indices, counts.data]
    monkeypatch.setattr(MLkNN, "_held_out_scores", lambda self, X, Y: self._held_out)
    scores, truth = MLkNN(5, threshold="cardinality").fit(X, Y)._held_out
    np.testing.assert_array_equal(scores.data, expected)
    assert (truth != Y).nnz == 0
    monkeypatch.setattr(brknn, "HELD_OUT", 100)
    fewer, truth = MLkNN(5, threshold="cardinality").fit(X, Y)._held_out
    assert fewer.shape == truth.shape == (100, 30)


def test_nothing_put_aside_for_the_threshold_stays(corpus):
    X, Y = corpus
    assert "_held_out" not in vars(MLkNN().fit(X, Y))
    assert "_held_out" not in vars(MLkNN().fit(X, np.arange(3000) % 3))


@pytest.mark.parametrize("value", [0, -1.0])
def test_smoothing_must_be_above_zero(value):
    with pytest.raises(ParameterError, match=r"`smoothing` must be a number .*; got"):
        MLkNN(smoothing=value).fit(np.eye(2), np.eye(2))


def read_split(folder):
    return [read(next(folder.glob(f"{part}.txt*"))) for part in ("train", "test")]


@pytest.mark.parametrize(
    ("name", "figures"),
    [("medical", (0.421, 0.505, 0.245, 0.024)), ("bibtex", (0.208, 0.315, 0.170, 0.020))],
)
def test_it_is_as_good_as_in_the_lcif_paper(shared_data, name, figures):
    train, test = read_split(shared_data / name)
    model = MLkNN(threshold="best:micro-f1").fit(train.X, train.Y)
    metrics = ["accuracy", "micro-f1", "macro-f1-one", "hamming-loss"]
    measured = evaluate(test.Y, None, model.predict(test.X), metrics=metrics)
    *high, loss = measured.values()
    assert all(mine >= theirs for mine, theirs in zip(high, figures, strict=False))
    assert loss <= figures[-1]
