"""Similarities that are computed when they are needed equal those that are computed at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from manylabel.neighbors.features import FeatureSimilarity
from manylabel.text import Weighting
from manylabel.validation import widened

N_FEATURES, N_LABELS = 12, 30


def some_documents(random, n, n_labels=N_LABELS):
    X = sparse.csr_array(random.integers(0, 4, (n, N_FEATURES)).clip(0, 2).astype(float))
    Y = sparse.csr_array((random.random((n, n_labels)) < 0.2).astype(np.int8))
    return Weighting(None).fit_transform(X).astype(np.float32), Y


def changed(features, random, documents):
    """Learn, forget and relabel documents, one by one; yield after each change."""
    X, Y = documents
    there = list(range(X.shape[0]))
    for _ in range(6):
        what = random.integers(3)
        if what == 0:
            more, labels = some_documents(random, 1, features._counts.size + random.integers(2))
            features.update(more, labels, 1)
        else:
            row = there.pop(random.integers(len(there)))
            mine = widened(Y[[row]], features._counts.size)
            if what == 1:
                features.update(X[[row]], mine, -1)
            else:
                _, other = some_documents(random, 1, features._counts.size)
                kept = mine.multiply(other)
                lost, got = (sparse.csr_array(each - kept) for each in (mine, other))
                for each in (lost, got):
                    each.eliminate_zeros()
                features.relabel(X[[row]], lost, got)
        yield


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([None, 2, 5]))
def test_it_equals_the_similarities_of_all(seed, per_feature):
    documents = some_documents(np.random.default_rng(seed), 15)
    with pytest.MonkeyPatch.context() as patch:
        at_once = FeatureSimilarity(*documents, per_feature)
        noted = FeatureSimilarity(*documents, per_feature)
        queries = some_documents(np.random.default_rng(seed + 1), 3)[0]
        patch.setattr("manylabel.neighbors.features.LARGE", 10**9)
        slow = changed(at_once, np.random.default_rng(seed), documents)
        fast = changed(noted, np.random.default_rng(seed), documents)
        for _ in slow:
            patch.setattr("manylabel.neighbors.features.LARGE", 0)
            next(fast)
            patch.setattr("manylabel.neighbors.features.LARGE", 10**9)
            for held_out in (False, True):
                rows, similar, lengths, bounds = noted.part(queries, held_out)
                used = np.unique(queries.indices)
                np.testing.assert_array_equal(used[rows.indices], queries.indices)
                plain = at_once.plain
                for at, feature in enumerate(used):
                    mine, own = (
                        slice(*each[n : n + 2])
                        for each, n in ((plain.ptr, feature), (similar.ptr, at))
                    )
                    np.testing.assert_array_equal(plain.indices[mine], similar.indices[own])
                    np.testing.assert_array_equal(plain.data[mine], similar.data[own])
                np.testing.assert_array_equal(lengths, at_once.feature_lengths[used])
                if held_out:
                    np.testing.assert_array_equal(bounds, at_once.bounds[used])
            np.testing.assert_array_equal(noted.label_lengths, at_once.label_lengths)
        noted.catch_up()
        assert_same(noted.plain, at_once.plain)
        np.testing.assert_array_equal(noted.bounds, at_once.bounds)


def test_only_a_few_labels_change_at_a_time(monkeypatch):
    random = np.random.default_rng(0)
    monkeypatch.setattr("manylabel.neighbors.features.LARGE", 0)
    monkeypatch.setattr("manylabel.neighbors.features.MANY_CHANGES", 8)
    documents = some_documents(random, 15)
    features = FeatureSimilarity(*documents, 2)
    for _ in changed(features, random, documents):
        assert features._changes is None or features._changes.labels.size <= 8


def test_changes_are_part_of_what_is_stored(monkeypatch, tmp_path):
    from manylabel import store

    random = np.random.default_rng(0)
    documents = some_documents(random, 15)
    features = FeatureSimilarity(*documents, 2)
    monkeypatch.setattr("manylabel.neighbors.features.LARGE", 0)
    for _ in changed(features, random, documents):
        pass
    store.save(features, tmp_path / "features")
    again = store.load(tmp_path / "features")
    assert_same(again.plain, features.plain)
    assert again._changes is None
