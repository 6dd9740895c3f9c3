"""Choose a setting for each measure separately, as the papers do for their competitors.

Every setting is fitted once to compare them, and the best ones once to all training documents, even
if one is best for several measures. For each measure, a single threshold is then fitted on the
held-out scores of training documents. The chosen setting has the best label sets by the measure, on
held-out training documents or on the test documents themselves. Feremans et al. (2020) do the
second for ML-kNN and IBLR and call it an oracle; it flatters a model, and rows that do it say so.
"""

from __future__ import annotations

import copy
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
from manylabel.neighbors.index import NeighborIndex
from manylabel.neighbors.strategies import Neighbors
from manylabel.selection.folds import share_mask
from manylabel.text.weighting import make_weighting
from manylabel.thresholds import Best, Threshold
from manylabel.thresholds.best import SWEEPS

__all__ = ["CHOOSERS", "Choice", "ChosenFor"]

#: The documents on which settings may be compared.
CHOOSERS = ("train", "test")
#: The share of the training documents that are held out for the choice.
_SHARE = 0.2


class _Recorder(Threshold):
    """A threshold that keeps the held-out scores it is fitted to."""

    def fit(self, scores: Any, Y: Any) -> Self:
        self.scores_, self.truth_ = scores, Y
        return self

    def apply(self, scores: Any) -> sparse.csr_array:
        raise InputError("a recorder has no threshold to apply; fit one to its scores.")


class _SearchedOnce:
    """An index that searches once for the most neighbours, and later returns the first k."""

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
    """The settings of a model, and the best of them for each measure.

    Parameters
    ----------
    model : MultiLabelClassifier
        Not fitted.
    grid : mapping of str to sequence
        Every combination is tried.
    metrics : tuple of str
    chooses : {"train", "test"}
        Compare settings on held-out training documents, or on the test documents.
    data : Data
        Its test documents are used only with "test".
    """

    model: MultiLabelClassifier
    grid: Mapping[str, Sequence[Any]]
    metrics: tuple[str, ...]
    chooses: str
    data: Data
    #: Measure -> setting.
    best: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: Setting, as text -> model of all training documents.
    _models: dict[str, MultiLabelClassifier] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.chooses not in CHOOSERS:
            raise ParameterError(f"`chooses` must be 'train' or 'test'; got {self.chooses!r}.")
        for name in self.metrics:
            if name not in SWEEPS:
                raise ParameterError(
                    f"`metrics` must be measures that a threshold can be fitted for, such as "
                    f"micro-f1; got {name!r}."
                )

    def make(self) -> None:
        """Fit every setting and remember the best; only the first call does something."""
        if self.best:
            return
        settings = self._settings()
        if len(settings) == 1:
            self.best = dict.fromkeys(self.metrics, settings[0])
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
            if self.chooses == "test":
                self._models[repr(setting)] = model
                wanted = set(map(repr, self.best.values()))
                self._models = {name: kept for name, kept in self._models.items() if name in wanted}

    def fitted(self, metric: str, X: Any, Y: Any) -> MultiLabelClassifier:
        """The best model for a measure, with its threshold."""
        setting = self.best[metric]
        if repr(setting) not in self._models:
            self._models[repr(setting)] = self.made(setting).fit(X, Y)
        model = copy.copy(self._models[repr(setting)])
        model.threshold_ = self.threshold_of(model, metric)
        return model

    def _settings(self) -> list[dict[str, Any]]:
        """Every combination of the grid."""
        combined = product(*self.grid.values())
        return [dict(zip(self.grid, values, strict=True)) for values in combined]

    def _fitted(
        self, X: sparse.csr_array, Y: sparse.csr_array
    ) -> Iterator[tuple[dict[str, Any], MultiLabelClassifier]]:
        """Yield each setting with its fitted model; neighbours are searched once for all."""
        searched: _SearchedOnce | None = None
        for setting in self._settings():
            model = self.made(setting)
            if isinstance(model, LazyClassifier) and "k" in self.grid:
                if searched is None:
                    weighted = make_weighting(model.weighting).fit(X).transform(X)
                    searched = _SearchedOnce(weighted, max(self.grid["k"]))
                model.shared_index = searched
            yield setting, model.fit(X, Y)

    def made(self, setting: Mapping[str, Any]) -> MultiLabelClassifier:
        """Make the model with a setting, and a threshold that only records scores."""
        model = clone(self.model).set_params(**setting)
        if "threshold" in model.get_params(deep=False):
            model.set_params(threshold=_Recorder())
        return model

    def threshold_of(self, model: MultiLabelClassifier, name: str) -> Threshold:
        """The best threshold for a measure on held-out scores, or the model's own if it has one."""
        kept = model.threshold_
        if not isinstance(kept, _Recorder):
            return kept
        return Best(name, at_least_one=False).fit(kept.scores_, kept.truth_)


class ChosenFor:
    """The choice for one measure, fitted like an estimator.

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
        self.best_estimator_ = self.choice.fitted(self.metric, X, Y)
        return self
