"""Vocabularies from the shell."""

import json

import pytest

from manylabel.cli.app import run

NAMES = "c1\tcats\nc2\tdogs\nc3\tdrones\n"
CORPUS = "".join(
    json.dumps({"id": f"x{i}", "text": f"{verb} {thing}", "labels": [label]}) + "\n"
    for i, (verb, thing, label) in enumerate(
        (verb, thing, label)
        for verb in ("feed", "see", "draw", "own", "lose")
        for thing, label in (("cats", "c1"), ("dogs", "c2"))
    )
)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "names.tsv").write_text(NAMES)
    (tmp_path / "train.jsonl").write_text(CORPUS)
    (tmp_path / "new.txt").write_text("a drone")
    return tmp_path


def predicted(files, capsys):
    capsys.readouterr()
    assert run(["predict", str(files / "model"), str(files / "new.txt"), "--quiet"]) == 0
    return [
        label["label"] for label in json.loads(capsys.readouterr().out.splitlines()[0])["labels"]
    ]


def test_a_vocabulary_alone_makes_a_model(files, capsys):
    model = str(files / "model")
    assert run(["train", "-o", model, "--vocabulary", str(files / "names.tsv"), "--quiet"]) == 0
    assert predicted(files, capsys)[0] == "c3"
    assert run(["evaluate", model, str(files / "train.jsonl"), "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert measured["p@1"] == 1
    assert "psp@1" not in measured
    assert run(["evaluate", model, str(files / "train.jsonl"), "--metrics", "p@1,psp@1"]) == 1
    assert "psp@1 compares with training documents" in capsys.readouterr().err
    assert run(["learn", model, str(files / "train.jsonl"), "--quiet"]) == 0
    assert predicted(files, capsys)[0] == "c3"


def test_labels_without_documents_are_suggested_and_counted(files, capsys):
    model, train = str(files / "model"), str(files / "train.jsonl")
    assert run(["train", train, "-o", model, "--vocabulary", str(files / "names.tsv")]) == 0
    assert predicted(files, capsys)[0] == "c3"
    new = '{"text": "a drone", "labels": ["c3", "c4"]}\n{"text": "cats", "labels": ["c1"]}\n'
    (files / "test.jsonl").write_text(new)
    assert run(["evaluate", model, str(files / "test.jsonl"), "--json"]) == 0
    assert (
        "True labels: 3. Without a training document: 2, of which 1 among the first 10 suggestions "
        "and 1 unknown to the model." in capsys.readouterr().err
    )


def test_a_vocabulary_is_shown_and_replaced(files, capsys):
    model = str(files / "model")
    names = files / "names.tsv"
    assert run(["train", str(files / "train.jsonl"), "-o", model, "--vocabulary", str(names)]) == 0
    capsys.readouterr()
    assert run(["vocabulary", model]) == 0
    assert json.loads(capsys.readouterr().out)["without_documents"] == 1
    assert run(["vocabulary", model, "--table"]) == 0
    assert "3 labels, 1 of them without documents; 3 names" in capsys.readouterr().out
    (files / "more.tsv").write_text("c4\taeroplanes\n")
    (files / "new.txt").write_text("an aeroplane and a drone")
    assert run(["vocabulary", model, str(files / "more.tsv"), "--update"]) == 0
    assert set(predicted(files, capsys)) >= {"c3", "c4"}
    (files / "other.tsv").write_text("c1\tfelines\nc2\tdogs\n")
    (files / "new.txt").write_text("a feline and a drone")
    assert run(["vocabulary", model, str(files / "other.tsv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["names"] == 2
    assert "c1" in predicted(files, capsys)


def test_neither_a_corpus_nor_a_vocabulary(files, capsys):
    assert run(["train", "-o", str(files / "model")]) == 2
    assert "give CORPUS, --vocabulary, or both." in capsys.readouterr().err


def test_a_vocabulary_of_other_labels(files, capsys):
    (files / "names.tsv").write_text("http://ex.org/1\tcats\n")
    arguments = ["train", str(files / "train.jsonl"), "-o", str(files / "model"), "--vocabulary"]
    assert run([*arguments, str(files / "names.tsv"), "--quiet"]) == 1
    assert "none of the documents' labels" in capsys.readouterr().err
