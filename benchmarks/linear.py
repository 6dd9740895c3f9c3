"""Linear classifiers: their figures and times, beside liblinear's.

    python -m benchmarks.linear [bibtex] [solver] [yahoo] [eurlex]

Reads the corpora from MANYLABEL_DATA, or ../shared/data beside the repository, and prints Markdown.
Without names everything runs. Times are of one run, after a small one that compiles, and exclude
reading and vectorising. CPU seconds add up the threads; other work on the machine affects them
little.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
import sklearn
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

import manylabel
from manylabel.corpus import Corpus, read
from manylabel.linear import OneVsRestSVM, SubsetSVM
from manylabel.metrics import evaluate
from manylabel.neighbors import NeighborIndex
from manylabel.text import CountVectorizer, Weighting
from manylabel.thresholds import Fixed

DATA = Path(
    os.environ.get("MANYLABEL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
PRECISIONS = ["p@1", "p@3", "p@5"]
N_JOBS = 2
# The measures of Rubin et al. (2012), of each document's ranking and of each label's, and F1 where
# the SVMs' own signs decide.
RANKINGS = ["auc-roc", "auc-pr", "average-precision", "one-error", "is-error", "margin"]
RANKINGS += ["ranking-loss"]
CUTS = ("proportional", "calibrated", "break-even")
RANKINGS += [f"{average}-f1@{cut}" for average in ("micro", "macro") for cut in CUTS]
PIVOTS = {
    "document-pivoted": RANKINGS,
    "label-pivoted": [f"label-{name}" for name in RANKINGS],
    "by sign": ["micro-f1", "macro-f1"],
}
RUBIN = [name for names in PIVOTS.values() for name in names]
LOSSES = {"one-error", "is-error", "margin", "ranking-loss"}


@dataclass
class Clock:
    """Seconds that a block of code took, by the clock and on all cores."""

    wall: float = 0.0
    cpu: float = 0.0

    def __str__(self) -> str:
        return f"{self.wall:.1f} | {self.cpu:.1f}"


@contextmanager
def timed() -> Iterator[Clock]:
    clock, wall, cpu = Clock(), time.perf_counter(), time.process_time()
    yield clock
    clock.wall, clock.cpu = time.perf_counter() - wall, time.process_time() - cpu


def table(title: str, columns: list[str]) -> None:
    print(f"\n## {title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")


def row(*cells: Any) -> None:
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)


def rounded(values: dict[str, float]) -> list[str]:
    return [f"{value:.3f}" for value in values.values()]


def narrow(matrix: sparse.csr_array) -> sparse.csr_array:
    """The same with the 32-bit indices that liblinear needs."""
    parts = matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return sparse.csr_array(parts, shape=matrix.shape)


def load_parts(name: str) -> tuple[Corpus, Corpus]:
    train, test = (read(next((DATA / name).glob(f"{part}.*"))) for part in ("train", "test"))
    return train, test.align_to(label_names=train.label_names)


def load_eurlex() -> tuple[Corpus, Corpus]:
    train, test = (read(DATA / "eurlex57k" / f"{part}.jsonl.xz") for part in ("train", "test"))
    vectorizer = CountVectorizer(stop_words="english", min_df=4, n_jobs=N_JOBS)
    train, test = train.vectorized(vectorizer), test.vectorized(vectorizer, fit=False)
    # Labels that no training document has stay among the true ones.
    both = train.join(test)
    return both[: len(train)], both[len(train) :]


def compile_kernels() -> None:
    X, Y = np.eye(20), np.tile(np.eye(4, dtype=np.int8), (5, 1))
    OneVsRestSVM(tuned=True).fit(X, Y).predict(X)
    SubsetSVM().fit(X, Y).predict(X)


def bibtex() -> None:
    """P@k and times beside scikit-learn's one-vs-rest."""
    train, test = load_parts("bibtex")
    columns = ["features", "classifier", *PRECISIONS, "micro-f1", "seconds", "CPU seconds"]
    table("Bibtex beside scikit-learn, 1 thread", columns)
    for name, weighting in (("0/1", Weighting(None, normalize=False)), ("tf-idf", Weighting())):
        with timed() as clock:
            svm = OneVsRestSVM(weighting=weighting).fit(train.X, train.Y)
        scores, given = svm.decision_function(test.X), svm.predict(test.X)
        measures = evaluate(test.Y, scores, given, metrics=[*PRECISIONS, "micro-f1"])
        row(name, "OneVsRestSVM", *rounded(measures), clock)
        rows = narrow(weighting.fit(train.X).transform(train.X))
        labels = train.Y.toarray().astype(int)
        with timed() as clock:
            theirs = OneVsRestClassifier(LinearSVC()).fit(rows, labels)
        dense = theirs.decision_function(narrow(weighting.transform(test.X)))
        row(
            name,
            "OneVsRestClassifier(LinearSVC())",
            *rounded(evaluate(test.Y, dense, metrics=PRECISIONS)),
            "",
            clock,
        )


