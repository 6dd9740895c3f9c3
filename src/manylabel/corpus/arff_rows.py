"""Decode rows of ARFF data, sparse and dense, by the declared attributes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from manylabel.corpus.arff_words import split_words, take_word
from manylabel.corpus.checks import NUMBER, shorten
from manylabel.wording import counted

__all__ = ["Attribute", "BadRowError", "Decoder"]

_MAX_CACHED = 1 << 18


@dataclass
class Attribute:
    """A declared attribute and its columns.

    Attributes
    ----------
    name : str
    columns : list of str
        One name for a numeric attribute, one for each value of a nominal attribute with words.
    codes : dict or None
        For each nominal value, its column, counted from the attribute's first, and its number; None
        if the attribute is numeric.
    default : (int, float)
        The column and the number that a sparse row implies if it omits the attribute.
    """

    name: str
    columns: list[str]
    codes: dict[str, tuple[int, float]] | None = None
    default: tuple[int, float] = (0, 0.0)


class BadRowError(Exception):
    """What is wrong with a row of data."""


class Decoder:
    """Turns rows into columns and numbers.

    Parameters
    ----------
    attributes : sequence of Attribute
    """

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self._attributes = list(attributes)
        self._positions = {str(position): position for position in range(len(attributes))}
        self._first_columns = []
        column = 0
        for attribute in attributes:
            self._first_columns.append(column)
            column += len(attribute.columns)
        # The values that a sparse row implies.
        self._implied = {
            position: (self._first_columns[position] + attribute.default[0], attribute.default[1])
            for position, attribute in enumerate(attributes)
            if attribute.default[1]
        }
        # Cached because sparse rows repeat the same few pairs, such as "17 1".
        self._known: dict[str, tuple[int, tuple[int, float]]] = {}

    def dense(self, text: str) -> list[tuple[int, float]]:
        """Decode ``value,value,...`` to columns and numbers."""
        quoted = "'" in text or '"' in text
        cells = split_words(text) if quoted else [cell.strip() for cell in text.split(",")]
        expected = len(self._attributes)
        if cells is None or len(cells) != expected:
            instead = "broken quotes" if cells is None else str(len(cells))
            raise BadRowError(
                f"expected {counted(expected, 'value')} separated by commas, found {instead}."
            )
        return [self._decode(position, cell) for position, cell in enumerate(cells)]

    def sparse(self, text: str) -> list[tuple[int, float]]:
        """Decode ``{attribute value,attribute value,...}`` to columns and numbers."""
        if not text.endswith("}"):
            raise BadRowError(f"expected a row that ends with '}}', found {shorten(text[-40:])}.")
        body = text[1:-1].strip()
        quoted = "'" in body or '"' in body
        pairs = split_words(body, unquote_them=False) if quoted else body.split(",")
        if pairs is None:
            raise BadRowError("expected pairs 'attribute value', found broken quotes.")
        cells: dict[int, tuple[int, float]] = {}
        for pair in pairs if body else ():
            position, cell = self._known.get(pair) or self._pair(pair)
            if position in cells:
                raise BadRowError(f"expected each attribute once, found {position} twice.")
            cells[position] = cell
        return list((self._implied | cells).values() if self._implied else cells.values())

    def _pair(self, pair: str) -> tuple[int, tuple[int, float]]:
        """The attribute of ``attribute value``, with its column and number."""
        words = pair.split(None, 1)
        position = self._positions.get(words[0]) if len(words) == 2 else None
        if position is None:
            raise BadRowError(
                f"expected 'attribute value' with an attribute from 0 to "
                f"{len(self._positions) - 1}, found {shorten(pair.strip())}."
            )
        cell = words[1].strip()
        if cell.startswith(("'", '"')):
            taken = take_word(cell)
            cell = cell if taken is None or taken[1] else taken[0]
        decoded = position, self._decode(position, cell)
        if len(self._known) < _MAX_CACHED:
            self._known[pair] = decoded
        return decoded

    def _decode(self, position: int, cell: str) -> tuple[int, float]:
        """The column and the number of an attribute's value."""
        attribute = self._attributes[position]
        if attribute.codes is None:
            return self._first_columns[position], _number(cell, attribute.name)
        if cell not in attribute.codes:
            raise BadRowError(
                f"expected one of the declared values of {shorten(attribute.name)}, "
                f"found {shorten(cell)}."
            )
        offset, value = attribute.codes[cell]
        return self._first_columns[position] + offset, value


def _number(cell: str, name: str) -> float:
    if not NUMBER.fullmatch(cell) or math.isinf(value := float(cell)):
        missing = "; missing values are not supported" if cell == "?" else ""
        raise BadRowError(
            f"expected a finite number as {shorten(name)}, found {shorten(cell)}{missing}."
        )
    return value
