"""Public names of packages, whose modules are imported when somebody uses them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["imported_late"]


def imported_late(
    package: str, homes: Mapping[str, str], *others: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and the ``__dir__`` of a package.

    Parameters
    ----------
    package : str
    homes : mapping
        Public name -> the module that defines it.
    *others : str
        Public names that are there from the beginning.

    Examples
    --------
    >>> find, names = imported_late("mathematics", {"sqrt": "math"})
    >>> find("sqrt")(4), names()
    (2.0, ['sqrt'])
    """

    def find(name: str) -> Any:
        if name in homes:
            return getattr(import_module(homes[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find, lambda: sorted([*homes, *others])
