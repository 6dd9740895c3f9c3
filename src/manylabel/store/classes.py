"""Which classes a model may consist of, by their full names."""

from __future__ import annotations

import re
from importlib import import_module

__all__ = ["class_named", "is_estimator", "name_of"]

#: The rooms of manylabel whose classes can be stored.
ROOMS = frozenset(
    [
        "ensemble",
        "kernels",
        "linear",
        "metrics",
        "neighbors",
        "selection",
        "store",
        "tagger",
        "text",
        "thresholds",
        "topics",
        "trees",
    ]
)
#: Classes of others: what `NeighborSearchCV` makes where features were dropped.
FOREIGN = frozenset(["sklearn.pipeline.Pipeline"])

_FULL_NAME = re.compile(r"manylabel\.(?P<room>[a-z_]+)(\.[a-z_0-9]+)*\.[A-Za-z_0-9]+")


def name_of(cls: type) -> str | None:
    """The name under which objects of a class are stored; None if they cannot be.

    Examples
    --------
    >>> from manylabel.neighbors import LCIF
    >>> name_of(LCIF), name_of(object)
    ('manylabel.neighbors.lcif.LCIF', None)
    """
    name = f"{cls.__module__}.{cls.__qualname__}"
    return name if class_named(name) is cls else None


def class_named(name: str) -> type | None:
    """The class of that name; None if it does not exist or may not be stored.

    Only modules of the rooms above are ever imported.
    """
    match = _FULL_NAME.fullmatch(name)
    if not (name in FOREIGN or (match and match["room"] in ROOMS)):
        return None
    module, _, own_name = name.rpartition(".")
    try:
        found = getattr(import_module(module), own_name, None)
    except ImportError:
        return None
    return found if isinstance(found, type) and found.__module__ == module else None


def is_estimator(cls: type) -> bool:
    """Whether objects have parameters as scikit-learn's estimators do."""
    return hasattr(cls, "get_params")
