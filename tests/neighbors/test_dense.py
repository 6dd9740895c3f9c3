"""Dense neighbours are exact, whatever the blocks, the threads and the history of the rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import dense as naive

from manylabel import store
from manylabel.exceptions import InputError, ParameterError
from manylabel.neighbors import DenseIndex
from manylabel.neighbors import dense as module

# Few distinct values make ties the rule, not the exception.
VALUES = st.sampled_from([0.0, 0.0, 1.0, 1.0, -1.0, 2.0, 0.5, -0.3])


def matrices(n_rows, n_columns):
    return hnp.arrays(np.float64, (n_rows, n_columns), elements=VALUES)


@st.composite
def problems(draw):
    n_features = draw(st.integers(1, 5))
    X = draw(matrices(draw(st.integers(0, 14)), n_features))
    return X, draw(matrices(draw(st.integers(0, 7)), n_features)), draw(st.integers(1, 16))


def as_pairs(found):
    return [
        [(int(r), float(s)) for r, s in zip(rows, scores, strict=True) if r >= 0]
        for rows, scores in zip(found.indices, found.similarities, strict=True)
    ]


@pytest.fixture(params=[(128, 8_192, 1_024), (2, 3, 4)], ids=["usual", "tiny"])
def _blocks(request, monkeypatch):
    for name, size in zip(("_QUERIES", "_ROWS", "_PAIRS"), request.param, strict=True):
        monkeypatch.setattr(module, name, size)


@pytest.mark.usefixtures("_blocks")
def test_the_answer_is_that_of_the_definition():
    @given(problems())
    def check(problem):
        X, Q, k = problem
        index = DenseIndex(X)
        assert as_pairs(index.search(Q, k)) == naive.search(X, Q, k)
        itself = as_pairs(index.search_self(k))
        assert itself == naive.search(X, X, k, skip=range(len(X)))

    check()


@pytest.mark.usefixtures("_blocks")
def test_additions_and_removals_equal_a_new_index():
    @given(st.data())
    def check(data):
        n_features = data.draw(st.integers(1, 4))
        X = data.draw(matrices(data.draw(st.integers(0, 6)), n_features))
        index, alive = DenseIndex(X), np.ones(len(X), bool)
        for _ in range(data.draw(st.integers(1, 5))):
            if data.draw(st.booleans()):
                new = data.draw(matrices(data.draw(st.integers(0, 4)), n_features))
                assert index.add(new).tolist() == list(range(len(X), len(X) + len(new)))
                X, alive = np.vstack([X, new]), np.append(alive, np.ones(len(new), bool))
            elif alive.any():
                gone = data.draw(st.sampled_from(np.flatnonzero(alive).tolist()))
                index.remove([gone])
                alive[gone] = False
        Q = data.draw(matrices(3, n_features))
        assert len(index) == alive.sum()
        assert as_pairs(index.search(Q, 5)) == naive.search(X, Q, 5, alive=alive)
        assert index.compact().tolist() == np.flatnonzero(alive).tolist()
        np.testing.assert_array_equal(index.rows(), DenseIndex(X[alive]).rows())

    check()


@pytest.fixture(scope="module")
def rows():
    """Rows of a usual size, with a thousand copies of one and many that are nearly the same."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((9_000, 48))
    X[2_000:3_000] = X[7]
    X[3_000:4_000] = X[8] + 1e-7 * rng.standard_normal((1_000, 48))
    return X


def test_neither_blocks_nor_threads_nor_other_queries_change_a_bit(rows, monkeypatch):
    index = DenseIndex(rows)
    expected = index.search(rows[:150], 30)
    assert expected.indices[7].tolist() == [7, *range(2_000, 2_029)]
    one = [index.search(rows[[n]], 30) for n in (3, 7, 8)]
    for n, found in zip((3, 7, 8), one, strict=True):
        np.testing.assert_array_equal(found.indices[0], expected.indices[n])
        np.testing.assert_array_equal(found.similarities[0], expected.similarities[n])
    monkeypatch.setattr(module, "_QUERIES", 37)
    monkeypatch.setattr(module, "_ROWS", 1_001)
    pieces = DenseIndex(rows[:5_000])
    pieces.add(rows[5_000:])
    found = pieces.search(rows[:150], 30, n_jobs=2)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.similarities, expected.similarities)


