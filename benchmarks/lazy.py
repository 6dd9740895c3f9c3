"""ML-kNN, BRkNN and IBLR: figures beside the LCIF paper's, times beside scikit-multilearn's.

    python -m benchmarks.lazy [--peer PYTHON]

Reads the corpora from MANYLABEL_DATA, or ../shared/data beside the repository. scikit-multilearn
0.2.0 does not run with scikit-learn 1.0 or later, so its times need another interpreter, for
example one of Python 3.8 with scikit-learn 0.24. Both libraries get the same unit tf-idf rows, for
which Euclidean and cosine neighbours are the same, and one thread. Each runs once, ours after a
run that compiles; reading is not timed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from manylabel.corpus import Corpus, read
from manylabel.metrics import evaluate
from manylabel.neighbors.brknn import BRkNN
from manylabel.neighbors.iblr import IBLR
from manylabel.neighbors.mlknn import MLkNN
from manylabel.text import Weighting

ROOT = Path(__file__).resolve().parents[1]
METRICS = ["accuracy", "micro-f1", "macro-f1-one", "hamming-loss"]
# Table 2 of the LCIF paper: k chosen on the test set, one threshold per measure.
PAPER = {
    ("medical", "MLkNN"): (0.421, 0.505, 0.245, 0.024),
    ("corel5k", "MLkNN"): (0.147, 0.245, 0.326, 0.022),
    ("bibtex", "MLkNN"): (0.208, 0.315, 0.170, 0.020),
    ("delicious", "MLkNN"): (0.193, 0.322, 0.088, 0.021),
    ("medical", "IBLR"): (0.442, 0.506, 0.247, 0.029),
    ("corel5k", "IBLR"): (0.105, 0.163, 0.161, 0.027),
    ("bibtex", "IBLR"): (0.174, 0.250, 0.147, 0.021),
}
# As printed by another interpreter: name, seconds to fit, seconds to predict.
PEER = """
import sys, time, warnings
warnings.simplefilter("ignore")
from scipy import sparse
from skmultilearn.adapt import BRkNNaClassifier, BRkNNbClassifier, MLkNN
X, Y, Q = (sparse.load_npz(sys.argv[1] + "/" + name + ".npz") for name in "XYQ")
models = {"MLkNN": MLkNN(10), "BRkNN a": BRkNNaClassifier(10), "BRkNN b": BRkNNbClassifier(10)}
for name, model in models.items():
    start = time.perf_counter()
    model.fit(X, Y)
    fitted = time.perf_counter()
    model.predict(Q)
    print(name, fitted - start, time.perf_counter() - fitted, sep=chr(9))
"""


def load(name: str) -> tuple[Corpus, Corpus]:
    folder = Path(os.environ.get("MANYLABEL_DATA", ROOT.parent / "shared" / "data")) / name
    train, test = (read(next(folder.glob(f"{part}.txt*"))) for part in ("train", "test"))
    return train, test


def row(*cells: object) -> str:
    return f"| {' | '.join(str(c) if not isinstance(c, float) else f'{c:.3f}' for c in cells)} |"


def figures() -> None:
    """k=10 and a threshold learned on training documents, beside the paper."""
    print("| corpus | model | accuracy | micro F1 | macro F1 | Hamming loss | the paper's | s |")
    print("|---|---|---|---|---|---|---|---|")
    for name in ("medical", "corel5k", "bibtex", "delicious"):
        train, test = load(name)
        models = [
            BRkNN(variant="a", n_jobs=2),
            BRkNN(variant="b", n_jobs=2),
            MLkNN(threshold="best:micro-f1", n_jobs=2),
            IBLR(threshold="best:micro-f1", n_jobs=2),
        ]
        for model in models:
            kind = type(model).__name__
            if kind == "IBLR" and (name, kind) not in PAPER:
                continue  # minutes of logistic regression, and nothing to compare it with
            start = time.perf_counter()
            labels = model.fit(train.X, train.Y).predict(test.X)
            seconds = time.perf_counter() - start
            measured = evaluate(test.Y, None, labels, metrics=METRICS).values()
            paper = " ".join(f"{value:.3f}" for value in PAPER.get((name, kind), ())) or "-"
            shown = f"{kind} {model.variant}" if kind == "BRkNN" else kind
            print(row(name, shown, *measured, paper, f"{seconds:.1f}"), flush=True)


def speed(peer: str, name: str) -> None:
    """Seconds to fit on the training part and to predict the test part."""
    train, test = load(name)
    weighting = Weighting("tfidf").fit(train.X)
    X, Q = weighting.transform(train.X), weighting.transform(test.X)
    with tempfile.TemporaryDirectory() as folder:
        for key, matrix in {"X": X, "Y": train.Y.astype(np.int64), "Q": Q}.items():
            sparse.save_npz(f"{folder}/{key}.npz", sparse.csr_matrix(matrix))
        lines = subprocess.run(
            [peer, "-c", PEER, folder], check=True, capture_output=True, text=True
        ).stdout.splitlines()
    models = {
        "MLkNN": MLkNN(weighting=None),
        "BRkNN a": BRkNN(variant="a", weighting=None),
        "BRkNN b": BRkNN(variant="b", weighting=None),
    }
    for line in lines:
        kind, *seconds = line.split("\t")
        theirs = [float(value) for value in seconds]
        timed(models[kind], X, train.Y, Q)  # compiles the kernels
        mine = timed(models[kind], X, train.Y, Q)
        ratio = sum(theirs) / sum(mine)
        print(row(name, kind, *theirs, *mine, f"{ratio:.0f}"), flush=True)


def timed(model, X, Y, Q) -> tuple[float, float]:
    start = time.perf_counter()
    model.fit(X, Y)
    fitted = time.perf_counter()
    model.predict(Q)
    return fitted - start, time.perf_counter() - fitted


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", help="an interpreter that has scikit-multilearn")
    peer = parser.parse_args().peer
    figures()
    if peer:
        print(
            "\n| corpus | model | scikit-multilearn: fit, s | predict, s | fit, s | predict, s |",
            end="",
        )
        print(" times as fast |\n|---|---|---|---|---|---|---|")
        for name in ("medical", "bibtex"):
            speed(peer, name)
    else:
        print("\nNo times of scikit-multilearn: give --peer an interpreter that has it.")


if __name__ == "__main__":
    main()
