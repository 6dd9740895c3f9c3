"""`manylabel stats`."""

from __future__ import annotations

import io
import sys

import pytest

from manylabel.cli.stats import MEANINGS
from manylabel.corpus import load_catalogue


def test_features_are_described(call, rows):
    called = call("stats", rows, "--json")
    assert (called.code, called.err) == (0, "")
    figures = called.json
    assert [figures[name] for name in ("documents", "features", "labels")] == [3, 4, 2]
    assert figures["label-cardinality"] == 1.0
    assert figures["feature-cardinality"] == pytest.approx(4 / 3)


def test_words_of_texts_are_counted_first(call, texts):
    called = call("stats", texts, "--json")
    assert called.err == "Counting the words of 3 texts ...\n"
    assert called.json["features"] == 10
    assert call("stats", texts, "--json", "--quiet").err == ""


def test_options_decide_which_words_are_counted(call, texts):
    def n_features(*options):
        return call("stats", texts, "--json", *options).json["features"]

    assert n_features("--stop-words", "english") == 6
    assert n_features("--min-df", "2") == 2
    assert n_features("--min-df", "0.5") == 2
    assert n_features("--stemming", "english") == 10


def test_the_table_has_every_figure_with_its_meaning(call, texts):
    figures = load_catalogue("test").statistics().to_dict()
    assert sorted(figures) == sorted(name for part in MEANINGS.values() for name in part)
    lines = call("stats", texts, "--table").out.splitlines()
    assert str(texts.name) in "".join(lines[:3])
    assert max(map(len, lines)) <= 80
    for name in figures:
        assert any(line.split()[:1] == [name] for line in lines)


def test_dash_is_standard_input(call, texts, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(texts.read_bytes())))
    called = call("stats", "-", "--table")
    assert called.code == 0
    assert called.out.startswith("standard input")


def test_label_names_make_the_vocabulary(call, texts, tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("cats\ndogs\nsleep\nbirds\n")
    assert call("stats", texts, "--json", "--labels", names).json["labels-without-documents"] == 1


def test_tables_may_have_other_separators(call, tmp_path):
    path = tmp_path / "pets.tsv"
    path.write_text("my cat\tcats|pets\n")
    assert call("stats", path, "--json", "--separator", "|").json["labels"] == 2


def test_svmlight_may_count_features_from_one(call, tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("0 1:1 3:1\n")
    assert call("stats", path, "--json").json["features"] == 3
    assert call("stats", path, "--json", "--zero-based").json["features"] == 4


def test_the_format_can_be_told(call, rows):
    called = call("stats", rows, "--format", "jsonl")
    assert called.code == 1
    assert "expected a JSON object" in called.err


def test_distributions_are_drawn(call, texts, tmp_path):
    pytest.importorskip("matplotlib")
    called = call("stats", texts, "--plot", tmp_path / "pets.svg")
    assert called.code == 0
    for name in ("pets-label-frequencies.svg", "pets-labels-per-document.svg"):
        assert "<svg" in (tmp_path / name).read_text()
        assert name in called.err
