"""Tables with tabs, one document a line; see `manylabel.corpus.tables` for the columns.

There is no quoting. Annif's files of short texts are of this kind. Blank lines are skipped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from manylabel.corpus.corpus import Corpus
from manylabel.corpus.documents import Document
from manylabel.corpus.files import Source, atomic_write
from manylabel.corpus.tables import header_columns, read_rows, rows_of
from manylabel.exceptions import CorpusError

__all__ = ["iter_documents", "write"]


def iter_documents(source: Source, separator: str = ";") -> Iterator[Document]:
    """The documents of a file, one at a time."""
    return read_rows(source, _rows(source), separator)


def _rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    has_header = None
    for number, line in source.lines():
        if not line:
            continue
        fields = line.split("\t")
        if has_header is None:
            has_header = header_columns(fields) is not None
        if not has_header and len(fields) > 2 and fields[1].lstrip().startswith("<"):
            fields = [fields[0], " ".join(fields[1:])]
        yield number, fields


def write(corpus: Corpus, path: str | os.PathLike[str], separator: str = ";") -> None:
    """Write one document a line, under a line that names the columns."""
    rows = rows_of(corpus, path, separator)
    with atomic_write(path) as file:
        for number, row in enumerate(rows):
            for cell in row:
                if re.search("[\t\r\n]", cell):
                    raise CorpusError(
                        f"document {corpus.ids[number - 1]!r} holds a tab or a line break, which "
                        "TSV cannot carry; write CSV or JSON Lines instead.",
                        path=os.fspath(path),
                    )
            file.write("\t".join(row).encode() + b"\n")
