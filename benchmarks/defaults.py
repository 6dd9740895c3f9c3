"""Each model with its default settings beside the same model tuned on training documents.

    python -m benchmarks.defaults [CORPUS ...] [--models NAME ...] [--most 2000]

Prints Markdown: nDCG@5 on the test documents. "Tuned" is `Tuner` with the grid of the model's
class, on at most --most training documents; the winner then learns from all. Defaults are to be
within .005 of it. A corpus without a published split is split 60 to 40 at random.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from benchmarks.common import DATA, corpus, table, versions
from manylabel.corpus import Corpus, read
from manylabel.metrics import evaluate
from manylabel.models import MODELS, make_model
from manylabel.selection import Tuner

METRIC = "ndcg@5"
CORPORA = ("medical", "corel5k", "bibtex", "delicious", "yahoo-arts", "yahoo-health")
#: The defaults of an ensemble are chosen in its fit.
NAMES = [name for name in MODELS if name != "ensemble"]


def split(name: str) -> tuple[Corpus, Corpus]:
    """Training and test documents."""
    if list((DATA / name).glob("train.*")):
        return corpus(name)
    whole = read(next((DATA / name).glob("*.txt*")))
    order = np.random.default_rng(0).permutation(whole.n_documents)
    n_train = round(0.6 * order.size)
    return whole[np.sort(order[:n_train])], whole[np.sort(order[n_train:])]


def measured(model: Any, train: Corpus, test: Corpus) -> tuple[float, float]:
    """The measure on the test documents, and CPU seconds to fit and predict."""
    start = time.process_time()
    model.fit(train.X, train.Y)
    scores = model.decision_function(test.X)
    took = time.process_time() - start
    return evaluate(test.Y, scores, metrics=[METRIC])[METRIC], took


def compared(name: str, train: Corpus, test: Corpus, most: int) -> list[object]:
    """One row: the model with its defaults, and tuned."""
    default, took = measured(make_model(name), train, test)
    some = np.sort(np.random.default_rng(1).permutation(train.n_documents)[:most])
    start = time.process_time()
    tuner = Tuner(make_model(name), metric=METRIC, refit=False)
    tuner.fit(train.X[some], train.Y[some])
    tuning = time.process_time() - start
    best = make_model(name).set_params(**tuner.best_params_)
    tuned, _ = measured(best, train, test)
    given = ", ".join(f"{key} {value}" for key, value in tuner.best_params_.items())
    return [name, f"{default:.4f}", f"{tuned:.4f}", f"{default - tuned:+.4f}", given, took, tuning]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", choices=[*CORPORA, []])
    parser.add_argument("--models", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--most", type=int, default=2000, help="training documents to tune on")
    arguments = parser.parse_args()
    print(f"# Defaults and tuned settings\n\n{versions('manylabel', 'numpy')}", flush=True)
    header = ["", "default", "tuned", "difference", "tuned settings", "CPU s", "tuning, CPU s"]
    for name in arguments.corpora or CORPORA:
        train, test = split(name)
        rows = [compared(model, train, test, arguments.most) for model in arguments.models]
        print(f"\n## {name}\n\n{table(header, rows)}", flush=True)


if __name__ == "__main__":
    main()
