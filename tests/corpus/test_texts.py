"""JSON Lines, TSV, CSV and folders: what they hold, and what is refused and why."""

from __future__ import annotations

import json

import pytest

from manylabel.corpus import Corpus, Document, iter_documents, read, write
from manylabel.exceptions import CorpusError, ParameterError


def lists(corpus: Corpus) -> list[list[str]]:
    return list(corpus.label_lists())


def refused(path, message: str, line: int | None, **options) -> None:
    with pytest.raises(CorpusError) as caught:
        read(path, **options)
    assert message in str(caught.value)
    assert caught.value.line == line
    assert caught.value.path is not None


def test_jsonl_needs_only_a_text(file):
    corpus = read(
        file(
            '{"id": "a", "text": "one", "title": "I", "labels": ["x", "y"], "year": 1999}\n\n'
            '{"text": "two", "labels": null}\n{"text": "three", "id": 7, "labels": [5]}',
            "train.jsonl",
        )
    )
    assert corpus.ids == ["a", "1", "7"]
    assert corpus.texts == ["one", "two", "three"]
    assert corpus.titles == ["I", "", ""]
    assert lists(corpus) == [["x", "y"], [], ["5"]]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ('{"text": "a"}\n{"text": }', 2, "expected a JSON object, found an error at column 10"),
        ('{"labels": []}', 1, "expected a field 'text', found 'labels'; name the text field"),
        ("{}", 1, "expected a field 'text', found none"),
        ('{"text": null}', 1, "expected a string as 'text', found 'null'"),
        ('{"text": 5}', 1, "expected a string as 'text', found '5'"),
        ('{"text": "a", "labels": {"x": 1}}', 1, "expected a list as 'labels', found '{\"x\": 1}'"),
        ('{"text": "a", "labels": [""]}', 1, "expected a string as 'labels', found ''"),
        ('{"text": "a", "labels": [null]}', 1, "expected a string as 'labels', found 'null'"),
        ('{"text": "a", "id": true}', 1, "expected a string as 'id', found 'true'"),
        ("1", 1, "expected a JSON object, found '1'"),
        ("[1]", 1, "expected a JSON object, found '1'"),
        ('[{"text": "a"},', 1, "expected ']' at the end of the JSON array; the file is truncated"),
        ('{"text": "\\ud800"}', 1, "found an unpaired surrogate"),
        ("[" * 100_000, 1, "expected a JSON object"),
        ('{"text": "a", "id": ' + "9" * 5000 + "}", 1, "expected a JSON object"),
        (b'{"text": "a"}\n{"text": "\xff"}', 2, "expected UTF-8 text, found byte 0xff"),
        ("\n\n", None, "expected at least one document, found none"),
    ],
)
def test_jsonl_refuses(file, content, line, message):
    refused(file(content, "x.jsonl"), message, line)


def test_labels_outside_a_given_vocabulary_are_refused(file):
    path = file('{"text": "a", "labels": ["x"]}\n{"text": "b", "labels": ["z"]}', "t.jsonl")
    assert read(path, labels=["z", "y", "x"]).label_names == ["z", "y", "x"]
    refused(path, "unknown label 'z' (2 labels known)", 2, labels=["x", "y"])


def test_tsv_of_annif_has_identifiers(file):
    content = (
        "A cat\t<http://x/cats> <http://x/pets>\nA dog\t<http://x/pets>\t<http://x/d>\nNone\t\n"
    )
    corpus = read(file(content, "train.tsv"))
    assert corpus.texts == ["A cat", "A dog", "None"]
    assert lists(corpus) == [
        ["http://x/cats", "http://x/pets"],
        ["http://x/d", "http://x/pets"],
        [],
    ]
    assert not corpus.has_ids


def test_tables_may_name_their_columns_in_any_order(file):
    tsv = "Labels\tyear\tID\ttext\nx; y z ;\t1999\ta\tone\n"
    csv = 'labels,year,id,text\r\n"x; y z",1999,a,one\r\n'
    for path in (file(tsv, "t.tsv"), file(csv, "t.csv")):
        corpus = read(path)
        assert corpus.ids == ["a"]
        assert corpus.texts == ["one"]
        assert lists(corpus) == [["x", "y z"]]


def test_the_separator_of_labels_can_be_chosen(file):
    assert lists(read(file("a\tx|y;z\n", "t.tsv"), separator="|")) == [["x", "y;z"]]
    with pytest.raises(
        ParameterError, match="`separator` is an option for texts, but the format is xc"
    ):
        read(file("1 1 1\n0 0:1\n", "t.txt"), separator="|")
    with pytest.raises(ParameterError, match="`separator` must not be empty, a space"):
        read(file("a\tb", "t.tsv"), separator=" ")


def test_csv_cells_may_hold_commas_quotes_and_lines(file):
    corpus = read(file('"one, ""two""\nthree",x\nfour,y\n', "t.csv"))
    assert corpus.texts == ['one, "two"\nthree', "four"]


def test_csv_cells_may_be_longer_than_a_law(file):
    assert len(read(file("a" * 300_000 + ",x\n", "t.csv")).texts[0]) == 300_000


