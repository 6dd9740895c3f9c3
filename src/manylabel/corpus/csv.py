"""CSV tables with commas or other delimiters; `columns` detects the roles of columns.

The delimiter (comma, semicolon, tab or bar) and the quoting are detected in the first rows; see
`dialects`.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from typing import Any

from manylabel.corpus.corpus import Corpus
from manylabel.corpus.dialects import Dialect
from manylabel.corpus.files import atomic_write
from manylabel.corpus.tables import rows_of
from manylabel.exceptions import CorpusError

__all__ = ["rows", "write"]

_MAX_CELL = 2**31 - 1


def rows(lines: Any, dialect: Dialect) -> Iterator[tuple[int, Any]]:
    """The rows of a table, with the number of the line where each starts."""
    # Python's default limit, 128 KB per cell, is too low for a law or a book.
    if csv.field_size_limit() < _MAX_CELL:
        csv.field_size_limit(_MAX_CELL)
    for _ in range(dialect.n_above):
        next(lines, None)
    reader = csv.reader(lines, **dialect.options())
    while True:
        first = lines.number + 1
        try:
            # After an error, the reader continues with the next line.
            fields = next(reader, None)
        except csv.Error as error:
            wrong = f"expected a CSV row ({error})."
            yield first, CorpusError(wrong, lines.source.name, first)
            continue
        except CorpusError as error:
            yield first, error
            continue
        if fields is None:
            return
        if fields:
            yield first, fields


def write(corpus: Corpus, path: str | os.PathLike[str], separator: str = ";") -> None:
    """Write a header and one row per document."""
    rows = rows_of(corpus, path, separator)
    line = io.StringIO(newline="")
    writer = csv.writer(line, lineterminator="\n", quoting=csv.QUOTE_ALL)
    with atomic_write(path) as file:
        for row in rows:
            writer.writerow(row)
            file.write(line.getvalue().encode())
            line.seek(0)
            line.truncate()
