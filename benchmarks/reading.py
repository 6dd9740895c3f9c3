"""Reading speed: Extreme Classification text of YSO size, side by side with scikit-learn.

Writes a synthetic corpus (588,108 rows, 4.6 million values, 25,249 labels) to a temporary folder
and both libraries read it in turns, best of three, on one core. Values are tf-idf weights with six
decimals, as in the Extreme Classification repository, and then with all digits of a float64.

    python benchmarks/reading.py
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from manylabel.corpus import Corpus, read, write

ROWS, FEATURES, LABELS = 588_108, 60_000, 25_249
VALUES, LABEL_ENTRIES = 4_600_000, 1_417_000


def synthetic(decimals: int | None) -> Corpus:
    """A corpus of the size of YSO-Finna with long-tailed columns."""
    random = np.random.default_rng(0)
    X = _matrix(random, VALUES, FEATURES)
    X.data = random.random(X.nnz)
    if decimals is not None:
        X.data = np.maximum(X.data.round(decimals), 10.0**-decimals)
    Y = _matrix(random, LABEL_ENTRIES, LABELS)
    Y.data[:] = 1
    return Corpus(X, Y)


def _matrix(random: np.random.Generator, entries: int, columns: int) -> sparse.csr_array:
    rows = random.integers(ROWS, size=entries)
    popular = (columns * random.random(entries) ** 3).astype(np.int64)
    return sparse.csr_array((np.ones(entries), (rows, popular)), shape=(ROWS, columns))


def best_of(runs: int, contenders: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The shortest time of each, taking turns."""
    times = dict.fromkeys(contenders, float("inf"))
    for _ in range(runs):
        for name, call in contenders.items():
            start = time.perf_counter()
            call()
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def main() -> None:
    print("| values | reader | MB | seconds | MB/s | times scikit-learn |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for title, decimals in {"six decimals": 6, "all digits": None}.items():
            path = Path(folder, "train.txt")
            write(synthetic(decimals), path)
            headless = Path(folder, "train.svm")
            headless.write_bytes(path.read_bytes().split(b"\n", 1)[1])
            read(path)  # compiles the kernels before the clock starts
            size = path.stat().st_size / 1e6
            contenders = {
                "manylabel": lambda path=path: read(path),
                "scikit-learn": lambda path=headless: load_svmlight_file(
                    str(path), multilabel=True, zero_based=True
                ),
            }
            times = best_of(3, contenders)
            for name, seconds in times.items():
                print(
                    f"| {title} | {name} | {size:.0f} | {seconds:.2f} | {size / seconds:.0f} | "
                    f"{times['scikit-learn'] / seconds:.1f} |"
                )


if __name__ == "__main__":
    main()
