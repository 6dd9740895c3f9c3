"""Decode JSON and arrays to objects; the inverse of the encoding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manylabel.exceptions import InputError
from manylabel.store.classes import VANISHED, class_named, converter_of, is_estimator
from manylabel.store.encoding import SPARSE, TYPES
from manylabel.validation import check_structure

#: Types of the values of a sparse matrix.
_NUMBERS = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"}

__all__ = ["ChangedClassError", "Decoder", "Former", "UnknownClassError", "restored"]


class UnknownClassError(ValueError):
    """The name of a class that is not allowed in a model folder."""


class ChangedClassError(ValueError):
    """The name of a class that has changed since the model was written."""


@dataclass(frozen=True)
class Former:
    """An object of a class that no longer exists, for the converter of its owner.

    Attributes
    ----------
    name : str
        The stored name of the class.
    state : dict of str to object
        Its attributes, decoded.
    """

    name: str
    state: dict[str, Any]


class Decoder:
    """Makes objects from the tree of an encoder.

    No constructor runs: attributes are set directly. If a class has the class method
    ``_from_store_state``, that makes the object from its state; if its name has a converter, the
    converter does.

    Parameters
    ----------
    arrays : callable
        Returns the array of a file by its name.
    is_deep : bool
        Check every index of sparse matrices, and call ``_check_stored`` of objects that have it,
        because kernels trust indices. This reads the arrays from end to end.
    """

    def __init__(self, arrays: Callable[[str], NDArray[Any]], is_deep: bool = False) -> None:
        self._arrays, self._is_deep = arrays, is_deep
        self._shared: dict[int, Any] = {}
        self._converting = 0

    def decode(self, node: Any) -> Any:
        """The value of a node; KeyError, TypeError or ValueError if the node is invalid."""
        if not isinstance(node, dict):
            if isinstance(node, list):
                raise TypeError("a list has no meaning here")
            return node
        (kind,) = node.keys() - {"id"}
        if kind == "ref":
            return self._shared[node["ref"]]
        return _KINDS[kind](self, node[kind], node.get("id"))

    def _share(self, number: int | None, value: Any) -> Any:
        """Store a value that other nodes refer to."""
        if number is not None:
            self._shared[number] = value
        return value

    def _items(self, content: Any) -> list[Any]:
        if isinstance(content, list):
            return [self.decode(node) for node in content]
        return self.decode(content).tolist()

    def _list(self, content: Any, number: int | None) -> list[Any]:
        value: list[Any] = self._share(number, [])
        value.extend(self._items(content))
        return value

    def _dict(self, content: Any, number: int | None) -> dict[Any, Any]:
        value: dict[Any, Any] = self._share(number, {})
        keys, values = content
        value.update(zip(self._items(keys), self._items(values), strict=True))
        return value

    def _object_array(self, content: Any, number: int | None) -> NDArray[Any]:
        shape, items = content
        flat = self._items(items)
        # Another size raises a ValueError.
        array = np.fromiter(flat, object, len(flat)).reshape(shape)
        return self._share(number, array)

    def _sparse(self, content: Any, number: int | None) -> Any:
        # A constructor would read every index, and narrow indices that are wider than needed.
        matrix = SPARSE[content["type"]](tuple(content["shape"]))
        for name in ("data", "indices", "indptr"):
            setattr(matrix, name, self.decode(content[name]))
        matrix.has_sorted_indices = content["sorted"]
        matrix.has_canonical_format = content["canonical"]
        if self._is_deep:
            check_structure(matrix, "a matrix")
            if matrix.data.size != matrix.indices.size or matrix.dtype.str[1:] not in _NUMBERS:
                raise InputError("a matrix is damaged: its values do not fit its indices.")
        return self._share(number, matrix)

    def _strings(self, node: Any) -> Any:
        """The value of a node; a StringArray for a long list of strings or numbered strings.

        It is mapped into memory, while a list or dict of strings is read from end to end.
        """
        if not isinstance(node, dict) or "id" in node:
            return self.decode(node)
        items = None
        if "dict" in node:
            items, values = node["dict"]
            values = None if isinstance(values, list) else self.decode(values)
        elif "object_array" in node and len(node["object_array"][0]) == 1:
            items, values = node["object_array"][1], None
        if not isinstance(items, dict) or "object" not in items:
            return self.decode(node)
        strings = self.decode(items)
        if self._is_deep:
            strings.check()
        if "dict" in node and not np.array_equal(values, np.arange(len(strings))):
            return dict(zip(strings.tolist(), np.asarray(values).tolist(), strict=True))
        return strings

    def _random_state(self, content: Any, number: int | None) -> np.random.RandomState:
        generator = np.random.RandomState()
        generator.set_state(self.decode(content))
        return self._share(number, generator)

    def _object(self, content: Any, number: int | None) -> Any:
        thing = self._made(content, number)
        if self._is_deep and hasattr(type(thing), "_check_stored"):
            thing._check_stored()
        return thing

    def _made(self, content: Any, number: int | None) -> Any:
        name, state = content["class"], content["state"]
        converter = converter_of(name)
        if converter is not None:
            return self._share(number, converter(self._former_attributes(state)))
        if name in VANISHED and self._converting:
            return self._share(number, Former(name, self._attributes(state)))
        cls = class_named(name)
        if cls is None:
            raise UnknownClassError(name)
        if hasattr(cls, "_from_store_state"):
            names = getattr(cls, "_names_in_store", ())
            attributes = {
                attribute: self._strings(node) if attribute in names else self.decode(node)
                for attribute, node in state.items()
            }
            return self._share(number, cls._from_store_state(attributes))
        if issubclass(cls, tuple):
            return self._share(number, cls(**self._attributes(state)))
        thing = self._share(number, restored(cls, {}))
        if is_dataclass(cls):
            if not _needed(cls) <= state.keys():
                raise ChangedClassError(name)
            vars(thing).update(_made_fields(cls))
        vars(thing).update(self._attributes(state))
        return thing

    def _former_attributes(self, state: dict[str, Any]) -> dict[str, Any]:
        """Attributes for a converter; they may include objects of classes that no longer exist."""
        self._converting += 1
        try:
            return self._attributes(state)
        finally:
            self._converting -= 1

    def _attributes(self, state: dict[str, Any]) -> dict[str, Any]:
        return {name: self.decode(node) for name, node in state.items()}


def restored(cls: type, attributes: dict[str, Any]) -> Any:
    """Make an object with these attributes; an estimator also gets its default parameters.

    No constructor runs.
    """
    thing: Any = object.__new__(cls)
    if is_estimator(cls):
        vars(thing).update(_defaults(cls))
    vars(thing).update(attributes)
    return thing


def _defaults(cls: type) -> dict[str, Any]:
    """The default parameters of an estimator, some of which may be newer than the model."""
    parameters = signature(cls).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not Parameter.empty}


def _made_fields(cls: type) -> dict[str, Any]:
    """Fields with a default factory, some of which may be newer than the model."""
    return {f.name: f.default_factory() for f in fields(cls) if f.default_factory is not MISSING}


def _needed(cls: type) -> set[str]:
    """The required fields of a dataclass."""
    return {f.name for f in fields(cls) if f.default is f.default_factory is MISSING}


def _plain(make: Callable[[Any], Any]) -> Callable[[Decoder, Any, int | None], Any]:
    """A kind that needs only its content."""
    return lambda decoder, content, number: decoder._share(number, make(content))


def _from_items(make: Callable[[list[Any]], Any]) -> Callable[[Decoder, Any, int | None], Any]:
    """A kind of immutable collection, made from its items."""
    return lambda decoder, content, number: decoder._share(number, make(decoder._items(content)))


_KINDS: dict[str, Callable[[Decoder, Any, int | None], Any]] = {
    "array": lambda decoder, name, number: decoder._share(number, decoder._arrays(name)),
    "dict": Decoder._dict,
    "dtype": _plain(np.dtype),
    "float": _plain(float),
    "frozenset": _from_items(frozenset),
    "list": Decoder._list,
    "object": Decoder._object,
    "object_array": Decoder._object_array,
    "random_state": Decoder._random_state,
    "range": _plain(lambda bounds: range(*bounds)),
    "scalar": lambda decoder, content, number: decoder._share(
        number, np.dtype(content[0]).type(decoder.decode(content[1]))
    ),
    "scalar_type": _plain(lambda name: np.dtype(name).type),
    "set": _from_items(set),
    "sparse": Decoder._sparse,
    "tuple": _from_items(tuple),
    "type": _plain(TYPES.__getitem__),
}
