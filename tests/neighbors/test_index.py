"""The neighbour index is exact, whatever the strategy, order or history of its rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import neighbors as naive
from scipy import sparse

from manylabel.exceptions import InputError, ParameterError
from manylabel.neighbors import NeighborIndex
from manylabel.neighbors import index as index_module
from manylabel.neighbors.strategies import STRATEGIES

# Few distinct values make ties the rule, not the exception.
VALUES = st.sampled_from([0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 0.5])


def matrices(n_rows, n_columns):
    return hnp.arrays(np.float64, (n_rows, n_columns), elements=VALUES)


@st.composite
def problems(draw):
    n_features = draw(st.integers(1, 6))
    X = draw(matrices(draw(st.integers(1, 14)), n_features))
    Q = draw(matrices(draw(st.integers(1, 9)), n_features))
    return X, Q, draw(st.integers(1, 16))


def as_pairs(found):
    return [
        [(int(r), float(s)) for r, s in zip(rows, scores, strict=True) if r >= 0]
        for rows, scores in zip(found.indices, found.similarities, strict=True)
    ]


@given(problems(), st.sampled_from(sorted([*STRATEGIES, "auto"])), st.integers(1, 3))
def test_every_strategy_gives_the_answer_of_the_definition(problem, strategy, m):
    X, Q, k = problem
    found = NeighborIndex(sparse.csr_matrix(X)).search(Q, k, strategy=strategy, m=m)
    assert as_pairs(found) == naive.search(X, Q, k)


@pytest.fixture(scope="module")
def corpus():
    """Rows with a few frequent and many rare features, over several tiles and with ties."""
    rng = np.random.default_rng(5)
    frequent = sparse.random(5000, 12, 0.4, random_state=rng, format="csr")
    rare = sparse.random(5000, 3000, 0.003, random_state=rng, format="csr")
    X = sparse.hstack([frequent, rare], format="csr")
    X.data = np.ceil(X.data * 3)
    return X


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
@pytest.mark.parametrize("n_queries", [3, 200])
def test_strategies_agree_on_a_larger_corpus(corpus, strategy, n_queries):
    index = NeighborIndex(corpus)
    queries = corpus[7 : 7 + n_queries]
    expected = index.search(queries, 25, strategy="taat")
    found = index.search(queries, 25, strategy=strategy, m=5)
    assert found.strategy == strategy
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.similarities, expected.similarities)


@pytest.mark.parametrize("strategy", ["hybrid", "maxscore", "scan"])
@pytest.mark.parametrize("n_queries", [1, 40])
def test_neither_the_row_itself_nor_removed_rows_are_found(corpus, strategy, n_queries):
    index, rows = NeighborIndex(corpus), np.arange(2_000, 2_000 + n_queries)
    nearest = index.search_self(100, rows=rows, strategy="taat").indices
    index.remove(np.setdiff1d(nearest[:, ::2], rows))
    expected = index.search_self(100, rows=rows, strategy="taat")
    found = index.search_self(100, rows=rows, strategy=strategy)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.similarities, expected.similarities)
    assert not np.isin(found.indices, np.setdiff1d(nearest[:, ::2], rows)).any()
    assert not (found.indices == rows[:, None]).any()


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_the_number_of_threads_does_not_change_a_bit(corpus, strategy):
    index = NeighborIndex(corpus)
    one = index.search(corpus[:300], 10, strategy=strategy, n_jobs=1)
    two = index.search(corpus[:300], 10, strategy=strategy, n_jobs=2)
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.similarities, two.similarities)
    assert (one.candidates, one.postings) == (two.candidates, two.postings)


def test_rows_beyond_one_segment_are_found():
    rng = np.random.default_rng(0)
    X = sparse.random(70_000, 400, 0.01, random_state=rng, format="csr")
    index = NeighborIndex(X)
    queries = X[69_000:69_040]
    expected = index.search(queries, 5, strategy="taat")
    for strategy in ("hybrid", "maxscore"):
        found = index.search(queries, 5, strategy=strategy)
        np.testing.assert_array_equal(found.indices, expected.indices)
    assert (expected.indices[:, 0] >= 0).all()


@pytest.mark.parametrize("strategy", ["hybrid", "maxscore"])
def test_thousands_of_equal_rows_come_in_order_of_their_numbers(strategy):
    index = NeighborIndex(np.ones((6000, 3)))
    found = index.search(np.ones((10, 3)), 20, strategy=strategy)
    assert found.indices.tolist() == [list(range(20))] * 10


@given(problems(), st.randoms())
def test_permuting_rows_permutes_the_answer(problem, random):
    X, Q, _ = problem
    order = list(range(len(X)))
    random.shuffle(order)
    plain = NeighborIndex(X).search(Q, len(X))
    permuted = NeighborIndex(X[order]).search(Q, len(X))
    for mine, theirs in zip(as_pairs(plain), as_pairs(permuted), strict=True):
        assert dict(mine) == {order[row]: s for row, s in theirs}


@given(problems())
def test_an_orthogonal_row_changes_nothing(problem):
    X, Q, k = problem
    wider = np.zeros((len(X) + 1, X.shape[1] + 1))
    wider[:-1, :-1] = X
    wider[-1, -1] = 1
    queries = np.hstack([Q, np.zeros((len(Q), 1))])
    plain, more = NeighborIndex(X).search(Q, k), NeighborIndex(wider).search(queries, k)
    assert as_pairs(plain) == as_pairs(more)


@given(problems())
def test_leave_one_out_never_finds_the_row_itself(problem):
    X, _, k = problem
    found = NeighborIndex(X).search_self(k)
    assert as_pairs(found) == naive.search(X, X, k, skip=range(len(X)))


@given(st.data())
def test_additions_and_removals_equal_a_rebuilt_index(data):
    n_features = data.draw(st.integers(1, 4))
    X = data.draw(matrices(data.draw(st.integers(0, 6)), n_features))
    index = NeighborIndex(X)
    alive = np.ones(len(X), bool)
    for _ in range(data.draw(st.integers(1, 5))):
        if data.draw(st.booleans()):
            new = data.draw(matrices(data.draw(st.integers(1, 4)), n_features))
            numbers = index.add(new)
            assert numbers.tolist() == list(range(len(X), len(X) + len(new)))
            X, alive = np.vstack([X, new]), np.append(alive, np.ones(len(new), bool))
        elif alive.any():
            gone = data.draw(st.sampled_from(np.flatnonzero(alive).tolist()))
            index.remove([gone])
            alive[gone] = False
    Q = data.draw(matrices(3, n_features))
    assert len(index) == alive.sum()
    assert as_pairs(index.search(Q, 5)) == naive.search(X, Q, 5, alive=alive)
    assert index.compact().tolist() == np.flatnonzero(alive).tolist()
    fresh = NeighborIndex(X[alive])
    for name, array in fresh.arrays().items():
        np.testing.assert_array_equal(index.arrays()[name], array, strict=True)


def test_many_small_additions_stay_few_shards_and_exact(corpus, monkeypatch):
    monkeypatch.setattr(index_module, "SEAL", 64)
    index = NeighborIndex(corpus[:1000])
    for start in range(1000, 2000, 10):
        index.add(corpus[start : start + 10])
    assert len(index._shards) < 10
    index.remove(np.arange(500, 1500, 7))
    alive = np.ones(2000, bool)
    alive[500:1500:7] = False
    expected = NeighborIndex(corpus[:2000][alive]).search(corpus[:50], 12)
    found = index.search(corpus[:50], 12)
    np.testing.assert_array_equal(found.indices, np.flatnonzero(alive)[expected.indices])
    np.testing.assert_array_equal(found.similarities, expected.similarities)
    itself = index.search_self(3, rows=[1990])
    assert 1990 not in itself.indices


def test_read_only_maps_are_searched_as_they_are(corpus, tmp_path):
    index = NeighborIndex(corpus)
    for name, array in index.arrays().items():
        np.save(tmp_path / f"{name}.npy", array)
    mapped = {p.stem: np.load(p, mmap_mode="r") for p in tmp_path.glob("*.npy")}
    again = NeighborIndex.from_arrays(mapped)
    for strategy in ("hybrid", "maxscore"):
        expected = index.search(corpus[:20], 5, strategy=strategy)
        found = again.search(corpus[:20], 5, strategy=strategy)
        np.testing.assert_array_equal(found.indices, expected.indices)


def test_the_memory_is_what_the_docstring_says(corpus):
    index = NeighborIndex(corpus)
    n_rows, n_features = corpus.shape
    shard = index._shards[0]
    used = sum(array.nbytes for array in index.arrays().values())
    padded = shard.postings.tiles.shape[0] * 2048
    allowed = 11 * corpus.nnz + shard.n_columns * padded + 12 * n_features + 11 * n_rows + 64
    assert used <= allowed


@pytest.mark.parametrize("strategy", sorted([*STRATEGIES, "auto"]))
def test_degenerate_inputs(strategy):
    empty = NeighborIndex(sparse.csr_matrix((0, 4)))
    found = empty.search(np.ones((2, 4)), 3, strategy=strategy)
    assert (found.indices == -1).all()
    zeros = NeighborIndex(np.zeros((3, 4)))
    assert (zeros.search(np.ones((2, 4)), 3, strategy=strategy).indices == -1).all()
    some = NeighborIndex(np.eye(4))
    found = some.search(np.zeros((2, 4)), 9, strategy=strategy)
    assert found.indices.shape == (2, 4)
    assert (found.indices == -1).all()
    assert some.search(np.zeros((0, 4)), 2, strategy=strategy).indices.shape == (0, 2)


def test_wide_row_pointers_and_other_number_types_are_taken(corpus):
    small = corpus[:50].astype(np.int32)
    wide = sparse.csr_array(small)
    wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
    expected = NeighborIndex(small.toarray()).search(small, 4)
    found = NeighborIndex(wide).search(wide, 4)
    np.testing.assert_array_equal(found.indices, expected.indices)


def test_huge_and_tiny_values_neither_overflow_nor_vanish():
    X = np.array([[1e300, 1e300], [1e-300, 0], [1e300, 1e-300]])
    found = NeighborIndex(X).search([[1.0, 0]], 3)
    assert found.indices.tolist() == [[1, 2, 0]]


def test_a_callback_hears_of_every_query(corpus):
    heard = []
    NeighborIndex(corpus).search(corpus[:500], 3, callback=lambda done, n: heard.append((done, n)))
    assert heard[-1] == (500, 500)


def test_bad_arguments_get_one_clear_sentence():
    index = NeighborIndex(np.eye(3))
    with pytest.raises(ParameterError, match="`k` must be a whole number of at least 1; got 0"):
        index.search(np.eye(3), 0)
    with pytest.raises(ParameterError, match=r"`strategy` must be one of auto, fagin, .*'lucky'"):
        index.search(np.eye(3), 1, strategy="lucky")
    with pytest.raises(InputError, match="Q has 2 columns, but 3 are expected"):
        index.search(np.eye(2), 1)
    with pytest.raises(InputError, match="X must not be negative; row 0, column 0 is -1"):
        NeighborIndex([[-1.0]])
    with pytest.raises(InputError, match="from 0 to 2"):
        index.remove([3])
    index.remove([1])
    with pytest.raises(InputError, match="row 1 has already been removed"):
        index.remove([1])
    with pytest.raises(InputError, match="call compact"):
        index.arrays()


def test_rows_come_from_every_part_in_the_order_asked_for(monkeypatch):
    monkeypatch.setattr(index_module, "SEAL", 8)
    X = np.random.default_rng(0).poisson(0.3, (30, 9)).astype(float)
    index = NeighborIndex(X[:10])
    for start, stop in ((10, 19), (19, 27), (27, 30)):
        index.add(X[start:stop])
    whole = index.rows().toarray()
    for numbers in ([], [3], [29, 0, 18, 10, 9, 10], list(range(5, 28))):
        np.testing.assert_array_equal(
            index.rows(np.array(numbers, np.int64)).toarray(), whole[numbers]
        )
