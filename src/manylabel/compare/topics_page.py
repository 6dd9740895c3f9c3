"""The page with examples of topic models: ``docs/models/topics-examples.md``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from manylabel.compare.tables import markdown_table
from manylabel.compare.topics_corpus import FREQUENCIES, FREQUENT, MAX_DF, MIN_LABELS, RARE
from manylabel.compare.topics_examples import PRESET, TOPIC_MODELS
from manylabel.wording import counted, percent

__all__ = ["examples_page"]


_HEAD = """\
<!-- Made by `make reproduce`: change the code, then run it again. -->
# Topic models by example

Rubin et al. (2012) show what their models learn from the New York Times. That corpus is not
available, so this page has the same tables for EU laws: {documents}, drawn at random from
EURLEX57K, with {labels} of EuroVoc and {features}. No example is chosen by hand; each section
states its rule. [Topic models](topics.md) explains the models.
"""

_SETTINGS = """\
## Settings

The topic models have the settings of `from_preset("{preset}")`, the paper's for EUR-Lex, with one
training chain instead of 48 and {topic_chains} chains of label topics with {sweeps} sweeps instead
of 10 with 500. The document has the paper's 60 chains of prediction. All three share one training
of the labels' words. The SVM is one-vs-rest on tf-idf rows, not tuned; the paper's is tuned, on
counts that sum to 1. Words are not stemmed. Left out are English stop words, numbers, words in
fewer than four documents, and those in more than {max_df} of them, such as "Regulation", which
would fill the tables.

