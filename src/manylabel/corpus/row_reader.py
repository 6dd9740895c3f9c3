"""Turn the rows of a table, or records, into documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from manylabel.corpus.cells import guess_separator
from manylabel.corpus.columns import (
    Columns,
    Layout,
    labels_in,
    role_of,
    text_in,
)
from manylabel.corpus.dialects import is_header
from manylabel.corpus.documents import Document
from manylabel.exceptions import CorpusError, InputError
from manylabel.wording import counted

__all__ = ["RowReader"]

#: The header is searched for in this many rows.
_MAX_HEADER_ROW = 5


class RowReader:
    """Turns rows into documents; detects the columns from the first rows.

    Parameters
    ----------
    columns : Columns
        The columns that the user has named.
    is_table : bool
        Whether rows are lists of cells, where the first may be a header; otherwise records.
    path : str
        For errors.
    """

    def __init__(self, columns: Columns, is_table: bool, path: str) -> None:
        self._columns, self._is_table, self._path = columns, is_table, path
        self._header: list[str] | None = None
        self._n_above = 0  # rows above the header
        self._n_skipped = 0  # rows at the start that are not documents
        self._table: Layout | None = None
        self._by_fields: dict[tuple[str, ...], Layout] = {}
        self._separator: str | None = None
        self._one_hot: list[str] | None = None
        self._ignored: dict[str, None] = {}
        self._row = 0
        self._labelled = False

    def look_at(self, sample: Sequence[Any]) -> None:
        """Detect the columns from the first rows."""
        rows = [row for row in sample if not isinstance(row, CorpusError)]
        if not self._is_table:
            self._look_at_records([row for row in rows if isinstance(row, dict)])
            return
        rows = [row for row in rows if any(_is_something(cell) for cell in row)]
        self._table = Layout((0,), (1,), separator=self._columns.separator or ";")
        if not rows:
            return
        above = self._n_above = _rows_above(rows, self._columns)
        names = _names_in(rows[above])
        if self._columns.named or is_header(names):
            self._header, self._n_skipped = names, above + 1
            self._table = self._layout(dict(enumerate(names)), rows[above + 1 :])
            if self._table is None:
                raise self._error(
                    f"no text column found among {_quoted(names)}; name it with `text_column`.",
                    None,
                )
            self._separator = self._table.separator
            self._one_hot = [self._table.names[key] for key in self._table.one_hot]
            return
        cells = [row[1] for row in rows if len(row) == 2]
        self._separator = self._columns.separator or guess_separator(cells)
        self._table = Layout((0,), (1,), separator=self._separator)

    def _look_at_records(self, records: list[dict[str, Any]]) -> None:
        names = list(dict.fromkeys(name for record in records for name in record))
        layout = None
        if records:
            layout = self._layout({name: name for name in names}, records, check=False)
        self._separator = self._columns.separator or (";" if layout is None else layout.separator)
        self._one_hot = [] if layout is None else list(layout.one_hot)

    def _layout(
        self, names: dict[Any, str], sample: Sequence[Any], check: bool = True
    ) -> Layout | None:
        try:
            return Layout.of(names, self._columns, sample)
        except InputError as error:
            if check:
                raise self._error(str(error), None) from None
            return None

    def document(self, line: int, row: Any) -> Document | None:
        """The document in a row; None for the header and for empty rows."""
        if isinstance(row, Document):
            return row
        try:
            if isinstance(row, CorpusError):
                raise row
            document = self._of_cells(line, row) if self._is_table else self._of_record(line, row)
        except InputError as error:
            self._row += 1
            raise self._error(str(error), line) from None
        except CorpusError:
            self._row += 1
            raise
        if document is not None:
            self._row += 1
            self._labelled |= bool(document.labels)
        return document

    def _of_cells(self, line: int, row: list[Any]) -> Document | None:
        # Spreadsheets write empty rows below a table. In a table of text and labels both may be
        # empty, but with three or more columns an empty row is not a document.
        width = 0 if self._header is None else len(self._header)
        if width > 2 and not any(_is_something(cell) for cell in row):
            return None
        if self._n_skipped:
            self._n_skipped -= any(_is_something(cell) for cell in row)
            return None
        layout = self._table
        assert layout is not None
        expected = 2 if self._header is None else len(self._header)
        cells = row
        if len(row) > expected and not any(map(_is_something, row[expected:])):
            cells = row[:expected]
        if self._header is None and len(cells) > 2 and _is_identifier(cells[1]):
            cells = [cells[0], " ".join(map(str, cells[1:]))]
        if len(cells) != expected:
            raise self._error(self._wrong_size(expected, cells), line)
        return self._made(line, cells, layout)

    def _wrong_size(self, expected: int, cells: list[Any]) -> str:
        wrong = f"expected {counted(expected, 'column')}, found {len(cells)}"
        if self._header is not None or self._row > 0 or len(cells) == 1:
            return f"{wrong}."
        return (
            f"{wrong}: {_quoted(cells)}. If this is a header, name the columns with `text_column` "
            "and `label_column`."
        )

    def _of_record(self, line: int, record: dict[str, Any]) -> Document:
        fields = tuple(record)
        layout = self._by_fields.get(fields)
        if layout is None:
            said = self._columns
            _check_nesting(record, said)
            known = {name: name for name in dict.fromkeys((*fields, *_names(said)))}
            layout = Layout.of(known, said, [record], self._one_hot)
            if layout is None or not any(key in record for key in layout.text):
                wanted = repr(said.text[0]) if said.text else "'text'"
                present = _quoted(fields) if fields else "none"
                raise InputError(
                    f"expected a field {wanted}, found {present}; "
                    "name the text field with `text_column`."
                )
            separator = self._separator or ";"
            layout = Layout(
                layout.text,
                layout.labels,
                layout.one_hot,
                layout.title,
                layout.id,
                separator,
                layout.names,
            )
            self._by_fields[fields] = layout
            self._ignored |= dict.fromkeys(layout.ignored)
        for role, key in (("id", layout.id), ("title", layout.title)):
            if key is not None:
                _check_string(role, record.get(key), may_be_number=True)
        for key in layout.text:
            _check_string("text", record.get(key, ""))
        for key in layout.labels:
            _check_labels(record.get(key))
        return self._made(line, record, layout)

    def _made(self, line: int, row: Any, layout: Layout) -> Document:
        def cell(key: Any) -> str | None:
            value = None if key is None else row.get(key) if isinstance(row, dict) else row[key]
            return None if value is None else str(value)

        return Document(
            id=cell(layout.id),
            text=text_in(row, layout),
            labels=labels_in(row, layout),
            title=cell(layout.title),
            line=line,
        )

    def notes(self) -> Iterator[str]:
        """Sentences on the detected columns, and on those that are ignored."""
        layouts = [self._table] if self._table is not None else list(self._by_fields.values())
        if layouts:
            described = dict.fromkeys(filter(None, (layout.described() for layout in layouts)))
            separator = layouts[0].separator
            is_usual = separator == ";" or self._columns.separator is not None
            split = "" if is_usual or not self._labelled else f"split at {separator!r}"
            detected = ", ".join(filter(None, [next(iter(described), ""), split]))
            if detected:
                yield f"Detected: {detected}."
        if self._n_above:
            rows = "The row above is" if self._n_above == 1 else "The rows above are"
            yield f"The header is row {self._n_above + 1}. {rows} ignored."
        if self._table is not None:
            self._ignored |= dict.fromkeys(self._table.ignored)
        if self._ignored:
            names = list(self._ignored)
            more = f" and {len(names) - 20} more" if len(names) > 20 else ""
            yield f"Ignored columns: {', '.join(names[:20])}{more}."

    def to_json(self) -> str:
        """What was detected, for readers of other chunks of the file."""
        said = asdict(self._columns)
        return json.dumps([said, self._header, self._separator, self._one_hot, self._n_above])

    @classmethod
    def from_json(cls, found: str, is_table: bool, path: str, has_header: bool) -> RowReader:
        """Make a reader with what another one has detected.

        Parameters
        ----------
        found : str
            As returned by `to_json`.
        is_table : bool
        path : str
        has_header : bool
            Whether its chunk of the file starts with the header.
        """
        said, header, separator, one_hot, n_above = json.loads(found)
        columns = Columns(tuple(said["text"]), tuple(said["labels"]), said["title"], said["id"])
        reader = cls(replace(columns, separator=separator), is_table, path)
        # A row of another piece is not taken for a header.
        reader._row = 0 if has_header else 1
        reader._separator, reader._one_hot = separator, one_hot
        if is_table and header is not None:
            reader._header, reader._n_skipped = header, n_above + 1 if has_header else 0
            names = dict(enumerate(header))
            reader._table = Layout.of(names, reader._columns, (), one_hot or None)
        elif is_table:
            reader._table = Layout((0,), (1,), separator=separator)
        return reader

    def _error(self, message: str, line: int | None) -> CorpusError:
        return CorpusError(message, self._path, line)


def _names_in(row: Sequence[Any]) -> list[str]:
    return [("" if cell is None else str(cell)).strip() for cell in row]


def _rows_above(rows: Sequence[Sequence[Any]], said: Columns) -> int:
    """The number of rows above the header, such as a title or group headings.

    A later row is the header only if it has more known names than the first, so that a document is
    not mistaken for it.
    """
    if said.named:
        wanted = set(_names(said))
        positions = (
            i for i, row in enumerate(rows[:_MAX_HEADER_ROW]) if wanted <= set(_names_in(row))
        )
        return next(positions, 0)
    n_known = [
        len({role_of(name) for name in _names_in(row)} - {None}) for row in rows[:_MAX_HEADER_ROW]
    ]
    best = n_known.index(max(n_known))
    return best if is_header(_names_in(rows[best])) else 0


def _check_nesting(record: dict[str, Any], said: Columns) -> None:
    """Refuse an object with a list of documents in one of its fields."""
    if said.named or len(record) > 3:
        return
    for name, value in record.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            raise InputError(
                f"expected a document, found a list of {counted(len(value), 'object')} in "
                f"{name!r}; give only this list, as a JSON array."
            )


def _names(columns: Columns) -> list[str]:
    return [name for _, name in columns.named]


def _is_something(cell: Any) -> bool:
    return cell is not None and (not isinstance(cell, str) or bool(cell.strip()))


def _is_identifier(cell: Any) -> bool:
    return isinstance(cell, str) and cell.lstrip().startswith("<")


def _check_string(role: str, value: Any, may_be_number: bool = False) -> None:
    if value is None and may_be_number:
        return
    if isinstance(value, int) and not isinstance(value, bool) and may_be_number:
        return
    if not isinstance(value, str):
        raise InputError(f"expected a string as {role!r}, found {_shown(value)}.")


def _check_labels(value: Any) -> None:
    if value is None or isinstance(value, str | list) or value != value:
        return
    if isinstance(value, int) and not isinstance(value, bool):
        return
    raise InputError(f"expected a list as 'labels', found {_shown(value)}.")


def _shown(value: Any) -> str:
    from manylabel.corpus.checks import shorten

    return shorten(json.dumps(value, default=str))


def _quoted(names: Iterable[Any]) -> str:
    from manylabel.corpus.checks import shorten

    shown = [shorten(str(name), 24) for name in names]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:12], "..."])
