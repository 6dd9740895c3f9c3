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


def test_labels_are_listed_and_edited(model, capsys):
    assert answer(capsys, model).out == "cats\ndogs\tDogs\nkittens\n"
    told = answer(capsys, model, "merge", "cats", "kittens", "felines").err
    assert told == "Merged 2 labels into 'felines': 2 documents.\n"
    assert answer(capsys, model, "rename", "felines", "pets").err == (
        "Renamed 'felines' to 'pets'.\n"
    )
    answer(capsys, model, "rename", "pets", "--name", "Pets")
    answer(capsys, model, "hide", "dogs")
    answer(capsys, model, "add", "horses", "--name", "Horses")
    assert answer(capsys, model).out == "pets\tPets\nhorses\tHorses\n"
    assert answer(capsys, model, "--hidden").out == "dogs\tDogs\n"
    answer(capsys, model, "delete", "horses")
    undone = json.loads(answer(capsys, model, "undo", "--json").out)
    assert (undone["action"], undone["undone"], undone["labels"]) == ("undo", "delete", ["horses"])
    for _ in range(5):
        answer(capsys, model, "undo")
    listed = json.loads(answer(capsys, model, "--json").out)
    assert listed == {"labels": ["cats", "dogs", "kittens"]}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["merge", "cats"], 2, "merge needs labels, and at the end the one to merge them into."),
        (["rename", "cats"], 2, "rename needs a label and the new label, or --name."),
        (["rename", "kats", "x"], 1, "(3 labels known); did you mean 'cats'?"),
        (["undo", "--hidden"], 2, "--hidden is for the list; leave ACTION out."),
        (["mrege", "cats", "x"], 1, "did you mean 'merge'?"),
        (["hide", "cats", "--name", "x"], 1, "--name is for one label that is renamed or added"),
    ],
)
def test_wrong_calls_are_said(model, capsys, arguments, code, message):
    assert run(["labels", model, *arguments]) == code
    assert message in capsys.readouterr().err


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