def primal(w: np.ndarray, intercept: float, X: sparse.csr_array, y: np.ndarray) -> float:
    """The objective with C=1."""
    slack = np.maximum(0, 1 - y * (X @ w + intercept))
    return 0.5 * (w @ w + intercept**2) + slack @ slack


def solver(n_labels: int = 60) -> None:
    """Time and objective of our solver and of liblinear on a sample of EURLEX57K's labels."""
    train, _ = load_eurlex()
    X = narrow(Weighting().fit_transform(train.X))
    counts = np.bincount(train.Y.indices, minlength=train.n_labels)
    random = np.random.default_rng(0)
    labels = random.choice(np.flatnonzero(counts), n_labels, replace=False)
    Y = train.Y[:, labels]
    signs = np.where(Y.toarray() == 1, 1, -1)
    ways: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
        f"ours, tol={tol:g}": lambda tol=tol: _ours(X, Y, tol) for tol in (0.1, 0.01)
    } | {
        f"liblinear, tol={tol:g}": lambda tol=tol: _liblinear(X, signs, tol) for tol in (0.1, 0.01)
    }
    table(
        f"{n_labels} labels of EURLEX57K against the rest, {X.shape[0]:,} documents, 1 thread",
        ["solver", "seconds", "CPU seconds", "mean objective"],
    )
    for name, way in ways.items():
        with timed() as clock:
            coef, intercept = way()
        values = [primal(coef[i], intercept[i], X, signs[:, i]) for i in range(n_labels)]
        row(name, clock, f"{np.mean(values):.4f}")


def _ours(X: sparse.csr_array, Y: sparse.csr_array, tol: float) -> tuple[np.ndarray, np.ndarray]:
    raw = Weighting(None, normalize=False)
    svm = OneVsRestSVM(weighting=raw, tol=tol, prune=0, threshold="top").fit(X, Y)
    return svm.coef_.toarray().T.astype(float), svm.intercept_


def _liblinear(X: sparse.csr_array, signs: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray]:
    fitted = [LinearSVC(tol=tol, dual=True).fit(X, y) for y in signs.T]
    return np.array([svm.coef_[0] for svm in fitted]), np.array(
        [svm.intercept_[0] for svm in fitted]
    )


def yahoo() -> None:
    """Rubin's claim that tuning helps on small corpora: means of 5 splits, 1,000 training rows."""
    ways = [(features, tuned) for features in ("sum 1", "tf-idf") for tuned in (False, True)]
    names = [f"{features}, {'tuned' if tuned else 'vanilla'}" for features, tuned in ways]
    for name in ("yahoo-arts", "yahoo-health"):
        corpus = _frequent_labels(read(DATA / name / "all.txt.xz"), 100)
        means = []
        for features, tuned in ways:
            splits = [_yahoo_split(corpus, seed, features, tuned) for seed in range(5)]
            means.append(np.mean(splits, axis=0))
        table(f"{name}, {corpus.n_labels} labels, rows that sum to 1 or tf-idf", ["", *names])
        wins = []
        for position, measure in enumerate(RUBIN):
            values = [mean[position] for mean in means]
            row(measure, *(f"{value:.3f}" for value in values))
            sign = -1 if measure.removeprefix("label-") in LOSSES else 1
            wins.append([sign * values[i + 1] > sign * values[i] for i in (0, 2)])
        for title, chosen in PIVOTS.items():
            better = np.sum([wins[RUBIN.index(measure)] for measure in chosen], axis=0)
            row(f"tuned is better, {title} (of {len(chosen)})", "", better[0], "", better[1])


