"""Grids, and the order in which their settings are tried."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from manylabel.base import Grid, MultiLabelClassifier
from manylabel.exceptions import ParameterError
from manylabel.metrics import get_measure

__all__ = [
    "KEEP",
    "Setting",
    "checked_grid",
    "combinations",
    "default_grid",
    "keeps_all",
    "n_settings",
    "own",
    "stages",
    "within",
]

#: The share of features to keep: the one name in a grid that is not a parameter of a model.
KEEP = "keep"

Setting = dict[str, Any]


def default_grid(
    model: MultiLabelClassifier, metric: str, fixed: Collection[str] = ()
) -> dict[str, Sequence[Any]]:
    """The default grid of a model, without parameters that are fixed or do not affect the measure.

    Parameters
    ----------
    model : MultiLabelClassifier
    metric : str
        For a ranking measure, thresholds do not matter and none are tried. For Hamming loss, the
        threshold that is best for it is tried as well.
    fixed : collection of str
        Parameters not to tune.

    Raises
    ------
    ParameterError
        If nothing is left to try.

    Examples
    --------
    >>> from manylabel.neighbors import FeatureKNN
    >>> default_grid(FeatureKNN(), "ndcg@5")
    {'beta': (0.5, 1.0, 1.5, 2.0, 3.0)}
    """
    if "labels" not in get_measure(metric).needs:
        fixed = {*fixed, "threshold"}
    grid = {name: values for name, values in model.default_grid.items() if name not in fixed}
    if metric == "hamming-loss" and "threshold" in grid:
        # Matching the cardinality predicts wrong labels where few can be correct.
        grid["threshold"] = (*grid["threshold"], f"best:{metric}")
    if not grid:
        raise ParameterError(
            f"no parameters of {type(model).__name__} to tune for {metric} by default; name the "
            "parameters and the values to try."
        )
    return grid


def checked_grid(grid: Grid | None, model: MultiLabelClassifier, metric: str) -> Grid:
    """Check a grid for a model; by default the model's own."""
    grid = default_grid(model, metric) if grid is None else grid
    known = model.get_params(deep=False)
    for name in grid:
        if name != KEEP and name not in known:
            raise ParameterError(f"{type(model).__name__} has no parameter {name!r} to tune.")
    usable = {name: tuple(values) for name, values in grid.items()}
    if not usable or not all(usable.values()):
        raise ParameterError("`grid` must give at least one value for each of its parameters.")
    return usable


def keeps_all(keep: float | int) -> bool:
    """Whether no feature is dropped: an int is a number of features, a float a share."""
    return isinstance(keep, float) and keep == 1.0


def own(grid: Grid, model: MultiLabelClassifier) -> Setting:
    """The model's own values: the setting to beat."""
    known = {KEEP: 1.0, **model.get_params(deep=False)}
    return {name: known[name] for name in grid}


def combinations(grid: Grid, first: Setting, shared: Sequence[str]) -> Iterator[Setting]:
    """The model's own setting, then every combination; those that share work are adjacent."""
    yield first
    seen = {_key(first)}
    names = sorted(grid, key=lambda name: (name != KEEP, name in shared))
    for values in product(*(grid[name] for name in names)):
        chosen = dict(zip(names, values, strict=True))
        setting = {name: chosen[name] for name in grid}
        if _key(setting) not in seen:
            seen.add(_key(setting))
            yield setting


def within(setting: Setting, grid: Grid) -> bool:
    """Whether all values are in the grid; the model's own need not be."""
    return all(setting[name] in values for name, values in grid.items())


def stages(
    grid: Grid, first: Setting, rounds: int, best: Callable[[], Setting | None]
) -> Iterator[Setting]:
    """The model's own setting, then one parameter after another, each from the best so far.

    ``best`` returns the best so far within the grid. The stages start from the model's own values,
    or from the middle of the grid for values that are not in it.
    """
    yield first
    seen = {_key(first)}
    start = {
        name: first[name] if first[name] in values else values[len(values) // 2]
        for name, values in grid.items()
    }
    for _ in range(rounds):
        for name, values in grid.items():
            current = best() or start
            for value in values:
                setting = current | {name: value}
                if _key(setting) not in seen:
                    seen.add(_key(setting))
                    yield setting


def n_settings(grid: Grid, staged: bool, rounds: int) -> int:
    """The approximate number of settings, for a progress bar."""
    sizes = [len(values) for values in grid.values()]
    return rounds * sum(sizes) if staged else prod(sizes)


def _key(setting: Setting) -> str:
    """The same key for equal settings: 1 and 1.0 are equal, except for ``keep``."""
    return repr(
        {
            name: float(value) if type(value) is int and name != KEEP else value
            for name, value in setting.items()
        }
    )
