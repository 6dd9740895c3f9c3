"""The ensemble beside Parabel, Bonsai (omikuji) and XR-Linear (libpecos), on the same matrices.

    python -m benchmarks.ensemble [bibtex] [delicious] [eurlex57k] [yso-finna-en] [--ablation]
    python -m benchmarks.ensemble eurlex57k --effort quick normal --ours-only

Prints Markdown. Two threads each; training is timed from weighted matrices (ours: from counts) to a
model that is ready to predict. Every system has its default settings; ours chooses its own on
the training documents, and has a row for each level of effort. Where a corpus has texts, `manylabel
train` has rows of its own, from the file to the model folder. CPU seconds are those of all threads
and depend less on what else the machine does. libpecos needs an older NumPy: let
MANYLABEL_PECOS name the Python of an environment that has it. Libraries that are not installed are
reported and left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.common import DATA, VECTORIZERS, corpus, table, versions, weighted
from manylabel import Ensemble
from manylabel.compare.external import make_external
from manylabel.compare.plan import Row
from manylabel.compare.presets.xmc import xmc
from manylabel.corpus import Corpus
from manylabel.ensemble.choosing import HeldOut, most_likely, stretch_curves
from manylabel.ensemble.curves import Combination
from manylabel.ensemble.ranking import rank_curves
from manylabel.ensemble.scorers import EFFORTS, make_scorers
from manylabel.metrics import calibration, evaluate
from manylabel.predictions import values_at
from manylabel.progress import peak_memory

N_JOBS = 2
MEASURES = [f"{name}@{k}" for name in ("p", "psp", "ndcg") for k in (1, 3, 5)]
OTHERS = ["rp@5", "micro-f1"]
#: Precisions in percent of the best bag-of-words systems in the literature.
PUBLISHED = {
    "bibtex": {"SLEEC, published": (65.08, 39.64, 28.87)},
    "delicious": {"FastXML, published": (69.61, 64.12, 59.27)},
}
#: Scorers that need nothing but counts.
ON_MATRICES = [scorer.name for scorer in make_scorers("auto") if scorer.view == "rows"]
#: Other ways to fit that are tried in the ablation.
REFITS: dict[str, dict[str, Any]] = {
    "words never propose": {
        "scorers": [name for name in ON_MATRICES if name not in ("words", "trees")]
    },
    "words always propose": {"scorers": [name for name in ON_MATRICES if name != "trees"]},
    "50 candidates": {"n_candidates": 50},
    "200 neighbours": {"k": 200},
}
#: Test documents of the ablation.
MOST_ABLATED = 10_000


class Observed(Ensemble):
    """An ensemble that remembers what its combination was learned from."""

    def _combine(self, scorers, held_out, Y_train):
        self.observed_ = held_out
        super()._combine(scorers, held_out, Y_train)


def line(
    name: str, train: Corpus, test: Corpus, scores: sparse.csr_array, *times: float
) -> list[object]:
    return [name, *measured(scores, train, test.Y), *times]


def ours(
    train: Corpus, test: Corpus, effort: str
) -> tuple[list[object], Ensemble, sparse.csr_array]:
    start, cpu_start = time.perf_counter(), time.process_time()
    model = Ensemble(n_jobs=N_JOBS, effort=effort).fit(train.X, train.Y)
    fit, cpu = time.perf_counter() - start, time.process_time() - cpu_start
    print_memory()
    start = time.perf_counter()
    scores = model.decision_function(test.X)
    took = time.perf_counter() - start
    return line(f"Ensemble, {effort}", train, test, scores, fit, cpu, took), model, scores


def from_texts(name: str, effort: str) -> list[object]:
    """What a user gets from the command line with no option but the effort."""
    files = {part: next((DATA / name).glob(f"{part}.*")) for part in ("train", "test")}
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder, "model"))
        options = ["--effort", effort, "--jobs", str(N_JOBS), "--quiet"]
        _, fit, cpu = command("train", str(files["train"]), "-o", model, *options)
        answer, took, _ = command("evaluate", model, str(files["test"]), "--json", "--quiet")
    values = json.loads(answer)
    print(f"\n{name}, {effort}, from texts: {json.dumps(values)}", flush=True)
    return [f"`manylabel train`, {effort}", *(values.get(m, "") for m in MEASURES), fit, cpu, took]


def command(*arguments: str) -> tuple[str, float, float]:
    """Run `manylabel`: what it prints, seconds by the clock and CPU seconds."""
    start, before = time.perf_counter(), os.times()
    done = subprocess.run(
        [sys.executable, "-m", "manylabel.cli", *arguments], check=True, stdout=subprocess.PIPE
    )
    after = os.times()
    cpu = (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )
    return done.stdout.decode(), time.perf_counter() - start, cpu


def print_memory() -> None:
    print(f"\nCorpus and training took at most {peak_memory() / 1e9:.2f} GB.", flush=True)


def other(name: str, row: Row, train: Corpus, test: Corpus) -> list[object]:
    """A row of another library's model; its matrices are weighted before the clock starts."""
    X, Q = weighted(name)
    model = make_external(row.model, {"n_jobs": N_JOBS})
    model.n_labels_ = train.n_labels
    model._learn(X, train.Y)
    start = time.perf_counter()
    scores = model._score(Q, 10)
    took = time.perf_counter() - start
    return line(
        row.title, train, test, scores, model.train_seconds_, model.train_cpu_seconds_, took
    )