Training took {topics_seconds} seconds for the topic models and {svm_seconds} for the SVM, with
{threads}; other work may have used the machine. `make reproduce` keeps the finished tables, and
trains again only if the corpus or the settings change.
"""


def examples_page(findings: Mapping[str, Any]) -> str:
    """The page in Markdown.

    Parameters
    ----------
    findings : mapping
        From `manylabel.compare.topics_examples.example_findings`.
    """
    corpus = findings["corpus"]
    head = _HEAD.format(
        documents=counted(corpus["documents"], "training document"),
        labels=counted(corpus["labels"], "label"),
        features=counted(corpus["features"], "word"),
    )
    topics = TOPIC_MODELS["Dependency-LDA"][1]
    settings = _SETTINGS.format(
        preset=PRESET,
        topic_chains=topics["topic_chains"],
        sweeps=topics["topic_burn_in"],
        max_df=percent(MAX_DF),
        topics_seconds=f"{findings['topics']['seconds']:,.0f}",
        svm_seconds=f"{findings['linear']['seconds']:,.0f}",
        threads=counted(findings["topics"]["n_jobs"], "thread"),
    )
    sections = [
        head,
        _words_of_labels(findings["topics"]["label_words"]),
        _rare_label(findings),
        _labels_of_topics(findings["topics"]["label_topics"]),
        _one_document(findings),
        settings,
    ]
    return "\n".join(sections)


def _words_of_labels(labels: Sequence[Mapping[str, Any]]) -> str:
    """Table 1."""
    header = [f"{_plain(label['name'])} ({label['documents']:,})" for label in labels]
    frequencies = ", ".join(map(str, FREQUENCIES[:-1]))
    return (
        "## Words of labels (table 1)\n\n"
        "The most probable words of some labels, with their probabilities; after each label, its "
        "training documents. The labels are the most frequent one, and those with the frequencies "
        f"of the paper's table: {frequencies} and {FREQUENCIES[-1]}. If no label has that many "
        "training documents, it is one with the next lower number; among several, the first by "
        "name.\n\n"
        f"{_columns(header, [label['words'] for label in labels])}\n"
    )


def _rare_label(findings: Mapping[str, Any]) -> str:
    """Figure 3."""
    rare = findings["corpus"]["rare"]
    words = {"SVM, weight": findings["linear"], "Topic model, probability": findings["topics"]}
    table = _columns(list(words), [found["rare_words"] for found in words.values()])
    return (
        "## A label with one training document (figure 3)\n\n"
        f"The last label of the table, *{_plain(rare['name'])}*, has a single training document: "
        f'"{_plain(rare["title"])}". Its other labels are '
        f"{', '.join(f'*{_plain(name)}*' for name in rare['labels'])}. In the paper's example, the "
        "greatest weights of the SVM belong to words of the other labels and to words peculiar to "
        "the document, and the topic model leaves words that other labels explain to these. Here, "
        "one training chain assigns each occurrence of a word to one label; the paper averages 48 "
        "chains.\n\n"
        f"{table}\n"
    )


def _labels_of_topics(topics: Sequence[Mapping[str, Any]]) -> str:
    """Table 2."""
    header = [f"{topic['why']} ({topic['tokens']:,})".capitalize() for topic in topics]
    return (
        "## Labels of topics (table 2)\n\n"
        "The most probable labels of some topics of Dependency-LDA, with their probabilities; "
        "after each topic, the training labels assigned to it. The topics are from the first "
        "chain: the largest, those a quarter and half of the way down the list by size, and the "
        "two that the document of the next section has most of. Topics have no names.\n\n"
        f"{_columns(header, [topic['labels'] for topic in topics])}\n"
    )


def _one_document(findings: Mapping[str, Any]) -> str:
    """Figure 5."""
    document = findings["corpus"]["document"]
    views = {**findings["topics"]["models"], **findings["linear"]["models"]}
    names = [name for name, _ in document["labels"]]
    best = [
        [[f"**{_plain(name)}**" if name in names else _plain(name)] for name, _ in view["best"]]
        for view in views.values()
    ]
    return (
        "## One document, four models (figure 5)\n\n"
        f"The first test document with {MIN_LABELS} labels or more of which one is rare, with at "
        f"most {RARE} training documents, and the others have at least {FREQUENT}: "
        f'{document["id"]}, "{_plain(document["title"])}".\n\n'
        f"The ranks of its labels:\n\n{_rank_table(document['labels'], views)}\n\n"
        f"{_found_sentence(names, views)}\n\n"
        f"The ten best labels of each model, the right ones in bold:\n\n"
        f"{_columns(['Rank', *views], [[[str(n + 1)] for n in range(len(best[0]))], *best])}\n\n"
        f"{_word_table(document['words'], views)}\n"
    )


def _rank_table(labels: Sequence[Sequence[Any]], views: Mapping[str, Any]) -> str:
    rows = [
        [
            _plain(name),
            f"{n_documents:,}",
            *(f"{view['ranks'][position]:,}" for view in views.values()),
        ]
        for position, (name, n_documents) in enumerate(labels)
    ]
    return markdown_table(["Label", "Training documents", *views], rows)


def _found_sentence(names: Sequence[str], views: Mapping[str, Any]) -> str:
    """How many of the document's labels are among each model's ten best, beside the paper."""
    counts = {
        title: sum(name in names for name, _ in view["best"]) for title, view in views.items()
    }
    shown = ", ".join(f"{count} ({title})" for title, count in counts.items())
    return (
        f"Of the {len(names)} labels, the ten best of each model contain {shown}. In the paper's "
        "example it is 2 of 4 with Flat-LDA, 3 with Prior-LDA, 4 with Dependency-LDA, and 3 with "
        "an SVM, which misses the rare label."
    )


def _word_table(words: Sequence[str], views: Mapping[str, Any]) -> str:
    rows = [
        [_plain(word), *(_given(view["words"][position]) for view in views.values())]
        for position, word in enumerate(words)
    ]
    return (
        "The document's words with the greatest tf-idf weights, and the label that most of each "
        "word's occurrences are assigned to, with their share. An SVM assigns no words: its column "
        "has the label, among its ten best, to whose score the word adds most.\n\n"
        f"{markdown_table(['Word', *views], rows)}"
    )


def _given(label: Sequence[Any] | None) -> str:
    """A label, with the share of a word's occurrences that it has."""
    if label is None:
        return "–"
    name, share = label
    return _plain(name) if share is None else f"{_plain(name)} {percent(share)}"


def _columns(header: Sequence[str], columns: Sequence[Sequence[Sequence[Any]]]) -> str:
    """A table whose columns are lists of names, most with values."""
    rows = []
    for position in range(max(len(column) for column in columns)):
        cells = [column[position] if position < len(column) else [""] for column in columns]
        rows.append([_cell(*cell) for cell in cells])
    return markdown_table(header, rows)


def _cell(name: str, value: float | None = None) -> str:
    return name if value is None else f"{_plain(name)} {f'{value:.3f}'.removeprefix('0')}"


def _plain(text: str) -> str:
    """Text without effect in Markdown."""
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", " ".join(text.split()))
