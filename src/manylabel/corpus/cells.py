"""Read single cells of a table: labels and truth values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from manylabel.exceptions import InputError

__all__ = ["flag_in", "guess_separator", "labels_in_cell", "shorten_cell"]

_IDENTIFIERS = re.compile(r"\s*(<[^<>\s]+>\s*)*")
_QUOTED = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*(?:,|$)""")
# Spreadsheets write truth values in the user's language.
_YES = frozenset({"1", "1.0", "true", "x", "yes", "wahr", "ja", "vrai", "oui"})
_NO = frozenset({"0", "0.0", "false", "", "no", "falsch", "nein", "faux", "non"})
#: Possible separators of labels; the comma comes last, because labels may contain commas.
_SEPARATORS = (";", "|", "\n", ",")


def flag_in(value: Any) -> bool | None:
    """A truth value; None for anything else."""
    plain = "" if value is None else str(value).strip().casefold()
    if plain in _YES:
        return True
    return False if plain in _NO else None


def labels_in_cell(value: Any, separator: str) -> list[str]:
    """The labels in a cell: a list, or one string of them.

    Examples
    --------
    >>> labels_in_cell("cats; sleep", ";"), labels_in_cell('["cats", "dogs"]', ";")
    (['cats', 'sleep'], ['cats', 'dogs'])
    """
    if value is None or value != value:
        return []
    if isinstance(value, str):
        return _split(value, separator)
    if isinstance(value, list | tuple | set | frozenset):
        return [_label(label) for label in value]
    return [_label(value)]


def _label(value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    raise InputError(f"expected a string as 'labels', found {shorten_cell(value)}.")


def _split(cell: str, separator: str) -> list[str]:
    bare = cell.strip()
    if bare.startswith("<"):
        if _IDENTIFIERS.fullmatch(cell):
            return re.findall("<(.*?)>", cell)
        raise InputError(
            f"expected identifiers as <...>, separated by spaces, found {shorten_cell(cell)}."
        )
    if bare.startswith("[") and bare.endswith("]"):
        listed = _listed_in(bare)
        if listed is not None:
            return listed
    return [name.strip() for name in cell.split(separator) if name.strip()]


def _listed_in(cell: str) -> list[str] | None:
    """The strings of a list in JSON or Python syntax; None if it is not a list."""
    try:
        labels = json.loads(cell)
        return [_label(label) for label in labels]
    except ValueError:
        pass
    rest, names = cell[1:-1], []
    while rest.strip():
        match = _QUOTED.match(rest)
        if match is None:
            return None
        names.append(re.sub(r"\\(.)", r"\1", match[1] if match[1] is not None else match[2]))
        rest = rest[match.end() :]
    return [name for name in names if name.strip()]


def guess_separator(cells: Iterable[Any]) -> str:
    r"""Detect the separator of the labels in these cells.

    A comma is the separator only if at least a quarter of the cells have one and none has another
    separator, because names such as "Whales, hunting of" contain commas.

    Examples
    --------
    >>> guess_separator(["a; b, c", "d"]), guess_separator(["a, b", "c"]), guess_separator(["a"])
    (';', ',', ';')
    """
    strings = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
    plain = [cell for cell in strings if cell.lstrip()[0] not in "<["]
    for separator in _SEPARATORS[:-1]:
        if any(separator in cell.strip() for cell in plain):
            return separator
    with_comma = sum("," in cell for cell in plain)
    return "," if with_comma and 4 * with_comma >= len(plain) else ";"


def shorten_cell(value: Any, length: int = 40) -> str:
    """The beginning of a cell, quoted, for an error."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return repr(text if len(text) <= length else text[: length - 1] + "…")
