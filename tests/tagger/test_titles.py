"""Titles are read as the beginning of their texts."""

import json

import pytest

from manylabel import Tagger
from manylabel.corpus import Corpus, read

TITLES = ["Penguins", "Whales", "Penguins of the south", "Whales at sea"] * 5
TEXTS = ["They live far away.", "They are large.", "They walk on ice.", "They swim."] * 5
LABELS = [["birds"], ["mammals"]] * 10


@pytest.fixture
def path(tmp_path):
    with (tmp_path / "train.jsonl").open("w") as file:
        for number, (title, text, labels) in enumerate(zip(TITLES, TEXTS, LABELS, strict=True)):
            record = {"id": f"d{number}", "title": title, "text": text, "labels": labels}
            file.write(json.dumps(record) + "\n")
    return tmp_path / "train.jsonl"


@pytest.mark.parametrize("model", ["lcif", "ensemble"])
def test_a_model_of_titles_knows_penguins(path, model):
    tagger = Tagger(model).fit(path)
    assert tagger.suggest("a penguin", top=1).labels == ["birds"]
    assert tagger.document("d0").text == "Penguins\nThey live far away."


def test_titles_count_when_a_corpus_is_asked_about_or_learned(path):
    tagger = Tagger("lcif").fit(path)
    asked = Corpus.from_texts(["They are here."], [["birds"]], ["x"], titles=["Penguins"])
    assert tagger.suggest(asked, top=1)[0].labels == ["birds"]
    assert tagger.evaluate(asked, metrics=["p@1"])["p@1"] == 1
    tagger.learn(Corpus.from_texts(["Seen."], [["horses"]], ["z"], titles=["Zebras"]))
    assert tagger.document("z").text == "Zebras\nSeen."


def test_a_text_that_begins_with_its_title_is_left_alone(path):
    corpus = read(path)
    assert corpus.full_texts[0] == "Penguins\nThey live far away."
    same = Corpus.from_texts(corpus.full_texts, LABELS, titles=TITLES)
    assert same.full_texts == corpus.full_texts
