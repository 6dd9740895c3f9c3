"""Every kind of value that a model may hold."""

from __future__ import annotations

import json
from functools import cached_property

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from manylabel import NeighborIndex, load, save
from manylabel.exceptions import InputError, StoreError
from manylabel.store import StringArray, read_manifest
from manylabel.store.decoding import Decoder
from manylabel.store.encoding import Encoder
from manylabel.text import CountVectorizer, Weighting
from manylabel.thresholds import Fixed
from manylabel.topics.word_labels import WordLabels


@pytest.fixture
def back(tmp_path):
    """Saves a value and loads it again."""

    def there_and_back(value):
        save(value, tmp_path / "model")
        return load(tmp_path / "model")

    return there_and_back


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda some: (
        st.lists(some)
        | st.lists(some).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers()), some)
    ),
    max_leaves=20,
)


@given(values)
def test_values_come_back_as_they_were(value):
    encoder = Encoder(value)
    tree = json.loads(json.dumps(encoder.tree, allow_nan=False))
    assert repr(Decoder(encoder.arrays.__getitem__).decode(tree)) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        [float("nan"), float("inf"), -float("inf"), -0.0, 5e-324],
        ["word"] * 1000,
        tuple(str(i) for i in range(1000)),
        {str(i): i for i in range(1000)},
        {i: str(i) for i in range(1000)},
        list(range(-500, 500)),
        [i * 0.1 for i in range(1000)],
        [2**100] * 500,
        [True, 1, 1.0, "1"] * 200,
        {1, 2, 3},
        range(3, 9, 2),
        np.dtype("<f4"),
        np.float32,
        float,
        np.float32(0.1),
        np.int64(-(2**63)),
        np.bool_(True),
        np.str_("größer"),
        "\ud800 lone",
        ["\ud800 lone"] * 1000,
    ],
    ids=lambda value: repr(value)[:30],
)
def test_special_values(back, value):
    again = back([value])[0]
    assert type(again) is type(value)
    assert repr(again) == repr(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.uint16).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(20)[::3],
        np.empty((0, 4), np.float32),
        np.array(3.5),
        np.array(["a", "größer"]),
        np.array([True, False]),
        np.array(["a", "b" * 1000], object),
        np.array([str(i) for i in range(1000)], object),
        np.array([[1, "a"], [None, 2.5]], object),
        np.arange(100_000.0),
    ],
    ids=lambda array: f"{array.dtype} {array.shape}",
)
def test_arrays(back, array):
    again = back([array])[0]
    np.testing.assert_array_equal(again, array, strict=True)
    assert type(again) is np.ndarray
    again[...] = again  # it can be changed
    assert again.flags.aligned


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_sparse_matrices_keep_everything(back, kind):
    matrix = kind(np.array([[0, 2.5], [1, 0], [0, 0]]))
    matrix.indices = matrix.indices.astype(np.int64)
    again = back([matrix])[0]
    assert type(again) is kind
    assert again.shape == (3, 2)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(again, part), getattr(matrix, part), strict=True)
    assert again.has_canonical_format


def test_matrices_that_are_not_canonical_stay_so(back):
    parts = np.array([1.0, 2.0, 3.0]), np.array([1, 0, 0]), np.array([0, 3])
    again = back([sparse.csr_array(parts, shape=(1, 2))])[0]
    assert not again.has_sorted_indices
    assert again.toarray().tolist() == [[5, 1]]


def test_random_generators_go_on_where_they_were(back):
    generator = np.random.RandomState(3)
    generator.rand(5)
    again = back([generator])[0]
    assert again.rand() == generator.rand()


def test_one_thing_with_two_names_is_stored_once(back, tmp_path):
    index, array, names = NeighborIndex([[1, 0], [1, 1]]), np.zeros(3), ["a"]
    back([index, array])
    files = read_manifest(tmp_path / "model")["files"]
    first, second = back([(index, array, names), (index, array, names)])
    assert first[0] is second[0]
    assert first[1] is second[1]
    assert first[2] is second[2]
    assert len(read_manifest(tmp_path / "model")["files"]) == len(files)


def test_two_views_of_the_same_memory_are_stored_once(back, tmp_path):
    array = np.arange(4)
    first, second, other = back([array[:], array[:], array[:3]])
    assert first is second
    assert other.tolist() == [0, 1, 2]
    assert len(read_manifest(tmp_path / "model")["files"]) == 2


