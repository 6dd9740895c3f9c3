"""A node's steps against loops written from the papers' equations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive import trees as naive
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from manylabel.kernels.trees_grow import alternate, ideal_gains, node_columns, node_labels
from manylabel.kernels.trees_logistic import learn


@st.composite
def nodes(draw):
    """Label sets of a node's documents, sides to start from, gains, and whether to normalise."""
    n_labels = draw(st.integers(1, 6))
    label_sets = draw(st.lists(st.sets(st.integers(0, n_labels - 1)), min_size=1, max_size=12))
    gains = draw(st.lists(st.sampled_from([1.0, 1.0, 2.5]), min_size=n_labels, max_size=n_labels))
    sides = [draw(st.integers(0, 1)) for _ in label_sets]
    return label_sets, sides, np.array(gains), draw(st.booleans())


def fast_sides(label_sets, sides, gains, normalized, steps=50):
    """The sides after this many steps of the kernel."""
    indptr = np.cumsum([0] + [len(labels) for labels in label_sets])
    indices = np.array([label for labels in label_sets for label in sorted(labels)], np.int32)
    documents = np.arange(len(label_sets), dtype=np.int32)
    places = np.full(gains.size, -1, np.int32)
    labels = node_labels(documents, indptr, indices, places)
    sides = np.array(sides, np.int8)
    ideal = ideal_gains(indptr) if normalized else np.ones(documents.size)
    alternate(documents, indptr, indices, gains, ideal, labels, places, sides, steps)
    return sides.tolist()


@given(nodes())
def test_the_objective_of_a_node_never_increases(node):
    label_sets, sides, gains, normalized = node

    def value(sides):
        rankings = naive.best_rankings(label_sets, sides, gains, normalized)
        return naive.objective(label_sets, sides, rankings, gains, normalized)

    values = [value(sides)] + [value(fast_sides(*node, steps)) for steps in range(1, 6)]
    assert all(after <= before + 1e-9 for before, after in pairwise(values))


@given(nodes())
def test_documents_end_on_the_sides_that_loops_find(node):
    assert fast_sides(*node) == naive.alternate(*node)


def problem(seed, n_rows=40, n_columns=12):
    """A random sparse matrix, sides that depend on it, and costs of the sides."""
    random = np.random.default_rng(seed)
    X = random.random((n_rows, n_columns)) * (random.random((n_rows, n_columns)) < 0.3)
    sides = (X[:, 0] + 0.3 * random.random(n_rows) > X[:, 1] + 0.2).astype(np.int8)
    return X, sides, np.array([2.0, 3.0])


def learned(X, sides, costs, max_newton=100, tolerance=1e-6):
    columns = sparse.csc_array(X)
    return learn(
        columns.indptr.astype(np.int64),
        columns.indices.astype(np.int32),
        columns.data.astype(np.float32),
        X.shape[1],
        sides,
        costs,
        max_newton,
        100,
        tolerance,
        np.array([7], np.uint64),
    )


def test_the_classifier_of_a_node_is_liblinears():
    for seed in range(3):
        X, sides, costs = problem(seed)
        weights = learned(X, sides, costs)
        reference = LogisticRegression(
            solver="liblinear", l1_ratio=1, fit_intercept=False, tol=1e-8, max_iter=10_000
        ).fit(X, sides, sample_weight=costs[sides])
        np.testing.assert_allclose(weights, reference.coef_[0], atol=2e-3)
        assert ((weights == 0) == (np.abs(reference.coef_[0]) < 1e-8)).all()


def test_every_newton_step_lowers_the_objective_of_the_classifier():
    X, sides, costs = problem(5)
    values = [
        naive.logistic_objective(X, sides, costs, learned(X, sides, costs, steps, 0.0))
        for steps in range(6)
    ]
    assert all(after <= before + 1e-9 for before, after in pairwise(values))


def test_a_side_that_nothing_tells_apart_gets_no_weights():
    weights = learned(np.ones((6, 2)), np.array([0, 1, 0, 1, 0, 1], np.int8), np.ones(2))
    assert (weights == 0).all()


@given(st.integers(0, 50))
def test_the_columns_of_a_node_are_its_documents_and_a_bias(seed):
    random = np.random.default_rng(seed)
    X = sparse.csr_array(random.integers(0, 3, (6, 4)) * (random.random((6, 4)) < 0.5), dtype=float)
    documents = np.flatnonzero(random.random(6) < 0.6).astype(np.int32)
    places, features = np.full(4, -1, np.int32), np.empty(4, np.int32)
    indptr = np.empty(6, np.int64)
    rows, values = np.empty(40, np.int32), np.empty(40, np.float32)
    n_columns = node_columns(
        documents,
        X.indptr.astype(np.int64),
        X.indices.astype(np.int32),
        X.data.astype(np.float32),
        0.5,
        places,
        features,
        indptr,
        rows,
        values,
    )
    dense = np.zeros((documents.size, n_columns))
    for column in range(n_columns):
        for entry in range(indptr[column], indptr[column + 1]):
            dense[rows[entry], column] = values[entry]
    expected = X.toarray()[documents]
    assert sorted(features[: n_columns - 1]) == np.flatnonzero(expected.any(axis=0)).tolist()
    np.testing.assert_array_equal(dense[:, :-1], expected[:, features[: n_columns - 1]])
    assert (dense[:, -1] == 0.5).all()
    assert (places == -1).all()
