"""Postpone the import of third-party modules that are rarely used."""

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

#: scikit-learn imports the first four to inspect its input, and SciPy's for functions that we never
#: call; SciPy imports NumPy's. Each takes longer to import than a prediction takes.
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
    """Finds a placeholder instead of each of some modules, once."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {name for name in names if name not in sys.modules}

    def find_spec(
        self, fullname: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._names:
            return None
        self._names.discard(fullname)
        real = PathFinder.find_spec(fullname, path, target)
        # A module that is not installed must not be found.
        if real is None:
            return None
        spec = ModuleSpec(fullname, self)
        # Postponed submodules must be found without importing their package.
        if any(name.startswith(f"{fullname}.") for name in self._names):
            spec.submodule_search_locations = real.submodule_search_locations
        return spec

    def exec_module(self, module: ModuleType) -> None:
        # Not earlier: the import itself reads attributes of the module.
        module.__class__ = _Later


def postpone(names: Iterable[str] = SELDOM_USED) -> None:
    """Replace modules by placeholders that import them on first use.

    Only for manylabel's own processes, since it affects every import.
    """
    sys.meta_path.insert(0, _Finder(names))


@contextmanager
def postponed(names: Iterable[str] = SELDOM_USED) -> Iterator[None]:
    """Postpone modules within this context; later imports get the real modules."""
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