def test_things_may_contain_themselves(back):
    ring: list = [1]
    ring.append({"ring": ring})
    again = back(ring)
    assert again[1]["ring"] is again


def test_what_can_be_computed_again_is_not_stored(back):
    phi = WordLabels(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1), np.ones(1), np.ones(1), 1)
    assert phi.by_label.nnz == 1
    assert isinstance(WordLabels.by_label, cached_property)
    again = back(phi)
    assert "by_label" not in vars(again)
    assert again.by_label.nnz == 1


def test_parameters_that_came_later_have_their_defaults(back):
    model = Weighting("bm25").fit([[1, 2]])
    del model.k1
    assert back([model])[0].k1 == 1.2


class Foreign:
    """A class that is not registered."""


def test_what_cannot_be_stored_is_named(tmp_path):
    cannot = (
        r"CountVectorizer\.stop_words\['a'\]\[1\] cannot be saved: .*Foreign is not a type that a "
        r"model folder can store; use a type of manylabel, a number, a string, an array, or a list "
        r"or dict of these, or register the class with manylabel\.store\.register\."
    )
    with pytest.raises(StoreError, match=cannot):
        save(CountVectorizer(stop_words={"a": [1, Foreign()]}), tmp_path / "model")
    for value in (Foreign(), Foreign, len, lambda: 1, object(), 1j, b"bytes", np.ma.array([1])):
        with pytest.raises(StoreError, match="cannot be saved"):
            save([value], tmp_path / "model")
    assert not (tmp_path / "model").exists()


class MyThreshold(Fixed):
    """A user's class, derived from one of ours."""


def test_subclasses_are_not_taken_for_their_parents(tmp_path):
    cannot = r"MyThreshold cannot be saved: .*MyThreshold is not a type"
    with pytest.raises(StoreError, match=cannot):
        save(MyThreshold(), tmp_path)


@pytest.mark.parametrize("info", [{"a": {1}}, {"a": float("nan")}, {1: 2}, {"a": (1,)}])
def test_information_must_be_json(tmp_path, info):
    with pytest.raises(StoreError, match="`info` must be"):
        save(Fixed(), tmp_path / "model", info=info)
    assert not (tmp_path / "model").exists()


def test_arrays_of_a_loaded_model_can_be_changed_and_the_folder_stays(tmp_path):
    save([np.zeros(100_000)], tmp_path)
    array = load(tmp_path)[0]
    array += 1
    assert load(tmp_path, verify=True)[0].max() == 0


@given(st.lists(st.text()), st.lists(st.text()))
def test_string_arrays_are_sequences(first, second):
    array = StringArray(first)
    array.extend(second)
    everything = first + second
    assert array == everything
    assert len(array) == len(everything)
    assert array.tolist() == list(array) == everything
    assert [array[i] for i in range(-len(array), len(array))] == everything * 2
    assert array[1:5] == everything[1:5]
    assert array[::-1] == everything[::-1]
    assert ("x" in array) == ("x" in everything)


@given(st.lists(st.text(st.characters(), max_size=12)), st.lists(st.text()), st.integers(0, 9))
def test_string_arrays_give_the_beginnings_of_strings(first, second, length):
    array = StringArray(first)
    array.extend(second)
    found = [array.beginning(position, length) for position in range(len(array))]
    assert found == [string[:length] for string in first + second]


def test_the_beginning_of_a_damaged_string_is_refused():
    array = StringArray(["größer", "größer"])
    array._bytes = array._bytes.copy()
    array._bytes[2] = 0xFF
    with pytest.raises(StoreError, match="a text of the model is damaged"):
        array.beginning(0, 2)
    with pytest.raises(StoreError, match="a text of the model is damaged"):
        array.check()
    assert array.beginning(1, 3) == "grö"


def test_string_arrays_are_stored_with_what_was_added(back):
    array = StringArray(["a", "größer", ""] * 2000)
    array.extend(["new"])
    again = back(array)
    assert isinstance(again, StringArray)
    assert again == array
    again.extend(["newer"])
    assert back(again) == [*array, "newer"]


def test_string_arrays_take_many_places_at_once():
    array = StringArray(["a", "b", "c"])
    assert array[np.array([2, 0])] == ["c", "a"]
    assert array[np.array([True, False, True])] == ["a", "c"]
    assert array != ["a", "b"]
    with pytest.raises(IndexError, match="there are 3 strings; got index 3"):
        array[3]
    with pytest.raises(InputError, match="a StringArray must contain strings; got 3"):
        array.extend([3])
