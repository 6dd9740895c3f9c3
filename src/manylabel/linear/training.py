"""Train one SVM per label, in blocks of labels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.estimators import ConvergenceWarning
from manylabel.kernels.index import Rows
from manylabel.linear.model import LinearModel
from manylabel.linear.tuning import PATIENCE, QUICK_SWEEPS, choose_weight, thin
from manylabel.parallel import map_blocks
from manylabel.progress import progress_bar
from manylabel.validation import csr_parts, pointers

__all__ = [
    "Members",
    "MembersByLabel",
    "Settings",
    "Trained",
    "Trainer",
    "Weights",
    "hold_out",
    "train",
]

#: Minimum and maximum labels per task, and tasks for labels between these. Each task allocates an
#: array of all features.
BLOCK, MAX_BLOCK, TASKS = 8, 256, 1_024
_HELD_SHARE = 0.2
#: The rows of a label, which of them have it, and factors of their weights; None for ones.
Members = tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.float64] | None]


class MembersByLabel(Protocol):
    """The rows that each label is trained on."""

    def of_label(self, label: int) -> Members:
        """The rows to train a label on."""


@dataclass(frozen=True)
class Settings:
    """How to train; the parameters of the estimators."""

    C: float
    bias: bool
    prune: float
    max_iter: int
    tol: float
    seed: int
    n_jobs: int | None
    verbose: bool | int
    tuned: bool = False
    #: Choose the weight of positive rows by fewer sweeps, and skip weights unlikely to win.
    quick: bool = False


@dataclass(frozen=True)
class Weights:
    """Pruned weights of consecutive labels.

    Parameters
    ----------
    sizes : ndarray of shape (n_labels,)
        The number of weights of each label.
    features, values : ndarray
        The weights, label after label.
    intercepts : ndarray of shape (n_labels,)
        Minus infinity for labels that were not trained.
    """

    sizes: NDArray[np.int64]
    features: NDArray[np.int32]
    values: NDArray[np.float32]
    intercepts: NDArray[np.float64]

    def model(self, n_features: int) -> LinearModel:
        """The weights by feature."""
        by_label = sparse.csr_array(
            (self.values, self.features, pointers(self.sizes)), shape=(self.sizes.size, n_features)
        )
        return LinearModel(by_label.T.tocsr(), self.intercepts)


@dataclass(frozen=True)
class Trained:
    """The result of training consecutive labels.

    Parameters
    ----------
    weights : Weights
    without : Weights
        Weights trained without the rows of fold 0; empty unless requested.
    scores : ndarray
        Of each label's rows that are in a fold, by weights trained without the fold, label after
        label; empty unless requested.
    positive_weights : ndarray of shape (n_labels,)
        The weight of rows with the label.
    sweeps : ndarray of shape (n_labels,)
        The number of sweeps; 0 for a label that was not trained.
    """

    weights: Weights
    without: Weights
    scores: NDArray[np.float64]
    positive_weights: NDArray[np.float64]
    sweeps: NDArray[np.int64]


class _Collector:
    """Collects weights label by label."""

    def __init__(self, prune: float) -> None:
        self._prune = prune
        self._features: list[NDArray[np.int32]] = []
        self._values: list[NDArray[np.float32]] = []
        self._intercepts: list[float] = []

    def add(self, trainer: Trainer) -> None:
        """Add a label's weights, pruned; the last one belongs to the constant feature."""
        w, features = trainer.w, trainer.features
        size = np.abs(w[:-1])
        kept = np.flatnonzero((size >= self._prune) & (size > 0)).astype(np.int32)
        if features is not None:
            kept = kept[np.argsort(features[kept])]
        names = kept if features is None else features[kept]
        self._append(names, w[kept].astype(np.float32), float(w[-1]) * trainer.bias)

    def add_empty(self) -> None:
        """Add a label that is not trained."""
        self._append(np.empty(0, np.int32), np.empty(0, np.float32), -np.inf)

    def _append(
        self, features: NDArray[np.int32], values: NDArray[np.float32], intercept: float
    ) -> None:
        self._features.append(features)
        self._values.append(values)
        self._intercepts.append(intercept)

    def weights(self) -> Weights:
        """The weights of all labels added."""
        return Weights(
            np.array([features.size for features in self._features], np.int64),
            np.concatenate([np.empty(0, np.int32), *self._features]),
            np.concatenate([np.empty(0, np.float32), *self._values]),
            np.array(self._intercepts, np.float64),
        )


