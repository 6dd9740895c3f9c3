"""`manylabel train`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from manylabel.models import MODELS
from manylabel.tagger import Tagger

COMMAND = [sys.executable, "-m", "manylabel.cli"]


def test_a_corpus_of_texts_becomes_a_model(call, texts, tmp_path):
    called = call("train", texts, "-o", tmp_path / "model", "--model", "lcif", "--set", "k=2")
    assert (called.code, called.out) == (0, "")
    for phase in ("Read 3 documents with 3 labels", "Counted words", "Trained lcif", "Peak memory"):
        assert phase in called.err
    assert f"manylabel predict {tmp_path / 'model'} FILE" in called.err
    tagger = Tagger.load(tmp_path / "model")
    assert tagger.n_documents == 3
    assert tagger.suggest("a cat sleeps", top=1).labels == ["cats"]


def test_the_outcome_as_data(call, texts, tmp_path):
    called = call("train", texts, "-o", tmp_path / "m", "--json", "--quiet", "--model", "br-knn")
    found = called.json
    assert called.err == ""
    assert (found["model"], found["documents"], found["labels"]) == ("br-knn", 3, 3)
    assert list(found["seconds"]) == ["read", "vectorize", "train", "save"]
    assert found["bytes"] > 0
    assert found["peak_memory_bytes"] > 0


def test_a_corpus_of_features_becomes_a_model(call, rows, tmp_path):
    assert call("train", rows, "-o", tmp_path / "m", "--model", "lcif", "--set", "k=1").code == 0
    found = call("predict", tmp_path / "m", rows, "--top", 1).out.splitlines()
    assert found[1].startswith('{"id": "1", "labels": [{"label": "1", "score": 0.9')


@pytest.mark.parametrize(
    ("setting", "value"),
    [("k=7", 7), ("lam=0.25", 0.25), ("weighting=null", None), ("threshold=top", "top")],
)
def test_settings_are_read_as_json_or_else_as_text(call, texts, tmp_path, setting, value):
    called = call("train", texts, "-o", tmp_path / "m", "--model", "lcif", "--set", setting, "-q")
    assert called.code == 0
    assert Tagger.load(tmp_path / "m").parameters == {setting.partition("=")[0]: value}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--set", "aplha=1"], 1, "lcif has no parameter 'aplha'; did you mean alpha"),
        (["--set", "k"], 2, "--set k must be NAME=VALUE, such as k=50."),
        (["--set", "k=many"], 1, "--set k must be"),
        (["--model", "lcfi"], 1, "unknown model 'lcfi'; did you mean lcif?"),
        (["--language", "xx"], 1, "--language must be a code with stop words (da, de, en"),
        (["--ngrams", "few"], 2, "--ngrams must be a range such as 1-2; got few."),
        (["--format", "xc"], 1, "expected a header of three whole numbers"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(call, texts, tmp_path, arguments, code, message):
    model = [] if "--model" in arguments else ["--model", "lcif"]
    called = call("train", texts, "-o", tmp_path / "model", "-q", *model, *arguments)
    assert called.code == code
    assert message in called.err
    assert called.err.count("\n") == 1
    assert not (tmp_path / "model").exists()


def test_options_decide_what_a_word_is(call, texts, tmp_path):
    def known(text, *options):
        train = ("train", texts, "-o", tmp_path / "m", "--model", "lcif", "-q", "--force")
        assert call(*train, *options).code == 0
        return len(Tagger.load(tmp_path / "m").suggest(text)) > 0

    assert known("barking")
    assert not known("barking", "--language", "none")
    assert not known("barking", "--stemming", "none")
    assert not known("the", "--language", "english")
    assert known("the", "--stop-words", "none")
    assert not known("dog", "--min-df", 2)
    assert not known("cat", "--max-df", 1)
    assert known("xxbarxx", "--char-ngrams", "3-3")
    assert not known("dog", "--ngrams", "2-2")


def test_labels_may_have_names_and_texts_may_be_left_out(call, texts, tmp_path):
    names = tmp_path / "names.tsv"
    names.write_text("cats\tFeline animals\n")
    train = ("train", texts, "-o", tmp_path / "m", "--model", "lcif")
    assert call(*train, "--label-info", names, "--keep-snippets").code == 0
    found = call("predict", tmp_path / "m", "--text", "my cat", "--top", 1).json
    assert found["labels"][0]["name"] == "Feline animals"


def test_a_place_that_is_taken_is_refused_before_training(call, texts, tmp_path, monkeypatch):
    monkeypatch.setattr("manylabel.corpus.read", None)
    full, file = tmp_path / "full", tmp_path / "file"
    full.mkdir()
    (full / "other").touch()
    file.touch()
    for place, message in [
        (full, f"{full} is not empty and not a model; choose a new folder."),
        (file, f"{file} is a file; choose a new folder."),
        (file / "m", f"{file} cannot be written (Not a directory); choose another folder."),
    ]:
        called = call("train", texts, "-o", place)
        assert (called.code, called.err) == (1, f"manylabel: {message}\n")
    assert call("train", texts, "-o", "-").code == 2


def test_a_model_is_replaced_only_by_force(call, texts, tmp_path):
    train = ("train", texts, "-o", tmp_path / "m", "-q", "--model")
    assert call(*train, "lcif").code == 0
    called = call(*train, "br-knn")
    assert called.code == 1
    assert (
        "already contains a model; choose another folder, or give --force to replace it."
        in called.err
    )
    assert Tagger.load(tmp_path / "m").model_name == "lcif"
    assert call(*train, "br-knn", "--force").code == 0
    assert Tagger.load(tmp_path / "m").model_name == "br-knn"


def test_the_same_seed_gives_the_same_answers(call, texts, tmp_path):
    answers = []
    for name in ("a", "b"):
        assert call("train", texts, "-o", tmp_path / name, "--model", "flat-lda", "-q").code == 0
        answers.append(call("predict", tmp_path / name, "--text", "the dog barks").out)
    assert answers[0] == answers[1]


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("line", ["Read 489", "Counted words", "Trained"])
def test_control_c_leaves_nothing_half_written(catalogue, tmp_path, line):
    process = subprocess.Popen(
        [*COMMAND, "train", catalogue / "train.jsonl", "-o", tmp_path / "m", "--model", "lcif"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert any(printed.startswith(line) for printed in process.stderr)
    process.send_signal(signal.SIGINT)
    code = process.wait(60)
    assert "Traceback" not in process.stderr.read()
    assert code in (0, 130, -signal.SIGINT)
    if (tmp_path / "m").exists():
        assert Tagger.load(tmp_path / "m").n_documents == 489
    else:
        assert list(tmp_path.iterdir()) == []


def test_the_shell_completes_the_names_of_models():
    words = {"COMP_WORDS": "manylabel train --model lc", "COMP_CWORD": "3"}
    found = subprocess.run(
        COMMAND,
        env=os.environ | words | {"_MANYLABEL_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == [name for name in MODELS if name.startswith("lc")]
