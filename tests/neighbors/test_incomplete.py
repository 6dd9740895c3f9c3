"""Labels that an incomplete document lacks count neither for nor against."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from naive import incomplete as naive
from scipy import sparse

from manylabel.exceptions import InputError, ParameterError
from manylabel.linear import SubsetSVM
from manylabel.neighbors import LCIF, NeighborIndex
from manylabel.neighbors.features import FeatureSimilarity
from manylabel.neighbors.source import NeighborSource
from manylabel.scoring import Documents, Training
from manylabel.text import Weighting

matrices = st.tuples(
    arrays(np.int64, (8, 5), elements=st.integers(0, 3)),
    arrays(np.int8, (8, 6), elements=st.integers(0, 1)),
    arrays(np.int64, (3, 5), elements=st.integers(0, 3)),
    arrays(np.bool_, 8),
)


def weighted(X):
    return Weighting(None).fit_transform(sparse.csr_array(X.astype(float)))


def source_of(rows, Y, incomplete):
    return NeighborSource(
        NeighborIndex(rows),
        Y,
        k=5,
        near=2,
        alpha=2.0,
        weight=0.5,
        features=FeatureSimilarity(rows, Y, None, incomplete),
        top_words=6,
        incomplete=incomplete,
    )


def agrees(source, rows, Y, incomplete, queries, candidates, skips):
    """Compare all votes for all candidates with the definitions."""
    near = candidates.neighbors
    for row, skip in enumerate(skips):
        there = near.indices[row] >= 0
        numbers, similar = near.indices[row][there], near.similarities[row][there]
        span = slice(*candidates.pattern.indptr[row : row + 2])
        labels = candidates.pattern.indices[span]
        expected = {
            "neighbours": naive.votes(numbers, similar, 2.0, Y, incomplete),
            "nearest": naive.votes(numbers[:2], similar[:2], 2.0, Y, incomplete),
            "words": naive.word_votes(queries[row], rows, Y, incomplete, skip),
        }
        for name, values in expected.items():
            found = candidates.evidence[name][span]
            assert found == pytest.approx(values[labels], abs=1e-6), name
            if name != "nearest":
                others = np.setdiff1d(np.arange(len(values)), labels)
                assert values[others] == pytest.approx(0, abs=1e-6)


@settings(deadline=None, max_examples=40)
@given(matrices)
def test_votes_follow_the_definitions(given):
    X, Y, Q, incomplete = given
    rows, queries = weighted(X), weighted(Q)
    source = source_of(rows, sparse.csr_array(Y), incomplete)
    candidates = source.propose(Documents(queries))
    agrees(source, rows.toarray(), Y, incomplete, queries.toarray(), candidates, [None] * 3)


@settings(deadline=None, max_examples=40)
@given(matrices)
def test_votes_without_the_document_itself(given):
    X, Y, _, incomplete = given
    rows = weighted(X)
    source = source_of(rows, sparse.csr_array(Y), incomplete)
    candidates = source.propose(Documents(rows), leave_out=np.arange(8))
    dense = rows.toarray()
    agrees(source, dense, Y, incomplete, dense, candidates, range(8))


@settings(deadline=None, max_examples=30)
@given(matrices, st.integers(1, 7), st.data())
def test_documents_that_come_go_and_change_are_as_if_always_so(given, n_first, data):
    X, Y, Q, incomplete = given
    rows, queries = weighted(X), weighted(Q)
    labels = sparse.csr_array(Y)
    other = Y.copy()
    changed = data.draw(st.integers(0, 7))
    other[changed] = data.draw(arrays(np.int8, 6, elements=st.integers(0, 1)))
    gone = data.draw(st.integers(0, 7))
    source = source_of(rows[:n_first], labels[:n_first], incomplete[:n_first])
    more = incomplete[n_first:]
    source.add(Documents(rows[n_first:]), labels[n_first:], more if more.any() else None)
    source.relabel([changed], sparse.csr_array(other[[changed]]))
    source.remove([gone])
    found = source.propose(Documents(queries))
    kept = np.arange(8) != gone
    expected = source_of(rows[kept], sparse.csr_array(other[kept]), incomplete[kept]).propose(
        Documents(queries)
    )
    assert (found.pattern != expected.pattern).nnz == 0
    for name, values in expected.evidence.items():
        assert found.evidence[name] == pytest.approx(values, abs=1e-5), name


@settings(deadline=None, max_examples=30)
@given(matrices)
def test_nothing_is_learned_from_pairs_that_are_not_known(given):
    X, Y, _, incomplete = given
    training = Training(
        Documents(sparse.csr_array(X)),
        sparse.csr_array(Y),
        np.zeros(8, np.int8),
        incomplete=incomplete if incomplete.any() else None,
    )
    everything = sparse.csr_array(np.ones(Y.shape, np.int8))
    found = training.known(everything).tocoo()
    assert set(zip(*(position.tolist() for position in found.coords), strict=True)) == naive.pairs(
        Y, incomplete
    )


@pytest.fixture(scope="module")
def animals():
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 8)) < 0.3).astype(int)
    X = rng.poisson(0.1 + 3 * Y @ (rng.random((8, 30)) < 0.2))
    return X, Y, rng.random(60) < 0.4


def test_lcif_learns_incomplete_documents_exactly(animals):
    X, Y, incomplete = animals
    whole = LCIF(k=7, update_weights=False, weighting=None).fit(X, Y, incomplete)
    parts = LCIF(k=7, update_weights=False, weighting=None).fit(X[:40], Y[:40], incomplete[:40])
    parts.partial_fit(X[40:], Y[40:], incomplete=incomplete[40:])
    difference = whole.decision_function(X) - parts.decision_function(X)
    assert abs(difference).max() < 1e-9
    parts.remove([3, 50]).compact()
    kept = np.setdiff1d(np.arange(60), [3, 50])
    whole.fit(X[kept], Y[kept], incomplete[kept])
    assert abs(whole.decision_function(X) - parts.decision_function(X)).max() < 1e-9
    assert parts.incomplete_.tolist() == incomplete[kept].tolist()


def test_reasons_still_add_up(animals):
    X, Y, incomplete = animals
    model = LCIF(k=7).fit(X, Y, incomplete)
    for explanations in model.explain(X[:10], top=4):
        for why in explanations:
            assert sum(reason.share for reason in why.reasons) == pytest.approx(why.score)


def test_complete_documents_change_nothing(animals):
    X, Y, _ = animals
    plain, flagged = LCIF(k=7).fit(X, Y), LCIF(k=7).fit(X, Y, np.zeros(60, bool))
    assert abs(plain.decision_function(X) - flagged.decision_function(X)).nnz == 0


def test_what_cannot_be_left_open_is_refused(animals):
    X, Y, incomplete = animals
    with pytest.raises(InputError, match="SubsetSVM does not support incomplete documents"):
        SubsetSVM().fit(X, Y, incomplete)
    with pytest.raises(InputError, match="every document is incomplete"):
        LCIF().fit(X, Y, True)
    with pytest.raises(InputError, match="an array of them for the 60 documents"):
        LCIF().fit(X, Y, [True, False])
    with pytest.raises(ParameterError, match="`second_order` compares the labels"):
        LCIF(second_order=0.5).fit(X, Y, incomplete)
