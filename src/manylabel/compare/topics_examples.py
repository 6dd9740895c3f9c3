"""Train topic models and an SVM for tables 1 and 2 and figures 3 and 5 of Rubin et al. (2012)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manylabel.compare.cells import write_json
from manylabel.compare.data import digest, problem_key
from manylabel.compare.plan import Problem
from manylabel.compare.topics_corpus import MAX_DF, N_TRAIN, ExampleCorpus, read_example
from manylabel.evidence import Explanation
from manylabel.models import make_model
from manylabel.topics.base import best_positions

__all__ = ["PRESET", "SVM", "TOPIC_MODELS", "example_findings"]

#: Title -> model and its settings. The chains of prediction are the paper's.
TOPIC_MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "Flat-LDA": ("flat-lda", {"train_chains": 1}),
    "Prior-LDA": ("prior-lda", {"train_chains": 1}),
    "Dependency-LDA": (
        "dependency-lda",
        {"train_chains": 1, "topic_chains": 4, "topic_burn_in": 200},
    ),
}
PRESET = "rubin-eurlex"
SVM = "SVM, tf-idf"
_SVM_SETTINGS = {"C": 1.0, "n_candidates": None, "prune": 0, "threshold": "top"}
#: The lengths of the paper's tables.
_N_WORDS, _N_LABELS, _N_RARE_WORDS = 8, 10, 15
#: Labels whose words are searched for those of the document.
_EXPLAINED = 500
#: Change this if the content of the files changes.
_VERSION = 1

Findings = dict[str, Any]


def example_findings(
    problem: Problem, out: Path, n_jobs: int = 1, collect: bool = False
) -> Findings | None:
    """The content of the tables, trained unless the folder already has it.

    Parameters
    ----------
    problem : Problem
        A corpus of texts with a test set.
    out : Path
        A folder for the finished tables, one file for the topic models and one for the SVM.
    n_jobs : int
        Threads.
    collect : bool
        Train nothing.

    Returns
    -------
    dict or None
        ``corpus``, ``topics`` and ``linear``; None if something is missing and ``collect`` is True.
    """
    settings = [TOPIC_MODELS, PRESET, _SVM_SETTINGS, N_TRAIN, MAX_DF, _VERSION]
    key = digest([problem_key(problem, None), settings])
    parts: dict[str, Callable[[ExampleCorpus, int], Findings]] = {
        "corpus": _corpus_findings, "topics": _topic_findings, "linear": _svm_findings
    }  # fmt: skip
    files = {part: out / f"{key}-{part}.json" for part in parts}
    missing = [part for part, file in files.items() if not file.exists()]
    if missing and collect:
        return None
    if missing:
        out.mkdir(parents=True, exist_ok=True)
        example = read_example(problem, n_jobs=n_jobs)
        for part in missing:
            start = time.perf_counter()
            found = parts[part](example, n_jobs)
            cost = {"seconds": time.perf_counter() - start, "n_jobs": n_jobs}
            write_json(files[part], {**found, **cost})
    return {part: json.loads(file.read_text(encoding="utf-8")) for part, file in files.items()}


def _corpus_findings(example: ExampleCorpus, n_jobs: int) -> Findings:
    """The document, its labels, and the only document of the rarest label."""
    train, document, names = example.train, example.document, example.names
    rare = example.labels[-1]
    only = int(np.flatnonzero(train.Y[:, [rare]].toarray().ravel())[0])
    return {
        "documents": len(train),
        "labels": train.n_labels,
        "features": train.n_features,
        "document": {
            "id": document.ids[0],
            "title": document.titles[0] if document.titles else "",
            "labels": [
                [names[label], int(example.n_documents[label])] for label in document.Y.indices
            ],
            "words": [example.words[feature] for feature in example.telling],
        },
        "rare": {
            "name": names[rare],
            "title": train.titles[only] if train.titles else train.ids[only],
            "labels": [names[label] for label in train.Y[[only]].indices if label != rare],
        },
    }


def _topic_findings(example: ExampleCorpus, n_jobs: int) -> Findings:
    """Words of labels, labels of topics, and the document under each of the topic models."""
    models: dict[str, Any] = {}
    training = None
    for title, (name, settings) in TOPIC_MODELS.items():
        model = make_model(name, {**settings, "n_jobs": n_jobs, "training": training}, PRESET)
        models[title] = model.fit(example.train.X, example.train.Y)
        training = model.training_
    return {
        "label_words": [
            {
                "name": example.names[label],
                "documents": int(example.n_documents[label]),
                "words": _named(model.label_words(label, _N_WORDS), example.words),
            }
            for label in example.labels
        ],
        "rare_words": _named(model.label_words(example.labels[-1], _N_RARE_WORDS), example.words),
        "label_topics": _label_topics(example, models["Dependency-LDA"]),
        "models": {title: _view(example, each, _EXPLAINED) for title, each in models.items()},
    }


def _label_topics(example: ExampleCorpus, model: Any) -> list[Findings]:
    """Three topics of the first chain by size, and the two that the document has most of."""
    topics = model.topics_[0]
    sizes = np.asarray(topics.counts.sum(axis=1)).ravel()
    shares = model.document_topics(example.document.X)[0, : topics.n_topics]
    by_size, by_share = np.argsort(-sizes, kind="stable"), np.argsort(-shares, kind="stable")
    places = dict.fromkeys((0, topics.n_topics // 4, topics.n_topics // 2))
    chosen = {int(by_size[place]): f"number {place + 1} by size" for place in places}
    for place in range(min(2, topics.n_topics)):
        chosen[int(by_share[place])] = f"number {place + 1} of the document"
    return [
        {
            "why": why,
            "tokens": int(sizes[topic]),
            "labels": _named(model.topic_labels(topic, _N_LABELS), example.names),
        }
        for topic, why in chosen.items()
    ]


def _svm_findings(example: ExampleCorpus, n_jobs: int) -> Findings:
    """The document under the SVM, and the greatest weights of the rarest label."""
    model = make_model("svm", {**_SVM_SETTINGS, "n_jobs": n_jobs})
    model.fit(example.train.X, example.train.Y)
    weights = model.coef_[:, [example.labels[-1]]].toarray().ravel()
    return {
        "rare_words": _named(best_positions(weights, _N_RARE_WORDS), example.words),
        "models": {SVM: _view(example, model, _N_LABELS)},
    }


def _view(example: ExampleCorpus, model: Any, n_explained: int) -> Findings:
    """The best labels of the document, the ranks of its own, and the labels of its words."""
    X, names = example.document.X, example.names
    scores = model.decision_function(X).toarray().ravel()
    explained = model.explain(X, top=min(n_explained, len(names)))[0]
    ranks = [1 + int((scores > scores[label]).sum()) for label in example.document.Y.indices]
    return {
        "best": _named(best_positions(scores, _N_LABELS), names),
        "ranks": ranks,
        "words": [_label_of_word(feature, explained, names) for feature in example.telling],
    }


def _label_of_word(
    feature: int, explained: Sequence[Explanation], names: Sequence[str]
) -> list[Any] | None:
    """The label that a word counts for most, and the probability that it belongs there."""
    best, name = None, ""
    for each in explained:
        for reason in each.reasons:
            is_word = reason.kind == "word" and reason.index == feature
            if is_word and reason.share > (best.share if best else 0):
                best, name = reason, names[each.label]
    return [name, best.similarity] if best else None


def _named(pairs: Sequence[tuple[int, float]], names: Sequence[str]) -> list[list[Any]]:
    """Names and values of columns."""
    return [[names[column], value] for column, value in pairs]
