"""Detect how a table separates and quotes its cells, from its first rows."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from typing import Any

from manylabel.corpus.columns import role_of

__all__ = ["Dialect", "guess_dialect", "is_header"]

_DELIMITERS = (",", ";", "\t", "|")
_ROWS = 50


@dataclass(frozen=True)
class Dialect:
    r"""How cells are separated and quoted.

    Parameters
    ----------
    delimiter : str
    quoted : bool
        Whether cells may be in quotation marks.
    escaped : bool
        Whether a quotation mark inside a cell is written ``\"`` instead of ``""``.
    n_above : int
        Lines above the first row to skip, such as Excel's ``sep=;``.
    """

    delimiter: str = ","
    quoted: bool = True
    escaped: bool = False
    n_above: int = 0

    def options(self) -> dict[str, Any]:
        """The options for `csv.reader`."""
        quoting = csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE
        escapes = {"escapechar": "\\", "doublequote": False} if self.escaped else {}
        return {"delimiter": self.delimiter, "quoting": quoting, "strict": True, **escapes}


def is_header(fields: list[str]) -> bool:
    """Whether a row names columns: one of texts, or both titles and labels."""
    roles = {role_of(field) for field in fields}
    return "text" in roles or {"title", "labels"} <= roles


def guess_dialect(start: str, kind: str, wanted: tuple[str, ...] = ()) -> Dialect:
    """Detect the dialect of a table from its first lines.

    Parameters
    ----------
    start : str
        The first lines.
    kind : {"csv", "tsv"}
    wanted : tuple of str
        Columns that the user has named.
    """
    first = start.split("\n", 1)[0].rstrip("\r")
    if first.casefold().startswith("sep=") and len(first) == 5:
        return Dialect(first[4], n_above=1)
    if kind == "tsv":
        return Dialect("\t", quoted=_needs_quotes(start))
    best = max(_DELIMITERS, key=lambda sign: _fit(start, sign, wanted))
    is_escaped = '\\"' in start and _rows(start, Dialect(best)) is None
    if is_escaped and _rows(start, Dialect(best, escaped=True)) is not None:
        return Dialect(best, escaped=True)
    return Dialect(best)


def _fit(start: str, delimiter: str, wanted: tuple[str, ...]) -> tuple[float, ...]:
    """How well a delimiter fits the first rows; the greatest value is the best."""
    rows = _rows(start, Dialect(delimiter), strict=False) or []
    if not rows:
        return (0.0,)
    names = [name.strip() for name in rows[0]]
    sizes = Counter(map(len, rows))
    size, common = sizes.most_common(1)[0]
    knows = all(name in names for name in wanted) if wanted else is_header(names)
    return (
        float(knows and len(names) > 1),
        float(size > 1) * common / len(rows),
        float(delimiter == ","),
        float(size),
    )


def _rows(start: str, dialect: Dialect, strict: bool = True) -> list[list[str]] | None:
    """The first rows; None if they cannot be parsed."""
    options = dialect.options() | {"strict": strict}
    rows: list[list[str]] = []
    try:
        for row in csv.reader(start.splitlines(keepends=True), **options):
            if any(cell.strip() for cell in row):
                rows.append(row)
            if len(rows) == _ROWS:
                break
    except csv.Error as error:
        # The last row may be cut off, which does not disprove the dialect.
        return rows if not strict or "unexpected end" in str(error) else None
    return rows


def _needs_quotes(start: str) -> bool:
    """Whether the cells of a table with tabs are quoted.

    Spreadsheets quote cells with a quotation mark or a comma, and no others. Annif's tables are not
    quoted, but their texts may start with a quotation mark.
    """
    if '\t"' not in start and not start.startswith('"') and '\n"' not in start:
        return False
    rows = _rows(start, Dialect("\t"))
    if rows is None or len(set(map(len, rows))) != 1:
        return False
    plain = [line.removesuffix("\r").split("\t") for line in start.split("\n") if line.strip()]
    if len(set(map(len, plain))) != 1:
        return True
    cells = [cell for row in plain for cell in row]
    return all(_is_wrapped(cell) == bool(set(cell) & set('",')) for cell in cells)


def _is_wrapped(cell: str) -> bool:
    return len(cell) > 1 and cell.startswith('"') and cell.endswith('"')
