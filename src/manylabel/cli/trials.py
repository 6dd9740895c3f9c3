"""Settings of any model, tried on a part of the corpus that the model does not see."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from manylabel.exceptions import ParameterError

if TYPE_CHECKING:
    from manylabel.corpus import Corpus

__all__ = ["Trial", "best_first", "run_trials", "usual_grid"]

#: One setting: its parameters, ``value`` and ``seconds``.
Trial = dict[str, Any]

_C: dict[str, Sequence[Any]] = {"C": (0.1, 0.3, 1.0, 3.0, 10.0)}
_K: dict[str, Sequence[Any]] = {"k": (5, 10, 20, 50, 100)}
#: What is tried for models whose search does not share neighbours.
_USUAL: dict[str, dict[str, Sequence[Any]]] = {
    "ml-knn": _K,
    "br-knn": _K,
    "iblr": _K,
    "svm": _C,
    "tuned-svm": _C,
    "subset-svm": _C | {"n_neighbors": (20, 50, 100)},
    "subset-llda": {"n_neighbors": (20, 50, 100), "power": (1.0, 3.0, 5.0)},
    "fastxml": {"C": (1.0, 4.0, 16.0), "max_leaf": (5, 10, 20)},
    "pfastrexml": {"alpha": (0.5, 0.8, 1.0), "gamma": (10.0, 30.0, 100.0)},
}
#: Models and parameters that `NeighborSearchCV` tunes.
_NEIGHBOUR_MODELS = ("instance-knn", "feature-knn", "lcif")
_SHARED = {"k", "alpha", "beta", "lam", "threshold"}


def usual_grid(model: str) -> Mapping[str, Sequence[Any]]:
    """What is tried for a model if nobody says so."""
    if model in _NEIGHBOUR_MODELS:
        from manylabel.models import make_model
        from manylabel.selection import DEFAULT_GRID

        shared = _SHARED.intersection(make_model(model).get_params(deep=False))
        return {name: values for name, values in DEFAULT_GRID.items() if name in shared}
    if model not in _USUAL:
        raise ParameterError(
            f"there is no usual choice of settings for {model}; say what to try, such as "
            "--try NAME=1,2,3."
        )
    return _USUAL[model]


def run_trials(
    model: str,
    fixed: Mapping[str, Any],
    grid: Mapping[str, Sequence[Any]],
    corpus: Corpus,
    *,
    metric: str,
    held_out: float,
    seed: int,
    jobs: int,
    is_shown: bool,
) -> list[Trial]:
    """Every setting that was tried, with its value."""
    from manylabel.models import make_model

    base = _with_settings(make_model(model, fixed), random_state=seed, n_jobs=jobs)
    if model in _NEIGHBOUR_MODELS and _SHARED.issuperset(grid):
        from manylabel.selection import NeighborSearchCV

        search = NeighborSearchCV(
            base, metric=metric, grid=grid, refit=False, n_jobs=jobs, verbose=is_shown
        )
        return search.fit(corpus.X, corpus.Y).results_
    return _all_combinations(base, grid, corpus, metric, held_out, seed, is_shown)


def best_first(trials: list[Trial], metric: str) -> list[Trial]:
    """The trials by their value; of equals the first tried comes first."""
    from manylabel.metrics import get_measure

    sign = -1 if get_measure(metric).greater_is_better else 1
    return sorted(trials, key=lambda trial: sign * trial["value"])


def _all_combinations(
    base: Any,
    grid: Mapping[str, Sequence[Any]],
    corpus: Corpus,
    metric: str,
    held_out: float,
    seed: int,
    is_shown: bool,
) -> list[Trial]:
    from sklearn.base import clone

    from manylabel.compare.estimators import answers
    from manylabel.metrics import evaluate
    from manylabel.progress import progress_bar

    train, test = corpus.split(held_out, seed)
    settings = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    trials = []
    with progress_bar(f"tuning {metric}", is_shown) as bar:
        for number, setting in enumerate(settings, start=1):
            start = time.perf_counter()
            estimator = clone(base).set_params(**setting).fit(train.X, train.Y)
            scores, labels = answers(estimator, test.X, None)
            found = evaluate(test.Y, scores, labels, Y_train=train.Y, metrics=[metric])
            seconds = time.perf_counter() - start
            trials.append(setting | {"value": found[metric], "seconds": seconds})
            if bar is not None:
                bar(number, len(settings))
    return trials


def _with_settings(estimator: Any, **settings: Any) -> Any:
    """The estimator with the settings that it has."""
    known = estimator.get_params(deep=False)
    return estimator.set_params(
        **{name: value for name, value in settings.items() if name in known}
    )
