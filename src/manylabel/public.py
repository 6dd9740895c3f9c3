"""Lazy exports: a package's public names, whose modules are imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazy_exports"]


def lazy_exports(
    package: str, modules: Mapping[str, str], *others: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package that imports its modules on first use.

    Parameters
    ----------
    package : str
    modules : mapping
        Public name -> the module that exports it.
    *others : str
        Public names that the package defines itself.

    Examples
    --------
    >>> get, names = lazy_exports("mathematics", {"sqrt": "math"})
    >>> get("sqrt")(4), names()
    (2.0, ['sqrt'])
    """

    def get(name: str) -> Any:
        if name in modules:
            return getattr(import_module(modules[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: sorted([*modules, *others])
