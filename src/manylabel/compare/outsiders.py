"""Label trees of other libraries as estimators: omikuji's Parabel and Bonsai, PECOS' XR-Linear.

They read rows of unit length, weighted by tf-idf like those of our own models.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from manylabel.exceptions import ParameterError
from manylabel.thresholds import Threshold, TopK

__all__ = ["Omikuji", "XRLinear", "make_outsider"]

#: Trees that are wide and shallow.
_BONSAI = {"cluster_balanced": False, "cluster_k": 100, "max_depth": 3}


def make_outsider(name: str, parameters: Mapping[str, Any]) -> Any:
    """The estimator of a row such as ``omikuji:bonsai``."""
    makers: dict[str, Any] = {
        "omikuji:parabel": Omikuji,
        "omikuji:bonsai": lambda **given: Omikuji(
            {**_BONSAI, **given.pop("settings", {})}, **given
        ),
        "pecos:xr-linear": XRLinear,
    }
    if name not in makers:
        raise ParameterError(f"no model is called {name!r}; there are {', '.join(makers)}.")
    return makers[name](**parameters)


class _LabelTree(BaseEstimator):
    """What both libraries share: weights before, as many labels as training documents after."""

    threshold_: Threshold
    n_labels_: int

    def fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> Self:
        """Learn."""
        from manylabel.text import make_weighting

        self.weighting_ = make_weighting("tfidf", dtype=np.float32).fit(X)
        self.n_labels_ = Y.shape[1]
        self._learn(self.weighting_.transform(X), Y)
        self.threshold_ = TopK().fit(None, Y)
        return self

    def decision_function(self, X: sparse.csr_array, top: int | None = None) -> sparse.csr_array:
        """Score the best labels of each document, by default 100."""
        return self._score(self.weighting_.transform(X), 100 if top is None else top)

    def _learn(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        raise NotImplementedError

    def _score(self, X: sparse.csr_array, top: int) -> sparse.csr_array:
        raise NotImplementedError


class Omikuji(_LabelTree):
    """Parabel, or with other settings Bonsai, as omikuji trains them."""

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
            self.model_ = omikuji.Model.train_on_data(str(path), parameters, self.n_jobs)

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


class XRLinear(_LabelTree):
    """XR-Linear as libpecos trains it, with its own defaults."""

    def __init__(self, n_jobs: int = 1) -> None:
        self.n_jobs = n_jobs

    def _learn(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        trees: Any = import_module("pecos.xmc")
        linear: Any = import_module("pecos.xmc.xlinear.model")
        X, Y = _plain(X), _plain(Y)
        clusters = trees.Indexer.gen(trees.LabelEmbeddingFactory.create(Y, X))
        self.model_ = linear.XLinearModel.train(X, Y, C=clusters, threads=self.n_jobs)

    def _score(self, X: sparse.csr_array, top: int) -> sparse.csr_array:
        found = self.model_.predict(_plain(X), only_topk=top, threads=self.n_jobs)
        return sparse.csr_array(found)


def _plain(matrix: sparse.csr_array) -> sparse.csr_matrix:
    return sparse.csr_matrix(matrix.astype(np.float32))