@pytest.mark.parametrize(
    ("name", "content", "line", "message"),
    [
        ("t.tsv", "a\tx\nb\n", 2, "expected 2 columns, found 1"),
        ("t.tsv", "a\tx\ty\n", 1, "expected 2 columns, found 3"),
        ("t.tsv", "id\ttext\tlabels\n1\ta\n", 2, "expected 3 columns, found 2"),
        ("t.tsv", "a\t<x> y\n", 1, "expected identifiers as <...>, separated by spaces"),
        ("t.tsv", b"a\t\x81\n", 1, "expected UTF-8 text, found byte 0x81 at position 3"),
        ("t.tsv", "é\té\n".encode() + b"a\t\xfe\n", 2, "expected UTF-8 text, found byte 0xfe"),
        ("t.tsv", "text\tlabels\n", None, "expected at least one document"),
        ("t.csv", "a,x\nb\n", 2, "expected 2 columns, found 1"),
        ("t.csv", 'a,x\n"b\nc,y', 2, "expected a CSV row (unexpected end of data)"),
        ("t.csv", '"a"b,x\n', 1, "expected a CSV row"),
        ("t.csv", b'"a\n\x81",x\n', 2, "expected UTF-8 text, found byte 0x81 at position 1"),
    ],
)
def test_tables_refuse(file, name, content, line, message):
    refused(file(content, name), message, line)


def test_a_folder_holds_texts_and_keys(tmp_path):
    (tmp_path / "b.txt").write_text("dogs\nbark")
    (tmp_path / "b.key").write_text("dogs\n\npets \n")
    (tmp_path / "a.txt").write_text("cats purr")
    (tmp_path / "a.tsv").write_text("<http://x/cats>\tcats\npets\n")
    (tmp_path / "a.key").write_text("ignored, for there is a.tsv")
    (tmp_path / "c.txt").write_text("")
    corpus = read(tmp_path)
    assert corpus.ids == ["a", "b", "c"]
    assert corpus.texts == ["cats purr", "dogs\nbark", ""]
    assert lists(corpus) == [["http://x/cats", "pets"], ["dogs", "pets"], []]


def test_folders_refuse(tmp_path):
    refused(tmp_path, "expected .txt, .docx, .pdf, .html or .epub files, or a", None)
    (tmp_path / "a.txt").write_bytes(b"ok\n\x81")
    refused(tmp_path, "a.txt, line 2: expected UTF-8", 2)
    refused(tmp_path, "expected a file in the format tsv, found a folder", None, format="tsv")


def test_documents_stream_one_at_a_time(file):
    path = file('{"text": "a", "labels": ["x"], "id": "1"}\nbroken', "t.jsonl")
    documents = iter_documents(path)
    assert next(documents) == Document("1", "a", ["x"], None, 1)
    with pytest.raises(CorpusError, match="line 2"):
        next(documents)


def test_features_do_not_stream(file):
    with pytest.raises(CorpusError, match="expected texts, found the format xc"):
        list(iter_documents(file("1 1 1\n0 0:1\n")))


TEXTS = Corpus.from_texts(["a\tb", "c"], [["x;y"], []], ids=["1", "one/two"])


@pytest.mark.parametrize(
    ("corpus", "name", "message"),
    [
        (TEXTS, "out.csv", "the label 'x;y' cannot be read back"),
        (TEXTS.select_labels([]), "out.tsv", "document '1' contains a tab or a line break"),
        (TEXTS.select_labels([]), "out", "the id 'one/two' cannot be a file name"),
        (TEXTS[[0, 0]], "out", "'1' occurs twice"),
        (
            Corpus.from_texts(["a"], [["<x"]]),
            "out",
            "the label '<x' cannot be written to a key file",
        ),
        (Corpus([[1]], [[1]]), "out.jsonl", "the corpus has only features; write Extreme"),
        (Corpus.from_texts(["\ud800"], [[]]), "out.jsonl", "an unpaired surrogate"),
        (TEXTS, "out.what", "the format cannot be detected from the name; pass one of jsonl"),
    ],
)
def test_what_a_format_cannot_carry_is_refused(tmp_path, corpus, name, message):
    with pytest.raises(CorpusError) as caught:
        write(corpus, tmp_path / name)
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_not_written_over_files(tmp_path):
    (tmp_path / "old").write_text("")
    with pytest.raises(CorpusError, match="expected a new or an empty folder, found files"):
        write(Corpus.from_texts(["a"], [[]]), tmp_path, format="folder")


def test_jsonl_keeps_letters_readable(tmp_path):
    write(Corpus.from_texts(["Tšehov"], [["kissat"]]), tmp_path / "o.jsonl")
    line = (tmp_path / "o.jsonl").read_text(encoding="utf-8")
    assert "Tšehov" in line
    assert json.loads(line) == {"id": "0", "text": "Tšehov", "labels": ["kissat"]}


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"`format` must be one of jsonl, tsv, .*; got 'xls'"):
        read(tmp_path, format="xls")
