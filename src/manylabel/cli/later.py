"""Modules that others import and we seldom need, imported on first use."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

__all__ = ["SELDOM_USED", "postpone"]

#: scikit-learn imports the first two to look at what it was given, and the last for one function;
#: SciPy all that NumPy has. They take longer to import than all that `manylabel predict` uses.
SELDOM_USED = ("narwhals.stable.v2", "pandas", "numpy.f2py", "numpy.testing", "scipy.stats")


class _Later(ModuleType):
    """A placeholder for a module until it is used."""

    def __getattr__(self, attribute: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), attribute)


class _Finder(MetaPathFinder, Loader):
    """Finds a stand-in for each of some modules, once."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = set(names)

    def find_spec(
        self, fullname: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._names:
            return None
        self._names.discard(fullname)
        # What is not installed must not seem to be there.
        if PathFinder.find_spec(fullname, path, target) is None:
            return None
        return ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        # Not sooner: an import asks a module a few things first.
        module.__class__ = _Later


def postpone(names: Iterable[str] = SELDOM_USED) -> None:
    """Import modules when they are used, and not when they are imported.

    For a process of our own: other people's should find what they import.
    """
    sys.meta_path.insert(0, _Finder(name for name in names if name not in sys.modules))
