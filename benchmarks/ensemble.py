"""The ensemble beside Parabel, Bonsai (omikuji) and XR-Linear (libpecos), on the same matrices.

    python -m benchmarks.ensemble [bibtex] [delicious] [eurlex57k] [yso-finna-en] [--ablation]

Prints Markdown. Two threads each; training is timed from weighted matrices (ours: from counts) to a
model that is ready to predict. Every system has its default settings; ours chooses for itself, on
the training documents. libpecos wants an older NumPy than ours: name the Python of an environment
that has it in MANYLABEL_PECOS. What is not installed is left out with a sentence.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.common import DATA, corpus, table, versions, weighted
from manylabel import Ensemble
from manylabel.compare.outsiders import make_outsider
from manylabel.compare.plan import Row
from manylabel.compare.presets.xmc import xmc
from manylabel.corpus import Corpus
from manylabel.metrics import calibration, evaluate
from manylabel.predictions import values_at

N_JOBS = 2
MEASURES = [f"{name}@{k}" for name in ("p", "psp", "ndcg") for k in (1, 3, 5)]
OTHERS = ["rp@5", "micro-f1"]
#: Precisions in percent of the best bag-of-words systems in the literature.
PUBLISHED = {
    "bibtex": {"SLEEC, published": (65.08, 39.64, 28.87)},
    "delicious": {"FastXML, published": (69.61, 64.12, 59.27)},
}
ABLATIONS: dict[str, dict[str, Any]] = {
    "everything": {},
    "without words": {"words": False},
    "without topics": {"topics": False},
    "without trees": {"trees": False},
    "50 candidates": {"n_candidates": 50},
    "power 2": {"alpha": 2.0},
    "by likelihood alone": {"objective": "likelihood"},
}


def line(
    name: str, train: Corpus, test: Corpus, scores: sparse.csr_array, *times: float
) -> list[object]:
    found = evaluate(test.Y, scores, Y_train=train.Y, metrics=MEASURES)
    return [name, *(found[measure] for measure in MEASURES), *times]


def ours(train: Corpus, test: Corpus) -> tuple[list[object], Ensemble, sparse.csr_array]:
    start = time.perf_counter()
    model = Ensemble(n_jobs=N_JOBS).fit(train.X, train.Y)
    fit = time.perf_counter() - start
    start = time.perf_counter()
    scores = model.decision_function(test.X)
    took = time.perf_counter() - start
    return line("Ensemble", train, test, scores, fit, took), model, scores


def other(name: str, row: Row, train: Corpus, test: Corpus) -> list[object]:
    """A row of another library's model; its matrices are weighted before the clock starts."""
    X, Q = weighted(name)
    model = make_outsider(row.model, {"n_jobs": N_JOBS})
    model.n_labels_ = train.n_labels
    model._learn(X, train.Y)
    start = time.perf_counter()
    scores = model._score(Q, 10)
    took = time.perf_counter() - start
    return line(row.title, train, test, scores, model.train_seconds_, took)


def compare(name: str) -> None:
    train, test = corpus(name)
    weighted(name)
    rows, notes = [], []
    row, model, scores = ours(train, test)
    rows.append(row)
    if name not in PUBLISHED:
        for row in xmc(DATA).rows:
            if row.needs is not None and row.is_missing:
                notes.append(f"{row.title} is left out: {row.needs} is not installed.")
            elif row.needs is not None:
                rows.append(other(name, row, train, test))
    for title, values in PUBLISHED.get(name, {}).items():
        rows.append([title, *(value / 100 for value in values), *[""] * 8])
    print(f"\n## {name}\n")
    print(table(["", *MEASURES, "train, s", "predict, s"], rows))
    given = evaluate(test.Y, scores, model.threshold_.apply(scores), metrics=OTHERS)
    print("\nEnsemble: " + ", ".join(f"{key} {value:.3f}" for key, value in given.items()) + ".")
    print(*(f"\n{note}" for note in notes), f"\n```\n{model.learned_}\n```\n", flush=True)
    probabilities(scores, train, test)
    prediction(model, test)


def probabilities(scores: sparse.csr_array, train: Corpus, test: Corpus) -> None:
    """Mean probability and share of true labels, over all and by label frequency."""
    print(f"Expected calibration error {calibration(test.Y, scores).error:.4f}.\n")
    hits = values_at(test.Y, scores)
    counts = np.bincount(train.Y.indices, minlength=train.n_labels)[scores.indices]
    groups = np.searchsorted([2, 5, 20, 100, 500], counts, side="right")
    names = ["0-1", "2-4", "5-19", "20-99", "100-499", "500 and more"]
    found = [
        [
            names[g],
            int((groups == g).sum()),
            scores.data[groups == g].mean(),
            hits[groups == g].mean(),
        ]
        for g in np.unique(groups)
    ]
    print(
        table(["training documents", "candidates", "mean probability", "true"], found), flush=True
    )


def prediction(model: Ensemble, test: Corpus) -> None:
    """A batch beside its search alone, and single documents."""
    rows = model.weighting_.transform(test.X)
    start = time.perf_counter()
    model.neighborhood_.search(rows, N_JOBS)
    search = time.perf_counter() - start
    start = time.perf_counter()
    model.decision_function(test.X)
    whole = time.perf_counter() - start
    model.set_params(n_jobs=1)
    took = []
    for row in range(min(300, test.X.shape[0])):
        start = time.perf_counter()
        model.decision_function(test.X[[row]])
        took.append(1e3 * (time.perf_counter() - start))
    model.set_params(n_jobs=N_JOBS)
    print(
        f"\nA batch takes {whole / search:.2f} times its search alone; one document "
        f"{np.median(took):.2f} ms (median), {np.percentile(took, 99):.2f} ms (99th percentile).",
        flush=True,
    )


def ablation(name: str) -> None:
    train, test = corpus(name)
    rows = []
    for title, parameters in ABLATIONS.items():
        start = time.perf_counter()
        model = Ensemble(n_jobs=N_JOBS, **parameters).fit(train.X, train.Y)
        fit = time.perf_counter() - start
        rows.append(line(title, train, test, model.decision_function(test.X), fit))
    for part in model.learned_.alone:
        rows.append([f"{part} alone, training documents", *_alone(model, part)])
    print(f"\n### What each idea adds: {name}\n")
    print(table(["", *MEASURES, "train, s"], rows), flush=True)


def _alone(model: Ensemble, part: str) -> list[object]:
    found = model.learned_.alone[part]
    return [found.get(measure, "") for measure in MEASURES] + [""]


def main() -> None:
    names = ["bibtex", "delicious", "eurlex57k", "yso-finna-en"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", choices=[*names, []])
    parser.add_argument("--ablation", action="store_true", help="what each part adds, instead")
    arguments = parser.parse_args()
    print(f"# The ensemble\n\n{versions('manylabel', 'omikuji', 'numba', 'numpy')}", flush=True)
    rng = np.random.default_rng(0)
    Ensemble(n_jobs=N_JOBS, trees=True).fit(  # compiles the kernels
        rng.poisson(1.0, (200, 30)), rng.random((200, 5)) < 0.3
    )
    for name in arguments.corpora or names:
        (ablation if arguments.ablation else compare)(name)


if __name__ == "__main__":
    main()
