"""A setting chosen for each measure by itself, as the papers choose their competitors' settings.

Every setting is fitted once. For each measure a single threshold is then fitted on the training
documents' held-out scores. The setting is taken whose label sets are best by the measure on the
documents that choose: held-out training documents, or the test documents themselves. The
second is what Feremans et al. (2020) do for ML-kNN and IBLR and call an oracle; it flatters, and
rows that do it say so.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone

from manylabel.base import MultiLabelClassifier
from manylabel.compare.data import Data
from manylabel.exceptions import InputError, ParameterError
from manylabel.metrics import evaluate, get_measure
from manylabel.neighbors.brknn import LazyClassifier
from manylabel.neighbors.index import NeighborIndex, Neighbors
from manylabel.selection.folds import share_mask
from manylabel.text.weighting import make_weighting
from manylabel.thresholds import Best, Threshold
from manylabel.thresholds.best import SWEEPS

__all__ = ["CHOOSERS", "Choice", "ChosenFor"]

#: Which documents may choose.
CHOOSERS = ("train", "test")
#: The share of the training documents that choose, where they do.
_SHARE = 0.2


class _Recorder(Threshold):
    """Keeps the held-out scores that a model would fit its threshold on."""

    def fit(self, scores: Any, Y: Any) -> Self:
        self.scores_, self.truth_ = scores, Y
        return self

    def apply(self, scores: Any) -> sparse.csr_array:
        raise InputError("a recorder has no threshold to apply; fit one to what it has kept.")


class _SearchedOnce:
    """An index that searches for the most neighbours once and gives the first of them later."""

    def __init__(self, rows: sparse.csr_array, most: int) -> None:
        self.index, self.most = NeighborIndex(rows), most
        self._own: Neighbors | None = None
        self._asked: tuple[Any, Neighbors] | None = None

    def search_self(self, k: int, **options: Any) -> Neighbors:
        if self._own is None:
            self._own = self.index.search_self(self.most, **options)
        return _first(self._own, k)

    def search(self, rows: sparse.csr_array, k: int, **options: Any) -> Neighbors:
        if self._asked is None or _differ(self._asked[0], rows):
            self._asked = rows, self.index.search(rows, self.most, **options)
        return _first(self._asked[1], k)


def _differ(first: sparse.csr_array, second: sparse.csr_array) -> bool:
    if first.shape != second.shape or first.nnz != second.nnz:
        return True
    return (first != second).nnz > 0


def _first(found: Neighbors, k: int) -> Neighbors:
    indices = np.ascontiguousarray(found.indices[:, :k])
    return replace(found, indices=indices, similarities=found.similarities[:, :k])


@dataclass
class Choice:
    """The settings of a model, and for each measure the best of them.

    Parameters
    ----------
    model : MultiLabelClassifier
        Not fitted.
    grid : mapping of str to sequence
        Every combination is tried.
    metrics : tuple of str
    chooses : {"train", "test"}
        Which documents choose.
    data : Data
        The test documents are looked at only where they choose.
    """

    model: MultiLabelClassifier
    grid: Mapping[str, Sequence[Any]]
    metrics: tuple[str, ...]
    chooses: str
    data: Data
    #: Measure -> setting.
    best: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.chooses not in CHOOSERS:
            raise ParameterError(f"`chooses` must be 'train' or 'test'; got {self.chooses!r}.")
        for name in self.metrics:
            if name not in SWEEPS:
                raise ParameterError(f"no single threshold can be fitted for {name}.")

    def make(self) -> None:
        """Fit every setting and remember the best; the second time there is nothing to do."""
        if self.best:
            return
        data = self.data
        X, Y, X_new, Y_new = data.X_train, data.Y_train, data.X_test, data.Y_test
        if self.chooses == "train":
            aside = share_mask(Y, "share", _SHARE, 0)
            X, Y, X_new, Y_new = X[~aside], Y[~aside], X[aside], Y[aside]
        values: dict[str, float] = {}
        for setting, model in self._fitted(X, Y):
            scores = model.decision_function(X_new)
            for name in self.metrics:
                labels = self.threshold_of(model, name).apply(scores)
                value = evaluate(Y_new, Y_pred=labels, metrics=[name])[name]
                value *= 1 if get_measure(name).greater_is_better else -1
                if name not in values or value > values[name]:
                    values[name], self.best[name] = value, setting

    def _fitted(
        self, X: sparse.csr_array, Y: sparse.csr_array
    ) -> Iterator[tuple[dict[str, Any], MultiLabelClassifier]]:
        """Each setting with its model; those of neighbours are searched for once."""
        searched: _SearchedOnce | None = None
        for values in product(*self.grid.values()):
            setting = dict(zip(self.grid, values, strict=True))
            model = self.made(setting)
            if isinstance(model, LazyClassifier) and "k" in self.grid:
                if searched is None:
                    weighted = make_weighting(model.weighting).fit(X).transform(X)
                    searched = _SearchedOnce(weighted, max(self.grid["k"]))
                model.shared_index = searched
            yield setting, model.fit(X, Y)

    def made(self, setting: Mapping[str, Any]) -> MultiLabelClassifier:
        """The model with a setting, and a threshold that only keeps what it is shown."""
        model = clone(self.model).set_params(**setting)
        if "threshold" in model.get_params(deep=False):
            model.set_params(threshold=_Recorder())
        return model

    def threshold_of(self, model: MultiLabelClassifier, name: str) -> Threshold:
        """The threshold that is best for a measure on held-out scores; a model may have its own."""
        kept = model.threshold_
        if not isinstance(kept, _Recorder):
            return kept
        return Best(name, at_least_one=False).fit(kept.scores_, kept.truth_)


class ChosenFor:
    """What a choice comes to for one measure: fitted like an estimator.

    Parameters
    ----------
    choice : Choice
    metric : str
    """

    def __init__(self, choice: Choice, metric: str) -> None:
        self.choice, self.metric = choice, metric

    def fit(self, X: Any, Y: Any) -> Self:
        """Choose, then fit the winner on all training documents."""
        start = time.perf_counter()
        self.choice.make()
        self.tuning_seconds_ = time.perf_counter() - start
        self.best_params_ = self.choice.best[self.metric]
        model = self.choice.made(self.best_params_).fit(X, Y)
        model.threshold_ = self.choice.threshold_of(model, self.metric)
        self.best_estimator_ = model
        return self
