"""LibreOffice spreadsheets: the first sheet whose first row names a text column, or the first."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from typing import Any

from manylabel.corpus.dialects import is_header
from manylabel.corpus.document_files import require
from manylabel.corpus.file_limits import check_archive
from manylabel.corpus.files import Source
from manylabel.corpus.xlsx import padded

__all__ = ["rows"]

#: Maximum repetitions: a sheet may end with an empty cell or row that is repeated a million times.
_REPEATED = 1000


def rows(source: Source, tell: Callable[[str], None]) -> Iterator[tuple[int, Any]]:
    """The rows of a sheet, with their numbers."""
    opendocument = require("odf.opendocument", "odfpy", "Reading .ods files")
    table = require("odf.table", "odfpy", "Reading .ods files")
    content = source.stream.read()
    check_archive(content, source.name)
    try:
        book = _loaded(opendocument, content)
        sheets = book.getElementsByType(table.Table)
        rows_of = {str(sheet.getAttribute("name")): list(_rows(sheet, table)) for sheet in sheets}
        if not rows_of:
            raise ValueError("there is no sheet")
        chosen = next(
            (name for name, rows in rows_of.items() if rows and is_header(list(map(str, rows[0])))),
            next(iter(rows_of)),
        )
    except Exception as error:  # the library raises many kinds of errors
        raise source.error(f"the file cannot be read as .ods ({error}).") from None
    others = [name for name in rows_of if name != chosen]
    if others:
        tell(f"Read the sheet {chosen!r}; ignored: {', '.join(map(repr, others))}.")
    yield from padded(enumerate(rows_of[chosen], start=1))


def _loaded(opendocument: Any, content: bytes) -> Any:
    """Parse a file; the library prints damaged XML, and keeps what comes before the damage."""
    with redirect_stdout(io.StringIO()) as printed:
        book = opendocument.load(io.BytesIO(content))
    if "SAX FAILED TO PARSE" in printed.getvalue():
        raise ValueError("its XML is damaged")
    return book


def _rows(sheet: Any, table: Any) -> Iterator[list[Any]]:
    for row in sheet.getElementsByType(table.TableRow):
        cells: list[Any] = []
        for cell in row.getElementsByType(table.TableCell):
            repeated = int(cell.getAttribute("numbercolumnsrepeated") or 1)
            cells += [_value(cell)] * min(repeated, _REPEATED)
        n_rows = int(row.getAttribute("numberrowsrepeated") or 1)
        yield from [cells] * (min(n_rows, _REPEATED) if any(cells) else 1)


def _value(cell: Any) -> str | None:
    """The displayed text of a cell, one line per paragraph; a truth value is 0 or 1."""
    from odf import teletype

    if cell.getAttribute("valuetype") == "boolean":
        return "1" if cell.getAttribute("booleanvalue") == "true" else "0"
    shown = "\n".join(teletype.extractText(part) for part in cell.childNodes)
    return shown or None
