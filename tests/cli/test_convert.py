"""`manylabel convert`."""

from __future__ import annotations

import pytest

from manylabel.corpus import Corpus, read

TEXTS = ("jsonl", "tsv", "csv", "folder")
FEATURES = ("xc", "svmlight", "mulan", "meka")


@pytest.mark.parametrize("kind", TEXTS)
def test_texts_survive_every_format_of_texts(call, texts, tmp_path, kind):
    out, back = tmp_path / "out", tmp_path / "back.jsonl"
    assert call("convert", texts, out, "--to", kind).code == 0
    assert call("convert", out, back, "--from", kind).code == 0
    assert back.read_text() == texts.read_text()


@pytest.mark.parametrize("kind", FEATURES)
def test_features_survive_every_format_of_features(call, rows, tmp_path, kind):
    (tmp_path / "new").mkdir()
    out, back = tmp_path / "new" / "out", tmp_path / "new" / "back.txt"
    assert call("convert", rows, out, "--to", kind).code == 0
    assert call("convert", out, back, "--from", kind).code == 0
    assert back.read_text() == rows.read_text()


@pytest.mark.parametrize("kind", FEATURES)
def test_words_are_counted_on_the_way_to_features(call, texts, tmp_path, kind):
    out = tmp_path / "out.arff"
    called = call("convert", texts, out, "--to", kind, "--min-df", "2")
    assert called.err == (
        "Counting the words of 3 texts ...\n"
        f"Wrote 3 documents, 2 features and 3 labels to {out} ({kind}).\n"
    )
    found = read(out, kind)
    assert found.feature_names == ["cat", "the"]
    assert found.X.toarray().tolist() == [[1, 2], [1, 2], [0, 0]]
    assert found.label_names == ["cats", "dogs", "sleep"]


def test_features_have_no_way_back_to_texts(call, rows, tmp_path):
    called = call("convert", rows, tmp_path / "out.jsonl")
    assert called.code == 1
    assert "this format stores texts, but the corpus has only features" in called.err
    assert list(tmp_path.iterdir()) == [rows]


def test_dash_is_standard_output(call, texts):
    called = call("convert", texts, "-", "--to", "jsonl")
    assert called.out == texts.read_text()
    assert called.err == "Wrote 3 documents, texts and 3 labels to standard output (jsonl).\n"
    assert call("convert", texts, "-", "--to", "jsonl", "-q").err == ""


def test_standard_output_has_no_ending_that_tells_the_format(call, texts):
    called = call("convert", texts, "-")
    assert called.code == 2
    assert "give --to FORMAT" in called.err


def test_the_ending_tells_the_compression(call, texts, tmp_path):
    for ending in (".gz", ".bz2", ".xz"):
        out = tmp_path / f"out.jsonl{ending}"
        assert call("convert", texts, out).code == 0
        assert read(out).texts == read(texts).texts


def test_nothing_is_overwritten_unless_told(call, texts, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("precious")
    called = call("convert", texts, out)
    assert called.code == 1
    assert called.err == f"manylabel: {out} exists; choose another name or give --force.\n"
    assert out.read_text() == "precious"
    assert call("convert", texts, out, "--force").code == 0
    assert len(read(out)) == 3


def test_the_corpus_itself_is_not_overwritten_unless_told(call, texts):
    before = texts.read_text()
    called = call("convert", texts, texts)
    assert called.code == 1
    assert f"{texts} is the corpus to convert; choose another name" in called.err
    assert call("convert", texts, texts, "--force").code == 0
    assert texts.read_text() == before


def test_the_xml_of_mulan_is_not_overwritten_unless_told(call, rows, tmp_path):
    (tmp_path / "out.xml").write_text("precious")
    called = call("convert", rows, tmp_path / "out.arff")
    assert called.code == 1
    assert "out.xml exists" in called.err


def test_a_folder_with_files_is_never_replaced(call, texts, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious.txt").write_text("precious")
    assert call("convert", texts, tmp_path / "out").code == 1
    assert call("convert", texts, tmp_path / "out", "--force").code == 1
    assert (tmp_path / "out" / "precious.txt").read_text() == "precious"


def test_an_interrupted_call_leaves_the_old_file(call, texts, tmp_path, monkeypatch):
    def interrupted(self):
        yield ["cats"]
        raise KeyboardInterrupt

    out = tmp_path / "out.jsonl"
    out.write_text("precious")
    monkeypatch.setattr(Corpus, "label_lists", interrupted)
    assert call("convert", texts, out, "--force").code == 130
    assert out.read_text() == "precious"
    assert sorted(tmp_path.iterdir()) == sorted([out, texts])


def test_separators_of_both_sides_can_be_told(call, tmp_path):
    path, out = tmp_path / "pets.tsv", tmp_path / "pets.csv"
    path.write_text("my cat\tcats|pets\n")
    assert call("convert", path, out, "--separator", "|", "--to-separator", ",").code == 0
    assert out.read_text() == '"text","labels"\n"my cat","cats,pets"\n'
