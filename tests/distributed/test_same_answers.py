"""Whatever runs on a cluster gives the same numbers, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from manylabel import (
    LCIF,
    LDA,
    Ensemble,
    FlatLDA,
    NeighborIndex,
    OneVsRestSVM,
    SubsetSVM,
)
from manylabel.distributed import use
from manylabel.neighbors import features

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def same(a, b):
    """Two matrices are the same in every bit."""
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize(("n_rows", "shard_rows"), [(3, 1), (400, 150), (400, 1000)])
def test_a_sharded_index_finds_what_the_whole_one_finds(client, problem, n_rows, shard_rows):
    X, queries = problem[0][:n_rows], problem[0][:300:3]
    whole = NeighborIndex(X)
    everyone, some = whole.search_self(7), whole.search(queries, 500)
    with use(client, shard_rows=shard_rows):
        sharded = NeighborIndex(X)
        assert len(sharded._shards) == -(-X.shape[0] // shard_rows)
        for found, expected in (
            (sharded.search_self(7), everyone),
            (sharded.search(queries, 500), some),
            (whole.search_self(7), everyone),
        ):
            np.testing.assert_array_equal(found.indices, expected.indices)
            np.testing.assert_array_equal(found.similarities, expected.similarities)
    # Shards are still there when the cluster is not.
    np.testing.assert_array_equal(sharded.search_self(7).indices, everyone.indices)


def test_rows_that_came_and_went_count_on_a_cluster_too(client, problem):
    X = problem[0]
    index = NeighborIndex(X[:300])
    index.add(X[300:])
    index.remove([0, 5, 299, 310])
    expected = index.search(X, 9)
    with use(client):
        found = index.search(X, 9)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.similarities, expected.similarities)


@pytest.mark.parametrize(
    "model",
    [
        SubsetSVM(n_neighbors=10),
        OneVsRestSVM(tuned=True, n_candidates=None),
        OneVsRestSVM(near=5, n_candidates=None),
        LCIF(k=10, lam=0.4),
        pytest.param(
            FlatLDA(train_chains=3, train_burn_in=5, burn_in=3, samples=2), marks=pytest.mark.slow
        ),
        Ensemble(k=20),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_learn_and_predict_the_same(client, problem, monkeypatch, model):
    monkeypatch.setattr(features, "BLOCK", 150)
    monkeypatch.setattr("manylabel.base.BLOCK", 150)
    X, Y = problem
    model.fit(X, Y)
    scores, labels = model.decision_function(X), model.predict(X)
    with use(client, max_tasks=5) as cluster:
        model.fit(X, Y)
        same(model.decision_function(X), scores)
        same(model.predict(X), labels)
        assert len(cluster.receipts) > 5
    same(model.decision_function(X), scores)


def test_chains_of_topics_are_the_same(client, problem):
    lda = LDA(n_topics=3, chains=3, burn_in=10)
    expected = lda.fit(problem[0]).components_
    with use(client):
        np.testing.assert_array_equal(lda.fit(problem[0]).components_, expected)


@pytest.mark.slow
def test_a_chain_over_partitions_is_the_same_wherever_they_run(client, problem):
    lda = LDA(n_topics=3, partitions=4, burn_in=12)
    here = lda.fit(problem[0]).components_
    np.testing.assert_array_equal(
        LDA(**lda.get_params() | {"n_jobs": 2}).fit(problem[0]).components_, here
    )
    with use(client):
        np.testing.assert_array_equal(lda.fit(problem[0]).components_, here)


def test_a_chain_over_partitions_finds_the_topics(problem):
    """Every third word belongs together; each of the three topics has most of one such group."""
    topics = LDA(n_topics=3, partitions=4, burn_in=40).fit(problem[0]).components_
    groups = np.stack([topics[:, kind::3].sum(axis=1) for kind in range(3)])
    assert sorted(groups.argmax(axis=0)) == [0, 1, 2]
    assert groups.max(axis=0).min() > 0.7


def test_counts_of_partitions_add_up_to_the_tokens(problem):
    X = problem[0]
    lda = LDA(n_topics=4, partitions=3, burn_in=6).fit(X)
    np.testing.assert_allclose(lda.chains_[0].counts.sum(), X.sum())
    np.testing.assert_allclose(
        np.asarray(lda.chains_[0].counts.sum(axis=1)).ravel(), np.asarray(X.sum(axis=0)).ravel()
    )


def test_a_few_queries_stay_at_folder(client, problem):
    X = problem[0]
    index = NeighborIndex(X)
    with use(client) as cluster:
        index.search(X[:3], 5)
        assert not cluster.receipts


def test_an_empty_matrix_is_no_problem(client):
    with use(client, shard_rows=5):
        found = NeighborIndex(sparse.csr_array((12, 4))).search(sparse.csr_array((100, 4)), 3)
    assert (found.indices == -1).all()
