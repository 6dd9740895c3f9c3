"""Hyper-parameter search that looks for neighbours once.

For one number of features kept, neighbours are searched once at the largest k, and feature
similarities computed once; every other setting only combines them anew.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from manylabel.exceptions import ParameterError
from manylabel.kernels.votes import Csr
from manylabel.metrics import evaluate, get_measure
from manylabel.neighbors.entropy import EntropySelector
from manylabel.neighbors.features import FeatureSimilarity
from manylabel.neighbors.index import NeighborIndex, Neighbors
from manylabel.neighbors.lcif import LCIF
from manylabel.neighbors.voting import VotingClassifier, as_csr, combined_scores
from manylabel.progress import progress_bar
from manylabel.text.weighting import make_weighting
from manylabel.thresholds import Best, make_threshold
from manylabel.validation import check_labels, check_matrix, check_same_rows, check_whole

__all__ = ["DEFAULT_GRID", "PAPER_GRID", "NeighborSearchCV"]

#: What is tried by default, in the order of the stages.
DEFAULT_GRID: dict[str, Sequence[Any]] = {
    "keep": (1.0,),
    "k": (5, 10, 20, 35, 50, 100, 200, 350),
    "alpha": (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0),
    "beta": (0.5, 1.0, 1.5, 2.0, 3.0),
    "lam": tuple(round(0.1 * i, 1) for i in range(11)),
    "threshold": ("cardinality", "per-label"),
}

#: What the LCIF paper tried.
PAPER_GRID: dict[str, Sequence[Any]] = {
    "keep": (0.01, 0.1, 0.25, 0.5, 0.75, 0.99, 1.0),
    "k": (1, 5, *range(50, 351, 50)),
    "alpha": (0.5, 1.0, 1.5, 2.0),
    "beta": (0.5, 1.0, 1.5, 2.0),
    "lam": tuple(round(0.1 * i, 1) for i in range(11)),
    "threshold": ("cardinality",),
}


@dataclass(frozen=True)
class _Fold:
    """A part of the data to learn from and a part to measure on.

    For leave-one-out, ``rows`` says which of the documents learned from are the ones measured on.
    """

    X: sparse.csr_array
    Y: sparse.csr_array
    X_held_out: sparse.csr_array
    Y_held_out: sparse.csr_array
    rows: NDArray[np.int64] | None = None


@dataclass
class _Prepared:
    """What all settings with the same features kept share, on one fold."""

    fold: _Fold
    queries: Csr
    labels: Csr
    own: Csr | None
    neighbors: Neighbors | None
    features: FeatureSimilarity | None


class NeighborSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Tune InstanceKNN, FeatureKNN or LCIF.

    Parameters
    ----------
    estimator : VotingClassifier, optional
        What to tune; :class:`LCIF` by default. Its other parameters stay as they are.
    metric : str, default="micro-f1"
        The measure to optimise: any of :data:`manylabel.metrics.MEASURES`.
    grid : mapping of str to sequence, optional
        Values to try; :data:`DEFAULT_GRID` by default, :data:`PAPER_GRID` is the paper's. ``keep``
        is how many features :class:`EntropySelector` keeps.
    staged : bool, default=True
        One parameter after the other, in the order of the grid, starting from the estimator's own
        parameters; otherwise all combinations. The paper starts from
        ``LCIF(k=100, alpha=1.0, beta=1.0, lam=0.5)``.
    rounds : int, default=2
        How often the stages are gone through, each round from the best so far; the paper has one.
    cv : "loo", int or float, default="loo"
        Leave-one-out, which neighbours make cheap: each training document is scored as if it were
        not there. Or a number of folds, or the share of the training data that is held out.
        Answers of all folds are pooled and measured together.
    max_documents : int, default=10000
        Leave-one-out scores at most so many documents, evenly chosen.
    random_state : int, default=0
        Of the folds.
    refit : bool, default=True
        Fit the best setting on everything.
    n_jobs : int, optional
    verbose : int, default=0
        Show progress.

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float
    best_estimator_ : estimator
        Fitted if ``refit``; a pipeline with the selector if features were dropped.
    results_ : list of dict
        Every setting tried, in order: its parameters, ``value`` and ``seconds``.

    Examples
    --------
    >>> X = [[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]] * 5
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]] * 5
    >>> search = NeighborSearchCV(grid={"k": [1, 3], "lam": [0.0, 1.0]}, metric="p@1").fit(X, Y)
    >>> search.best_score_
    1.0
    """

    def __init__(
        self,
        estimator: VotingClassifier | None = None,
        *,
        metric: str = "micro-f1",
        grid: Mapping[str, Sequence[Any]] | None = None,
        staged: bool = True,
        rounds: int = 2,
        cv: str | int | float = "loo",
        max_documents: int = 10_000,
        random_state: int = 0,
        refit: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.grid = grid
        self.staged = staged
        self.rounds = rounds
        self.cv = cv
        self.max_documents = max_documents
        self.random_state = random_state
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, Y: Any, validation: tuple[Any, Any] | None = None) -> Self:
        """Try the settings and keep the best.

        Parameters
        ----------
        X, Y : matrices
            The training data.
        validation : tuple of matrices, optional
            Documents and labels to measure on instead of a part of the training data.
        """
        measure = get_measure(self.metric)
        base: VotingClassifier = clone(LCIF() if self.estimator is None else self.estimator)
        grid = _usable_grid(DEFAULT_GRID if self.grid is None else self.grid, base)
        X, Y = check_matrix(X), check_labels(Y)
        check_same_rows(X, Y)
        folds = list(self._folds(X, Y, validation))
        run = _Run(folds, base, max(grid.get("k", (base.k,))), self.metric, self.n_jobs)
        settings = self._staged(grid, base, run) if self.staged else _all(grid, base)
        total = _n_settings(grid, self.staged, check_whole("rounds", self.rounds, 1))
        self.results_: list[dict[str, Any]] = []
        best: dict[str, Any] | None = None
        sign = 1 if measure.greater_is_better else -1
        with progress_bar(f"tuning {self.metric}", self.verbose) as bar:
            for setting in settings:
                result = run.measure(setting)
                self.results_.append(result)
                # Strictly better: of equals the first tried stays.
                if best is None or sign * result["value"] > sign * best["value"]:
                    best = result
                run.best = best
                if bar is not None:
                    bar(len(self.results_), max(total, len(self.results_)))
        assert best is not None
        self.best_score_ = float(best["value"])
        self.best_params_ = {name: best[name] for name in grid}
        self.best_estimator_ = self._estimator(base)
        if self.refit:
            self.best_estimator_.fit(X, Y)
        return self

    def table(self, best: int = 10) -> str:
        """The best settings as a Markdown table."""
        check_is_fitted(self)
        sign = 1 if get_measure(self.metric).greater_is_better else -1
        rows = sorted(self.results_, key=lambda result: -sign * result["value"])[:best]
        names = [*self.best_params_, "value", "seconds"]
        lines = [
            "| " + " | ".join(n if n != "value" else self.metric for n in names) + " |",
            "|" + "---|" * len(names),
        ]
        for row in rows:
            cells = [f"{row[n]:.4g}" if isinstance(row[n], float) else str(row[n]) for n in names]
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def decision_function(self, X: Any, top: int | None = None) -> Any:
        """Score with the best estimator."""
        check_is_fitted(self)
        if top is None:
            return self.best_estimator_.decision_function(X)
        return self.best_estimator_.decision_function(X, top=top)

    def predict(self, X: Any) -> Any:
        """Predict with the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def _estimator(self, base: VotingClassifier) -> Any:
        parameters = dict(self.best_params_)
        keep = parameters.pop("keep", 1.0)
        model = clone(base).set_params(**parameters)
        return model if keep == 1.0 else make_pipeline(EntropySelector(keep), model)

    def _folds(
        self, X: sparse.csr_array, Y: sparse.csr_array, validation: tuple[Any, Any] | None
    ) -> Iterator[_Fold]:
        if validation is not None:
            held_out = check_matrix(validation[0], n_columns=X.shape[1])
            yield _Fold(X, Y, held_out, check_labels(validation[1], n_columns=Y.shape[1]))
            return
        rows = np.arange(X.shape[0])
        if self.cv == "loo":
            most = check_whole("max_documents", self.max_documents, 1)
            if rows.size > most:
                rows = rows[np.linspace(0, rows.size - 1, most).astype(np.int64)]
            yield _Fold(X, Y, X[rows], Y[rows], rows)
            return
        pairs: Any
        if isinstance(self.cv, float):
            if not 0 < self.cv < 1:
                raise ParameterError(f"`cv` must be a share between 0 and 1; got {self.cv:g}.")
            pairs = [train_test_split(rows, test_size=self.cv, random_state=self.random_state)]
        else:
            if isinstance(self.cv, str):
                raise ParameterError(f'`cv` must be "loo", a number or a share; got {self.cv!r}.')
            n_folds = check_whole("cv", self.cv, 2)
            pairs = KFold(n_folds, shuffle=True, random_state=self.random_state).split(rows)
        for train, held_out in pairs:
            yield _Fold(X[train], Y[train], X[held_out], Y[held_out])

    def _staged(
        self, grid: Mapping[str, Sequence[Any]], base: VotingClassifier, run: _Run
    ) -> Iterator[dict[str, Any]]:
        """One parameter after the other; each stage starts from the best of those before."""
        current = {name: getattr(base, name, 1.0) for name in grid}
        for name, values in grid.items():
            if current[name] not in values:
                current[name] = values[len(values) // 2]
        seen: set[tuple[Any, ...]] = set()
        for _ in range(self.rounds):
            for name, values in grid.items():
                for value in values:
                    setting = current | {name: value}
                    key = tuple(setting.values())
                    if key not in seen:
                        seen.add(key)
                        yield setting
                if run.best is not None:
                    current = {n: run.best[n] for n in grid}


class _Run:
    """Measures settings on all folds, keeping what settings share."""

    def __init__(
        self,
        folds: list[_Fold],
        base: VotingClassifier,
        largest_k: int,
        metric: str,
        n_jobs: int | None,
    ) -> None:
        self.folds, self.base, self.largest_k = folds, base, largest_k
        self.metric, self.n_jobs = metric, n_jobs
        self.needs_labels = "labels" in get_measure(metric).needs
        self.best: dict[str, Any] | None = None
        self._prepared: dict[Any, list[_Prepared]] = {}

    def measure(self, setting: dict[str, Any]) -> dict[str, Any]:
        """The measure on the pooled answers of all folds."""
        start = time.perf_counter()
        keep = setting.get("keep", 1.0)
        if keep not in self._prepared:
            # Only one number of features at a time: neighbours are the largest thing here.
            self._prepared = {keep: [self._prepare(fold, keep) for fold in self.folds]}
        prepared = self._prepared[keep]
        scores = _stacked([self._scores(one, setting) for one in prepared])
        truth = _stacked([one.fold.Y_held_out for one in prepared])
        train = self.folds[0].Y
        labels = None
        if self.needs_labels:
            threshold = make_threshold(setting.get("threshold", self.base.threshold))
            # The others read statistics of labels: the training part's, or they would know the
            # answers.
            known = truth if isinstance(threshold, Best) else train
            labels = threshold.fit(scores, known).apply(scores)
        value = evaluate(truth, scores, labels, Y_train=train, metrics=[self.metric])[self.metric]
        return setting | {"value": value, "seconds": time.perf_counter() - start}

    def _prepare(self, fold: _Fold, keep: Any) -> _Prepared:
        """Select, weigh, and search once at the largest k."""
        selector = EntropySelector(keep).fit(fold.X)
        kept = np.flatnonzero(selector.get_support())
        X, held_out = fold.X[:, kept], fold.X_held_out[:, kept]
        weighting = make_weighting(self.base.weighting).fit(X)
        X, held_out = weighting.transform(X), weighting.transform(held_out)
        neighbors = features = own = None
        both = isinstance(self.base, LCIF)
        if both or self.base.lam > 0:
            index = NeighborIndex(X)
            if fold.rows is None:
                neighbors = index.search(held_out, self.largest_k, n_jobs=self.n_jobs)
            else:
                neighbors = index.search_self(self.largest_k, rows=fold.rows, n_jobs=self.n_jobs)
        if both or self.base.lam < 1:
            features = FeatureSimilarity(X, fold.Y, self.base.labels_per_feature)
        if fold.rows is not None:
            own = as_csr(fold.Y_held_out)
        return _Prepared(fold, as_csr(held_out), as_csr(fold.Y), own, neighbors, features)

    def _scores(self, prepared: _Prepared, setting: dict[str, Any]) -> sparse.csr_array:
        """Scores of one fold's held-out documents."""

        def parameter(name: str) -> Any:
            return setting.get(name, getattr(self.base, name))

        neighbors = prepared.neighbors
        if neighbors is not None:
            k = parameter("k")
            neighbors = replace(
                neighbors,
                indices=_leading(neighbors.indices, k),
                similarities=_leading(neighbors.similarities, k),
            )
        return combined_scores(
            parameter("lam"), neighbors, parameter("alpha"), prepared.labels, prepared.queries,
            prepared.features, parameter("beta"), self.base.candidates,
            prepared.fold.Y.shape[1], own=prepared.own, n_jobs=self.n_jobs,
        )  # fmt: skip


