"""What to label next: how many documents each order needs for the same nDCG@5.

    python -m benchmarks.next [--corpora eurlex57k,yso-finna-en] [--seeds 3]
                              [--orders random,coverage,words,uncertainty]

Some documents at random have labels; then labels of more documents of the pool are asked for, step
by step, in random order, by coverage (`choose_next`), by words (`choose_by_words`) or by
uncertainty (`most_uncertain`). After each step an ensemble of neighbours and words is trained on
what has labels, and judged on other documents. Each seed draws another pool.

The documents are those of the corpora's test parts. Coverage was preferred to other orders on laws
of EURLEX57K's dev part; words were chosen on the first 12,000 titles, which are left out here.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.common import DATA, table, versions
from manylabel.audit import choose_by_words, choose_next, most_uncertain, uncertainty
from manylabel.corpus import read
from manylabel.ensemble import Ensemble
from manylabel.metrics import evaluate
from manylabel.predictions import keep_top
from manylabel.text import CountVectorizer

SCORERS = ["neighbours", "nearest", "words"]
ORDERS = ("random", "coverage", "words", "uncertainty")


@dataclass(frozen=True)
class Setting:
    """How much of a corpus is used."""

    pool: int
    judged: int
    steps: tuple[int, ...]
    stop_words: str | None = None
    #: Documents of the part that served to choose an order.
    skipped: int = 0


SETTINGS = {
    "eurlex57k": Setting(4_000, 2_000, (300, 450, 675, 1_000, 1_500), "english"),
    "yso-finna-en": Setting(16_000, 6_000, (2_000, 3_000, 4_500, 6_750, 10_000), skipped=30_000),
}


def chosen(
    order: str,
    model: Ensemble,
    X: sparse.csr_array,
    left: NDArray[np.int64],
    n: int,
) -> NDArray[np.int64]:
    """The next documents of those that are left."""
    if order == "random":
        return left[:n]
    rows = model.weighting_.transform(X[left])
    if order == "words":
        assert model.source_.index is not None
        words = model.source_.index.rows().indices
        return left[choose_by_words(rows, n, np.bincount(words, minlength=X.shape[1]))]
    near = model.source_.search(rows)
    assert near is not None
    known = np.maximum(near.similarities[:, 0], 0)
    if order == "coverage":
        return left[choose_next(rows, n, known)]
    return left[most_uncertain(uncertainty(model.decision_function(X[left])), rows, n, known)]


def curve(
    order: str, X: sparse.csr_array, Y: sparse.csr_array, setting: Setting, seed: int
) -> list[float]:
    """nDCG@5 after each step."""
    mixed = np.random.default_rng(seed).permutation(X.shape[0])
    pool, judged = mixed[: setting.pool], mixed[setting.pool :][: setting.judged]
    X_pool, Y_pool = X[pool], sparse.csr_array(Y[pool])
    X_judged, Y_judged = X[judged], sparse.csr_array(Y[judged])
    labelled, reached = np.arange(setting.steps[0]), []
    for size, following in zip(setting.steps, (*setting.steps[1:], None), strict=True):
        model = Ensemble(scorers=SCORERS, random_state=0, n_jobs=1)
        model.fit(X_pool[labelled], sparse.csr_array(Y_pool[labelled]))
        scores = keep_top(model.decision_function(X_judged), 5)
        reached.append(evaluate(Y_judged, scores, metrics=["ndcg@5"])["ndcg@5"])
        if following is not None:
            left = np.setdiff1d(np.arange(setting.pool), labelled)
            labelled = np.append(labelled, chosen(order, model, X_pool, left, following - size))
    return reached


def needed(
    steps: tuple[int, ...], random: list[float], other: list[float], given: int
) -> list[str]:
    """The share of random order's documents that another order needs for the same nDCG@5.

    The first ``given`` documents, which both have, are not counted.
    """
    risen = np.maximum.accumulate(other)
    return ["–"] + [
        f"{(np.exp(np.interp(value, risen, np.log(steps))) - given) / (step - given):.0%}"
        if value <= risen[-1]
        else "over 100%"
        for step, value in zip(steps[1:], random[1:], strict=True)
    ]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", default=",".join(SETTINGS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--orders", default=",".join(ORDERS))
    asked = parser.parse_args()
    warnings.filterwarnings("ignore")
    print(f"# What to label next\n\n{versions('manylabel')}; {asked.seeds} seeds\n")
    for name in asked.corpora.split(","):
        setting = SETTINGS[name]
        documents = read(DATA / name / "test.jsonl.xz")
        # As many as the pools of all seeds can be drawn from.
        documents = documents[setting.skipped :][: 3 * (setting.pool + setting.judged)]
        words = CountVectorizer(n_jobs=1, min_df=2, stop_words=setting.stop_words)
        documents = documents.vectorized(words)
        X, Y = documents.X, sparse.csr_array(documents.Y)
        curves = {
            order: np.mean([curve(order, X, Y, setting, seed) for seed in range(asked.seeds)], 0)
            for order in asked.orders.split(",")
        }
        rows: list[list[object]] = []
        for order, values in curves.items():
            rows.append([order, *(f"{value:.4f}" for value in values)])
            if order != "random":
                both = setting.steps, curves["random"].tolist(), values.tolist()
                rows.append([f"{order}, share of all documents", *needed(*both, 0)])
                rows.append(
                    [f"{order}, share of those asked for", *needed(*both, setting.steps[0])]
                )
        print(f"## {name}\n")
        print(table(["documents with labels", *(f"{n:,}" for n in setting.steps)], rows))
        print(flush=True)


if __name__ == "__main__":
    main()
