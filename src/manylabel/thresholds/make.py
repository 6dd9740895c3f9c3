"""Make thresholds from short names."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

import numpy as np

from manylabel.exceptions import ParameterError
from manylabel.thresholds.base import Threshold
from manylabel.thresholds.best import SWEEPS, Best
from manylabel.thresholds.matching import Cardinality, PerLabel, Proportional
from manylabel.thresholds.promise import PROMISES, Promise
from manylabel.thresholds.simple import Fixed, TopK
from manylabel.validation import check_real, check_whole

__all__ = ["make_threshold"]

_NAMED = {
    "cardinality": Cardinality,
    "per-label": PerLabel,
    "proportional": Proportional,
    "top": TopK,
}
_OPTIONS = {"per-label", "grouped", "abstain"}
#: With "grouped", labels with fewer true documents share a threshold.
_BACK_OFF = 8


def make_threshold(spec: Any) -> Threshold:
    """Turn a short name into a threshold.

    Parameters
    ----------
    spec : str, float or threshold
        One of the following; a threshold is returned unchanged.

        - ``"cardinality"``, ``"per-label"``, ``"proportional"``;
        - ``"top"``, as many labels as training documents have, or ``"top-5"``;
        - a number such as ``"0.3"`` or ``0.3``;
        - ``"best:micro-f1"``, ``"best:macro-f1:per-label"``, or ``"best:macro-f1:grouped"``, which
          groups rare labels by frequency;
        - ``"precision:0.9"``, ``"recall:0.8"`` or ``"fdr:0.1"``, which keep a promise on new
          documents; with ``":grouped"`` separately for rare and frequent labels.

        After a number or ``best``, ``":abstain"`` lets a document have no labels if none reaches
        the threshold.

    Examples
    --------
    >>> make_threshold("top-5")
    TopK(k=5)
    >>> make_threshold(0.3)
    Fixed(threshold=0.3)
    """
    if hasattr(spec, "fit") and hasattr(spec, "apply"):
        return spec
    if isinstance(spec, int | float | np.number) and not isinstance(spec, bool):
        return Fixed(float(spec))
    if isinstance(spec, str):
        if spec in _NAMED:
            return _NAMED[spec]()
        if match := re.fullmatch(r"top-(\d+)", spec):
            return TopK(check_whole("k", int(match[1]), 1))
        kind, _, rest = spec.partition(":")
        metric, *options = rest.split(":")
        if kind == "best" and metric in SWEEPS and set(options) <= _OPTIONS:
            return Best(
                metric,
                per_label=not {"per-label", "grouped"}.isdisjoint(options),
                at_least_one="abstain" not in options,
                back_off=_BACK_OFF if "grouped" in options else 0,
            )
        if kind in PROMISES and (promise := _promise(kind, metric, options)) is not None:
            return promise
        number, _, option = spec.partition(":")
        try:
            if option in ("", "abstain"):
                value = check_real("threshold", float(number), -np.inf)
                return Fixed(value, at_least_one=option != "abstain")
        except ValueError:
            pass
    raise ParameterError(
        "`threshold` must be 'cardinality', 'per-label', 'proportional', 'top', 'top-<k>', "
        "'best:<measure>', 'precision:<share>', 'recall:<share>', 'fdr:<share>', a number or a "
        f"threshold; got {spec!r}.{_nearest_spec(spec)}"
    )


def _promise(measure: str, level: str, options: list[str]) -> Promise | None:
    """A promise such as ``precision:0.9:grouped``; None if it is not a promise."""
    try:
        share = float(level)
    except ValueError:
        return None
    if not set(options) <= {"grouped"}:
        return None
    if not 0 < share < 1:
        raise ParameterError(f"a promise of {measure} must be above 0 and below 1; got {level}.")
    return Promise(measure, share, grouped="grouped" in options)


def _nearest_spec(spec: Any) -> str:
    """A sentence with the likely intended name, or nothing."""
    known = [*_NAMED, *(f"best:{metric}" for metric in SWEEPS)]
    known += ["precision:0.9", "recall:0.8", "fdr:0.1"]
    near = get_close_matches(spec, known, n=1) if isinstance(spec, str) else []
    return f" Did you mean {near[0]!r}?" if near else ""
