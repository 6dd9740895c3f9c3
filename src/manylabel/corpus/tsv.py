"""Tab-separated tables, one document per line; `columns` detects the roles of columns.

Cells count as quoted only if the first rows look like the output of a spreadsheet; see `dialects`.
Annif's files of short texts are not quoted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from manylabel.corpus import csv
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.dialects import Dialect, guess_dialect
from manylabel.corpus.files import Source, atomic_write
from manylabel.corpus.tables import rows_of
from manylabel.exceptions import CorpusError

__all__ = ["rows", "write"]


def rows(lines: Any, dialect: Dialect) -> Iterator[tuple[int, Any]]:
    """The rows of a table, with the number of the line where each starts."""
    if dialect.quoted:
        yield from csv.rows(lines, dialect)
        return
    while True:
        try:
            line = next(lines, None)
        except CorpusError as error:
            yield lines.number, error
            continue
        if line is None:
            return
        bare = line.rstrip("\n").removesuffix("\r")
        if bare:
            yield lines.number, bare.split("\t")


def write(corpus: Corpus, path: str | os.PathLike[str], separator: str = ";") -> None:
    """Write a header and one line per document."""
    rows = rows_of(corpus, path, separator)
    start = ""
    with atomic_write(path) as file:
        for number, row in enumerate(rows):
            for cell in row:
                if re.search("[\t\r\n]", cell):
                    raise CorpusError(
                        f"document {corpus.ids[number - 1]!r} contains a tab or a line break, "
                        "which TSV does not allow; write CSV or JSON Lines instead.",
                        path=os.fspath(path),
                    )
            line = "\t".join(row) + "\n"
            start += line if len(start) < Source.peek_size else ""
            file.write(line.encode())
        if guess_dialect(start, "tsv").quoted:
            raise CorpusError(
                "texts start and end with quotation marks, which a reader would remove; write CSV "
                "or JSON Lines instead.",
                path=os.fspath(path),
            )
