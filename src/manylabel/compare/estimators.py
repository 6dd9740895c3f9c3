"""From a row to an estimator, and from an estimator of any kind to scores and labels."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scipy import sparse

from manylabel.compare.plan import Row
from manylabel.exceptions import InputError, ParameterError
from manylabel.metrics import get_measure
from manylabel.predictions import canonical_scores, keep_top
from manylabel.validation import check_labels

__all__ = ["answers", "make_estimator", "make_search", "settings_of", "source_of"]

#: What `NeighborSearchCV` can tune.
TUNABLE = ("instance-knn", "feature-knn", "lcif")


def make_estimator(row: Row, seed: int, n_jobs: int) -> Any:
    """The estimator of a row, not fitted and not tuned, with its threads and its seed."""
    if row.is_ours:
        estimator = row.make()
    elif row.model.startswith(("omikuji:", "pecos:")):
        from manylabel.compare.outsiders import make_outsider

        estimator = make_outsider(row.model, row.parameters)
    else:
        estimator = _factory(row.model)(**row.parameters)
    known = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    wanted = {"random_state": seed, "n_jobs": n_jobs}
    if "random_state" in row.parameters:
        del wanted["random_state"]
    given = {name: value for name, value in wanted.items() if name in known}
    return estimator.set_params(**given) if given else estimator


def make_search(row: Row, measure: str, n_jobs: int, n_test: int) -> Any:
    """A search by leave-one-out on as many documents as are tested, at most 2,000.

    Macro F1 with absent labels counted as 1 depends on how many labels are absent, and so on the
    number of documents.
    """
    from manylabel.selection import DEFAULT_GRID, NeighborSearchCV

    if row.model not in TUNABLE:
        raise ParameterError(
            f"{row.model} cannot be tuned here; only {', '.join(TUNABLE)}. Give its parameters."
        )
    estimator = row.make().set_params(n_jobs=n_jobs)
    # What is given stays, and so does the threshold where label sets are of no account.
    fixed = {*row.parameters, *(() if "labels" in get_measure(measure).needs else ("threshold",))}
    known = {"keep", *estimator.get_params(deep=False)} - fixed
    return NeighborSearchCV(
        estimator,
        metric=measure,
        grid={name: values for name, values in DEFAULT_GRID.items() if name in known},
        max_documents=min(2000, n_test),
        n_jobs=n_jobs,
    )


def _factory(text: str) -> Any:
    """What ``package.module:factory`` names; the folder that one is in counts, too."""
    module, _, name = text.partition(":")
    _see_here()
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ParameterError(f"{text!r} cannot be imported: {error}.") from None
    if not callable(found):
        raise ParameterError(f"{text!r} is no function or class that makes an estimator.")
    return found


def _see_here() -> None:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))


def source_of(row: Row) -> bytes:
    """The file behind an estimator of one's own, since an edited one is another estimator."""
    if row.is_ours or row.needs is not None:
        return b""
    _see_here()
    try:
        found = find_spec(row.model.partition(":")[0])
    except ImportError:
        found = None
    if found is None:
        raise ParameterError(f"{row.model!r} cannot be imported: there is no such module.")
    origin = Path(found.origin or "")
    return origin.read_bytes() if origin.is_file() else b""


def answers(
    estimator: Any, X: sparse.csr_array, top: int | None
) -> tuple[sparse.csr_array | None, sparse.csr_array]:
    """Scores, if there are any, and label sets; of our own models from one pass."""
    fitted = getattr(estimator, "best_estimator_", estimator)
    if hasattr(fitted, "threshold_"):
        scores = fitted.decision_function(X, top=top)
        return scores, fitted.threshold_.apply(scores)
    labels = check_labels(fitted.predict(X), "the labels predicted")
    if hasattr(fitted, "decision_function"):
        found = fitted.decision_function(X)
    elif hasattr(fitted, "predict_proba"):
        found = _probabilities(fitted.predict_proba(X))
    else:
        return None, labels
    scores = canonical_scores(found)
    if scores.shape != labels.shape:
        raise InputError(
            f"scores and labels must have the same shape; got {scores.shape} and {labels.shape}."
        )
    return (scores if top is None else keep_top(scores, top)), labels


def _probabilities(found: Any) -> Any:
    """One column a label, where scikit-learn may give a list with two columns each."""
    if not isinstance(found, list):
        return found
    import numpy as np

    return np.column_stack(
        [each[:, 1] if each.shape[1] == 2 else np.zeros(each.shape[0]) for each in found]
    )


def settings_of(estimator: Any) -> dict[str, Any]:
    """The parameters to report: those that were tuned, or all that differ from the defaults."""
    if hasattr(estimator, "best_params_"):
        return dict(estimator.best_params_)
    if not hasattr(estimator, "get_params"):
        return {}
    given = estimator.get_params(deep=False)
    try:
        usual = type(estimator)().get_params(deep=False)
    except TypeError:
        usual = {}
    left_out = ("n_jobs", "random_state", "verbose")
    return {
        name: value
        for name, value in given.items()
        if name not in left_out and repr(usual.get(name, ...)) != repr(value)
    }