def test_few_rows_are_compared_twice(rows):
    found = DenseIndex(rows[:2_000]).search(rows[:100], 10)
    assert found.candidates < 100 * (10 + 5)
    assert found.strategy == "blas"


def test_single_precision_alone_would_err(rows):
    index = DenseIndex(rows)
    unit = index.rows()
    products = unit[:150] @ unit.T
    naively = np.argsort(-products, axis=1, kind="stable")[:, :30]
    assert (naively != index.search(rows[:150], 30).indices).any()


def test_many_small_additions_stay_few_pieces(rows):
    index = DenseIndex(rows[:100])
    for start in range(100, 400, 3):
        index.add(rows[start : start + 3])
    assert len(index._pieces) < 10
    np.testing.assert_array_equal(index.rows(), DenseIndex(rows[:400]).rows())


def test_huge_and_tiny_values_neither_overflow_nor_vanish():
    index = DenseIndex([[1e300, 1e300], [1e-300, 0], [1e300, -1e-300], [5e-324, 0]])
    found = index.search([[1.0, 0]], 4)
    assert found.indices.tolist() == [[1, 2, 3, 0]]


def test_whole_numbers_and_half_precision_are_read():
    found = DenseIndex(np.eye(3, dtype=np.float16)).search(np.array([[0, 2, 1]]), 3)
    assert found.indices.tolist() == [[1, 2, -1]]


def test_a_callback_hears_of_every_query(rows):
    heard = []
    DenseIndex(rows[:50]).search(rows[:300], 3, callback=lambda done, n: heard.append((done, n)))
    assert heard[-1] == (300, 300)


def test_bad_arguments_get_one_clear_sentence():
    index = DenseIndex(np.eye(3))
    with pytest.raises(ParameterError, match="`k` must be a whole number of at least 1; got 0"):
        index.search(np.eye(3), 0)
    with pytest.raises(InputError, match="Q has 2 columns, but 3 are expected"):
        index.search(np.eye(2), 1)
    with pytest.raises(InputError, match=r"X must be finite.*row 1, column 0 is nan"):
        DenseIndex([[1.0], [np.nan]])
    with pytest.raises(InputError, match=r"two dimensions and a column or more; got shape \(3,\)"):
        DenseIndex([1.0, 2, 3])
    with pytest.raises(InputError, match="X must be a dense matrix of numbers"):
        DenseIndex([["a"]])
    with pytest.raises(InputError, match="complex data is not supported"):
        DenseIndex([[1j]])
    from scipy import sparse

    with pytest.raises(InputError, match="X must be a dense matrix; got a sparse one"):
        DenseIndex(sparse.csr_array((2, 2)))
    with pytest.raises(InputError, match="from 0 to 2"):
        index.remove([3])
    index.remove([1])
    index.remove([])
    with pytest.raises(InputError, match="row 1 has already been removed"):
        index.remove([1])


def test_it_can_be_saved_and_damage_is_noticed(rows, tmp_path):
    index = DenseIndex(rows[:60])
    index.add(rows[60:70])
    index.remove([3])
    store.save(index, tmp_path / "index")
    same = store.load(tmp_path / "index")
    found, expected = same.search(rows[:9], 5), index.search(rows[:9], 5)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.similarities, expected.similarities)
    same._pieces = (same._pieces[0] * np.float32(np.nan), same._pieces[1])
    with pytest.raises(InputError, match="its rows are not of unit length"):
        same._check_stored()
    index._alive = index._alive[1:]
    with pytest.raises(InputError, match="rows are missing"):
        index._check_stored()


def test_the_memory_is_what_the_docstring_says(rows):
    index = DenseIndex(rows)
    assert sum(piece.nbytes for piece in index._pieces) == 4 * rows.size