class Trainer:
    """Trains labels one after another; belongs to one thread."""

    #: The features of the last label's weights; None for all.
    features: NDArray[np.int32] | None
    _w: NDArray[np.float64]

    def __init__(
        self,
        rows: Any,
        squares: NDArray[np.float64],
        sample_weight: NDArray[np.float64],
        n_features: int,
        settings: Settings,
    ) -> None:
        from manylabel.kernels import svm

        self._kernels: Any = svm
        self._rows = rows
        self._squares = squares
        self._sample_weight = sample_weight
        self._settings = settings
        self.bias = float(settings.bias)
        self._n_features = n_features
        self._place_of = np.full(n_features, -1, np.int32)

    def fit(
        self,
        label: int,
        members: NDArray[np.int32],
        positive: NDArray[np.bool_],
        factors: NDArray[np.float64] | None = None,
    ) -> int:
        """Train a label on some rows, with factors of their weights; the number of sweeps."""
        settings, kernels = self._settings, self._kernels
        costs = np.full(2, settings.C)
        self._stream = np.uint64(kernels.stream_of(settings.seed, label))
        self._members = members
        rows, squares, weights, positions = self._own_rows(members)
        if factors is not None:
            weights = weights.copy()
            weights[positions] *= factors
        self._problem = kernels.Problem(
            rows, squares, weights, positions, positive, costs, self.bias
        )
        self._solution = kernels.Solution(self._w, np.zeros(members.size))
        self._order = np.arange(members.size, dtype=np.int32)
        self.positive_weight = 1.0
        if settings.tuned:
            seed, self._kept = [settings.seed, label], np.ones(members.size, bool)
            times = np.ones(members.size)
            if settings.quick and factors is not None:
                self._kept, times = thin(factors, seed)
                weights[positions] *= times
            self.positive_weight = choose_weight(positive, self._accuracy, seed)
            if settings.quick and factors is not None:
                weights[positions] /= times
            costs[1] *= self.positive_weight
            self._order[:] = np.arange(members.size)
            if not settings.quick:
                # The exact solution of weight 1 is that of an SVM that is not tuned.
                self._solution.w[:], self._solution.alpha[:] = 0, 0
        return kernels.solve(self._problem, self._solution, *self._search())

    def _own_rows(self, members: NDArray[np.int32]) -> tuple[Any, ...]:
        """Rows, their squares and weights, and which of them to train on.

        Few rows are copied with their own features alone: weights that are 0 cost nothing then,
        and the others are near each other in memory.
        """
        ptr = self._rows.ptr
        n_entries = int((ptr[members + 1] - ptr[members]).sum())
        if n_entries >= self._n_features:
            self.features, self._w = None, np.zeros(self._n_features + 1)
            return self._rows, self._squares, self._sample_weight, members
        rows = type(self._rows)(
            np.empty(members.size + 1, ptr.dtype),
            np.empty(n_entries, self._rows.features.dtype),
            np.empty(n_entries, self._rows.values.dtype),
        )
        columns = np.empty(n_entries, np.int32)
        n_columns = self._kernels.gather(
            self._rows, members, self._place_of, rows.ptr, rows.features, rows.values, columns
        )
        self.features, self._w = columns[:n_columns], np.zeros(n_columns + 1)
        positions = np.arange(members.size, dtype=np.int32)
        return rows, self._squares[members], self._sample_weight[members], positions

    def _own_folds(self, folds: NDArray[np.int8]) -> NDArray[np.int8]:
        """The folds of the rows that the problem has."""
        return folds if self.features is None else folds[self._members]

    @property
    def w(self) -> NDArray[np.float64]:
        """The weights of ``features``, that of the constant feature last."""
        return self._w

    def leave_out(self, folds: NDArray[np.int8], fold: int) -> None:
        """Take the rows of a fold out of the solution."""
        own = self._own_folds(folds)
        self._kernels.leave_out(self._problem, self._solution, own, fold, *self._search())

    def held_out_scores(self, folds: NDArray[np.int8], out: NDArray[np.float64]) -> None:
        """Write the score of each training row by the solution without its fold."""
        own = self._own_folds(folds)
        self._kernels.held_out_scores(self._problem, self._solution, own, *self._search(), out)

    def _search(self) -> tuple[Any, ...]:
        settings = self._settings
        return self._order, self._stream, settings.max_iter, settings.tol

    def _accuracy(
        self,
        weights: NDArray[np.float64],
        trained: NDArray[np.bool_],
        held: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Accuracy on held-out rows for each weight of the positive rows."""
        order, stream, max_iter, tol = self._search()
        quick = self._settings.quick
        return self._kernels.held_out_accuracy(
            self._problem,
            weights,
            trained & self._kept,
            held & self._kept,
            order,
            stream,
            min(max_iter, QUICK_SWEEPS) if quick else max_iter,
            tol,
            self._solution,
            PATIENCE if quick else 0,
        )


def train(
    X: sparse.csr_array,
    members: MembersByLabel,
    n_labels: int,
    settings: Settings,
    folds: NDArray[np.int8] | None = None,
    *,
    with_scores: bool = False,
    sample_weight: NDArray[np.float64] | None = None,
) -> Trained:
    """Train every label that has a positive row.

    Parameters
    ----------
    X : csr_array of shape (n_rows, n_features)
        Weighted rows.
    members : MembersByLabel
        The rows to train each label on.
    n_labels : int
    settings : Settings
    folds : array of shape (n_rows,), int8, optional
        Also train each label without the rows of fold 0, and return those weights.
    with_scores : bool
        Instead, return scores of the rows of all folds by weights trained without their fold.
    sample_weight : array of shape (n_rows,), optional
        Factor of ``C`` for each row, above 0; ones by default.
    """
    indptr, indices, data = csr_parts(X)
    # Unsigned, because Numba's wrap-around of negative indices takes a fifth of the time.
    rows = Rows(indptr, indices.view(np.uint32), data)
    squares = np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel()
    quiet = replace(settings, n_jobs=None, verbose=0)
    if sample_weight is None:
        sample_weight = np.ones(X.shape[0])
    shared = (rows, squares, sample_weight, X.shape[1], members, quiet, folds, with_scores)
    with progress_bar("labels", settings.verbose) as callback:
        block = min(max(BLOCK, n_labels // TASKS), MAX_BLOCK)
        blocks = map_blocks(_train_labels, shared, n_labels, block, settings.n_jobs, callback)
        trained = _joined(list(blocks) or [_train_labels(*shared, 0, 0)])
    n_left = int((trained.sweeps > settings.max_iter).sum())
    if n_left:
        warnings.warn(
            f"{n_left} of {n_labels} labels did not converge in max_iter={settings.max_iter} "
            "sweeps; raise `max_iter` or `tol`.",
            ConvergenceWarning,
            stacklevel=5,
        )
    return replace(trained, sweeps=np.minimum(trained.sweeps, settings.max_iter))


def _train_labels(
    rows: Any,
    squares: NDArray[np.float64],
    sample_weight: NDArray[np.float64],
    n_features: int,
    members: MembersByLabel,
    settings: Settings,
    folds: NDArray[np.int8] | None,
    with_scores: bool,
    start: int,
    stop: int,
) -> Trained:
    """Train some of the labels."""
    trainer = Trainer(rows, squares, sample_weight, n_features, settings)
    weights, without = _Collector(settings.prune), _Collector(settings.prune)
    scores: list[NDArray[np.float64]] = [np.empty(0)]
    positive_weights = np.ones(stop - start)
    sweeps = np.zeros(stop - start, np.int64)
    for label in range(start, stop):
        positions, positive, factors = members.of_label(label)
        held_out = np.zeros(positions.size if folds is not None and with_scores else 0)
        if not positive.any():
            weights.add_empty()
            without.add_empty()
            scores.append(_scored(held_out, positions, folds))
            continue
        sweeps[label - start] = trainer.fit(label, positions, positive, factors)
        positive_weights[label - start] = trainer.positive_weight
        weights.add(trainer)
        if folds is not None and with_scores:
            trainer.held_out_scores(folds, held_out)
        elif folds is not None:
            trainer.leave_out(folds, 0)
            without.add(trainer)
        scores.append(_scored(held_out, positions, folds))
    return Trained(
        weights.weights(), without.weights(), np.concatenate(scores), positive_weights, sweeps
    )


def _scored(
    scores: NDArray[np.float64], positions: NDArray[np.int32], folds: NDArray[np.int8] | None
) -> NDArray[np.float64]:
    """The scores of rows that are in a fold; most rows of a large corpus are in none."""
    return scores if folds is None or scores.size == 0 else scores[folds[positions] >= 0]


def _joined(blocks: Sequence[Trained]) -> Trained:
    """Join consecutive blocks of labels."""

    def together(pieces: list[Any]) -> Any:
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def weights(pieces: list[Weights]) -> Weights:
        return Weights(
            together([piece.sizes for piece in pieces]),
            together([piece.features for piece in pieces]),
            together([piece.values for piece in pieces]),
            together([piece.intercepts for piece in pieces]),
        )

    return Trained(
        weights([block.weights for block in blocks]),
        weights([block.without for block in blocks]),
        together([block.scores for block in blocks]),
        together([block.positive_weights for block in blocks]),
        together([block.sweeps for block in blocks]),
    )


def hold_out(n_rows: int, seed: int) -> NDArray[np.int8]:
    """Fold 0 for a random fifth of the rows, at least one, and -1 for the others."""
    folds = np.full(n_rows, -1, np.int8)
    n_held = max(1, round(_HELD_SHARE * n_rows))
    folds[np.random.default_rng(seed).permutation(n_rows)[:n_held]] = 0
    return folds
