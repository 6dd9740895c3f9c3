"""Candidates and votes of neighbours and words, beside the definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from naive import ensemble as naive
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.neighbors import NeighborIndex
from manylabel.neighbors.features import FeatureSimilarity
from manylabel.neighbors.source import NeighborSource
from manylabel.scoring import Documents
from manylabel.scoring.candidates import recall
from manylabel.text import Weighting


def weighted(X):
    return Weighting(None).fit_transform(X)


def source_of(rows, Y, words=True):
    return NeighborSource(
        NeighborIndex(rows),
        Y,
        k=4,
        near=2,
        alpha=2.0,
        weight=0.5,
        features=FeatureSimilarity(rows, Y, 200) if words else None,
        top_words=3,
        limit=3,
    )


matrices = st.tuples(
    arrays(np.int64, (8, 5), elements=st.integers(0, 3)),
    arrays(np.int8, (8, 6), elements=st.integers(0, 1)),
    arrays(np.int64, (3, 5), elements=st.integers(0, 3)),
)


@settings(deadline=None, max_examples=20)
@given(matrices, st.sampled_from([None, 2]), arrays(np.bool_, 8))
def test_cosines_do_not_depend_on_how_many_are_computed_at_a_time(given, per_feature, incomplete):
    X, Y, _ = given
    rows, Y = weighted(sparse.csr_array(X.astype(float))), sparse.csr_array(Y)
    at_once = FeatureSimilarity(rows, Y, per_feature, incomplete)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("manylabel.neighbors.features.PAIRS", 3)
        in_parts = FeatureSimilarity(rows, Y, per_feature, incomplete)
    for one, other in zip(at_once.plain, in_parts.plain, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    np.testing.assert_array_equal(at_once.pair_lengths, in_parts.pair_lengths)


@settings(deadline=None, max_examples=40)
@given(matrices, st.booleans())
def test_proposals_follow_the_definitions(given, words):
    X, Y, Q = given
    rows = weighted(sparse.csr_array(X.astype(float)))
    queries = weighted(sparse.csr_array(Q.astype(float)))
    proposals = source_of(rows, sparse.csr_array(Y), words).propose(Documents(queries))
    found = proposals.neighbors
    for row in range(3):
        there = found.indices[row] >= 0
        near, similar = found.indices[row][there], found.similarities[row][there]
        everyone = naive.votes(near, similar, 2.0, Y)
        nearest = naive.votes(near[:2], similar[:2], 2.0, Y)
        by_words = naive.word_votes(queries.toarray()[row], rows.toarray(), Y)
        scores = 0.5 * everyone + 0.5 * by_words if words else everyone
        start, stop = proposals.pattern.indptr[row : row + 2]
        labels = proposals.pattern.indices[start:stop]
        # Ties by rounding may fall either way; the scores of what is chosen must not.
        expected = naive.best(scores, 3)
        assert len(labels) == len(expected)
        assert sorted(scores[labels]) == pytest.approx(sorted(scores[expected]), abs=1e-6)
        assert proposals.evidence["neighbours"][start:stop] == pytest.approx(
            everyone[labels], abs=1e-6
        )
        assert proposals.evidence["nearest"][start:stop] == pytest.approx(nearest[labels], abs=1e-6)
        if words:
            assert proposals.evidence["words"][start:stop] == pytest.approx(
                by_words[labels], abs=1e-6
            )


@settings(deadline=None, max_examples=20)
@given(matrices)
def test_training_documents_are_looked_at_as_if_they_were_not_there(given):
    X, Y, _ = given
    X, Y = sparse.csr_array(X.astype(float)), sparse.csr_array(Y)
    rows = weighted(X)
    candidates, mine = source_of(rows, Y).propose_training(Documents(rows), np.arange(8))
    np.testing.assert_array_equal(candidates.indices, mine.labels)
    for row in range(8):
        others = np.flatnonzero(np.arange(8) != row)
        expected = source_of(rows[others], Y[others]).propose(Documents(rows[[row]]))
        start, stop = mine.pattern.indptr[row : row + 2]
        for name in ("neighbours", "words"):
            found, wanted = mine.evidence[name][start:stop], expected.evidence[name]
            assert sorted(found) == pytest.approx(sorted(wanted), abs=1e-5)


@settings(deadline=None, max_examples=20)
@given(
    arrays(np.int64, (12, 3), elements=st.integers(0, 3)),
    arrays(np.int64, 12, elements=st.integers(0, 7)),
)
def test_a_label_that_is_near_a_word_only_by_the_document_itself_is_left_out(X, label_of):
    rows, Y = weighted(sparse.csr_array(X.astype(float))), sparse.csr_array(np.eye(8)[label_of])

    def words_of(rows, Y):
        return NeighborSource(None, Y, weight=0, features=FeatureSimilarity(rows, Y, 2))

    def votes(source, *given):
        candidates = source.vote(*given)
        return candidates.scores(candidates.evidence["words"]).toarray()

    mine = votes(words_of(rows, Y), rows, None, Y)
    for row, label in enumerate(label_of):
        others = np.flatnonzero(np.arange(12) != row)
        without = votes(words_of(rows[others], Y[others]), rows[[row]], None)
        assert mine[row, label] <= without[0, label] + 1e-9


@pytest.mark.parametrize("n_labels", [3, 5])
@pytest.mark.parametrize("name", ["_squares", "_counts", "feature_lengths", "label_lengths"])
def test_similarities_whose_lengths_are_forged_are_refused(n_labels, name):
    rows = weighted(sparse.csr_array(np.ones((4, 5))))
    features = FeatureSimilarity(rows, sparse.csr_array(np.ones((4, n_labels))), None)
    features._check_stored()
    setattr(features, name, np.tile(getattr(features, name), 2))
    with pytest.raises(InputError, match="similarities of words and labels are damaged"):
        features._check_stored()


def test_documents_come_and_go_as_if_they_had_always_been_there():
    rng = np.random.default_rng(3)
    X = sparse.csr_array(rng.poisson(0.8, (40, 12)).astype(float))
    Y = sparse.csr_array((rng.random((40, 5)) < 0.3).astype(np.int8))
    all_rows = weighted(X)
    source = source_of(all_rows[:30], Y[:30])
    source.add(Documents(all_rows[30:]), Y[30:])
    source.remove([2, 35])
    left = np.setdiff1d(np.arange(40), [2, 35])
    fresh = source_of(all_rows[left], Y[left]).propose(Documents(all_rows))
    for name, values in fresh.evidence.items():
        mine = source.propose(Documents(all_rows)).evidence[name]
        assert mine == pytest.approx(values, abs=1e-5)


def test_a_label_without_documents_has_no_words_any_more():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.random((60, 12)) * (rng.random((60, 12)) < 0.5))
    Y = np.zeros((60, 3), np.int8)
    Y[:58, 0], Y[57:, 1], Y[59, 2] = 1, 1, 1
    rows = Weighting(None, dtype=np.float32).fit_transform(X)
    source = source_of(rows, sparse.csr_array(Y))
    source.remove([59])
    source.compact()
    assert np.isfinite(source.features.plain.data).all()
    assert 2 not in source.features.plain.indices


def test_recall_counts_true_labels_among_candidates():
    candidates = sparse.csr_array(np.array([[1, 1, 0], [0, 0, 1]], np.int8))
    truth = sparse.csr_array(np.array([[1, 0, 1], [0, 0, 1]], np.int8))
    assert recall(candidates, truth) == pytest.approx(2 / 3)


def test_rows_of_proposals_can_be_taken_out():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.poisson(0.8, (20, 12)).astype(float))
    Y = sparse.csr_array((rng.random((20, 5)) < 0.3).astype(np.int8))
    rows = weighted(X)
    _, whole = source_of(rows, Y).propose_training(Documents(rows), np.arange(20))
    some, one = whole.take(np.array([3, 11, 4])), whole.take(np.array([11]))
    start, stop = some.pattern.indptr[1:3]
    assert some.labels[start:stop].tolist() == one.labels.tolist()
    assert some.evidence["nearest"][start:stop].tolist() == one.evidence["nearest"].tolist()


@settings(deadline=None, max_examples=30)
@given(matrices, st.integers(0, 2**16))
def test_labels_that_other_sources_propose_are_candidates_with_their_votes(given, seed):
    X, Y, Q = given
    rows, queries = (weighted(sparse.csr_array(each.astype(float))) for each in (X, Q))
    source = source_of(rows, sparse.csr_array(Y))
    also = sparse.csr_array((np.random.default_rng(seed).random((3, 6)) < 0.4).astype(np.int8))
    alone, more = source.propose(Documents(queries)), source.propose(Documents(queries), also=also)
    expected = ((alone.pattern.toarray() + also.toarray()) > 0).astype(int)
    np.testing.assert_array_equal(more.pattern.toarray(), expected)
    assert more.pattern.has_canonical_format
    for row in range(3):
        votes = naive.word_votes(queries.toarray()[row], rows.toarray(), Y)
        start, stop = more.pattern.indptr[row : row + 2]
        assert more.evidence["words"][start:stop] == pytest.approx(
            votes[more.labels[start:stop]], abs=1e-6
        )


@settings(deadline=None, max_examples=60)
@given(
    matrices,
    st.sampled_from([0, 1, 3]),
    st.sampled_from([0, 2, 9]),
    st.booleans(),
    st.sampled_from([1.0, 0.3]),
)
def test_a_single_document_has_the_same_votes_as_among_others(given, limit, near, more, weight):
    X, Y, Q = given
    rows = weighted(sparse.csr_array(X.astype(float)))
    queries = weighted(sparse.csr_array(Q.astype(float)))
    source = NeighborSource(
        NeighborIndex(rows),
        sparse.csr_array(Y),
        k=5,
        near=near,
        alpha=2.5,
        weight=weight,
        features=None if weight == 1 else FeatureSimilarity(rows, sparse.csr_array(Y), 200),
        beta=1.5,
        top_words=2,
        limit=limit,
    )
    also = sparse.csr_array(Y[:3]) if more else None
    together = source.propose(Documents(queries), also=also)
    for row in range(3):
        alone = source.propose(
            Documents(queries[[row]]), also=None if also is None else also[[row]]
        )
        span = slice(*together.pattern.indptr[row : row + 2])
        assert alone.pattern.indices.tolist() == together.pattern.indices[span].tolist()
        assert alone.evidence.keys() == together.evidence.keys()
        for name, values in alone.evidence.items():
            assert values.tolist() == together.evidence[name][span].tolist()
            assert values.dtype == together.evidence[name].dtype


def test_in_groups_each_document_has_the_labels_of_its_neighbours_in_another_group():
    random = np.random.default_rng(0)
    X = sparse.csr_array(random.integers(0, 3, (50, 8)).astype(float))
    Y = sparse.csr_array(random.integers(0, 2, (50, 6)).astype(np.int8))
    rows, k = weighted(X), 2
    source = NeighborSource(NeighborIndex(rows), Y, k=k)
    found = source.propose_in_groups(Documents(rows), 20, seed=1)
    groups = [
        np.sort(each) for each in np.array_split(np.random.default_rng([1, 5]).permutation(50), 3)
    ]
    assert max(map(len, groups)) <= 20
    for asked, other in zip(groups, [*groups[1:], groups[0]], strict=True):
        similar = (rows[asked] @ rows[other].T).toarray().astype(np.float32)
        for row, values in zip(asked, similar, strict=True):
            best = [n for n in np.argsort(-values, kind="stable")[:k] if values[n] > 0]
            expected = np.flatnonzero(Y[other[best]].toarray().any(axis=0))
            np.testing.assert_array_equal(found[[row]].indices, expected)
    threaded = source.propose_in_groups(Documents(rows), 20, seed=1, n_jobs=2)
    assert (found != threaded).nnz == 0
