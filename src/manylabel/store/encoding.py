"""Encode objects as JSON and arrays.

Strings, numbers, booleans and null are themselves in JSON. Everything else is a JSON object with
one entry, named by the kind of value; an additional ``id`` marks a value that others refer to.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import StoreError
from manylabel.store.classes import is_estimator, name_of
from manylabel.strings import StringArray

__all__ = ["SPARSE", "TYPES", "Encoder"]

#: Sparse matrices that can be stored, by name.
SPARSE = {
    kind.__name__: kind
    for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix)
}
#: Python's own types of numbers that parameters such as ``dtype`` may be.
TYPES = {"bool": bool, "int": int, "float": float}
#: Lists of at least this many strings or numbers become arrays.
LONG = 256


class Encoder:
    """Turns an object and everything in it into a tree of JSON and arrays.

    An object of a class of manylabel is stored by its attributes, or by what its ``_store_state``
    returns. Values of a ``cached_property`` are left out, since they can be computed again, and so
    is an estimator's ``verbose``, which matters only in training.

    Parameters
    ----------
    thing : object

    Attributes
    ----------
    tree : JSON
    arrays : dict of str to array
        By file name.
    """

    def __init__(self, thing: Any) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        # By identity: the object, kept alive so that its id is not reused, and its node.
        self._seen: dict[Any, tuple[Any, dict[str, Any]]] = {}
        self._n_shared = 0
        self.tree = self._encode(thing, type(thing).__name__)

    def _encode(self, value: Any, where: str) -> Any:
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        key = _identity(value)
        if key in self._seen:
            return self._reference(self._seen[key][1])
        node: dict[str, Any] = {}
        self._seen[key] = value, node
        kind, content = self._node(value, where)
        node[kind] = content
        return node

    def _reference(self, node: dict[str, Any]) -> dict[str, Any]:
        """A node that refers to another."""
        if "id" not in node:
            node["id"] = self._n_shared
            self._n_shared += 1
        return {"ref": node["id"]}

    def _node(self, value: Any, where: str) -> tuple[str, Any]:
        """The kind and the content of a value's node."""
        kind = type(value)
        if kind in (list, tuple):
            return kind.__name__, self._items(value, where)
        if kind in (set, frozenset):
            return kind.__name__, self._items(_sorted(value), where)
        if kind is dict:
            return "dict", [
                self._items(list(value), f"{where} (keys)"),
                self._items(list(value.values()), where, list(value)),
            ]
        if kind is range:
            return "range", [value.start, value.stop, value.step]
        if kind in (np.ndarray, np.memmap):
            return self._array(value, where)
        if isinstance(value, np.generic) and value.dtype.kind in "biufU":
            return "scalar", [value.dtype.str, self._encode(value.item(), where)]
        if isinstance(value, np.dtype) and not value.hasobject:
            return "dtype", value.str
        if kind is type and value in TYPES.values():
            return "type", value.__name__
        if isinstance(value, type) and issubclass(value, np.generic):
            return "scalar_type", np.dtype(value).str
        if SPARSE.get(kind.__name__) is kind:
            return "sparse", self._sparse(value, where)
        if kind is np.random.RandomState:
            return "random_state", self._encode(value.get_state(legacy=False), where)
        return "object", self._object(value, where)

    def _items(self, values: Any, where: str, names: Iterable[Any] | None = None) -> Any:
        """The nodes of a list, or the node of an array with the same items."""
        if len(values) >= LONG:
            kinds = set(map(type, values))
            if kinds == {str}:
                return self._encode(StringArray(values), where)
            if kinds == {float} or (kinds == {int} and _fits(values)):
                return self._encode(
                    np.array(values, np.float64 if kinds == {float} else np.int64), where
                )
        names = range(len(values)) if names is None else names
        return [
            self._encode(value, f"{where}[{name!r}]")
            for name, value in zip(names, values, strict=True)
        ]

    def _array(self, array: NDArray[Any], where: str) -> tuple[str, Any]:
        if array.dtype.hasobject:
            return "object_array", [list(array.shape), self._items(array.ravel().tolist(), where)]
        attribute = re.sub(r"[^A-Za-z0-9]+", "-", where.partition(".")[2]).strip("-")
        name = f"{len(self.arrays):03d}-{attribute[-60:].strip('-') or 'array'}.npy"
        self.arrays[name] = array
        return "array", name

    def _sparse(self, matrix: Any, where: str) -> dict[str, Any]:
        return {
            "type": type(matrix).__name__,
            "shape": list(map(int, matrix.shape)),
            "sorted": bool(matrix.has_sorted_indices),
            "canonical": bool(matrix.has_canonical_format),
            **{
                name: self._encode(getattr(matrix, name), f"{where}.{name}")
                for name in ("data", "indices", "indptr")
            },
        }

    def _object(self, thing: Any, where: str) -> dict[str, Any]:
        name = name_of(type(thing))
        if name is None:
            cls = type(thing)
            raise StoreError(
                f"{where} cannot be saved: {cls.__module__}.{cls.__qualname__} is not a type that "
                "a model folder can store; use a type of manylabel, a number, a string, an array, "
                "or a list or dict of these, or register the class with manylabel.store.register."
            )
        return {
            "class": name,
            "state": {
                attribute: self._encode(value, f"{where}.{attribute}")
                for attribute, value in _state(thing).items()
            },
        }


def _identity(value: Any) -> Any:
    """A key that is the same for two references to one value."""
    if isinstance(value, np.ndarray):
        seen = value.__array_interface__
        return seen["data"], value.shape, value.strides, value.dtype
    return id(value)


def _state(thing: Any) -> dict[str, Any]:
    """The attributes of an object to store."""
    if hasattr(thing, "_store_state"):
        return thing._store_state()
    if isinstance(thing, tuple):
        return thing._asdict()  # type: ignore[attr-defined]  # only named tuples are registered
    cls = type(thing)
    left_out = {"verbose"} if is_estimator(cls) else set()
    return {
        name: value
        for name, value in vars(thing).items()
        if name not in left_out and not isinstance(getattr(cls, name, None), cached_property)
    }


def _sorted(values: Any) -> list[Any]:
    """The members of a set in a fixed order, if they can be sorted."""
    try:
        return sorted(values)
    except TypeError:
        return list(values)


def _fits(values: Iterable[int]) -> bool:
    """Whether all values fit into 64 bits."""
    bounds = np.iinfo(np.int64)
    return all(bounds.min <= value <= bounds.max for value in values)
