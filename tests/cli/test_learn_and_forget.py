"""`manylabel learn`, `forget` and `compact`: a model folder that changes."""

from __future__ import annotations

import json

import pytest

from manylabel.tagger import Tagger


def best(call, model, text):
    return call("predict", model, "--text", text, "--top", 1).json["labels"][0]["label"]


def test_a_text_is_known_at_the_next_call(call, model):
    called = call(
        "learn", model, "--text", "Zebras that sail", "--label", "zebras", "--label", "ships",
        "--id", "x1",
    )  # fmt: skip
    assert (called.code, called.out) == (0, "")
    assert called.err.startswith("Learned 1 document, 2 new labels.")
    assert best(call, model, "Zebras sail") in ("zebras", "ships")
    assert Tagger.load(model).document("x1").labels == ["ships", "zebras"]


def test_a_corpus_is_learned_and_replaces_documents_of_the_same_id(call, model, tmp_path):
    path = tmp_path / "more.jsonl"
    path.write_text('{"id": "x1", "text": "cats sail", "labels": ["cats at sea"]}\n')
    assert call("learn", model, path, "--json").json["new_labels"] == ["cats at sea"]
    again = call("learn", model, path, "--json").json
    assert (again["learned"], again["replaced"]) == (["x1"], ["x1"])
    assert Tagger.load(model).n_documents == 490


def test_a_corpus_may_come_from_standard_input(call, model, feed):
    feed(b'{"text": "cats sail", "labels": ["cats at sea"]}\n')
    assert call("learn", model, "-", "-q").code == 0
    assert "cats at sea" in Tagger.load(model).labels


def test_after_an_error_nothing_is_learned(call, model, tmp_path):
    path = tmp_path / "more.jsonl"
    path.write_text('{"text": "cats sail", "labels": ["a"]}\noops\n')
    called = call("learn", model, path)
    assert called.code == 1
    assert f"{path}, line 2" in called.err
    assert Tagger.load(model).n_documents == 489


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either CORPUS or --text."),
        (["x.jsonl", "--text", "x"], "give either CORPUS or --text."),
        (["x.jsonl", "--label", "x"], "--label and --id need --text."),
    ],
)
def test_wrong_calls_of_learn(call, model, arguments, message):
    called = call("learn", model, *arguments)
    assert called.code == 2
    assert message in called.err


def test_models_that_cannot_learn_say_what_to_do(call, texts, tmp_path):
    assert call("train", texts, "-o", tmp_path / "m", "--model", "svm", "-q").code == 0
    called = call("learn", tmp_path / "m", "--text", "a dog", "--label", "dogs")
    assert called.code == 1
    assert "svm cannot learn single documents; fit it again" in called.err


def test_documents_are_forgotten(call, model):
    first, second = (Tagger.load(model)._fitted().documents.id(number) for number in (0, 1))
    called = call("forget", model, first, second)
    assert (called.code, called.out) == (0, "")
    assert called.err.startswith("Forgot 2 documents.")
    assert Tagger.load(model).n_documents == 487
    assert call("forget", model, first).err == f"manylabel: no document has the id {first!r}.\n"


def test_ids_may_come_from_standard_input(call, model, feed, catalogue):
    lines = (catalogue / "train.jsonl").read_text().splitlines()[:3]
    ids = [json.loads(line)["id"] for line in lines]
    feed("".join(f"{name}\n" for name in ids).encode())
    assert call("forget", model, "-", "--json").json["forgotten"] == ids
    feed(b"\n")
    assert call("forget", model, "-").code == 2


def test_one_unknown_id_and_nothing_is_forgotten(call, model, catalogue):
    known = json.loads((catalogue / "train.jsonl").read_text().splitlines()[0])["id"]
    assert call("forget", model, known, "unknown").code == 1
    assert Tagger.load(model).n_documents == 489


def test_compacting_keeps_what_was_learned(call, model):
    assert call("learn", model, "--text", "Zebras", "--label", "zebras", "-q").code == 0
    called = call("compact", model)
    assert (called.code, called.out) == (0, "")
    assert f"{model}: 490 documents, 131 labels, " in called.err
    assert call("compact", model, "--json").json["documents"] == 490
    assert best(call, model, "a ship") == "Sea and sailing"


def test_models_that_cannot_learn_are_retrained_on_request(call, texts, tmp_path):
    assert call("train", texts, "-o", tmp_path / "m", "--model", "svm", "-q").code == 0
    assert call("forget", tmp_path / "m", "c", "-q").code == 0
    assert call("compact", tmp_path / "m", "--retrain", "--json").json["documents"] == 2


@pytest.mark.parametrize("command", ["compact", "forget", "learn"])
def test_what_is_no_model_is_refused(call, tmp_path, command):
    more = {"compact": [], "forget": ["x"], "learn": ["--text", "x"]}[command]
    called = call(command, tmp_path / "nowhere", *more)
    assert called.code == 1
    assert called.err.startswith(f"manylabel: {tmp_path / 'nowhere'}")
    assert called.err.count("\n") == 1


def test_a_lost_journal_is_told_and_can_be_given_up(call, model):
    assert call("learn", model, "--text", "Zebras", "--label", "zebras", "--id", "x1").code == 0
    for path in model.glob("journal.sqlite*"):
        path.unlink()
    for command in (["predict", model, "--text", "x"], ["forget", model, "x1"], ["compact", model]):
        called = call(*command)
        assert (called.code, called.out) == (1, "")
        assert called.err == (
            f"manylabel: {model}/journal.sqlite: 1 change that was made since the model was saved "
            "is lost: the journal should have 1 entry and has none; restore the folder from a "
            "backup, or continue without it: manylabel compact MODEL --without-journal.\n"
        )
    called = call("compact", model, "--without-journal")
    assert called.code == 0
    assert called.err.startswith("1 change in the journal is lost.\n")
    assert call("learn", model, "--text", "Zebras", "--label", "zebras", "--id", "x1").code == 0
    assert Tagger.load(model).n_documents == 490


def test_forgetting_can_be_seen(call, model):
    text = "Quillfeather sold eleven xylophones to Prendergast"
    call("learn", model, "--text", text, "--label", "zebras", "--id", "x1")
    assert b"xylophones" in b"".join(path.read_bytes() for path in model.glob("journal.sqlite*"))
    called = call("forget", model, "x1", "--verify")
    assert called.code == 0
    assert called.err.endswith(
        "Searched every file and the vocabulary: no traces of the texts remain.\n"
    )
    assert not any(b"xylophones" in p.read_bytes() for p in model.rglob("*") if p.is_file())
    call("learn", model, "--text", text, "--label", "zebras", "--id", "x1")
    (model / "notes.txt").write_text(f"I once read that {text}.")
    called = call("forget", model, "x1", "--verify")
    assert called.code == 1
    assert 'remain (notes.txt: "Quillfeather sold eleven")' in called.err
