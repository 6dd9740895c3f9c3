"""Weights of single labels are found without reading all weights of a feature."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from manylabel.linear.candidates import candidate_scores
from manylabel.linear.model import LinearModel
from manylabel.scoring import lookups

MANY = 3


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(lookups, "MANY", MANY)


@st.composite
def problems(draw):
    """Rows, weights and candidates; some features have a weight for nearly every label."""
    n_rows, n_features = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    n_labels = draw(st.sampled_from([1, 5, 63, 64, 65, 200]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def matrix(n, m, density):
        kept = random.random((n, m)) < density
        return sparse.csr_array(random.standard_normal((n, m)).astype(np.float32) * kept)

    coef = matrix(n_features, n_labels, random.choice([0.0, 0.1, 0.9, 1.0], (n_features, 1)))
    intercept = random.standard_normal(n_labels)
    intercept[random.random(n_labels) < 0.1] = -np.inf
    candidates = sparse.csr_array((random.random((n_rows, n_labels)) < 0.3).astype(np.int8))
    return matrix(n_rows, n_features, 0.7), LinearModel(coef, intercept), candidates


def summed(X, model, candidates):
    """The sums, feature by feature."""
    scores = []
    for row in range(X.shape[0]):
        for label in candidates[[row]].indices.tolist():
            total = np.float64(model.intercept[label])
            for i in range(X.indptr[row], X.indptr[row + 1]):
                weight = np.float64(model.coef[X.indices[i], label])
                total += np.float64(X.data[i]) * weight
            scores.append(total)
    return np.array(scores)


@given(problems())
def test_scores_are_the_same_to_the_last_bit(problem):
    X, model, candidates = problem
    first = candidate_scores(model, X, candidates, 1)
    model.lookups.after(lookups.PATIENCE)
    np.testing.assert_array_equal(first, summed(X, model, candidates))
    np.testing.assert_array_equal(candidate_scores(model, X, candidates, 1), first)


@given(problems())
def test_a_lookup_has_the_features_with_many_weights(problem):
    _, model, _ = problem
    rows = model.rows
    lookup = lookups.make_lookup(rows.ptr, rows.features, model.intercept.size)
    fewest = max(MANY, model.intercept.size // 16)
    dense = model.coef.toarray() != 0
    assert ((lookup.at >= 0) == (dense.sum(axis=1) >= fewest)).all()
    for feature in np.flatnonzero(lookup.at >= 0):
        bits = lookup.bits[lookup.at[feature]].view(np.uint8)
        ones = np.unpackbits(bits, bitorder="little")[: dense.shape[1]]
        assert (ones == dense[feature]).all()


def test_the_lookup_is_made_after_a_few_rows():
    model = LinearModel(sparse.csr_array(np.ones((2, 70), np.float32)), np.zeros(70))
    X, candidates = sparse.csr_array([[1.0, 2.0]]), sparse.csr_array(np.ones((1, 70), np.int8))
    for _ in range(lookups.PATIENCE):
        assert (candidate_scores(model, X, candidates, 1) == 3).all()
    assert not model.lookups.after(0).at.size
    assert (candidate_scores(model, X, candidates, 1) == 3).all()
    assert model.lookups.after(0).at.tolist() == [0, 1]
