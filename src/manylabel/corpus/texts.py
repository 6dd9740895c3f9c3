"""Read texts in any format: turn rows into documents.

A format of texts is a module with ``rows(source, ...)``, which yields pairs of a line number and a
row: a list of cells, a record (a dictionary), or an error instead. The reader detects the columns
and turns rows into documents: all of them, or the valid ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any

from manylabel.corpus.columns import SAMPLE, Columns
from manylabel.corpus.detection import DOCUMENT_FORMATS, TEXT_FORMATS, detect
from manylabel.corpus.dialects import Dialect, guess_dialect
from manylabel.corpus.documents import Document
from manylabel.corpus.encodings import Lines, check_encoding, decoded_start, recoded
from manylabel.corpus.files import Source, bare_suffix, open_source
from manylabel.corpus.row_reader import RowReader
from manylabel.exceptions import CorpusError, InputError, ParameterError

__all__ = ["TextReader", "dialect_of", "rows_of_lines"]

#: Formats with rows of cells; the others have records.
_TABLES = ("csv", "tsv", "xlsx", "ods", "parquet")
#: Those of them with a row in a line, or a few.
DELIMITED = ("csv", "tsv")
#: Formats in which a line that is not UTF-8 may be Windows-1252, as spreadsheets write it.
MAY_BE_OLD = (*DELIMITED, "lines")
#: A line number with a row or an error.
Item = tuple[int, Any]
Tell = Callable[[str], None]


class TextReader:
    r"""Reads the documents of a file or folder of texts one at a time, in constant memory.

    Parameters
    ----------
    path : path
        A file, plain or compressed, a folder, or ``-`` for standard input.
    format : str, optional
        Detected by default.
    columns : Columns, optional
        The columns that the user has named; the others are detected.
    delimiter : str, optional
        Separator of the cells of CSV; detected by default.
    encoding : str, optional
        By default UTF-8, or UTF-16 or Windows-1252 if detected.
    on_bad : callable, optional
        Called with the error of each row that cannot be read, and the number of such rows so far;
        the row is then skipped. By default the error is raised.
    tell : callable, optional
        Called with sentences on the detected columns and on those that are ignored.

    Attributes
    ----------
    done, total : int, int or None
        Bytes read so far, and their total; None if unknown.
    n_bad : int
        Number of rows that were skipped.
    row : int
        Position of the last document, from 0, counting skipped rows.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pets.csv")
    ...     _ = path.write_text("Year;Abstract;Keywords\n1999;A cat, a dog;cats, dogs\n")
    ...     for document in TextReader(path, tell=print):
    ...         print(document.text, document.labels)
    A cat, a dog ['cats', 'dogs']
    Detected: text from 'Abstract', labels from 'Keywords', split at ','.
    Ignored columns: Year.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        columns: Columns | None = None,
        *,
        delimiter: str | None = None,
        encoding: str | None = None,
        on_bad: Callable[[CorpusError, int], None] | None = None,
        tell: Tell | None = None,
    ) -> None:
        check_encoding(encoding)
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
            raise ParameterError(f"`delimiter` must be one character; got {delimiter!r}.")
        self._delimiter = delimiter
        self.path, self.format, self.encoding = os.fspath(path), format, encoding
        self.columns = columns or Columns()
        self._on_bad, self._tell = on_bad, tell or (lambda sentence: None)
        self.done = self.n_bad = 0
        self.row = -1
        self.total: int | None = None

    def __iter__(self) -> Iterator[Document]:
        if self.path != "-" and Path(self.path).is_dir():
            yield from self._folder()
            return
        with open_source(self.path) as source:
            yield from self.documents(source)

    def documents(self, source: Source) -> Iterator[Document]:
        """The documents of an open file."""
        kind = self.format or detect(source)
        if kind == "folder":
            raise source.error("expected a folder, found a file.")
        if kind not in TEXT_FORMATS:
            raise source.error(f"expected texts, found the format {kind}, which stores features.")
        self.total = _plain_size(source)
        items = self._items(source, kind)
        reader = RowReader(self.columns, kind in _TABLES, source.name)
        first = list(islice(items, SAMPLE))
        reader.look_at([row for _, row in first])
        for line, row in chain(first, items):
            try:
                document = reader.document(line, row)
            except CorpusError as error:
                if self._on_bad is None:
                    raise
                self.row += 1
                self.n_bad += 1
                self._on_bad(error, self.n_bad)
                continue
            if document is not None:
                self.row += 1
                yield document
        for sentence in reader.notes():
            self._tell(sentence)

    def _items(self, source: Source, kind: str) -> Iterator[Item]:
        """The rows of a file."""
        if kind in DOCUMENT_FORMATS:
            from manylabel.corpus.document_files import parse_document_file

            return iter([(1, parse_document_file(kind, source.stream.read(), source.name))])
        if kind in _TABLES and kind not in DELIMITED:
            return import_module(f"manylabel.corpus.{kind}").rows(source, self._tell)
        text = recoded(source, self.encoding, self._tell)
        lines = _Counting(text, self, or_old=kind in MAY_BE_OLD and self.encoding is None)
        dialect = dialect_of(text, kind, self.columns) if kind in DELIMITED else None
        if dialect is not None and self._delimiter is not None:
            dialect = Dialect(self._delimiter, quoted=kind == "csv")
        return rows_of_lines(lines, kind, dialect)

    def _folder(self) -> Iterator[Document]:
        if self.format not in (None, "folder"):
            raise CorpusError(
                f"expected a file in the format {self.format}, found a folder.", self.path
            )
        from manylabel.corpus import folder

        for given in self.columns.named:
            raise InputError(f"`{given[0]}` needs a table or records, but {self.path} is a folder.")
        for document in folder.iter_documents(self.path, self._on_bad_file):
            self.row += 1
            yield document

    @property
    def _on_bad_file(self) -> Callable[[CorpusError], None] | None:
        """The function to call if a file of a folder cannot be read."""
        if self._on_bad is None:
            return None

        def skip(error: CorpusError) -> None:
            assert self._on_bad is not None
            self.n_bad += 1
            self._on_bad(error, self.n_bad)

        return skip


def rows_of_lines(lines: Any, kind: str, dialect: Dialect | None) -> Iterator[Item]:
    """The rows in lines of text."""
    module = import_module(f"manylabel.corpus.{kind}")
    return module.rows(lines) if dialect is None else module.rows(lines, dialect)


def dialect_of(source: Source, kind: str, columns: Columns) -> Dialect:
    """Detect the dialect of the table in a file."""
    wanted = tuple(name for _, name in columns.named)
    return guess_dialect(decoded_start(source, or_old=True), kind, wanted)


class _Counting:
    """The lines of a source; updates the reader's progress."""

    def __init__(self, source: Source, reader: TextReader, or_old: bool) -> None:
        self.source, self._reader = source, reader
        self._lines = Lines(source, or_old, reader._tell)

    @property
    def number(self) -> int:
        """The number of the last line."""
        return self._lines.number

    def __iter__(self) -> _Counting:
        return self

    def __next__(self) -> str:
        try:
            return next(self._lines)
        finally:
            self._reader.done = self._lines.n_bytes


def _plain_size(source: Source) -> int | None:
    """The size of a file in bytes; None if it is compressed."""
    path = Path(source.name)
    if source.name == "-" or not path.is_file() or bare_suffix(path) != path.suffix.lower():
        return None
    return os.path.getsize(path)
