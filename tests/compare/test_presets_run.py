"""Every row of every preset, on small corpora instead of the real ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from manylabel.compare import PRESETS, make_preset, run
from manylabel.corpus import Corpus, write

N = {"yahoo-arts": 1100, "yahoo-health": 1100, "imdb-f": 100}


def small_corpus(n: int, seed: int) -> Corpus:
    """Documents whose words mostly determine their labels."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, 8)) < np.linspace(0.1, 0.4, 8)).astype(int)
    Y[np.arange(n), rng.integers(0, 8, n)] = 1
    X = np.hstack([rng.integers(1, 3, Y.shape) * Y, rng.random((n, 12)) < 0.3])
    return Corpus(X, Y)


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("data")
    for position, name in enumerate(("bibtex", "delicious", "medical", "corel5k", *N)):
        (root / name).mkdir()
        if name in N:
            write(small_corpus(N[name], position), root / name / "all.txt")
            continue
        for part, n in (("train", 60), ("test", 20)):
            write(small_corpus(n, position), root / name / f"{part}.txt")
    for name in ("eurlex57k", "yso-finna-en"):
        (root / name).mkdir()
        for part, n in (("train", 60), ("test", 20)):
            corpus = small_corpus(n, 7)
            lines = [
                {"text": " ".join(f"word{w}" for w in corpus.X[[row]].indices), "labels": labels}
                for row, labels in enumerate(corpus.label_lists())
            ]
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (root / name / f"{part}.jsonl").write_text(text)
    return root


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
def test_every_row_comes_to_an_end(name, data, tmp_path):
    plan = replace(make_preset(name, data), seeds=1)
    results = run(plan, tmp_path)
    assert results.reasons == {}
    for problem in plan.problems:
        for line in results.lines[problem.name]:
            missing = [metric for metric in plan.metrics if metric not in line.values]
            assert not line.n_runs or not missing, line.title
