"""Choose the settings that the classifiers of the LCIF paper leave to the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manylabel.neighbors.grids import AUTOMATIC

__all__ = [
    "AUTO",
    "SETTINGS",
    "choose_settings",
    "documents_to_try",
    "first_settings",
    "values_of",
]

AUTO = "auto"
#: The parameters that may be "auto".
SETTINGS = tuple(AUTOMATIC)
#: Fewer documents give a random choice; more change it little.
_MIN_DOCUMENTS, _MAX_DOCUMENTS = 50, 1_000
#: How many times to go through the parameters.
_ROUNDS = 2


Setting = dict[str, Any]


def first_settings(parameters: Mapping[str, Any]) -> Setting:
    """Parameters with numbers instead of "auto": where the search starts.

    Examples
    --------
    >>> first_settings({"k": "auto", "lam": 0.5})
    {'k': 50, 'lam': 0.5}
    """
    return {n: AUTOMATIC[n][0] if value == AUTO else value for n, value in parameters.items()}


def values_of(name: str, values: Iterable[Any]) -> list[Any]:
    """The numbers among some values of a parameter, and all that "auto" may become.

    Examples
    --------
    >>> values_of("beta", [2.5, "auto"])
    [2.5, 1.0, 0.5, 2.0, 3.0]
    """
    return [
        number for value in values for number in (AUTOMATIC[name] if value == AUTO else (value,))
    ]


def documents_to_try(known: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Numbers of the documents to judge settings by, evenly sampled; none if there are few."""
    numbers = np.flatnonzero(known)
    if numbers.size < _MIN_DOCUMENTS:
        return numbers[:0]
    n = min(numbers.size, _MAX_DOCUMENTS)
    return numbers[np.linspace(0, numbers.size - 1, n).astype(np.int64)]


def choose_settings(parameters: Mapping[str, Any], worth: Callable[[Setting], float]) -> Setting:
    """Parameters with the numbers that are worth most instead of "auto".

    Parameters are tried one after another, each with the best values of the others so far.

    Examples
    --------
    >>> parameters = {"k": "auto", "alpha": 2.0, "beta": 1.0, "lam": 0.5}
    >>> choose_settings(parameters, lambda setting: -abs(setting["k"] - 22))["k"]
    20
    """
    best = first_settings(parameters)
    names = [name for name, value in parameters.items() if value == AUTO]
    highest = worth(best)
    for _ in range(_ROUNDS):
        before = dict(best)
        for name in names:
            start = best[name]
            for value in AUTOMATIC[name]:
                if value == start or _has_no_effect(name, best):
                    continue
                reached = worth({**best, name: value})
                if reached > highest:
                    highest, best = reached, {**best, name: value}
        if best == before:
            break
    return best


def _has_no_effect(name: str, setting: Setting) -> bool:
    """Whether a parameter belongs to a part that has no weight."""
    return setting["lam"] == (1 if name == "beta" else 0) and name != "lam"
