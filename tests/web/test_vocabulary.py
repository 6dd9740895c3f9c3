"""Labels by what people type, compared with a search that reads one name after the other."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from manylabel.web.vocabulary import Vocabulary


class Known:
    """As much of a tagger as the search needs."""

    label_edits = 0

    def __init__(self, names):
        self.names = dict(names)

    @property
    def labels(self):
        return list(self.names)

    def label_info(self, label):
        return type("Info", (), {"name": self.names[label]})


def plain(text):
    parts = unicodedata.normalize("NFKD", " ".join(text.split()).casefold())
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def slowly(names, query):
    """Labels by how well they match, then short names first, then by the alphabet."""
    found = []
    for label, name in names.items():
        written = plain(name), plain(label)
        ranks = [
            0 if one.startswith(query) else 1 if f" {query}" in one else 2
            for one in written
            if query in one
        ]
        if ranks:
            found.append((min(ranks), len(written[0]), *written, label))
    return [label for *_, label in sorted(found)]


WORDS = st.text(alphabet="aäAb c\n", max_size=5)


@given(names=st.dictionaries(WORDS, WORDS, max_size=8), query=WORDS, limit=st.integers(1, 4))
def test_a_search_finds_what_reading_every_name_finds(names, query, limit):
    expected = slowly(names, plain(query))
    assert Vocabulary(Known(names)).search(query, limit) == (expected[:limit], len(expected))


def test_labels_that_come_later_are_found_too():
    known = Known({"c": "Cats"})
    vocabulary = Vocabulary(known)
    assert vocabulary.search("cat", 5) == (["c"], 1)
    known.names["w"] = "Wild cats"
    assert vocabulary.search("cat", 5) == (["c", "w"], 2)
    known.names = {"w": "Wild cats"}
    assert vocabulary.search("cat", 5) == (["w"], 1)
