"""Label trees of other libraries as estimators: omikuji's Parabel and Bonsai, PECOS's XR-Linear.

Like manylabel's models, they read tf-idf rows of unit length.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from abc import abstractmethod
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from manylabel.exceptions import ParameterError
from manylabel.thresholds import Threshold, TopK

__all__ = ["LabelTree", "Omikuji", "XRLinear", "make_external"]

#: Bonsai's settings: wide and shallow trees.
_BONSAI = {"cluster_balanced": False, "cluster_k": 100, "max_depth": 3}


def make_external(name: str, parameters: Mapping[str, Any]) -> Any:
    """Make the estimator of a row such as ``omikuji:bonsai``."""
    makers: dict[str, Any] = {
        "omikuji:parabel": Omikuji,
        "omikuji:bonsai": lambda **given: Omikuji(
            {**_BONSAI, **given.pop("settings", {})}, **given
        ),
        "pecos:xr-linear": XRLinear,
    }
    if name not in makers:
        raise ParameterError(f"unknown model {name!r}; there are {', '.join(makers)}.")
    return makers[name](**parameters)


class LabelTree(BaseEstimator):
    """What both libraries share: tf-idf before, and a threshold after."""

    threshold_: Threshold
    n_labels_: int
    #: The training time of the library itself, without converting matrices: by the clock, and of
    #: all processors together.
    train_seconds_: float
    train_cpu_seconds_: float

    def fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> Self:
        """Train the label tree."""
        from manylabel.text import make_weighting

        self.weighting_ = make_weighting("tfidf", dtype=np.float32).fit(X)
        self.n_labels_ = Y.shape[1]
        self._learn(self.weighting_.transform(X), Y)
        self.threshold_ = TopK().fit(None, Y)
        return self

    def decision_function(self, X: sparse.csr_array, top: int | None = None) -> sparse.csr_array:
        """Score the best labels of each document, by default 100."""
        return self._score(self.weighting_.transform(X), 100 if top is None else top)

    def scores_and_labels(
        self, X: sparse.csr_array, top: int | None = None
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Scores and label sets from one pass."""
        scores = self.decision_function(X, top)
        return scores, self.threshold_.apply(scores)

    @abstractmethod
    def _learn(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        """Train on weighted rows."""

    @abstractmethod
    def _score(self, X: sparse.csr_array, top: int) -> sparse.csr_array:
        """Score the best labels of weighted rows."""


class Omikuji(LabelTree):
    """Parabel or, with other settings, Bonsai, trained by omikuji."""

    def __init__(self, settings: Mapping[str, Any] | None = None, n_jobs: int = 1) -> None:
        self.settings = settings
        self.n_jobs = n_jobs

    def _learn(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        from manylabel.corpus import Corpus, write

        omikuji: Any = import_module("omikuji")
        parameters = omikuji.Model.default_hyper_param()
        for name, value in (self.settings or {}).items():
            setattr(parameters, name, value)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "train.txt")
            write(Corpus(X, Y), path)
            start, cpu_start = time.perf_counter(), time.process_time()
            self.model_ = omikuji.Model.train_on_data(str(path), parameters, self.n_jobs)
            self.train_seconds_ = time.perf_counter() - start
            self.train_cpu_seconds_ = time.process_time() - cpu_start

    def _score(self, X: sparse.csr_array, top: int) -> sparse.csr_array:
        rows, labels, values = [], [], []
        for row in range(X.shape[0]):
            entries = slice(X.indptr[row], X.indptr[row + 1])
            pairs = zip(X.indices[entries].tolist(), X.data[entries].tolist(), strict=True)
            for label, score in self.model_.predict(list(pairs), top_k=top):
                rows.append(row)
                labels.append(label)
                values.append(score)
        shape = (X.shape[0], self.n_labels_)
        return sparse.csr_array((np.array(values, np.float32), (rows, labels)), shape=shape)


class XRLinear(LabelTree):
    """XR-Linear, trained by libpecos with its defaults.

    libpecos needs older versions of NumPy and SciPy, so it runs in the Python that
    ``MANYLABEL_PECOS`` names. Times include starting it and writing the matrices to files.
    """

    def __init__(self, n_jobs: int = 1) -> None:
        self.n_jobs = n_jobs

    def _learn(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self._folder = tempfile.TemporaryDirectory()
        times = self._run("train", X=X, Y=Y).split()[-2:]
        self.train_seconds_, self.train_cpu_seconds_ = map(float, times)

    def _score(self, X: sparse.csr_array, top: int) -> sparse.csr_array:
        self._run("predict", top, Q=X)
        return sparse.csr_array(sparse.load_npz(Path(self._folder.name, "scores.npz")))

    def _run(self, *task: Any, **matrices: sparse.csr_array) -> str:
        for name, matrix in matrices.items():
            plain = sparse.csr_matrix(matrix.astype(np.float32))
            sparse.save_npz(Path(self._folder.name, f"{name}.npz"), plain, compressed=False)
        python = os.environ.get("MANYLABEL_PECOS", sys.executable)
        arguments = [self._folder.name, str(self.n_jobs), *map(str, task)]
        command = [python, "-c", _XR_LINEAR, *arguments]
        done = subprocess.run(  # noqa: S603 - the user's own Python, and no shell
            command, check=True, capture_output=True, text=True
        )
        return done.stdout


_XR_LINEAR = """
import sys
import time
import numpy as np
import scipy.sparse as sparse
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel

folder, threads, task, *more = sys.argv[1:]

def matrix(name):
    matrix = sparse.load_npz(f"{folder}/{name}.npz").tocsr().astype(np.float32)
    matrix.sort_indices()
    return matrix

if task == "train":
    X, Y = matrix("X"), matrix("Y")
    start, cpu_start = time.perf_counter(), time.process_time()
    clusters = Indexer.gen(LabelEmbeddingFactory.create(Y, X), threads=int(threads))
    model = XLinearModel.train(X, Y, C=clusters, threads=int(threads))
    print(time.perf_counter() - start, time.process_time() - cpu_start)
    model.save(f"{folder}/model")
else:
    model = XLinearModel.load(f"{folder}/model")
    scores = model.predict(matrix("Q"), only_topk=int(more[0]), threads=int(threads))
    sparse.save_npz(f"{folder}/scores.npz", scores.tocsr())
"""
