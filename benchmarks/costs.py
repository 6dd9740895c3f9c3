"""How time and memory grow as documents, labels and words double, one at a time.

    python -m benchmarks.costs [documents] [labels] [words] [--effort quick]

Corpora come from `benchmarks.themes`. Each size runs in its own process, in one thread, after
a small training that loads the kernels. Time is CPU time. Memory is the growth of the
peak of the process during training. The exponent is the slope of the logarithms, by least squares
over all sizes, and over the last doubling alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.common import table, versions
from benchmarks.themes import Size, Themes
from manylabel import Ensemble
from manylabel.progress import peak_memory

#: The sizes that stay the same while another one doubles.
BASE = Size(train=4000, test=0, words=4000, labels=4000, length=30.0, cardinality=5.0)
START = {"documents": 1000, "labels": 1000, "words": 1000}
FIELDS = {"documents": "train", "labels": "labels", "words": "words"}
DOUBLINGS = 4
PREDICTED = 100


def measure(size: Size, effort: str) -> dict[str, float]:
    """The costs of one size."""
    warm = Themes(replace(BASE, train=600, words=500, labels=450), 1)
    _train(warm, 600, effort)
    model = Themes(size, 0)
    X, Y = _drawn(model, size.train)
    before, start = peak_memory() or 0, time.process_time()
    learned = Ensemble(effort=effort, n_jobs=1, random_state=0).fit(X, Y)
    seconds, after = time.process_time() - start, peak_memory() or 0
    start = time.process_time()
    for row in range(PREDICTED):
        learned.decision_function(X[[row]], top=5)
    each = 1e3 * (time.process_time() - start) / PREDICTED
    return {"training s": seconds, "MB": (after - before) / 1e6, "ms per prediction": each}


def _drawn(model: Themes, n: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    parts = list(model.draw(n))
    X, Y = (sparse.vstack([getattr(part, name) for part in parts]) for name in ("X", "Y"))
    return sparse.csr_array(X), sparse.csr_array(Y)


def _train(model: Themes, n: int, effort: str) -> Any:
    X, Y = _drawn(model, n)
    learned = Ensemble(effort=effort, n_jobs=1, random_state=0).fit(X, Y)
    return learned.decision_function(X[[0]], top=5)


def exponent(sizes: list[int], costs: list[float]) -> float:
    """The slope of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(costs, 1e-9)), 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", help=", ".join(START))
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(Size(**json.loads(given.measure)), given.effort)))
        return
    print(
        f"## Costs of `{given.effort}`\n\n{versions('manylabel', 'numpy', 'numba')}\n", flush=True
    )
    for what in given.what or START:
        sizes = [START[what] * 2**step for step in range(DOUBLINGS + 1)]
        measured = []
        for number in sizes:
            size = replace(BASE, **{FIELDS[what]: number})
            words = ["--measure", json.dumps(vars(size)), "--effort", given.effort]
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.costs", *words],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            measured.append(json.loads(done.stdout.splitlines()[-1]))
        columns = list(measured[0])
        rows: list[list[object]] = [
            [number, *each.values()] for number, each in zip(sizes, measured, strict=True)
        ]
        costs = {column: [each[column] for each in measured] for column in columns}
        rows.append(["exponent", *(exponent(sizes, costs[column]) for column in columns)])
        rows.append(
            ["last doubling", *(exponent(sizes[-2:], costs[column][-2:]) for column in columns)]
        )
        print(table([what, *columns], rows), "\n", flush=True)


if __name__ == "__main__":
    main()
