"""Excel workbooks: the first sheet whose first row names a text column, or the first."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

from manylabel.corpus.dialects import is_header
from manylabel.corpus.document_files import require
from manylabel.corpus.file_limits import check_archive
from manylabel.corpus.files import Source

__all__ = ["rows"]


def rows(source: Source, tell: Callable[[str], None]) -> Iterator[tuple[int, Any]]:
    """The rows of a sheet, with their numbers."""
    openpyxl = require("openpyxl", "openpyxl", "Reading .xlsx files")
    content = source.stream.read()
    check_archive(content, source.name)
    try:
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheets = book.worksheets
        chosen = next((sheet for sheet in sheets if is_header(_first_row(sheet))), sheets[0])
    except Exception as error:  # the library raises many kinds of errors
        raise source.error(f"the file cannot be read as .xlsx ({error}).") from None
    others = [sheet.title for sheet in sheets if sheet is not chosen]
    if others:
        tell(f"Read the sheet {chosen.title!r}; ignored: {', '.join(map(repr, others))}.")
    try:
        yield from padded(enumerate(chosen.iter_rows(values_only=True), start=1))
    except Exception as error:  # rows are read one by one
        raise source.error(f"the file cannot be read as .xlsx ({error}).") from None


def _first_row(sheet: Any) -> list[str]:
    first = next(iter(sheet.iter_rows(values_only=True)), ())
    return ["" if cell is None else str(cell) for cell in first]


def padded(numbered: Any) -> Iterator[tuple[int, list[Any]]]:
    """Rows of cells, padded to the width of the first; integers are written without ``.0``."""
    width = 0
    for number, cells in numbered:
        row = [_plain(cell) for cell in cells]
        while row and row[-1] is None:
            row.pop()
        if not row:
            continue
        width = width or len(row)
        yield number, row + [None] * (width - len(row))


def _plain(cell: Any) -> Any:
    """A cell as text; a whole number has no ``.0``."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "1" if cell else "0"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
