"""Tables with commas, quoted where needed; see `manylabel.corpus.tables` for the columns."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator

from manylabel.corpus.corpus import Corpus
from manylabel.corpus.documents import Document
from manylabel.corpus.files import Source, atomic_write
from manylabel.corpus.tables import read_rows, rows_of

__all__ = ["iter_documents", "write"]

_LONGEST = 2**31 - 1


def iter_documents(source: Source, separator: str = ";") -> Iterator[Document]:
    """The documents of a file, one at a time."""
    return read_rows(source, _rows(source), separator)


def _rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    # The module's own limit, 128 KB a cell, is below the length of a law or a book.
    if csv.field_size_limit() < _LONGEST:
        csv.field_size_limit(_LONGEST)
    reader = csv.reader((line for _, line in source.raw_lines()), strict=True)
    while True:
        first = reader.line_num + 1
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise source.error(f"expected a row of CSV ({error}).", first) from None
        if fields is None:
            return
        if fields:
            yield first, fields


def write(corpus: Corpus, path: str | os.PathLike[str], separator: str = ";") -> None:
    """Write one document a row, under a row that names the columns."""
    rows = rows_of(corpus, path, separator)
    line = io.StringIO(newline="")
    writer = csv.writer(line, lineterminator="\n", quoting=csv.QUOTE_ALL)
    with atomic_write(path) as file:
        for row in rows:
            writer.writerow(row)
            file.write(line.getvalue().encode())
            line.seek(0)
            line.truncate()
