"""Ordinary mistakes and ordinary files, at the command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from manylabel import Tagger
from manylabel.cli.compiling import Compiling
from manylabel.kernels import machine_code, warming

KEYWORDS = "Title,Abstract,Keywords,Year\n" + "".join(
    f'T{n},"The {animal} number {n}, asleep.","{animal}s, sleep",1999\n'
    for n, animal in enumerate(["cat", "dog", "cat", "dog"])
)
QUICK = ("--model", "lcif", "--set", "k=2")


@pytest.fixture
def keywords(tmp_path) -> Path:
    path = tmp_path / "keywords.csv"
    path.write_text(KEYWORDS)
    return path


def test_a_spreadsheet_becomes_a_model_and_is_tagged(call, keywords, tmp_path):
    trained = call("train", keywords, "-o", tmp_path / "model", *QUICK)
    assert trained.code == 0
    assert "Detected: text from 'Abstract', title from 'Title', labels from" in trained.err
    assert "Ignored columns: Year." in trained.err
    assert "Read 4 documents with 3 labels" in trained.err
    found = call("predict", tmp_path / "model", keywords, "--top", "2")
    labels = [json.loads(line)["labels"] for line in found.out.splitlines()]
    assert [{label["label"] for label in labels[row]} for row in (0, 1)] == [
        {"cats", "sleep"},
        {"dogs", "sleep"},
    ]
    shown = call("predict", tmp_path / "model", "--text", "a dog", "--to", "table", "--top", "1")
    assert "dogs" in shown.out
    assert "━" in shown.out


def test_options_name_columns_and_errors_name_options(call, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Inhalt,Schlagwort,Jahr\nEine Katze,Katzen,1\nEin Hund,Hunde,2\n")
    called = call("stats", path)
    assert called.code == 1
    assert "name the columns with --text-column and --label-column." in called.err
    called = call(
        "stats", path, "--text-column", "Inhalt", "--label-column", "Schlagwort", "--json"
    )
    assert called.json["labels"] == 2
    called = call("stats", path, "--text-column", "Inhalte")
    assert "--text-column is 'Inhalte', but there is no such column; the" in called.err
    assert "Did you mean 'Inhalt'?" in called.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["convert", "IN", "t.xyz"], "mulan, meka, folder as --to."),
        (["convert", "IN", "t.jsonl", "--to-separator", ","], "--to-separator is an option for"),
        (["convert", "IN", "t.jsonl", "--zero-based"], "--zero-based is an option for svmlight"),
        (["tune", "IN", "-o", "m", *QUICK, "--held-out", "2"], "--held-out must be a share"),
        (["train", "IN", "-o", "m", *QUICK[:3], "k=0"], "--set k must be a whole number of at"),
        (["train", "IN", "-o", "m", "--language", "xx"], "or none; got 'xx'."),
    ],
)  # fmt: skip
def test_errors_speak_of_options(call, keywords, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    called = call(*(keywords if argument == "IN" else argument for argument in arguments))
    assert called.code == 1
    assert sentence in called.err
    assert "`" not in called.err


@pytest.mark.slow
def test_tables_are_for_terminals_and_json_lines_for_pipes(
    call, catalogue, keywords, tmp_path, monkeypatch
):
    rows = [tmp_path / "train.txt", tmp_path / "test.txt"]
    for path in rows:
        path.write_text("20 2 2\n" + "0 0:1\n1 1:1\n" * 10)
    for command in (
        ("evaluate", catalogue / "model", catalogue / "test.jsonl", "--metrics", "p@1"),
        ("explain", catalogue / "model", "--text", "a ship in the ice"),
        ("stats", keywords),
        ("next", catalogue / "model", catalogue / "test.jsonl", "-n", "1"),
        ("doctor",),
        ("compare", *rows, "--models", "instance-knn", "--metrics", "p@1", "--jobs", "1"),
    ):
        quiet = () if command[0] == "doctor" else ("-q",)
        piped = call(*command, *quiet).out
        assert piped.count("\n") == 1
        assert json.loads(piped)
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        shown = call(*command, *quiet).out
        monkeypatch.undo()
        assert shown.count("\n") > 5
        assert "{" not in shown


def test_one_of_a_thing_is_singular(call, tmp_path):
    path = tmp_path / "one.jsonl"
    path.write_text('{"text": "a cat asleep", "labels": ["cats"]}\n')
    called = call("train", path, "-o", tmp_path / "m", *QUICK[:3], "k=1")
    assert "Read 1 document with 1 label in" in called.err
    heard = [called.err]
    for command in (
        ("audit", path, "--table"),
        ("next", tmp_path / "m", path, "-o", tmp_path / "next.jsonl"),
        ("stats", path, "--table"),
        ("check", tmp_path / "m"),
        ("compact", tmp_path / "m"),
        ("vocabulary", tmp_path / "m"),
        ("convert", path, tmp_path / "one.txt"),
        ("learn", tmp_path / "m", "--text", "a dog", "--label", "dogs"),
        ("predict", tmp_path / "m", path, "-o", tmp_path / "found.jsonl"),
    ):
        called = call(*command)
        heard.append(called.out + called.err)
    assert not re.search(r"(?<![\d.,])1 [a-z]+s\b", "\n".join(heard))


def test_nothing_to_compare_with_is_an_error(call, catalogue, tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "a ship"}\n')
    called = call("evaluate", catalogue / "model", path)
    assert called.code == 1
    assert "no document has a label" in called.err


def test_a_reader_of_the_first_line_is_content(catalogue, tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "a ship in the ice"}\n' * 3000)
    process = subprocess.Popen(
        [sys.executable, "-m", "manylabel.cli", "predict", catalogue / "model", path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 0


@pytest.mark.skipif(os.name != "posix", reason="/proc is read-only for everybody")
def test_a_place_that_cannot_be_written_is_refused_before_training(call, keywords):
    called = call("train", keywords, "-o", "/proc/model", *QUICK)
    assert called.code == 1
    assert called.err.startswith("manylabel: /proc cannot be written (")
    assert called.err.endswith("choose another folder.\n")


def test_percentages_are_for_probabilities():
    from manylabel.cli.tables import answers_table
    from manylabel.rendering import as_text
    from manylabel.tagger.suggestions import Suggestion, Suggestions

    found = Suggestions([Suggestion("c1", 0.873, "cats")], id="doc")
    assert as_text(answers_table(found, True)).split() == ["doc", "87", "%", "cats", "c1", "━" * 16]
    assert "0.873" in as_text(answers_table(found, False))
    assert "no label fits" in as_text(answers_table(Suggestions([], id="doc"), True))


def test_compiling_says_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setattr(machine_code, "is_kept", lambda name, types: name == "votes.propose")
    names = [name for name in warming._read()["commands"]["predict"] if name != "votes.propose"]
    total = len(names)
    assert total > 3
    clock = iter([0.0, 1.0, *[2.9] * (total - 3), 3.0, 9.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    told = Compiling(["predict", "model", "--text", "train"])
    for name in (*names, "trees_score.score"):
        told(name)
    assert capsys.readouterr().err.splitlines() == [
        f"Compiling kernels, once after an installation or update: {place}"
        for place in (f"1 of {total}", f"{total} of {total}", f"{total + 1}")
    ]
    monkeypatch.setattr("time.monotonic", lambda: 0.0)
    Compiling(["stats", "t.jsonl"])("measures.f1")
    assert capsys.readouterr().err.endswith("update: 1\n")
    Compiling(["train", "t.jsonl", "-o", "model", "--quiet"])("search.merge")
    assert capsys.readouterr().err == ""


def test_the_doctor_says_what_is_here(call, monkeypatch):
    monkeypatch.setenv("MANYLABEL_TOKEN", "secret")
    shown = call("doctor", "--table")
    assert shown.code == 0
    assert "secret" not in shown.out
    found = call("doctor", "--json").json
    assert set(found) == {"manylabel", "packages", "kernels", "settings"}
    assert Path(found["kernels"]["cached in"]).is_dir()
    n_compiled, n_files = map(int, found["kernels"]["compiled"].split()[0:3:2])
    assert 0 < n_compiled <= n_files
    assert found["settings"]["MANYLABEL_TOKEN"] == "set"


def test_labels_go_into_tables_that_spreadsheets_open(call, keywords, tmp_path):
    model = tmp_path / "model"
    call("train", keywords, "-o", model, *QUICK)
    assert call("predict", model, keywords, "--top", "1", "-o", tmp_path / "l.csv").code == 0
    first, second = (tmp_path / "l.csv").read_text().splitlines()[:2]
    assert first == "id,label,score"
    assert second.startswith("0,cats,")
    for command in ("predict", "next"):
        refused = call(command, model, keywords, "-o", tmp_path / "l.xlsx")
        assert refused.code == 1
        assert "cannot write .xlsx files; write .csv or" in refused.err
        assert not (tmp_path / "l.xlsx").exists()


def test_a_missing_model_is_spoken_of_as_in_a_shell(call, tmp_path):
    missing = call("predict", tmp_path / "none", "--text", "a cat")
    assert "no such folder; give a model folder, as `manylabel train` or" in missing.err


@pytest.fixture
def words(tmp_path):
    """A vocabulary in which two labels have the same name."""
    path = tmp_path / "words.csv"
    rows = ["http://x.org/1,cats", "http://x.org/2,dogs", "http://x.org/3,bats"]
    path.write_text("\n".join(["uri,label_en", *rows, "http://x.org/4,bats"]) + "\n")
    return path


def test_documents_may_have_names_of_labels(call, words, tmp_path):
    books = tmp_path / "books.csv"
    books.write_text("text,labels\nThe cat purrs,Cats\nThe dog barks,dogs\nBoth,cats;dogs\n")
    model = tmp_path / "m"
    trained = call("train", books, "-o", model, "--vocabulary", words)
    assert trained.code == 0
    told = "Detected: 3 labels are names in the vocabulary, such as 'Cats' for http://x.org/1.\n"
    assert told in trained.err
    assert Tagger.load(model).document("2").labels == ["http://x.org/1", "http://x.org/2"]
    evaluated = call("evaluate", model, books, "--metrics", "p@1", "--json")
    assert "Detected: 3 labels are names" in evaluated.err
    assert json.loads(evaluated.out)["p@1"] > 0
    learned = call("learn", model, "--text", "A cat sleeps", "--label", "cats", "--id", "c")
    assert "Detected: 1 label is a name in the vocabulary" in learned.err
    assert Tagger.load(model).document("c").labels == ["http://x.org/1"]


def test_names_that_do_not_identify_a_label_are_refused(call, words, tmp_path):
    books = tmp_path / "books.csv"
    books.write_text("text,labels\nThe bat flies,Bats\n")
    refused = call("train", books, "-o", tmp_path / "m", "--vocabulary", words)
    assert refused.code == 1
    assert "use 'http://x.org/3' or 'http://x.org/4' instead of 'Bats'." in refused.err
    assert call("train", "-o", tmp_path / "m", "--vocabulary", words, "--quiet").code == 0
    unknown = call("predict", tmp_path / "m", "--text", "a cat", "--exclude", "cats")
    assert "unknown label 'cats' in --exclude (4 labels known); did you mean" in unknown.err
    assert unknown.err.endswith("'http://x.org/1'?\n")


def test_wrong_parameters_are_refused_before_the_corpus_is_read(call, tmp_path):
    missing = tmp_path / "missing.csv"
    for options in (["--effort", "quik"], ["--set", "k=0"], ["--set", "threshold=none"]):
        refused = call("train", missing, "-o", tmp_path / "m", *options)
        assert refused.code == 1
        assert "missing.csv" not in refused.err
        assert "must be" in refused.err
    tuned = call("tune", missing, "-o", tmp_path / "m", "--model", "lcif", "--set", "k=0")
    assert "--set k must be a whole number of at least 1; got 0." in tuned.err


def test_values_of_options_are_refused_in_plain_words(call, tmp_path):
    number = call("predict", tmp_path, "--text", "a", "--top", "many").err
    assert "Input should be" not in number
    assert ". Try: manylabel predict --help" in number
    few = call("compare", tmp_path, "--models", "lcif", "--folds", "1").err
    assert "Input should be" not in few
    form = call("predict", tmp_path, "--text", "a", "--to", "xml").err
    assert "'--to': 'xml' is not one of 'jsonl', 'tsv', 'csv', 'xc', 'table'." in form
