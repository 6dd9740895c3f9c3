"""Texts to unit tf-idf rows: manylabel beside scikit-learn, in one run.

Usage: python benchmarks/vectorizing.py [--runs 3] [--documents N]

Reads EURLEX57K's training texts from MANYLABEL_DATA, or ../shared/data beside the repository.
Both take turns, the best run of each counts, and the matrices are checked to be the same.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import platform
import time
from itertools import islice
from pathlib import Path

import numba
import numpy as np
import scipy
import sklearn
from sklearn.feature_extraction.text import TfidfVectorizer

import manylabel
from manylabel.text import CountVectorizer, Weighting

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = {"stop_words": "english", "min_df": 5}


def read_texts(limit: int | None) -> list[str]:
    folder = Path(os.environ.get("MANYLABEL_DATA", ROOT.parent / "shared" / "data"))
    with lzma.open(folder / "eurlex57k" / "train.jsonl.xz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in islice(lines, limit)]


def theirs(texts):
    return TfidfVectorizer(sublinear_tf=True, **SETTINGS).fit_transform(texts)


def ours(texts, n_jobs=1):
    counts = CountVectorizer(n_jobs=n_jobs, **SETTINGS).fit_transform(texts)
    return Weighting("tfidf").fit_transform(counts)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--documents", type=int)
    arguments = parser.parse_args()
    texts = read_texts(arguments.documents)
    ours(texts[:5], 2)  # compiles the kernels

    ways = {
        "scikit-learn TfidfVectorizer": theirs,
        "manylabel, 1 thread": ours,
        "manylabel, 2 threads": lambda texts: ours(texts, 2),
    }
    seconds = dict.fromkeys(ways, np.inf)
    for _ in range(arguments.runs):
        results = {}
        for name, way in ways.items():
            start = time.perf_counter()
            results[name] = way(texts)
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    expected, *others = results.values()
    for other in others:
        assert other.shape == expected.shape
        assert abs(other - expected).max() < 1e-12

    n_words = CountVectorizer().fit_transform(texts).sum()
    print(
        f"{len(texts):,} texts, {n_words:,.0f} words, {expected.shape[1]:,} features; "
        f"best of {arguments.runs}; manylabel {manylabel.__version__}, "
        f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
        f"Numba {numba.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores\n"
    )
    print("| | seconds | million words/s | times scikit-learn's speed |")
    print("|---|---|---|---|")
    base = seconds["scikit-learn TfidfVectorizer"]
    for name, took in seconds.items():
        print(f"| {name} | {took:.2f} | {n_words / took / 1e6:.1f} | {base / took:.1f} |")


if __name__ == "__main__":
    main()
