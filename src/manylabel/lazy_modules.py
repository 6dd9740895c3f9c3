"""Defer the import of third-party modules that are rarely used."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["SELDOM_USED", "defer", "deferred", "import_snowball"]

#: scikit-learn imports the first four to inspect its input, and joblib and SciPy's for functions
#: that we hardly ever call; SciPy imports NumPy's, and both import other names for NumPy. Together
#: they take longer to import than a prediction takes. FastAPI refuses models of Pydantic 1, and
#: Uvicorn has a command line of its own.
SELDOM_USED = (
    "narwhals",
    "narwhals.stable",
    "narwhals.stable.v2",
    "pandas",
    "scipy.stats",
    "scipy.special",
    "scipy.linalg",
    "scipy.sparse.linalg",
    "scipy.sparse.csgraph",
    "joblib",
    "sklearn.utils.parallel",
    "numpy.f2py",
    "numpy.ma",
    "numpy.polynomial",
    "numpy.testing",
    "scipy._lib.array_api_compat.numpy",
    "sklearn.externals.array_api_compat.numpy",
    "pydantic.v1",
    "uvicorn.main",
)
#: Names that scikit-learn and Uvicorn look up while they are imported and do not use then, by
#: module; FastAPI only asks whether classes inherit from one.
_LOOKED_UP: dict[str, set[str]] = {
    "joblib": {"cpu_count"},
    "numpy.ma": set(),
    "numpy.polynomial": set(),
    "pydantic.v1": {"BaseModel"},
    "scipy.linalg": set(),
    "scipy.sparse.linalg": {"LinearOperator", "cg"},
    "scipy.sparse.csgraph": {"laplacian"},
    "sklearn.utils.parallel": {"_get_threadpool_controller"},
    "uvicorn.main": {"Server", "main", "run"},
}


class _Deferred(ModuleType):
    """A placeholder for a module until it is used."""

    def __getattr__(self, attribute: str) -> Any:
        name = self.__name__
        if name in _LOOKED_UP and sys.modules.get(name) is self:
            if attribute == "__path__":
                # "from ... import ..." asks whether the module is a package: it has none.
                raise AttributeError(attribute)
            if attribute in _LOOKED_UP[name]:
                return _Name(name, attribute)
        found = vars(self)[attribute] = getattr(_imported(name), attribute)
        return found


def _imported(name: str) -> ModuleType:
    """A module itself, in place of its placeholder if there is one."""
    if isinstance(sys.modules.get(name), _Deferred):
        del sys.modules[name]
    return import_module(name)


class _Name:
    """A placeholder for a function or a class, whose module is imported when it is used."""

    def __init__(self, module: str, name: str) -> None:
        self._origin = module, name

    def _real(self) -> Any:
        module, name = self._origin
        return getattr(_imported(module), name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._real()(*arguments, **named)

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._real(), attribute)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        """What a class that inherits from the placeholder inherits from."""
        return (self._real(),)

    def __instancecheck__(self, instance: Any) -> bool:
        return self._is_imported() and isinstance(instance, self._real())

    def __subclasscheck__(self, cls: type) -> bool:
        return self._is_imported() and issubclass(cls, self._real())

    def _is_imported(self) -> bool:
        """Whether the class may exist: if not, nothing is an instance or a subclass of it."""
        module = sys.modules.get(self._origin[0])
        # A part of a package can be imported without the package, and is then an attribute.
        return not isinstance(module, _Deferred) or any(
            isinstance(value, ModuleType) for value in vars(module).values()
        )


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
        # Modules in a package that is deferred with it are found without it.
        has_more = any(name.startswith(f"{fullname}.") for name in self._names)
        if has_more or fullname in _LOOKED_UP:
            spec.submodule_search_locations = real.submodule_search_locations
        return spec

    def exec_module(self, module: ModuleType) -> None:
        # Not earlier: the import itself reads attributes of the module.
        module.__class__ = _Deferred


def defer(names: Iterable[str] = SELDOM_USED) -> None:
    """Replace modules by placeholders that import them on first use.

    Only for manylabel's own processes, since it affects every import.
    """
    sys.meta_path.insert(0, _Finder(names))


@contextmanager
def deferred(names: Iterable[str] = SELDOM_USED) -> Iterator[None]:
    """Defer modules within this context; later imports get the real modules."""
    names = list(names)
    finder = _Finder(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in names:
            module = sys.modules.get(name)
            if isinstance(module, _Deferred) and module.__loader__ is finder:
                del sys.modules[name]
                package, _, last = name.rpartition(".")
                names = vars(sys.modules.get(package, module))
                # A package that cannot import its modules on demand keeps the placeholder.
                if "__getattr__" in names:
                    names.pop(last, None)


def import_snowball() -> Any:
    """The package ``snowballstemmer``; the stemmer of a language is imported when it is made."""
    known = sys.modules.get("snowballstemmer")
    if known is not None:
        return known
    spec = find_spec("snowballstemmer")
    places = spec.submodule_search_locations or [] if spec is not None else []
    languages = [path.stem for place in places for path in Path(place).glob("*_stemmer.py")]
    for language in languages:
        # "dutch_porter_stemmer" has the class DutchPorterStemmer.
        _LOOKED_UP[f"snowballstemmer.{language}"] = {language.title().replace("_", "")}
    with deferred(f"snowballstemmer.{language}" for language in languages):
        return import_module("snowballstemmer")
