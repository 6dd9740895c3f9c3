"""FastXML and PfastreXML: accuracy and time, beside the published figures and label trees.

Bibtex and Delicious are compared with Papanikolaou & Tsoumakas (2017), EURLEX57K with Parabel and
Bonsai as omikuji trains them, if it is installed. Prints Markdown.

    python -m benchmarks.trees [--corpora bibtex delicious eurlex57k] [--jobs 2]

Reads the corpora from MANYLABEL_DATA, or ../shared/data beside the repository.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from manylabel.compare.external import make_external
from manylabel.corpus import Corpus, read
from manylabel.metrics import evaluate
from manylabel.text import CountVectorizer, Weighting
from manylabel.trees import FastXML, PfastreXML

ROOT = Path(__file__).resolve().parents[1]
MEASURES = ["p@1", "p@3", "p@5", "psp@1", "psp@3", "psp@5"]
MODELS = {"FastXML": FastXML, "PfastreXML": PfastreXML}
# Micro-F, Macro-F, P@1 and P@5 of Papanikolaou & Tsoumakas (2017), tables 2 to 4.
PUBLISHED = {
    "bibtex": {"FastXML": (0.382, 0.273, 0.645, 0.286), "PfastreXML": (0.397, 0.288, 0.565, 0.254)},
    "delicious": {
        "FastXML": (0.347, 0.153, 0.705, 0.596),
        "PfastreXML": (0.322, 0.165, 0.546, 0.482),
    },
}


def load(name: str) -> tuple[Corpus, Corpus]:
    """Training and test documents with features; test labels in the columns of training."""
    folder = Path(os.environ.get("MANYLABEL_DATA", ROOT.parent / "shared" / "data")) / name
    if name != "eurlex57k":
        return read(folder / "train.txt.xz"), read(folder / "test.txt.xz")
    vectorizer = CountVectorizer(stop_words="english", min_df=4)
    train = read(folder / "train.jsonl.xz").vectorized(vectorizer)
    test = read(folder / "test.jsonl.xz").vectorized(vectorizer, fit=False)
    return train, test.align_to(train.label_names)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return call(), time.perf_counter() - start


def line(*cells: object) -> None:
    shown = (f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells)
    print("|", " | ".join(shown), "|", flush=True)


def show(name: str, train: Corpus, test: Corpus, scores: Any, *times: float) -> None:
    """One line of the measures of the ranking."""
    measured = evaluate(test.Y, scores, Y_train=train.Y, metrics=MEASURES)
    line(
        name, *(measured[measure] for measure in MEASURES), *(f"{seconds:.1f}" for seconds in times)
    )


def ours(name: str, train: Corpus, test: Corpus, jobs: int) -> None:
    """The lines of our models, and below them label sets beside the published ones."""
    sets = []
    for title, model in MODELS.items():
        fitted, fit_time = timed(
            lambda model=model: model(random_state=0, n_jobs=jobs).fit(train.X, train.Y)
        )
        scores, score_time = timed(lambda fitted=fitted: fitted.decision_function(test.X))
        show(title, train, test, scores, fit_time, score_time)
        sets.append((title, scores, fitted.predict(test.X)))
    if name == "eurlex57k":
        label_trees(train, test, jobs)
    print()
    line("", "micro F1", "macro F1", "P@1", "P@5")
    line(*["---"] * 5)
    for title, scores, labels in sets:
        chosen = ["micro-f1", "macro-f1", "p@1", "p@5"]
        measured = evaluate(test.Y, scores, labels, metrics=chosen)
        line(title, *(measured[measure] for measure in chosen))
        if name in PUBLISHED:
            line(f"{title}, published", *PUBLISHED[name][title])


def label_trees(train: Corpus, test: Corpus, jobs: int) -> None:
    """The lines of Parabel and Bonsai on unit tf-idf rows."""
    weighting = Weighting("tfidf", dtype=np.float32).fit(train.X)
    X, queries = weighting.transform(train.X), weighting.transform(test.X)
    for title in ("parabel", "bonsai"):
        model = make_external(f"omikuji:{title}", {"n_jobs": jobs})
        model.n_labels_ = train.n_labels
        try:
            model._learn(X, train.Y)
        except ImportError:
            print("\nParabel and Bonsai are left out: omikuji is not installed.")
            return
        scores, score_time = timed(lambda model=model: model._score(queries, 10))
        show(f"{title.title()} (omikuji)", train, test, scores, model.train_seconds_, score_time)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", nargs="+", default=["bibtex", "delicious", "eurlex57k"])
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    FastXML(n_trees=1).fit(np.eye(20), np.eye(20, dtype=int))  # compiles the kernels
    for name in arguments.corpora:
        train, test = load(name)
        print(f"\n## {name}\n")
        line("", *MEASURES, "train s", "score s")
        line(*["---"] * (len(MEASURES) + 3))
        ours(name, train, test, arguments.jobs)


if __name__ == "__main__":
    main()
