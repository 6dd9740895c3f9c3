"""Train one SVM a label, over blocks of labels in threads."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from manylabel.linear.tuning import choose_weight
from manylabel.parallel import run_blocks
from manylabel.progress import progress_bar
from manylabel.validation import csr_parts

__all__ = ["LinearModel", "Settings", "Trainer", "Weights", "hold_out", "train"]

#: Labels that a thread trains before it reports and takes more.
BLOCK = 8
_HELD_SHARE = 0.2


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


@dataclass(frozen=True)
class LinearModel:
    """Weights of all labels.

    Parameters
    ----------
    coef : csr_array of shape (n_features, n_labels), float32
        A row a feature, since that is how a document's few features meet the weights.
    intercept : ndarray of shape (n_labels,), float64
        Minus infinity for labels that were not trained.
    """

    coef: sparse.csr_array
    intercept: NDArray[np.float64]


@dataclass
class Weights:
    """Pruned weights, collected label by label."""

    n_features: int
    n_labels: int
    prune: float
    parts: dict[int, tuple[NDArray[np.int32], NDArray[np.float32]]] = field(default_factory=dict)
    intercepts: dict[int, float] = field(default_factory=dict)

    def collect(self, label: int, trainer: Trainer) -> None:
        """Keep what matters of a label's weights; the last one belongs to the constant feature."""
        w = trainer.w
        size = np.abs(w[:-1])
        kept = np.flatnonzero((size >= self.prune) & (size > 0)).astype(np.int32)
        self.parts[label] = kept, w[kept].astype(np.float32)
        self.intercepts[label] = float(w[-1]) * trainer.bias

    def model(self) -> LinearModel:
        """The weights of all labels together."""
        nothing = np.empty(0, np.int32), np.empty(0, np.float32)
        parts = [self.parts.get(label, nothing) for label in range(self.n_labels)]
        indptr = np.cumsum([0, *(features.size for features, _ in parts)])
        # SciPy gives the indices the type of the pointers.
        if indptr[-1] <= np.iinfo(np.int32).max:
            indptr = indptr.astype(np.int32)
        by_label = sparse.csr_array(
            (
                np.concatenate([values for _, values in parts]),
                np.concatenate([features for features, _ in parts]),
                indptr,
            ),
            shape=(self.n_labels, self.n_features),
        )
        intercept = np.full(self.n_labels, -np.inf)
        intercept[list(self.intercepts)] = list(self.intercepts.values())
        return LinearModel(by_label.T.tocsr(), intercept)


class Trainer:
    """Trains labels one after the other; belongs to one thread."""

    def __init__(
        self, rows: Any, squares: NDArray[np.float64], n_features: int, settings: Settings
    ) -> None:
        from manylabel.kernels import svm

        self._kernels: Any = svm
        self._rows = rows
        self._squares = squares
        self._settings = settings
        self.bias = float(settings.bias)
        self._w = np.zeros(n_features + 1)

    def fit(self, label: int, members: NDArray[np.int32], positive: NDArray[np.bool_]) -> int:
        """Train a label on some rows; the sweeps that it took."""
        settings, kernels = self._settings, self._kernels
        costs = np.full(2, settings.C)
        self._stream = np.uint64(kernels.stream_of(settings.seed, label))
        self._problem = kernels.Problem(
            self._rows, self._squares, members, positive, costs, self.bias
        )
        self._w[:] = 0
        self._solution = kernels.Solution(self._w, np.zeros(members.size))
        self._order = np.arange(members.size, dtype=np.int32)
        self.positive_weight = 1.0
        if settings.tuned:
            self.positive_weight = choose_weight(positive, self._accuracy, [settings.seed, label])
            costs[1] *= self.positive_weight
            self._order[:] = np.arange(members.size)
        return kernels.solve(self._problem, self._solution, *self._search())

    @property
    def w(self) -> NDArray[np.float64]:
        """The weights of the label, that of the constant feature last."""
        return self._w

    def leave_out(self, folds: NDArray[np.int8], fold: int) -> None:
        """Take the rows of a fold out of the solution."""
        self._kernels.leave_out(self._problem, self._solution, folds, fold, *self._search())

    def held_out_scores(self, folds: NDArray[np.int8], out: NDArray[np.float64]) -> None:
        """Write the score of each training row by the solution without its fold."""
        self._kernels.held_out_scores(self._problem, self._solution, folds, *self._search(), out)

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
        return self._kernels.held_out_accuracy(
            self._problem, weights, trained, held, *self._search(), self._w.size - 1
        )


def train(
    X: sparse.csr_array,
    n_labels: int,
    members: Callable[[int], tuple[NDArray[np.int32], NDArray[np.bool_]]],
    settings: Settings,
    finish: Callable[[int, Trainer], None],
) -> int:
    """Train every label that has a positive row; the most sweeps that any took.

    Parameters
    ----------
    X : csr_array of shape (n_rows, n_features)
        Weighted rows.
    n_labels : int
    members : callable
        Gives the rows to train a label on, and which of them have it.
    settings : Settings
    finish : callable
        Called in some thread with a label and the trainer that has just trained it.
    """
    from manylabel.kernels.index import Rows

    indptr, indices, data = csr_parts(X)
    # Numba wraps negative indices around, which unsigned ones spare it: a fifth of the time.
    rows = Rows(indptr, indices.view(np.uint32), data)
    squares = np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel()
    sweeps = np.zeros(n_labels, np.int64)

    def work(start: int, stop: int) -> None:
        trainer = Trainer(rows, squares, X.shape[1], settings)
        for label in range(start, stop):
            places, positive = members(label)
            if positive.any():
                sweeps[label] = trainer.fit(label, places, positive)
                finish(label, trainer)

    with progress_bar("labels", settings.verbose) as callback:
        run_blocks(work, n_labels, BLOCK, settings.n_jobs, callback)
    n_left = int((sweeps > settings.max_iter).sum())
    if n_left:
        warnings.warn(
            f"{n_left} of {n_labels} labels did not converge in max_iter={settings.max_iter} "
            "sweeps; raise `max_iter` or `tol`.",
            ConvergenceWarning,
            stacklevel=5,
        )
    return min(int(sweeps.max(initial=1)), settings.max_iter)


def hold_out(n_rows: int, seed: int) -> NDArray[np.int8]:
    """Fold 0 for a random fifth of the rows, at least one, and -1 for the others."""
    folds = np.full(n_rows, -1, np.int8)
    n_held = max(1, round(_HELD_SHARE * n_rows))
    folds[np.random.default_rng(seed).permutation(n_rows)[:n_held]] = 0
    return folds
