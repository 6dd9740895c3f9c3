"""Names of columns: check and look them up, and align matrices by name."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.wording import counted

__all__ = ["Indicator", "align", "check_names", "indicator", "positions", "union"]


def check_names(
    name: str, names: Sequence[str] | None, expected: int, strip: bool = False
) -> list[str] | None:
    """Check distinct names, one per column; None if there are none."""
    if names is None:
        return None
    if isinstance(names, str):
        raise InputError(f"`{name}` must be a list of names; got a string.")
    listed = [str(value).strip() if strip else str(value) for value in names]
    if len(listed) != expected:
        raise InputError(
            f"`{name}` must have a name for each of {counted(expected, 'column')}; got "
            f"{counted(len(listed), 'name')}."
        )
    if len(set(listed)) != len(listed):
        raise InputError(f"`{name}` must be distinct; {first_repeated(listed)!r} occurs twice.")
    return listed


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that occurs a second time; None if all are distinct."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def positions(name: str, wanted: Sequence[str], names: Sequence[str]) -> NDArray[np.int64]:
    """The position of each wanted name; an error for an unknown one."""
    columns = {value: column for column, value in enumerate(names)}
    for value in wanted:
        if value not in columns:
            raise InputError(f"unknown name {value!r} in `{name}` ({len(names):,} names known).")
    return np.array([columns[value] for value in wanted], dtype=np.int64)


def union(vocabularies: Sequence[Sequence[str]]) -> list[str]:
    """All names, each once, in order of appearance."""
    return list(dict.fromkeys(name for names in vocabularies for name in names))


def align(
    matrix: sparse.csr_array, names: Sequence[str], target: Sequence[str] | Mapping[str, int]
) -> sparse.csr_array:
    """Move the columns of a matrix to the positions of their names in ``target``.

    A mapping has these positions already.
    """
    if not isinstance(target, Mapping):
        target = {name: column for column, name in enumerate(target)}
    moved = np.array([target.get(name, -1) for name in names], dtype=np.int64)
    columns = moved[matrix.indices]
    kept = columns >= 0
    before = np.concatenate([[0], np.cumsum(kept)])
    aligned = sparse.csr_array(
        (matrix.data[kept], columns[kept], before[matrix.indptr]),
        shape=(matrix.shape[0], len(target)),
    )
    aligned.sort_indices()
    return aligned


def _name(label: Any) -> str:
    """A label's name without blanks around it; a whole number is a name, a missing value is not."""
    if isinstance(label, str):
        if not label.strip():
            raise InputError("a label is empty; leave it out, or give it a name.")
        return label.strip()
    if isinstance(label, int | np.integer) and not isinstance(label, bool):
        return str(label)
    raise InputError(f"labels must be strings; got {label!r}, of type {type(label).__name__}.")


class Indicator:
    """Collects the label names of documents, one document at a time.

    Parameters
    ----------
    names : sequence of str, optional
        The vocabulary; other names are refused. By default, the names that occur, sorted.
    """

    def __init__(self, names: Sequence[str] | None = None) -> None:
        self._fixed = None if names is None else [str(name).strip() for name in names]
        self._column_of = {name: column for column, name in enumerate(self._fixed or ())}
        self._columns = array("q")
        self._bounds = array("q", [0])

    def add(self, labels: Iterable[str]) -> None:
        """Add the labels of the next document."""
        self._columns.extend(dict.fromkeys(map(self._column, labels)))
        self._bounds.append(len(self._columns))

    def _column(self, label: Any) -> int:
        """The column of a label; a new one if names are not fixed."""
        column = self._column_of.get(label) if isinstance(label, str) else None
        if column is not None:
            return column
        name = _name(label)
        if self._fixed is None:
            return self._column_of.setdefault(name, len(self._column_of))
        if name not in self._column_of:
            raise InputError(f"unknown label {name!r} ({len(self._fixed):,} labels known).")
        return self._column_of[name]

    def finish(self) -> tuple[sparse.csr_array, list[str]]:
        """The indicator matrix and the names of its columns."""
        columns = np.array(self._columns, dtype=np.int64)
        names = self._fixed
        if names is None:
            names = sorted(self._column_of)
            rank = {name: column for column, name in enumerate(names)}
            columns = np.array([rank[name] for name in self._column_of], dtype=np.int64)[columns]
        Y = self._matrix(columns, len(names))
        Y.sort_indices()
        return Y, names

    def unsorted(self) -> tuple[sparse.csr_array, list[str]]:
        """The same with columns in the order in which names appear first."""
        names = list(self._column_of)
        return self._matrix(np.array(self._columns, dtype=np.int64), len(names)), names

    def _matrix(self, columns: NDArray[np.int64], n_columns: int) -> sparse.csr_array:
        return sparse.csr_array(
            (np.ones(columns.size, np.int8), columns, np.array(self._bounds, dtype=np.int64)),
            shape=(len(self._bounds) - 1, n_columns),
        )


def indicator(
    labels: Iterable[Iterable[str]], names: Sequence[str] | None = None
) -> tuple[sparse.csr_array, list[str]]:
    """The indicator matrix of lists of label names, and the names of its columns."""
    collected = Indicator(names)
    for row, document in enumerate(labels):
        if isinstance(document, str | Mapping) or not isinstance(document, Iterable):
            such = f", such as [{document!r}]" if isinstance(document, str) else ""
            raise InputError(
                f"the labels of document {row} must be a list of names{such}; got {document!r}."
            )
        try:
            collected.add(document)
        except InputError as error:
            raise InputError(f"document {row}: {error}") from None
    return collected.finish()
