"""Make the estimator of a row."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from manylabel.compare.adapter import parameters_of
from manylabel.compare.plan import Row
from manylabel.exceptions import ParameterError

__all__ = ["make_estimator", "make_search", "source_of"]


def make_estimator(row: Row, seed: int, n_jobs: int) -> Any:
    """Make the estimator of a row, with its threads and seed; not fitted, not tuned."""
    if row.is_ours:
        estimator = row.make()
    elif row.model.startswith(("omikuji:", "pecos:")):
        from manylabel.compare.external import make_external

        estimator = make_external(row.model, row.parameters)
    else:
        estimator = _factory(row.model)(**row.parameters)
    known = parameters_of(estimator)
    wanted = {"random_state": seed, "n_jobs": n_jobs}
    if "random_state" in row.parameters:
        del wanted["random_state"]
    given = {name: value for name, value in wanted.items() if name in known}
    return estimator.set_params(**given) if given else estimator


def make_search(row: Row, measure: str, seed: int, n_jobs: int, n_test: int) -> Any:
    """Make a tuner that uses leave-one-out if the model can, on at most 2,000 documents.

    It uses no more documents than the test set has: macro F1 that counts absent labels as 1 depends
    on how many labels are absent, and so on the number of documents.
    """
    from manylabel.selection import Tuner

    if not row.is_ours:
        raise ParameterError(f"{row.model} cannot be tuned here; give its parameters with --set.")
    estimator = make_estimator(row, seed, n_jobs)
    return Tuner(
        estimator,
        metric=measure,
        grid=_grid_of(row, estimator, measure),
        max_documents=min(2000, n_test),
        staged=True,
        n_jobs=n_jobs,
    )


def _grid_of(row: Row, estimator: Any, measure: str) -> Any:
    """The row's own grid, or the default one; for Hamming loss with one more threshold.

    A threshold that matches cardinality predicts as many labels as there are, and if few of them
    are right, each one adds to the loss.
    """
    from manylabel.selection import default_grid

    if row.grid is None:
        return default_grid(estimator, measure, row.parameters)
    grid = dict(row.grid)
    if measure == "hamming-loss" and "threshold" in grid:
        grid["threshold"] = (*grid["threshold"], "best:hamming-loss")
    return grid


def _factory(text: str) -> Any:
    """Import ``package.module:factory``, also from the current folder."""
    module, _, name = text.partition(":")
    _search_current_folder()
    try:
        factory: Any = import_module(module)
        for part in name.split("."):
            factory = getattr(factory, part)
    except (ImportError, AttributeError) as error:
        raise ParameterError(f"{text!r} cannot be imported: {error}.") from None
    if not callable(factory):
        raise ParameterError(f"{text!r} is not a function or class that makes an estimator.")
    return factory


def _search_current_folder() -> None:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))


def source_of(row: Row) -> bytes:
    """The source file of a user's estimator: after an edit, its cells must run again."""
    if row.is_ours or row.needs is not None:
        return b""
    _search_current_folder()
    try:
        spec = find_spec(row.model.partition(":")[0])
    except ImportError:
        spec = None
    if spec is None:
        raise ParameterError(f"{row.model!r} cannot be imported: no such module.")
    origin = Path(spec.origin or "")
    return origin.read_bytes() if origin.is_file() else b""
