"""Grids, and the settings that come of them."""

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
    "keeps_all",
    "n_settings",
    "own",
    "stages",
    "usual_grid",
    "within",
]

#: The share of features kept: the one name in a grid that is no parameter of a model.
KEEP = "keep"

Setting = dict[str, Any]


def usual_grid(
    model: MultiLabelClassifier, metric: str, fixed: Collection[str] = ()
) -> dict[str, Sequence[Any]]:
    """The grid of a model's class, without what shall stay and what the measure does not see.

    Parameters
    ----------
    model : MultiLabelClassifier
    metric : str
        Of a ranking thresholds are of no account, and none are tried. For Hamming loss the
        threshold that is best for it is tried as well.
    fixed : collection of str
        Parameters that stay as they are.

    Raises
    ------
    ParameterError
        If nothing is left to try.

    Examples
    --------
    >>> from manylabel.neighbors import FeatureKNN
    >>> usual_grid(FeatureKNN(), "ndcg@5")
    {'beta': (0.5, 1.0, 1.5, 2.0, 3.0)}
    """
    if "labels" not in get_measure(metric).needs:
        fixed = {*fixed, "threshold"}
    grid = {name: values for name, values in model.default_grid.items() if name not in fixed}
    if metric == "hamming-loss" and "threshold" in grid:
        # A match of cardinalities gives wrong labels where few can be right.
        grid["threshold"] = (*grid["threshold"], f"best:{metric}")
    if not grid:
        raise ParameterError(
            f"there is nothing left to try of {type(model).__name__} for {metric}; say which "
            "values of which parameters."
        )
    return grid


def checked_grid(grid: Grid | None, model: MultiLabelClassifier, metric: str) -> Grid:
    """A grid that makes sense for a model, by default the usual one."""
    grid = usual_grid(model, metric) if grid is None else grid
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
    """The model's own values: the setting that every other has to beat."""
    known = {KEEP: 1.0, **model.get_params(deep=False)}
    return {name: known[name] for name in grid}


def combinations(grid: Grid, first: Setting, shared: Sequence[str]) -> Iterator[Setting]:
    """The model's own setting, then every combination; those that share work follow each other."""
    yield first
    seen = {_key(first)}
    names = sorted(grid, key=lambda name: (name != KEEP, name in shared))
    for values in product(*(grid[name] for name in names)):
        found = dict(zip(names, values, strict=True))
        setting = {name: found[name] for name in grid}
        if _key(setting) not in seen:
            seen.add(_key(setting))
            yield setting


def within(setting: Setting, grid: Grid) -> bool:
    """Whether all values are those of a grid, which the model's own need not be."""
    return all(setting[name] in values for name, values in grid.items())


def stages(
    grid: Grid, first: Setting, rounds: int, best: Callable[[], Setting | None]
) -> Iterator[Setting]:
    """The model's own setting, then one parameter after the other, each from the best so far.

    ``best`` is the best so far within the grid. The stages start from the model's own values, or
    from the middle of the grid where it does not have them.
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
    """About how many settings there are, for a progress bar."""
    sizes = [len(values) for values in grid.values()]
    return rounds * sum(sizes) if staged else prod(sizes)


def _key(setting: Setting) -> str:
    """The same for settings that are the same: 1 and 1.0 are, unless they say what to keep."""
    return repr(
        {
            name: float(value) if type(value) is int and name != KEEP else value
            for name, value in setting.items()
        }
    )
