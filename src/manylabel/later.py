"""Modules that others import and we seldom need, imported on first use."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

__all__ = ["SELDOM_USED", "postpone", "postponed"]

#: scikit-learn imports the first four to look at what it was given, the next for functions that we
#: never call; SciPy imports all that NumPy has. Each takes longer to import than a prediction.
SELDOM_USED = (
    "narwhals",
    "narwhals.stable",
    "narwhals.stable.v2",
    "pandas",
    "scipy.stats",
    "scipy.special",
    "numpy.f2py",
    "numpy.testing",
)


class _Later(ModuleType):
    """A placeholder for a module until it is used."""

    def __getattr__(self, attribute: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        found = vars(self)[attribute] = getattr(import_module(self.__name__), attribute)
        return found


class _Finder(MetaPathFinder, Loader):
    """Finds a placeholder for each of some modules, once."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {name for name in names if name not in sys.modules}

    def find_spec(
        self, fullname: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._names:
            return None
        self._names.discard(fullname)
        real = PathFinder.find_spec(fullname, path, target)
        # What is not installed must not seem to be there.
        if real is None:
            return None
        spec = ModuleSpec(fullname, self)
        # Modules in a package that is postponed with it are found without it.
        if any(name.startswith(f"{fullname}.") for name in self._names):
            spec.submodule_search_locations = real.submodule_search_locations
        return spec

    def exec_module(self, module: ModuleType) -> None:
        # Not sooner: an import asks a module a few things first.
        module.__class__ = _Later


def postpone(names: Iterable[str] = SELDOM_USED) -> None:
    """Import modules when they are used, and not when they are imported.

    For a process of our own: other people's should find what they import.
    """
    sys.meta_path.insert(0, _Finder(names))


@contextmanager
def postponed(names: Iterable[str] = SELDOM_USED) -> Iterator[None]:
    """Postpone modules for what is imported now; what is imported later finds the modules."""
    names = list(names)
    finder = _Finder(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in names:
            module = sys.modules.get(name)
            if isinstance(module, _Later) and module.__loader__ is finder:
                del sys.modules[name]
                package, _, last = name.rpartition(".")
                vars(sys.modules.get(package, module)).pop(last, None)
