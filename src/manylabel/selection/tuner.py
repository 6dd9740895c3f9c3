"""Find the best settings of a classifier for a corpus."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Self

from scipy import sparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from manylabel.base import Grid, MultiLabelClassifier
from manylabel.exceptions import ParameterError
from manylabel.metrics import get_measure
from manylabel.neighbors.lcif import LCIF
from manylabel.progress import progress_bar
from manylabel.selection.folds import Fold, make_folds, share_mask
from manylabel.selection.measuring import Measuring, can_leave_out
from manylabel.selection.settings import (
    KEEP,
    Setting,
    checked_grid,
    combinations,
    keeps_all,
    n_settings,
    own,
    stages,
    within,
)
from manylabel.validation import check_labels, check_matrix, check_same_rows, check_whole

__all__ = ["Trial", "Tuner"]

#: One setting: its parameters, ``value`` and ``seconds``.
Trial = dict[str, Any]

#: With more combinations than this, parameters are tuned one after another.
_MAX_COMBINATIONS = 15


class Tuner(MetaEstimatorMixin, BaseEstimator):
    """Find a classifier's best settings, and fit it with them.

    The first trial is always the estimator as given, and ties go to the earlier trial, so the
    winner is never worse by the measure. If a class declares ``shared_parameters``, as those of
    the LCIF paper do, their values are tried without fitting again: neighbours are searched once.

    Parameters
    ----------
    estimator : MultiLabelClassifier, optional
        The classifier to tune; :class:`manylabel.neighbors.LCIF` by default. Parameters that are
        not in the grid do not change.
    metric : str, default="micro-f1"
        The measure to optimise: any of :data:`manylabel.metrics.MEASURES`.
    grid : mapping of str to sequence, optional
        Values to try; the class's ``default_grid`` by default, without thresholds if the measure
        reads rankings only. :data:`PAPER_GRID` is the LCIF paper's. ``keep`` is the share or
        number of features that :class:`manylabel.neighbors.EntropySelector` keeps.
    staged : bool or "auto", default="auto"
        True tunes one parameter after another, in the order of the grid, starting from the
        estimator's own parameters; False tries every combination. By default True if there are
        more than 15 combinations.
    rounds : int, default=2
        How many times to go through the stages, each time from the best so far.
    cv : "auto", "loo", int or float, default="auto"
        How to measure. "loo" is leave-one-out: each training document is scored as if it were
        new, for settings that share work. An int is a number of cross-validation folds, a float
        the share of held-out documents; both are stratified by label. Predictions of all folds
        are pooled and measured together. "auto" is leave-one-out where possible, otherwise 3
        folds for fewer than 2,000 documents and a share of 0.2 for more.
    confirm : float, optional
        Hold out this share of the documents. If the best setting does not beat the estimator's own
        on them, the estimator's own is kept.
    max_documents : int, default=10000
        Maximum documents that leave-one-out scores, evenly sampled.
    random_state : int, default=0
        For the folds.
    refit : bool, default=True
        Fit the best setting on all documents.
    n_jobs : int, optional
        Threads, for an estimator that has ``n_jobs``; None does not change it.
    verbose : int, default=0
        Show progress.

    Attributes
    ----------
    best_params_ : dict
        The winner's values of the parameters in the grid.
    best_score_ : float
        Its measure in the trials.
    best_estimator_ : estimator
        Fitted if ``refit``; a pipeline with the selector if features were dropped.
    trials_ : list of dict
        Every setting tried, in order: its parameters, ``value`` and ``seconds``.
    confirmation_ : dict or None
        With ``confirm``, if a setting other than the estimator's own was best: ``tuned`` and
        ``untuned``, the measure of both on the documents held out for this, and ``documents``,
        their number.

    Examples
    --------
    >>> X = [[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]] * 5
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]] * 5
    >>> tuner = Tuner(grid={"k": [1, 3], "lam": [0.0, 1.0]}, metric="p@1").fit(X, Y)
    >>> tuner.best_score_
    1.0

    Any classifier, by cross-validation:

    >>> from manylabel.linear import OneVsRestSVM
    >>> tuner = Tuner(OneVsRestSVM(1.0), grid={"C": [0.1, 1.0]}, cv=2).fit(X, Y)
    >>> [trial["C"] for trial in tuner.trials_]
    [1.0, 0.1]
    """

    def __init__(
        self,
        estimator: MultiLabelClassifier | None = None,
        *,
        metric: str = "micro-f1",
        grid: Grid | None = None,
        staged: bool | str = "auto",
        rounds: int = 2,
        cv: str | int | float = "auto",
        confirm: float | None = None,
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
        self.confirm = confirm
        self.max_documents = max_documents
        self.random_state = random_state
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, validation: tuple[Any, Any] | None = None) -> Self:
        """Try the settings and keep the best.

        Parameters
        ----------
        X, y : matrices
            The training data.
        validation : tuple of matrices, optional
            Documents and labels to measure on instead of held-out training data.
        """
        get_measure(self.metric)
        model = self._model()
        grid = checked_grid(self.grid, model, self.metric)
        X, Y = check_matrix(X), check_labels(y)
        check_same_rows(X, Y)
        first = own(grid, model)
        whole = {name: (first[name], *values) for name, values in grid.items()}
        split = self._confirmation_split(X, Y)
        measuring = Measuring(
            model, self._folds(split, model, whole, validation), whole, self.metric
        )
        best = self._search(grid, first, measuring, model)
        self.confirmation_: dict[str, float] | None = None
        if self.confirm is not None and _setting(best, grid) != first:
            better = self._confirmed(model, split, _setting(best, grid), first)
            best = best if better else self.trials_[0]
        self.best_score_ = float(best["value"])
        self.best_params_ = _setting(best, grid)
        self.best_estimator_ = _with(model, self.best_params_)
        if self.refit:
            self.best_estimator_.fit(X, Y)
        return self

    def best_trials(self, n: int | None = None) -> list[Trial]:
        """The trials, best first; ties go to the earlier trial."""
        check_is_fitted(self)
        return sorted(self.trials_, key=lambda trial: -self._sign() * trial["value"])[:n]

    def table(self, best: int = 10) -> str:
        """The best settings as a Markdown table."""
        names = [*self.best_params_, "value", "seconds"]
        lines = [
            "| " + " | ".join(n if n != "value" else self.metric for n in names) + " |",
            "|" + "---|" * len(names),
        ]
        for row in self.best_trials(best):
            cells = [f"{row[n]:.4g}" if isinstance(row[n], float) else str(row[n]) for n in names]
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def decision_function(self, X: Any, top: int | None = None) -> Any:
        """Score with the best estimator."""
        check_is_fitted(self)
        selected, model = self._split()
        return model.decision_function(selected(X), top=top)

    def predict(self, X: Any) -> Any:
        """Predict with the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def scores_and_labels(
        self, X: Any, top: int | None = None
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Scores and label sets of the best estimator, from one pass."""
        check_is_fitted(self)
        selected, model = self._split()
        return model.scores_and_labels(selected(X), top=top)

    def _sign(self) -> int:
        """1 if a greater value is better, -1 for a loss."""
        return 1 if get_measure(self.metric).greater_is_better else -1

    def _split(self) -> tuple[Any, MultiLabelClassifier]:
        """The function that selects features, and the classifier."""
        if isinstance(self.best_estimator_, MultiLabelClassifier):
            return lambda X: X, self.best_estimator_
        return self.best_estimator_[0].transform, self.best_estimator_[-1]

    def _model(self) -> MultiLabelClassifier:
        """A copy of the estimator, with the tuner's threads."""
        model = LCIF() if self.estimator is None else self.estimator
        if not isinstance(model, MultiLabelClassifier):
            raise ParameterError(
                f"`estimator` must be a classifier of manylabel; got {model!r}. For others, use "
                "scikit-learn's GridSearchCV."
            )
        model = clone(model)
        if self.n_jobs is not None and "n_jobs" in model.get_params(deep=False):
            model.set_params(n_jobs=self.n_jobs)
        return model

    def _confirmation_split(self, X: sparse.csr_array, Y: sparse.csr_array) -> Fold:
        """The documents to tune on, and those held out to confirm the best setting."""
        if self.confirm is None:
            return Fold(X, Y, X[:0], Y[:0])
        held_out = share_mask(Y, "confirm", self.confirm, self.random_state)
        return Fold(X[~held_out], Y[~held_out], X[held_out], Y[held_out])

    def _folds(
        self,
        split: Fold,
        model: MultiLabelClassifier,
        grid: Grid,
        validation: tuple[Any, Any] | None,
    ) -> list[Fold]:
        if validation is not None:
            held_out = check_matrix(validation[0], n_columns=split.X.shape[1])
            truth = check_labels(validation[1], n_columns=split.Y.shape[1])
            check_same_rows(held_out, truth)
            return [Fold(split.X, split.Y, held_out, truth)]
        return list(
            make_folds(
                split.X,
                split.Y,
                self.cv,
                can_leave_out=can_leave_out(model, grid),
                max_documents=self.max_documents,
                random_state=self.random_state,
            )
        )

    def _search(
        self, grid: Grid, first: Setting, measuring: Measuring, model: MultiLabelClassifier
    ) -> Trial:
        """Try every setting; return the best trial."""
        rounds = check_whole("rounds", self.rounds, 1)
        staged = self.staged
        if isinstance(staged, str):
            if staged != "auto":
                raise ParameterError(f'`staged` must be True, False or "auto"; got {staged!r}.')
            staged = n_settings(grid, False, rounds) > _MAX_COMBINATIONS
        sign = self._sign()
        self.trials_: list[Trial] = []
        best: list[Trial] = []
        settings: Iterator[Setting]
        if staged:
            settings = stages(grid, first, rounds, lambda: self._best_within(grid))
        else:
            settings = combinations(grid, first, model.shared_parameters)
        total = n_settings(grid, staged, rounds)
        with progress_bar(f"tuning {self.metric}", self.verbose) as bar:
            for setting in settings:
                start = time.perf_counter()
                value = measuring.value(setting)
                trial = setting | {"value": value, "seconds": time.perf_counter() - start}
                self.trials_.append(trial)
                if not best or sign * value > sign * best[0]["value"]:
                    best[:] = [trial]
                if bar is not None:
                    bar(len(self.trials_), max(total, len(self.trials_)))
        return best[0]

    def _best_within(self, grid: Grid) -> Setting | None:
        """The best setting so far of those in the grid."""
        tried = [trial for trial in self.trials_ if within(trial, grid)]
        sign = self._sign()
        return (
            _setting(max(tried, key=lambda trial: sign * trial["value"]), grid) if tried else None
        )

    def _confirmed(
        self, model: MultiLabelClassifier, split: Fold, best: Setting, first: Setting
    ) -> bool:
        """Whether a setting beats the model's own on the documents held out for this."""
        both = {name: (first[name], best[name]) for name in first}
        # Measured as they will be used: fitted, with their own thresholds.
        measuring = Measuring(model, [split], both, self.metric, shares=False)
        tuned, untuned = measuring.value(best), measuring.value(first)
        self.confirmation_ = {
            "tuned": tuned,
            "untuned": untuned,
            "documents": split.Y_held_out.shape[0],
        }
        return self._sign() * (tuned - untuned) > 0


def _setting(trial: Trial, grid: Grid) -> Setting:
    """A trial's parameters."""
    return {name: trial[name] for name in grid}


def _with(model: MultiLabelClassifier, setting: Setting) -> Any:
    """The model with a setting, behind a selector if features are dropped."""
    parameters = dict(setting)
    keep = parameters.pop(KEEP, 1.0)
    made = clone(model).set_params(**parameters)
    if keeps_all(keep):
        return made
    from sklearn.pipeline import make_pipeline  # slow to import

    from manylabel.neighbors.entropy import EntropySelector

    return make_pipeline(EntropySelector(keep), made)
