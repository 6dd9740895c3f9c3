"""One corpus with very many labels: time, memory, size and precision, side by side.

    python -m benchmarks.extreme FOLDER [quick|normal|parabel|xr-linear ...] [--test N] [--jobs 2]

FOLDER is what `benchmarks.scale_corpora` has written. Each system runs in its own process.
Training seconds exclude reading the corpus; CPU seconds include processes that the system starts.
Memory is the peak of the process, corpus included. XR-Linear needs MANYLABEL_PECOS, as in
`benchmarks.ensemble`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import table, versions
from manylabel import Ensemble, Tagger, store
from manylabel.compare.external import make_external
from manylabel.corpus import Corpus, read
from manylabel.metrics import precision_at
from manylabel.tagger.documents import KeptDocuments
from manylabel.tagger.labels import Labels
from manylabel.tagger.state import TaggerState
from manylabel.text import CountVectorizer

SYSTEMS = ("quick", "normal", "parabel", "xr-linear")
#: How many single predictions are timed.
SINGLE = 200


def read_parts(folder: Path, n_test: int) -> tuple[Corpus, Corpus]:
    """Training documents, and some test documents with the same words and labels."""
    ending = "txt" if (folder / "train.txt").exists() else "jsonl"
    train, test = (read(folder / f"{part}.{ending}") for part in ("train", "test"))
    test = test[:n_test]
    if ending == "jsonl":
        vectorizer = CountVectorizer(min_df=2, n_jobs=2)
        train, test = train.vectorized(vectorizer), test.vectorized(vectorizer, fit=False)
        known = set(train.label_names)
        new = [label for label in test.label_names if label not in known]
        labels = [*train.label_names, *new]
        train, test = train.align_to(label_names=labels), test.align_to(label_names=labels)
    return train, test


def make(system: str, jobs: int) -> Any:
    """The estimator of a system."""
    if system in ("quick", "normal"):
        return Ensemble(effort=system, n_jobs=jobs, random_state=0)
    name = {"parabel": "omikuji:parabel", "xr-linear": "pecos:xr-linear"}[system]
    return make_external(name, {"n_jobs": jobs})


def cpu_seconds() -> float:
    """CPU seconds of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def size_of(model: Any) -> float:
    """Megabytes on disk."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        if isinstance(model, Ensemble):
            store.save(model, path)
        elif hasattr(model, "model_"):
            model.model_.save(str(path))
        else:
            path = Path(model._folder.name) / "model"
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6


def keep(model: Ensemble, train: Corpus, folder: Path) -> None:
    """Save a trained ensemble as a model folder that the command line can serve."""
    counts = np.bincount(train.X.indices, minlength=train.X.shape[1])
    documents = KeptDocuments(train.ids, [""] * len(train), train.Y)
    labels = Labels(train.label_names, {})
    tagger = Tagger(model, n_jobs=1)
    names = train.feature_names
    tagger._remember(TaggerState(model, labels, documents, None, names, counts, False))
    tagger.save(folder)


def measure(
    system: str, folder: Path, n_test: int, jobs: int, kept: Path | None = None
) -> dict[str, float]:
    """The costs and the precision of one system."""
    train, test = read_parts(folder, n_test)
    start, clock = cpu_seconds(), time.perf_counter()
    model = make(system, jobs).fit(train.X, train.Y)
    figures = {"CPU s": cpu_seconds() - start, "s": time.perf_counter() - clock}
    if isinstance(model, Ensemble):
        print(model.report_, file=sys.stderr, flush=True)
    scores = model.decision_function(test.X, top=5)
    figures |= {f"p@{k}": float(precision_at(test.Y, scores, k)) for k in (1, 3, 5)}
    if system != "xr-linear":  # every call of it starts a process
        model.decision_function(test.X[[0]], top=5)  # the first compiles
        start = cpu_seconds()
        for row in range(SINGLE):
            model.decision_function(test.X[[row]], top=5)
        figures["ms per prediction"] = 1e3 * (cpu_seconds() - start) / SINGLE
    peaks = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    figures["peak MB"] = max(each.ru_maxrss for each in peaks) / 1024
    figures["model MB"] = size_of(model)
    if kept is not None and isinstance(model, Ensemble):
        keep(model, train, kept)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("systems", nargs="*", help=", ".join(SYSTEMS))
    parser.add_argument("--test", type=int, default=2000, help="test documents")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="save the model of quick or normal here")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        figures = measure(given.measure, given.folder, given.test, given.jobs, given.keep)
        print(json.dumps(figures))
        return
    columns = ["CPU s", "s", "peak MB", "model MB", "p@1", "p@3", "p@5", "ms per prediction"]
    rows: list[list[object]] = []
    for system in given.systems or SYSTEMS:
        words = ["-m", "benchmarks.extreme", str(given.folder), "--measure", system]
        words += ["--test", str(given.test), "--jobs", str(given.jobs)]
        words += ["--keep", str(given.keep)] if given.keep else []
        done = subprocess.run([sys.executable, *words], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            print(f"{system} failed; its message is above.", file=sys.stderr)
            continue
        costs = json.loads(done.stdout.splitlines()[-1])
        rows.append([system, *(costs.get(column, "") for column in columns)])
    best = given.folder / "best.json"
    if best.exists():
        known = json.loads(best.read_text())
        rows.append(["best possible", "", "", "", "", *(known[f"p@{k}"] for k in (1, 3, 5)), ""])
    print(f"## {given.folder.name}\n\n{versions('manylabel', 'omikuji', 'numpy', 'numba')}\n")
    print(f"{os.cpu_count()} cores, {given.jobs} threads, {given.test:,} test documents\n")
    print(table(["system", *columns], rows))


if __name__ == "__main__":
    main()
