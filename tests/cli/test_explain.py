"""`manylabel explain`."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest

from manylabel.corpus import load_catalogue
from manylabel.tagger import Tagger
from manylabel.tagger.display import AGAINST, FOR, SCALE

TEXT = "A ship sails into the ice of the north"


def test_reasons_are_shown_in_eighty_columns(call, catalogue):
    called = call("explain", catalogue / "model", "--text", TEXT, "--top", 2, "--table")
    assert (called.code, called.err) == (0, "")
    assert max(map(len, called.out.splitlines())) <= 80
    assert called.out.startswith(TEXT)
    best, second = Tagger.load(catalogue / "model").suggest(TEXT, top=2)
    for suggestion in (best, second):
        assert f"{suggestion.label}  {suggestion.score:.4f}" in called.out
    for piece in ("similar documents", "words", " sails", "% similar", "Score", FOR):
        assert piece in called.out


def test_the_shell_says_what_the_page_says():
    page = files("manylabel.web").joinpath("static", "reasons.js").read_text("utf-8")
    page = re.sub(r"\\u(2009|202f)", " ", page).replace("\\u2212", "−")
    for words in (
        FOR,
        AGAINST,
        *SCALE.split(": "),
        "similar document",
        "with this label",
        "Total",
        "similar",
    ):
        assert words in page


def test_reasons_as_data_add_up(call, catalogue):
    (label,) = call("explain", catalogue / "model", "--text", TEXT, "--top", 1, "--json").json[
        "labels"
    ]
    assert sum(part["share"] for part in label["parts"]) == pytest.approx(label["score"])
    assert {word["word"] for word in label["words"]} <= set(TEXT.split())


def test_any_label_can_be_asked_for(call, catalogue):
    labels = [arg for name in ("Cats", "Shipwrecks") for arg in ("--label", name)]
    found = call("explain", catalogue / "model", "--text", TEXT, *labels, "--json").json
    assert [label["label"] for label in found["labels"]] == ["Cats", "Shipwrecks"]
    called = call("explain", catalogue / "model", "--text", TEXT, "--label", "Shipwreck")
    assert called.code == 1
    assert "did you mean 'Shipwrecks'?" in called.err


def test_documents_of_a_file_are_explained_one_after_the_other(call, catalogue, tmp_path):
    file = tmp_path / "few.jsonl"
    file.write_text("".join((catalogue / "test.jsonl").open().readlines()[:3]))
    lines = call("explain", catalogue / "model", file, "--top", 1).out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == load_catalogue("test").ids[:3]
    shown = call("explain", catalogue / "model", file, "--top", 1, "--table").out
    assert f"─ {load_catalogue('test').ids[0]} ─" in shown


def test_unknown_words_have_no_labels(call, catalogue):
    called = call("explain", catalogue / "model", "--text", "xyzzy", "--table")
    assert "No label fits this text." in called.out


def test_models_without_reasons_say_so(call, texts, tmp_path):
    assert call("train", texts, "-o", tmp_path / "m", "--model", "ml-knn", "-q").code == 0
    called = call("explain", tmp_path / "m", "--text", TEXT)
    assert (called.code, called.out) == (1, "")
    assert "ml-knn cannot explain its labels; use a model such as ensemble." in called.err
