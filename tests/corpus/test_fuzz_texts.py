"""Texts and ARFF: what the naive readers read, or an error, and never any error but ours."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import arff, tables
from naive.corpora import RefusedError
from naive.mutation import mutated

from manylabel.corpus import iter_documents, read
from manylabel.corpus.detection import FORMATS
from manylabel.exceptions import CorpusError

words = st.text("ab ;<>\"',\té", max_size=6)
names = st.lists(st.sampled_from(["x", "y z", "ä"]), max_size=3)
documents = st.lists(st.tuples(words, names), min_size=1, max_size=4)
headers = st.sampled_from([[], ["text", "labels"]])


def as_jsonl(rows):
    return "\n".join(json.dumps({"text": text, "labels": labels}) for text, labels in rows)


def as_tsv(rows, header):
    cells = [[text.replace("\t", " "), ";".join(labels)] for text, labels in rows]
    return "\n".join("\t".join(row) for row in ([header] if header else []) + cells)


def as_csv(rows, header):
    def cell(text):
        return '"' + text.replace('"', '""') + '"' if set(text) & set('",') else text

    cells = [[text, ";".join(labels)] for text, labels in rows]
    return "\n".join(",".join(map(cell, row)) for row in ([header] if header else []) + cells)


MARKS = [b'"', b",", b"\t", b"\n", b"\r", b"\r\n", b"<", b">", b";", b"{", b"}", b"[", b"\\", b"0"]
KINDS = {
    "jsonl": (mutated(documents.map(as_jsonl), MARKS), tables.read_jsonl),
    "tsv": (mutated(st.builds(as_tsv, documents, headers), MARKS), tables.read_tsv),
    "csv": (mutated(st.builds(as_csv, documents, headers), MARKS), tables.read_csv),
}


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_texts_are_read_as_the_naive_reader_does_or_refused(kind, tmp_path_factory):
    strategy, naive_reader = KINDS[kind]
    # The naive readers guess nothing.
    said = {"separator": ";", "encoding": "utf-8", "delimiter": "\t" if kind == "tsv" else ","}
    path = tmp_path_factory.mktemp("fuzz") / "x"

    @given(strategy)
    def check(data):
        path.write_bytes(data)
        try:
            expected = naive_reader(data)
        except RefusedError:
            with pytest.raises(CorpusError):
                read(path, format=kind, **said)
            return
        found = [(d.text, set(d.labels)) for d in iter_documents(path, format=kind, **said)]
        assert found == expected
        assert [set(labels) for labels in read(path, format=kind, **said).label_lists()] == [
            labels for _, labels in expected
        ]

    check()


cells = st.one_of(st.integers(-5, 20).map(str), st.floats(-2, 2).map(repr))
table = st.lists(
    st.tuples(st.booleans(), st.booleans(), cells, cells, st.booleans()), max_size=4
).map(
    lambda rows: "\n".join(
        [
            "@relation 't: -C 2'",
            "% note",
            "@attribute a {0,1}",
            "@attribute b numeric",
            "@attribute c real",
            "@attribute d numeric",
            "@data",
        ]
        + [
            f"{{0 {a:d}, 1 {b:d},2 {c} ,3 {d}}}" if is_sparse else f"{a:d},{b:d}, {c} ,{d}"
            for a, b, c, d, is_sparse in rows
        ]
    )
)


@given(mutated(table, [b",", b"{", b"}", b" ", b"\n", b"1", b"-", b"?", b"%", b"@"]))
def test_mutated_arff_is_read_as_the_naive_reader_does_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("fuzz") / "x.arff"
    path.write_bytes(data)
    try:
        corpus = read(path, format="meka")
    except CorpusError:
        corpus = None
    try:
        attribute_names, rows = arff.read_meka(data)
    except RefusedError:
        # The naive reader knows fewer names and types, and no other relation.
        return
    assert corpus is not None
    assert corpus.label_names + corpus.feature_names == attribute_names
    expected = np.array(rows).reshape(-1, len(attribute_names))
    np.testing.assert_array_equal(corpus.Y.toarray(), expected[:, :2])
    np.testing.assert_array_equal(corpus.X.toarray(), expected[:, 2:])


@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)), st.data())
def test_any_bytes_are_a_corpus_or_an_error_of_ours(tmp_path_factory, data, chosen):
    suffix = chosen.draw(
        st.sampled_from(
            ["txt", "jsonl", "json", "tsv", "csv", "arff", "svm", "txt.gz", "xlsx", "html"]
        )
    )
    kind = chosen.draw(st.sampled_from([None, *(kind for kind in FORMATS if kind != "folder")]))
    magic = chosen.draw(
        st.sampled_from(
            [b"", b"\x1f\x8b", b"BZh91AY&SY", b"\xfd7zXZ\0", b"(\xb5/\xfd", b"PK\3\4", b"PAR1"]
        )
    )
    path = tmp_path_factory.mktemp("fuzz") / f"x.{suffix}"
    path.write_bytes(magic + data)
    with suppress(CorpusError):
        read(path, format=kind)