def _frequent_labels(corpus: Corpus, least: int) -> Corpus:
    """Labels with at least this many documents, and the documents that have one of them."""
    counts = np.bincount(corpus.Y.indices, minlength=corpus.n_labels)
    kept = corpus.select_labels(np.flatnonzero(counts >= least))
    return kept[np.flatnonzero(np.diff(kept.Y.indptr))]


def _yahoo_split(corpus: Corpus, seed: int, features: str, tuned: bool) -> list[float]:
    order = np.random.default_rng(seed).permutation(len(corpus))
    train, test = corpus[order[:1000]], corpus[order[1000:]]
    X, Q, weighting = train.X, test.X, Weighting()
    if features == "sum 1":
        X, Q, weighting = _shares(X), _shares(Q), Weighting(None, normalize=False)
    svm = OneVsRestSVM(
        tuned=tuned,
        weighting=weighting,
        prune=0,
        n_candidates=None,
        threshold=Fixed(0.0, at_least_one=False),
        n_jobs=N_JOBS,
    )
    svm.fit(X, train.Y)
    scores, given = svm.decision_function(Q), svm.predict(Q)
    return list(evaluate(test.Y, scores, given, Y_train=train.Y, metrics=RUBIN).values())


def _shares(counts: sparse.csr_array) -> sparse.csr_array:
    """Rows that sum to 1."""
    sums = counts.sum(axis=1)
    return sparse.csr_array(sparse.diags_array(1 / np.where(sums == 0, 1, sums)) @ counts)


def eurlex() -> None:
    """One-vs-rest and subset SVMs on EURLEX57K."""
    train, test = load_eurlex()
    measures = [*PRECISIONS, "rp@5", "ndcg@5", "micro-f1"]
    columns = ["classifier", *measures, "MB of weights", "seconds", "CPU seconds", "s to predict"]
    table(f"EURLEX57K, {N_JOBS} threads", columns)
    clocks = {}
    for svm in (SubsetSVM(n_jobs=N_JOBS), OneVsRestSVM(n_jobs=N_JOBS)):
        name = type(svm).__name__
        with timed() as clocks[name]:
            svm.fit(train.X, train.Y)
        with timed() as predicting:
            scores = svm.decision_function(test.X)
        given = svm.threshold_.apply(scores)
        values = rounded(evaluate(test.Y, scores, given, metrics=measures))
        size = (svm.coef_.data.nbytes + svm.coef_.indices.nbytes) / 1e6
        row(name, *values, f"{size:.0f}", clocks[name], f"{predicting.wall:.1f}")
    with timed() as neighbours:
        index = NeighborIndex(Weighting(dtype=np.float32).fit_transform(train.X))
        index.search_self(50, n_jobs=N_JOBS)
    subset, everyone = clocks["SubsetSVM"], clocks["OneVsRestSVM"]
    table("SubsetSVM's training as a share of OneVsRestSVM's", ["", "by the wall", "by CPU"])
    row(
        "without the search of neighbours",
        f"1/{everyone.wall / (subset.wall - neighbours.wall):.1f}",
        f"1/{everyone.cpu / (subset.cpu - neighbours.cpu):.1f}",
    )
    row("with it", f"1/{everyone.wall / subset.wall:.1f}", f"1/{everyone.cpu / subset.cpu:.1f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"\nNeighbours took {neighbours.wall:.1f} s; at most {peak:.2f} GB were in use.")


PARTS = {"bibtex": bibtex, "solver": solver, "yahoo": yahoo, "eurlex": eurlex}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all by default")
    chosen = parser.parse_args().parts or list(PARTS)
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(
        f"manylabel {manylabel.__version__}, scikit-learn {sklearn.__version__}, "
        f"NumPy {np.__version__}, Numba {numba.__version__}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores"
    )
    compile_kernels()
    for name in chosen:
        PARTS[name]()


if __name__ == "__main__":
    main()
