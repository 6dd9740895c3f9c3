"""A scorer in one file, registered in one place, works wherever scorers do."""

import json

import numpy as np
import pytest

from manylabel.cli.app import run
from manylabel.ensemble.scorers import register, unregister
from manylabel.evidence import Reason
from manylabel.predictions import values_at
from manylabel.scoring import Scorer
from manylabel.tagger import Tagger


class TextLength(Scorer):
    """How close a text's length is to the usual length of the label's texts."""

    name = "length"
    title = "usual length"
    sentence = "Texts with the label are about as long as this one."

    def fit(self, training, candidates, held):
        lengths, Y = _lengths(training.documents), training.Y
        self.total, self.count = Y.T @ lengths, np.bincount(Y.indices, minlength=Y.shape[1])
        own = lengths[training.held][held.rows]
        given = values_at(Y[training.held], held.pattern)
        labels = held.labels
        return _closeness(own, self.total[labels] - given * own, self.count[labels] - given)

    def score(self, documents, candidates, n_jobs=None):
        own, labels = _lengths(documents)[candidates.rows], candidates.labels
        return _closeness(own, self.total[labels], self.count[labels])

    def reasons(self, documents, candidates, position):
        return [Reason(self.name, float(self.score(documents, candidates)[position]))]

    def grow(self, n_labels):
        self.total, self.count = (
            np.pad(values, (0, n_labels - values.size)) for values in (self.total, self.count)
        )


def _lengths(documents):
    return np.log1p([len(text) for text in documents.texts])


def _closeness(own, total, count):
    return np.where(count > 0, 1 / (1 + np.abs(own - total / np.maximum(count, 1))), 0.0)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Documents of random words; their length decides their label."""
    rng = np.random.default_rng(3)
    folder = tmp_path_factory.mktemp("length")
    with (folder / "train.jsonl").open("w") as file:
        for number in range(400):
            size = 5 if number % 2 else 60
            text = " ".join(f"word{w}" for w in rng.integers(0, 400, size))
            # A few are mislabelled: without doubt there would be nothing to weigh.
            is_short = number % 2 == (rng.random() < 0.9)
            label = "telegrams" if is_short else "letters"
            file.write(json.dumps({"id": str(number), "text": text, "labels": [label]}) + "\n")
    return folder / "train.jsonl"


@pytest.fixture(scope="module", autouse=True)
def _registered():
    register(TextLength)
    yield
    unregister(TextLength)


@pytest.fixture(scope="module")
def model(corpus, _registered):
    folder = corpus.parent / "model"
    assert run(["train", str(corpus), "-o", str(folder), "-q"]) == 0
    return folder


SHORT = "word1 word2 word3 word4"


def test_it_is_learned_kept_and_saved_by_the_command_line(model):
    report = Tagger.load(model)._latest().model.report_
    assert report.gain["length"] > 0
    assert report.pull["length"] > 0
    assert '"class": "TextLength"' in (model / "model.json").read_text()


def test_it_decides_what_is_suggested(model, capfd):
    assert run(["predict", str(model), "--text", SHORT, "--top", "1"]) == 0
    assert json.loads(capfd.readouterr().out)["labels"][0]["label"] == "telegrams"


def test_the_shell_gives_its_reason_in_its_own_words(model, capfd):
    assert run(["explain", str(model), "--text", SHORT, "--label", "telegrams"]) == 0
    assert "usual length" in capfd.readouterr().out


def test_the_page_gives_its_reason_in_its_own_words(model):
    from fastapi.testclient import TestClient

    from manylabel.web import create_app

    with TestClient(create_app({"model": Tagger.load(model)})) as client:
        answer = client.post("/v1/explain", json={"text": SHORT, "labels": ["telegrams"]}).json()
    (why,) = answer["labels"]
    parts = {part["title"]: part for part in why["parts"]}
    assert parts["usual length"]["sentence"] == TextLength.sentence
    assert sum(part["share"] for part in why["parts"]) == pytest.approx(why["score"])


def test_new_labels_and_documents_do_not_disturb_it(model):
    tagger = Tagger.load(model)
    copy = model.parent / "copy"
    tagger.save(copy)
    tagger = Tagger.load(copy)
    tagger.learn([SHORT], [["postcards"]], ids=["new"])
    assert tagger.suggest(SHORT, top=1).labels == ["postcards"]
    tagger.forget("new")
    assert tagger.suggest(SHORT, top=1).labels == ["telegrams"]
