"""Labels that are edited from the shell."""

import json

import pytest

from manylabel import Tagger
from manylabel.cli.app import run
from manylabel.vocabulary import Concept, Name, Vocabulary


@pytest.fixture
def model(tmp_path):
    texts, labels = ["a cat", "a kitten", "a dog"], [["cats"], ["kittens"], ["dogs"]]
    tagger = Tagger("lcif", parameters={"k": 2}).fit(texts, labels, label_info={"dogs": "Dogs"})
    tagger.save(tmp_path / "model")
    return str(tmp_path / "model")


def answer(capsys, *arguments):
    assert run(["labels", *arguments]) == 0
    return capsys.readouterr()


def listed(capsys, *arguments):
    """Label to name, from JSON Lines."""
    lines = answer(capsys, *arguments).out.splitlines()
    return {line["label"]: line["name"] for line in map(json.loads, lines)}


def test_labels_are_listed_and_edited(model, capsys):
    assert listed(capsys, model) == {"cats": "cats", "dogs": "Dogs", "kittens": "kittens"}
    shown = [line.split() for line in answer(capsys, model, "--table").out.splitlines()]
    assert shown == [["cats"], ["dogs", "Dogs"], ["kittens"]]
    told = answer(capsys, model, "merge", "cats", "kittens", "--to", "felines").err
    assert told == "Merged 2 labels into 'felines': 2 documents.\n"
    assert answer(capsys, model, "rename", "felines", "pets").err == (
        "Renamed 'felines' to 'pets'.\n"
    )
    answer(capsys, model, "rename", "pets", "--name", "Pets")
    answer(capsys, model, "hide", "dogs")
    answer(capsys, model, "add", "horses", "--name", "Horses")
    assert listed(capsys, model) == {"pets": "Pets", "horses": "Horses"}
    assert listed(capsys, model, "--hidden") == {"dogs": "Dogs"}
    answer(capsys, model, "delete", "horses")
    undone = json.loads(answer(capsys, model, "undo", "--json").out)
    assert (undone["action"], undone["undone"], undone["labels"]) == ("undo", "delete", ["horses"])
    for _ in range(5):
        answer(capsys, model, "undo")
    assert list(listed(capsys, model, "--json")) == ["cats", "dogs", "kittens"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["merge", "cats"], 2, "merge needs labels, and a target as the last one or as --to."),
        (["rename", "cats"], 2, "rename needs a label and a new label, or a label and --name."),
        (["rename", "kats", "x"], 1, "(3 labels known); did you mean 'cats'?"),
        (["undo", "--hidden"], 2, "--hidden lists labels; leave out ACTION."),
        (["mrege", "cats", "x"], 1, "ACTION must be one of rename, merge,"),
        (["mrege", "cats", "x"], 1, "did you mean 'merge'?"),
        (["hide"], 1, "LABEL is empty: name a label to hide."),
        (["hide", "kats"], 1, "unknown label 'kats' (3 labels known); did you mean 'cats'?"),
        (["add", "cats"], 1, "the label 'cats' already exists; choose another."),
        (["rename", "cats", "--to", "dogs"], 1, "--to is an existing label, 'dogs'; merge"),
        (["rename", "cats", "cats"], 1, "--to is the label itself, 'cats'; give another."),
        (["hide", "cats", "--to", "dogs"], 1, "--to is for 'rename' and 'merge', not for 'hide'"),
        (["hide", "cats", "--name", "x"], 1, "--name needs exactly one label to rename or add"),
    ],
)
def test_wrong_calls_are_said(model, capsys, arguments, code, message):
    assert run(["labels", model, *arguments]) == code
    said = capsys.readouterr().err
    assert message in said
    assert "`" not in said


def test_collections_are_excluded_and_hidden(tmp_path, capsys):
    names = [
        Concept("c1", [Name("cats")], collections=["animals"]),
        Concept("c2", [Name("ships")]),
    ]
    Tagger(vocabulary=Vocabulary(names)).fit().save(tmp_path / "m")
    model = str(tmp_path / "m")

    def found(*options):
        text = ["--text", "Cats on ships", "--quiet", *options]
        assert run(["predict", model, *text]) == 0
        return [one["label"] for one in json.loads(capsys.readouterr().out)["labels"]]

    assert sorted(found()) == ["c1", "c2"]
    assert found("--exclude", "animals") == ["c2"]
    assert found("--include", "animals") == ["c1"]
    answer(capsys, model, "hide", "animals")
    assert found() == ["c2"]
