"""Default grids for tuning the classifiers of the LCIF paper, in the order of the stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["AUTOMATIC", "FEATURES", "INSTANCES", "LAMBDAS", "PAPER_GRID", "THRESHOLDS"]

#: For the votes of neighbours.
INSTANCES: dict[str, Sequence[Any]] = {
    "k": (5, 10, 20, 35, 50, 100, 200, 350),
    "alpha": (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0),
}
#: For the votes of features.
FEATURES: dict[str, Sequence[Any]] = {"beta": (0.5, 1.0, 1.5, 2.0, 3.0)}
#: The weight of neighbours against features.
LAMBDAS: dict[str, Sequence[Any]] = {"lam": tuple(round(0.1 * i, 1) for i in range(11))}
#: For parameters that are "auto"; the first value is that of very small corpora.
AUTOMATIC: dict[str, Sequence[Any]] = {
    "k": (50, 10, 20, 35, 100),
    "alpha": (2.0, 1.0, 3.0, 4.0, 6.0),
    "beta": (1.0, 0.5, 2.0, 3.0),
    "lam": (0.8, 0.0, 0.1, 0.2, 0.4, 0.6, 0.9, 1.0),
}
THRESHOLDS: dict[str, Sequence[Any]] = {"threshold": ("cardinality", "per-label")}

#: What the LCIF paper tried; ``keep`` is the share of features that are kept.
PAPER_GRID: dict[str, Sequence[Any]] = {
    "keep": (0.01, 0.1, 0.25, 0.5, 0.75, 0.99, 1.0),
    "k": (1, 5, *range(50, 351, 50)),
    "alpha": (0.5, 1.0, 1.5, 2.0),
    "beta": (0.5, 1.0, 1.5, 2.0),
    **LAMBDAS,
    "threshold": ("cardinality",),
}
