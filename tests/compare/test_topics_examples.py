"""Words of labels, labels of topics and one document: examples of the topic models."""

from __future__ import annotations

import json

import numpy as np
import pytest

from manylabel.compare import Problem
from manylabel.compare.topics_corpus import choose_document, choose_labels, read_example
from manylabel.compare.topics_examples import SVM, TOPIC_MODELS, example_findings
from manylabel.compare.topics_page import examples_page
from manylabel.corpus import Corpus
from manylabel.exceptions import InputError

COMMON = ("fish", "ships", "taxes", "wine")


def documents(n: int, rare: tuple[int, ...]) -> list[dict]:
    """Texts with words of their labels, some for each; most have all the common labels."""
    made = []
    for row in range(n):
        labels = [name for place, name in enumerate(COMMON) if row % 7 != place]
        labels += ["comets"] if row in rare else []
        # Words in many documents are left out, so each label has five.
        text = " ".join(f"{name}{'abcde'[row % 5]}" for name in labels) + " regulation 1979"
        made.append({"id": f"law {row}", "title": f"On {labels[0]}", "text": text})
        made[-1]["labels"] = [f"L{name}" for name in labels]
    return made


def write_lines(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture(scope="module")
def problem(tmp_path_factory) -> Problem:
    folder = tmp_path_factory.mktemp("laws")
    write_lines(folder / "train.jsonl", documents(150, rare=(5,)))
    write_lines(folder / "test.jsonl", documents(8, rare=(5,)))
    names = [{"id": f"L{name}", "name": name} for name in (*COMMON, "comets")]
    write_lines(folder / "labels.jsonl", names)
    return Problem("laws", str(folder / "train.jsonl"), str(folder / "test.jsonl"))


@pytest.fixture(scope="module")
def findings(problem, tmp_path_factory):
    return example_findings(problem, tmp_path_factory.mktemp("out"))


def test_labels_have_the_paper_s_frequencies_or_the_next_lower_ones():
    counts = np.array([900, 280, 30, 24, 24, 1, 1])
    names = ["g", "f", "e", "Z", "c", "b", "a"]
    # 285 -> 280, 176 -> 30, 24 -> the first by name, 11 and 1 -> 1.
    assert choose_labels(counts, names) == [0, 1, 2, 4, 6]


def test_the_document_has_one_rare_label_and_several_frequent_ones():
    counts = {"rare": 3, "also rare": 10, "a": 100, "b": 100, "c": 500, "middling": 50}
    labels = [
        ["rare", "a", "b"],
        ["rare", "also rare", "a", "b"],
        ["rare", "a", "b", "middling"],
        ["unknown", "a", "b", "c"],
        ["rare", "a", "b", "c"],
    ]
    corpus = Corpus.from_texts(["text"] * len(labels), labels)
    assert choose_document(corpus, counts) == 4
    with pytest.raises(InputError, match="no test document has 4 labels or more, one with 1 to 10"):
        choose_document(corpus[:4], counts)


def test_documents_share_columns_and_labels_have_names(problem):
    example = read_example(problem, n_train=140)
    assert len(example.train) == 140
    assert example.document.ids == ["law 5"]
    assert example.document.Y.shape[1] == example.train.n_labels == len(example.names)
    assert set(example.names) == {*COMMON, "comets"}
    assert [example.words[feature] for feature in example.telling[:1]] == ["cometsa"]


def test_numbers_and_words_of_many_documents_are_left_out(problem):
    words = read_example(problem).words
    assert "fisha" in words
    assert not {"regulation", "1979"} & set(words)


def test_words_of_labels_are_their_names(findings):
    for label in findings["topics"]["label_words"]:
        assert label["words"][0][0].startswith(label["name"])
    assert findings["topics"]["label_words"][-1]["documents"] == 1


def test_the_rarest_label_is_shown_with_its_only_document(findings):
    assert findings["corpus"]["rare"] == {
        "name": "comets",
        "title": "On fish",
        "labels": ["fish", "ships", "taxes", "wine"],
    }
    for part in ("topics", "linear"):
        assert findings[part]["rare_words"][0][0].startswith("comets")


def test_topics_are_chosen_by_size_and_by_the_document(findings):
    topics = findings["topics"]["label_topics"]
    assert 2 <= len(topics) <= 5
    assert sum("of the document" in topic["why"] for topic in topics) == 2
    for topic in topics:
        probabilities = [value for _, value in topic["labels"]]
        assert probabilities == sorted(probabilities, reverse=True)


def test_each_model_ranks_the_labels_of_the_document(findings):
    views = findings["topics"]["models"] | findings["linear"]["models"]
    assert list(views) == [*TOPIC_MODELS, SVM]
    true = [name for name, _ in findings["corpus"]["document"]["labels"]]
    for view in views.values():
        places = {name: place for place, (name, _) in enumerate(view["best"], 1)}
        assert view["ranks"] == [places[name] for name in true]
        given = dict(zip(findings["corpus"]["document"]["words"], view["words"], strict=True))
        assert given["fisha"][0] == "fish"


def test_finished_parts_are_not_trained_again(problem, tmp_path, monkeypatch):
    assert example_findings(problem, tmp_path / "none", collect=True) is None
    found = example_findings(problem, tmp_path)
    next(tmp_path.glob("*-corpus.json")).unlink()
    monkeypatch.setattr("manylabel.compare.topics_examples.make_model", None)
    again = example_findings(problem, tmp_path)
    assert again["topics"] == found["topics"]
    assert again["corpus"]["document"] == found["corpus"]["document"]
    assert example_findings(problem, tmp_path, collect=True) == again


def test_the_page_has_every_table(findings):
    page = examples_page(findings)
    for heading in ("table 1", "figure 3", "table 2", "figure 5"):
        assert f"({heading})\n" in page
    assert "150 training documents" in page
    assert "| comets |                  1 |" in page
    assert "**comets**" in page
    for text in ("None", "nan", "{", "/tmp"):
        assert text not in page


def test_the_page_says_how_many_labels_each_model_finds(findings):
    page = examples_page(findings)
    counts = "5 (Flat-LDA), 5 (Prior-LDA), 5 (Dependency-LDA), 5 (SVM, tf-idf)."
    assert f"Of the 5 labels, the ten best of each model contain {counts}" in page


def test_titles_of_documents_have_no_effect_in_markdown(findings):
    document = findings["corpus"]["document"] | {"title": "A *b* | [c]"}
    corpus = findings["corpus"] | {"document": document}
    page = examples_page(findings | {"corpus": corpus})
    assert r"A \*b\*" in page