def _stacked(matrices: list[sparse.csr_array]) -> sparse.csr_array:
    """Matrices one under the other."""
    return matrices[0] if len(matrices) == 1 else sparse.csr_array(sparse.vstack(matrices, "csr"))


def _leading(array: NDArray[Any], k: int) -> NDArray[Any]:
    return np.ascontiguousarray(array[:, :k])


def _usable_grid(
    grid: Mapping[str, Sequence[Any]], base: VotingClassifier
) -> dict[str, Sequence[Any]]:
    """The part of a grid that the estimator has parameters for."""
    if base.second_order > 0:
        raise ParameterError("`second_order` cannot be tuned with shared neighbours; set it to 0.")
    known = {"keep", *base.get_params()}
    if grid is not DEFAULT_GRID and grid is not PAPER_GRID and not known.issuperset(grid):
        unknown = sorted(set(grid) - known)[0]
        raise ParameterError(f"{type(base).__name__} has no parameter {unknown!r} to tune.")
    tunable = {"keep", "k", "alpha", "beta", "lam", "threshold"}
    if not tunable.issuperset(set(grid) & known):
        other = sorted(set(grid) - tunable)[0]
        raise ParameterError(f"{other!r} cannot be tuned here; only {', '.join(sorted(tunable))}.")
    usable: dict[str, Sequence[Any]] = {
        name: tuple(values) for name, values in grid.items() if name in known
    }
    if not usable or not all(usable.values()):
        raise ParameterError("`grid` must give at least one value for each of its parameters.")
    return usable


def _all(grid: Mapping[str, Sequence[Any]], base: VotingClassifier) -> Iterator[dict[str, Any]]:
    """Every combination; features kept change slowest, since they cost a search."""
    names = sorted(grid, key=lambda name: name != "keep")
    for values in product(*(grid[name] for name in names)):
        setting = dict(zip(names, values, strict=True))
        yield {name: setting[name] for name in grid}


def _n_settings(grid: Mapping[str, Sequence[Any]], staged: bool, rounds: int) -> int:
    sizes = [len(values) for values in grid.values()]
    return rounds * sum(sizes) if staged else int(np.prod(sizes))
