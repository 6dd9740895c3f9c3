"""What is written reads back the same, as far as the format can represent it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from manylabel.corpus import Corpus, read, write
from manylabel.corpus.detection import FORMATS, READ_ONLY
from manylabel.exceptions import CorpusError

letters = st.characters(codec="utf-8")
names = st.text(letters, min_size=1, max_size=6).filter(str.strip)
plain_names = st.text("abc'\"{}%\\,é =", min_size=1, max_size=5).filter(lambda n: n == n.strip())
values = st.floats(allow_nan=False, allow_infinity=False).filter(bool)


@st.composite
def matrices(draw):
    """A corpus of features, named or not."""
    n, m, k = draw(st.integers(0, 4)), draw(st.integers(0, 4)), draw(st.integers(0, 3))
    X, Y = np.zeros((n, m)), np.zeros((n, k), int)
    for row in range(n):
        for column in draw(st.sets(st.integers(0, m - 1))) if m else ():
            X[row, column] = draw(values)
        Y[row, sorted(draw(st.sets(st.integers(0, k - 1))) if k else ())] = 1
    label_names = feature_names = None
    if draw(st.booleans()):
        both = draw(st.lists(plain_names, min_size=m + k, max_size=m + k, unique=True))
        feature_names, label_names = both[:m], both[m:]
    return Corpus(X, Y, feature_names=feature_names, label_names=label_names)


@st.composite
def texts(draw, text=st.text(letters, max_size=8), label=names):
    """A corpus of texts, with or without ids and titles."""
    contents = draw(st.lists(text, min_size=1, max_size=4))
    n = len(contents)
    rows = st.lists(st.lists(label, max_size=3), min_size=n, max_size=n)
    optional = st.none() | st.lists(text, min_size=n, max_size=n)
    ids = st.none() | st.lists(text.filter(str.strip), min_size=n, max_size=n)
    return Corpus.from_texts(contents, draw(rows), ids=draw(ids), titles=draw(optional))


def assert_same(found: Corpus, expected: Corpus) -> None:
    np.testing.assert_array_equal(found.Y.toarray(), expected.Y.toarray())
    assert found.label_names == expected.label_names
    if expected.X is not None:
        np.testing.assert_array_equal(found.X.toarray(), expected.X.toarray())
        assert found.feature_names == expected.feature_names
    else:
        assert found.texts == expected.texts
        assert found.titles == expected.titles
        assert found.ids == expected.ids


def test_every_format_is_tested_here():
    tested = {"xc", "svmlight", "mulan", "meka", "jsonl", "tsv", "csv", "folder"}
    assert tested == set(FORMATS) - set(READ_ONLY)


@given(matrices())
@pytest.mark.parametrize("kind", ["xc", "svmlight"])
def test_matrices_with_names_beside_them(tmp_path_factory, kind, corpus):
    assume(kind == "xc" or corpus.n_features > 0)
    path = tmp_path_factory.mktemp("trip") / "out.txt"
    write(corpus, path, format=kind)
    assert_same(read(path, format=kind), corpus)


@given(matrices())
@pytest.mark.parametrize("kind", ["mulan", "meka"])
def test_arff(tmp_path_factory, kind, corpus):
    path = tmp_path_factory.mktemp("trip") / "out.arff"
    write(corpus, path, format=kind)
    features, labels = corpus.feature_names, corpus.label_names
    if not corpus.has_feature_names:
        features = [f"feature-{name}" for name in features]
    if not corpus.has_label_names:
        labels = [f"label-{name}" for name in labels]
    named = Corpus(corpus.X, corpus.Y, feature_names=features, label_names=labels)
    assert_same(read(path), named)


@given(texts())
def test_json_lines(tmp_path_factory, corpus):
    path = tmp_path_factory.mktemp("trip") / "out.jsonl"
    write(corpus, path)
    assert_same(read(path), corpus)


table_labels = st.text('abc é<>|,["]', min_size=1, max_size=5).filter(
    lambda name: name == name.strip() and not name.startswith("<")
)


@given(texts(label=table_labels))
def test_csv(tmp_path_factory, corpus):
    path = tmp_path_factory.mktemp("trip") / "out.csv"
    write(corpus, path)
    assert_same(read(path), corpus)


@given(texts(text=st.text("ab \"',;\x00\x0b\x85\u2028\ufeffé", max_size=6), label=table_labels))
def test_tsv(tmp_path_factory, corpus):
    path = tmp_path_factory.mktemp("trip") / "out.tsv"
    try:
        write(corpus, path)
    except CorpusError as error:
        assert "start and end with quotation marks" in str(error)  # noqa: PT017
        return
    assert_same(read(path), corpus)


# Carriage returns without line feeds are read as the ends of lines.
@given(
    st.lists(
        st.text(letters, max_size=8).filter(lambda text: "\r" not in text), min_size=1, max_size=3
    ),
    st.data(),
)
@settings(max_examples=30)
def test_folders(tmp_path_factory, contents, data):
    n = len(contents)
    ids = data.draw(
        st.lists(
            st.text("abé.- 1", min_size=1, max_size=3), min_size=n, max_size=n, unique=True
        ).map(sorted)
    )
    labels = data.draw(st.lists(st.lists(table_labels, max_size=2), min_size=n, max_size=n))
    corpus = Corpus.from_texts(contents, labels, ids=["x" + name for name in ids])
    path = tmp_path_factory.mktemp("trip") / "out"
    write(corpus, path)
    found = read(path)
    order = sorted(range(n), key=lambda row: corpus.ids[row] + ".txt")
    assert_same(found, corpus[order])
