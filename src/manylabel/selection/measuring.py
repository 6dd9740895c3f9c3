"""Measure settings on held-out documents."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.base import Grid, MultiLabelClassifier, SharedWork
from manylabel.estimators import clone
from manylabel.metrics import evaluate, get_measure
from manylabel.selection.folds import Fold
from manylabel.selection.settings import KEEP, Setting, keeps_all
from manylabel.thresholds import Best, make_threshold

__all__ = ["Measuring", "can_leave_out"]


def can_leave_out(model: MultiLabelClassifier, grid: Grid) -> bool:
    """Whether every setting of a grid can share work, which makes leave-one-out cheap."""
    others = [name for name in grid if name != KEEP and name not in model.shared_parameters]
    return all(
        clone(model).set_params(**dict(zip(others, values, strict=True)))._shares_work()
        for values in product(*(grid[name] for name in others))
    )


class Measuring:
    """Measures settings of a model on all folds, and reuses work that settings share.

    Parameters
    ----------
    model : MultiLabelClassifier
        Not fitted.
    folds : list of Fold
        Their predictions are pooled and measured together.
    grid : mapping of str to sequence
        All values to try.
    metric : str
    shares : bool, default=True
        Reuse shared work; otherwise every setting is fitted as a user would fit it.
    """

    def __init__(
        self,
        model: MultiLabelClassifier,
        folds: list[Fold],
        grid: Grid,
        metric: str,
        shares: bool = True,
    ) -> None:
        self.shares = shares
        self.model, self.folds, self.grid, self.metric = model, folds, grid, metric
        self.truth = _stacked([fold.Y_held_out for fold in folds])
        self._reads_labels = "labels" in get_measure(metric).needs
        self._kept: tuple[str, list[Fold]] | None = None
        self._shared: tuple[str, list[SharedWork]] | None = None

    def value(self, setting: Setting) -> float:
        """The measure on the pooled predictions of all folds."""
        parameters = dict(setting)
        folds = self._selected(parameters.pop(KEEP, 1.0))
        model = clone(self.model).set_params(**parameters)
        if self.shares and model._shares_work():
            scores, labels = self._shared_answers(model, folds, setting)
        else:
            scores, labels = _fitted_answers(model, folds)
        values = evaluate(self.truth, scores, labels, Y_train=folds[0].Y, metrics=[self.metric])
        return float(values[self.metric])

    def _selected(self, keep: Any) -> list[Fold]:
        """The folds with only the kept features; cached for one value of ``keep`` at a time."""
        # The int 1 is a number of features, the float 1.0 a share.
        if self._kept is None or self._kept[0] != repr(keep):
            self._shared = None
            self._kept = (repr(keep), [_with_features(fold, keep) for fold in self.folds])
        return self._kept[1]

    def _shared_answers(
        self, model: MultiLabelClassifier, folds: list[Fold], setting: Setting
    ) -> tuple[sparse.csr_array, sparse.csr_array | None]:
        """Predictions from work done once for all settings that differ only in shared parameters.

        Only the last shared work is cached: neighbours take much memory.
        """
        shared = {name for name in setting if name in model.shared_parameters}
        key = repr({name: value for name, value in setting.items() if name not in shared})
        if self._shared is None or self._shared[0] != key:
            values = {name: self.grid[name] for name in shared}
            self._shared = key, [_share(model, fold, values) for fold in folds]
        wanted = {name: setting[name] for name in shared}
        scores = _stacked([work.scores(wanted) for work in self._shared[1]])
        if not self._reads_labels:
            return scores, None
        threshold = make_threshold(model.threshold)
        # Other thresholds read statistics of labels, which must come from the training documents.
        known = self.truth if isinstance(threshold, Best) else folds[0].Y
        return scores, threshold.fit(scores, known).apply(scores)


def _share(model: MultiLabelClassifier, fold: Fold, values: Grid) -> SharedWork:
    held_out = fold.X_held_out if fold.rows is None else fold.rows
    return model._share_work(fold.X, fold.Y, values, held_out)


def _fitted_answers(
    model: MultiLabelClassifier, folds: list[Fold]
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Predictions of models fitted to each fold."""
    answers = [
        clone(model).fit(fold.X, fold.Y).scores_and_labels(fold.X_held_out) for fold in folds
    ]
    return _stacked([scores for scores, _ in answers]), _stacked([labels for _, labels in answers])


def _with_features(fold: Fold, keep: Any) -> Fold:
    """A fold with the features that entropy selects on its training documents."""
    if keeps_all(keep):
        return fold
    from manylabel.neighbors.entropy import EntropySelector  # slow to import

    kept = np.flatnonzero(EntropySelector(keep).fit(fold.X).get_support())
    return Fold(fold.X[:, kept], fold.Y, fold.X_held_out[:, kept], fold.Y_held_out, fold.rows)


def _stacked(matrices: list[sparse.csr_array]) -> sparse.csr_array:
    """Matrices stacked vertically."""
    return matrices[0] if len(matrices) == 1 else sparse.csr_array(sparse.vstack(matrices, "csr"))
