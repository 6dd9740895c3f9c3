"""IBLR's scores are logistic regressions on the labels of neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import lazy as naive
from naive.lazy import problems
from scipy import sparse

from manylabel.corpus import read
from manylabel.exceptions import ParameterError
from manylabel.metrics import evaluate
from manylabel.neighbors.iblr import IBLR, fit_logistic, logistic_scores

# The solver stops when it is near the optimum, the oracle when it is there.
NEAR = 0.02


@settings(max_examples=40)
@pytest.mark.parametrize("plus", [False, True])
@given(problem=problems(), C=st.sampled_from([1.0, 0.3]))
def test_scores_are_the_papers_probabilities(plus, problem, C):
    X, Y, Q, k = problem
    model = IBLR(k, plus=plus, C=C, prune=0.0, weighting=None).fit(X, Y)
    rows, queries = (model.weighting_.transform(part).toarray() for part in (X, Q))
    expected = naive.iblr(rows, Y, queries, k, C, plus)
    scores = model.decision_function(Q)
    at = np.repeat(np.arange(len(Q)), np.diff(scores.indptr))
    np.testing.assert_allclose(scores.data, expected[at, scores.indices], atol=NEAR)
    assert scores.has_canonical_format

    counts = np.array(naive.counts(naive.neighbors(rows, queries, k), Y))
    stored = np.zeros(expected.shape, bool)
    stored[at, scores.indices] = True
    assert stored[counts > 0].all()
    assert stored[expected > 0.5 + NEAR].all()
    assert not stored[(counts == 0) & (expected < 0.5 - NEAR)].any()


@st.composite
def linear_models(draw):
    """Rows, candidates, coefficients and intercepts of small whole numbers."""
    n_rows, n_inputs, n_labels = (draw(st.integers(1, 5)) for _ in range(3))
    values = st.integers(-2, 2).map(float)

    def matrix(n, m):
        rows = draw(st.lists(st.lists(values, min_size=m, max_size=m), min_size=n, max_size=n))
        return sparse.csr_array(np.array(rows))

    intercept = st.sampled_from([-np.inf, -1.0, 0.0, 1.0])
    intercepts = draw(st.lists(intercept, min_size=n_labels, max_size=n_labels))
    counts = abs(matrix(n_rows, n_labels))
    return matrix(n_rows, n_inputs), counts, matrix(n_inputs, n_labels), np.array(intercepts)


@given(linear_models())
def test_every_candidate_and_every_likely_label_is_scored(model):
    inputs, counts, coef, intercept = model
    margin = inputs.toarray() @ coef.toarray() + intercept
    stored = (counts.toarray() > 0) | (margin >= 0)
    scores = logistic_scores(inputs, counts, coef, intercept)
    rows, columns = np.nonzero(stored)
    assert scores.tocoo().row.tolist() == rows.tolist()
    assert scores.indices.tolist() == columns.tolist()
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(scores.data, 1 / (1 + np.exp(-margin[stored])), rtol=1e-12)


def test_many_candidates_fit():
    rng = np.random.default_rng(0)
    inputs = sparse.csr_array(rng.random((40, 3)))
    coef = sparse.csr_array(rng.random((3, 700)))
    scores = logistic_scores(inputs, sparse.csr_array((40, 700)), coef, np.zeros(700))
    expected = 1 / (1 + np.exp(-(inputs @ coef).toarray()))
    np.testing.assert_allclose(scores.toarray(), expected, rtol=1e-12)


def test_labels_that_all_or_no_documents_have_need_no_regression():
    X, Y = np.eye(3), [[1, 0, 1], [1, 0, 0], [1, 0, 1]]
    model = IBLR(2).fit(X, Y)
    assert model.intercept_[:2].tolist() == [np.inf, -np.inf]
    assert model.coef_[:, :2].nnz == 0
    assert model.decision_function([[0, 0, 0]]).toarray()[0, :2].tolist() == [1.0, 0.0]


def test_pruned_coefficients_are_not_stored(corpus):
    inputs = corpus[1].astype(float)
    whole, *_ = fit_logistic(inputs, corpus[1])
    pruned, *_ = fit_logistic(inputs, corpus[1], prune=0.1)
    expected = np.where(abs(whole.toarray()) >= 0.1, whole.toarray(), 0)
    np.testing.assert_array_equal(pruned.toarray(), expected)
    assert pruned.nnz < whole.nnz


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(3)
    X = sparse.random(1500, 40, 0.1, random_state=rng, format="csr")
    return X, sparse.csr_array(rng.random((1500, 8)) < 0.2).astype(np.int8)


def test_the_number_of_threads_does_not_change_a_bit(corpus):
    one, two = (IBLR(n_jobs=n, threshold="cardinality").fit(*corpus) for n in (1, 2))
    assert one.threshold_.threshold_ == two.threshold_.threshold_
    a, b = (model.decision_function(corpus[0]) for model in (one, two))
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_array_equal(a.data, b.data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "`C` must be a number above 0; got 0."),
        ({"prune": -1}, "`prune` must be a number at least 0; got -1."),
        ({"max_iter": 0}, "`max_iter` must be a whole number of at least 1; got 0."),
    ],
)
def test_a_bad_parameter_is_refused(parameters, message):
    with pytest.raises(ParameterError) as error:
        IBLR(**parameters).fit(np.eye(2), np.eye(2))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("medical", (0.442, 0.506, 0.247, 0.029)),
        pytest.param("bibtex", (0.174, 0.250, 0.147, 0.021), marks=pytest.mark.slow),
    ],
)
def test_it_is_as_good_as_in_the_lcif_paper(shared_data, name, figures):
    train, test = (read(next((shared_data / name).glob(f"{p}.txt*"))) for p in ("train", "test"))
    model = IBLR(n_jobs=2).fit(train.X, train.Y)
    metrics = ["accuracy", "micro-f1", "macro-f1-one", "hamming-loss"]
    measured = evaluate(test.Y, None, model.predict(test.X), metrics=metrics)
    *high, loss = measured.values()
    assert all(mine >= theirs for mine, theirs in zip(high, figures, strict=False))
    assert loss <= figures[-1]


def test_k_is_chosen_by_regressions_of_one_half_on_the_other():
    rng = np.random.default_rng(0)
    X, Y = rng.poisson(0.7, (80, 12)), rng.random((80, 4)) < 0.4
    model = IBLR(prune=0.0).fit(X, Y)

    def worth(k):
        near = model.index_.search_self(k).indices
        counts = np.array(naive.counts(near.tolist(), Y))
        halves = np.arange(0, 80, 2), np.arange(1, 80, 2)
        total = 0.0
        for learned, asked in (halves, halves[::-1]):
            inputs = sparse.csr_array(counts[learned])
            coef, intercept, _ = fit_logistic(inputs, sparse.csc_array(Y[learned].astype(np.int8)))
            some = sparse.csr_array(counts[asked])
            scores = logistic_scores(some, some, coef, intercept)
            total += evaluate(Y[asked], scores, metrics=["ndcg@5"])["ndcg@5"]
        return total

    assert model.k_ == max((5, 10, 20, 50, 100), key=worth)