def compare(name: str, efforts: list[str], with_peers: bool) -> None:
    train, test = corpus(name)
    rows, notes = [], []
    by_effort = {effort: ours(train, test, effort) for effort in efforts}
    rows += [row for row, _, _ in by_effort.values()]
    _, model, scores = by_effort.get("normal", by_effort[efforts[-1]])
    if name in VECTORIZERS:
        rows += [from_texts(name, effort) for effort in efforts]
    for row in xmc(DATA).rows if with_peers else ():
        if row.needs is not None and row.is_missing:
            notes.append(f"{row.title} is left out: {row.needs} is not installed.")
        elif row.needs is not None:
            rows.append(other(name, row, train, test))
    for title, values in PUBLISHED.get(name, {}).items():
        rows.append([title, *(value / 100 for value in values), *[""] * 9])
    print(f"\n## {name}\n")
    print(table(["", *MEASURES, "train, s", "train, CPU s", "predict, s"], rows))
    given = evaluate(test.Y, scores, model.threshold_.apply(scores), metrics=OTHERS)
    print("\nEnsemble: " + ", ".join(f"{key} {value:.3f}" for key, value in given.items()) + ".")
    print(*(f"\n{note}" for note in notes), f"\n```\n{model.report_}\n```\n", flush=True)
    probabilities(scores, train, test)
    prediction(model, test)


def probabilities(scores: sparse.csr_array, train: Corpus, test: Corpus) -> None:
    """Mean probability and share of true labels, over all and by label frequency."""
    print(f"Expected calibration error {calibration(test.Y, scores).error:.4f}.\n")
    hits = values_at(test.Y, scores)
    counts = np.bincount(train.Y.indices, minlength=train.n_labels)[scores.indices]
    groups = np.searchsorted([2, 5, 20, 100, 500], counts, side="right")
    names = ["0-1", "2-4", "5-19", "20-99", "100-499", "500 and more"]
    rows = [
        [
            names[g],
            int((groups == g).sum()),
            scores.data[groups == g].mean(),
            hits[groups == g].mean(),
        ]
        for g in np.unique(groups)
    ]
    print(table(["training documents", "candidates", "mean probability", "true"], rows), flush=True)


def prediction(model: Ensemble, test: Corpus) -> None:
    """A batch beside its search alone, and single documents."""
    rows = model.weighting_.transform(test.X)
    start = time.perf_counter()
    model.source_.search(rows, N_JOBS)
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
    """What each part and each idea adds, on test documents."""
    train, test = corpus(name)
    some = slice(0, MOST_ABLATED)
    X, Y = test.X[some], test.Y[some]
    model = Observed(n_jobs=N_JOBS).fit(train.X, train.Y)
    print_memory()
    documents, candidates = model._candidates(X, N_JOBS)
    scores = {
        name: scorer.score(documents, candidates, N_JOBS) for name, scorer in model.scorers_.items()
    }
    counts = model.counts_[candidates.labels]

    def row(title: str, names: list[str], ranked: bool = True) -> list[object]:
        combined = combination(model.observed_, names, train.Y, ranked)
        return [title, *measured(candidates.scores(combined(scores, counts)), train, Y)]

    kept = list(model.combination_.curves)
    rows = [row("everything", kept)]
    rows += [row(f"without {part}", [n for n in kept if n != part]) for part in kept]
    rows += [row(f"{part} alone", [part]) for part in kept]
    rows.append(row("most likely curves", kept, ranked=False))
    if name != "yso-finna-en":
        for title, parameters in REFITS.items():
            other = Ensemble(n_jobs=N_JOBS, **parameters).fit(train.X, train.Y)
            rows.append([title, *measured(other.decision_function(X), train, Y)])
    print(f"\n### What each part and each idea adds: {name}\n")
    print(table(["", *MEASURES], rows), flush=True)
    dropped = [part for part in model.report_.alone if part not in kept]
    if dropped:
        print(f"\nThe ensemble itself does without {', '.join(dropped)} here.", flush=True)


def combination(
    held_out: HeldOut, names: list[str], Y_train: sparse.csr_array, ranked: bool
) -> Combination:
    """The combination of some parts, learned as the ensemble does it."""
    parts = {name: held_out.scores[name] for name in names}
    # Labels that only documents of the fold have count as labels without documents.
    counts = np.where(held_out.known, held_out.counts, 0)
    held_out = replace(held_out, scores=parts, counts=counts)
    fitted = most_likely(held_out, names)
    if ranked:
        fitted = rank_curves(held_out, fitted, "ndcg@5", Y_train)
        fitted = stretch_curves(held_out, fitted, "ndcg@5", Y_train)
    return fitted.calibrated(parts, counts, held_out.truth)


def measured(scores: sparse.csr_array, train: Corpus, Y: sparse.csr_array) -> list[float]:
    return list(evaluate(Y, scores, Y_train=train.Y, metrics=MEASURES).values())


def main() -> None:
    names = ["bibtex", "delicious", "eurlex57k", "yso-finna-en"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", choices=[*names, []])
    parser.add_argument("--ablation", action="store_true", help="what each part adds, instead")
    parser.add_argument("--effort", nargs="+", choices=EFFORTS, default=list(EFFORTS))
    parser.add_argument("--ours-only", action="store_true", help="without other libraries")
    arguments = parser.parse_args()
    print(f"# The ensemble\n\n{versions('manylabel', 'omikuji', 'numba', 'numpy')}", flush=True)
    rng = np.random.default_rng(0)
    Ensemble(n_jobs=N_JOBS, scorers=ON_MATRICES).fit(  # compiles the kernels
        rng.poisson(1.0, (200, 30)), rng.random((200, 5)) < 0.3
    )
    for name in arguments.corpora or names:
        if arguments.ablation:
            ablation(name)
        else:
            compare(name, arguments.effort, not arguments.ours_only)


if __name__ == "__main__":
    main()
