"""A table of names finds what a dictionary finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manylabel.exceptions import StoreError
from manylabel.store import load, save
from manylabel.strings import StringArray
from manylabel.text import CountVectorizer
from manylabel.text.names import NameTable

NAMES = st.text(st.sampled_from("ab é\0\U0001f600"), max_size=4)


@given(st.lists(NAMES, unique=True, max_size=50), st.lists(NAMES, max_size=50))
def test_finds_what_a_dictionary_finds(names, asked):
    known = {name: number for number, name in enumerate(names)}
    found = NameTable(StringArray(names)).find([*names, *asked])
    assert found.tolist() == [known.get(name, -1) for name in [*names, *asked]]


def test_finds_the_first_of_equal_names():
    assert NameTable(StringArray(["b", "a", "b", "a"])).find(["a", "b"]).tolist() == [1, 0]


@pytest.mark.parametrize("ends", [[0, 3, 2], [0, 1, 3], [1, 2, 2]])
def test_damaged_names_are_refused(ends):
    names = StringArray(["a", "b"])
    names._ends = np.array(ends)
    with pytest.raises(StoreError, match="the names of features are damaged"):
        NameTable(names)


def test_a_loaded_vocabulary_is_made_when_it_is_used(tmp_path):
    words = [f"word{number}" for number in range(300)]
    fitted = CountVectorizer().fit([" ".join(words)])
    save(fitted, tmp_path / "vectorizer")
    loaded = load(tmp_path / "vectorizer", verify=False)
    assert not {"vocabulary_", "display_names_"} & set(vars(loaded))
    assert loaded.name_table.find(["word7", "wor"]).tolist() == [fitted.vocabulary_["word7"], -1]
    assert loaded.vocabulary_ == fitted.vocabulary_
    assert loaded.display_names_.tolist() == fitted.display_names_.tolist()


def test_without_training_there_is_no_vocabulary():
    assert not hasattr(CountVectorizer(), "vocabulary_")
    assert not hasattr(CountVectorizer(), "display_names_")
