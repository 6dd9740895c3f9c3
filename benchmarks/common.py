"""What the benchmarks share: corpora, timing in turns, tables."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from scipy import sparse

from manylabel.corpus import Corpus, read
from manylabel.text import CountVectorizer, make_weighting

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("MANYLABEL_DATA", ROOT.parent / "shared" / "data"))

#: How texts become words, corpus by corpus; chosen on training data.
VECTORIZERS = {
    "eurlex57k": {"stop_words": "english", "min_df": 4},
    "yso-finna-en": {"min_df": 2},
}


@cache
def corpus(name: str) -> tuple[Corpus, Corpus]:
    """The training and the test set of a corpus, with the same features and labels."""
    folder = DATA / name
    train, test = (read(next(folder.glob(f"{part}.*"))) for part in ("train", "test"))
    if name in VECTORIZERS:
        vectorizer = CountVectorizer(n_jobs=2, **VECTORIZERS[name])
        train = train.vectorized(vectorizer)
        test = test.vectorized(vectorizer, fit=False)
    labels = [*train.label_names, *sorted(set(test.label_names) - set(train.label_names))]
    return train.align_to(label_names=labels), test.align_to(label_names=labels)


@cache
def weighted(name: str) -> tuple[sparse.csr_array, sparse.csr_array]:
    """The tf-idf rows of unit length of a corpus, in single precision."""
    train, test = corpus(name)
    weighting = make_weighting("tfidf", dtype=np.float32).fit(train.X)
    return weighting.transform(train.X), weighting.transform(test.X)


def best_of(runs: int, contenders: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The shortest time of each, in seconds, taking turns."""
    times = dict.fromkeys(contenders, float("inf"))
    for _ in range(runs):
        for name, call in contenders.items():
            start = time.perf_counter()
            call()
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def table(header: list[str], rows: list[list[object]]) -> str:
    """A Markdown table; numbers get four significant digits."""

    def cell(value: object) -> str:
        if isinstance(value, float):
            return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
        return f"{value:,}" if isinstance(value, int) else str(value)

    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines)


def versions(*packages: str) -> str:
    """Names and versions in one line; what is not installed says so."""
    names = []
    for package in packages:
        try:
            names.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            names.append(f"{package} (not installed)")
    return ", ".join(names)
