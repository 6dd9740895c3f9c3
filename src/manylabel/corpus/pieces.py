"""Files of texts with one row after the other, read in pieces that need nothing of each other."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manylabel.corpus.columns import SAMPLE, Columns
from manylabel.corpus.detection import detect
from manylabel.corpus.dialects import Dialect
from manylabel.corpus.documents import Document
from manylabel.corpus.encodings import Lines, recoded
from manylabel.corpus.files import Source, is_compressed, open_source
from manylabel.corpus.row_reader import RowReader
from manylabel.corpus.texts import DELIMITED, MAY_BE_OLD, dialect_of, rows_of_lines
from manylabel.exceptions import CorpusError

__all__ = ["LINES", "Form", "Piece", "Range", "form_of", "pieces"]

#: Formats that can be read in pieces.
LINES = ("jsonl", "tsv", "csv")


class Range(NamedTuple):
    """The rows whose lines start in a range of a file's bytes.

    Parameters
    ----------
    number : int
        Of the piece, from 0.
    start, stop : int
    """

    number: int
    start: int
    stop: int


class Piece(NamedTuple):
    """Some rows of a file.

    Parameters
    ----------
    number : int
        Of the piece, from 0.
    first_line : int
        The number of the first line, from 1.
    encoded : ndarray of uint8
        The lines in UTF-8.
    """

    number: int
    first_line: int
    encoded: NDArray[np.uint8]


@dataclass(frozen=True)
class Form:
    """What readers of all pieces of a file must know.

    Parameters
    ----------
    path : str
    kind : str
        One of `LINES`.
    found : str
        The detected columns; see `RowReader.to_json`.
    has_ranges : bool
        Whether a range of bytes can be read without the bytes before.
    dialect : Dialect, optional
        Of a table.
    encoding : str, optional
        The encoding that the user has named.
    changed : int
        The time when the file was changed last.
    notes : tuple of str
        Sentences on the detected columns.
    """

    path: str
    kind: str
    found: str
    has_ranges: bool
    dialect: Dialect | None
    encoding: str | None
    changed: int
    notes: tuple[str, ...] = ()

    def to_json(self) -> str:
        """The same as a string, for a worker."""
        return json.dumps(asdict(replace(self, notes=())))

    @classmethod
    def from_json(cls, told: str) -> Form:
        """What `to_json` has written."""
        fields = json.loads(told)
        dialect = fields.pop("dialect")
        return cls(**fields, dialect=None if dialect is None else Dialect(**dialect))

    def documents(self, where: Range | Piece) -> Iterator[Document]:
        """The documents of a range or a piece."""
        lines: Any
        if isinstance(where, Range):
            self.check_unchanged()
            lines = _Between(self.path, where.start, where.stop)
        else:
            lines = _Given(self.path, where.first_line, where.encoded)
        is_first = where.number == 0
        dialect = self.dialect
        if dialect is not None and not is_first:
            dialect = replace(dialect, n_above=0)
        reader = RowReader.from_json(self.found, self.kind in DELIMITED, self.path, is_first)
        for line, row in rows_of_lines(lines, self.kind, dialect):
            try:
                document = reader.document(line, row)
            except CorpusError as error:
                if isinstance(where, Piece):
                    raise
                # Line numbers count from the start of the range.
                after = f" in line {line} after byte {where.start}"
                raise CorpusError(f"{error.message.rstrip('.')}{after}.", self.path) from None
            if document is not None:
                yield document

    def check_unchanged(self) -> None:
        """Refuse a file that is not the one that was looked at."""
        if os.stat(self.path).st_mtime_ns != self.changed:
            raise CorpusError("the file changed while it was being read; read it again.", self.path)


def form_of(
    path: str,
    format: str | None = None,
    columns: Columns | None = None,
    encoding: str | None = None,
) -> Form:
    """Look at the first rows of a file; an error if it cannot be read in pieces."""
    said = columns or Columns()
    changed = 0 if path == "-" else os.stat(path).st_mtime_ns
    with open_source(path) as source:
        kind = format or detect(source)
        if kind not in LINES or path == "-":
            raise source.error(
                "reading in chunks needs a file of JSON Lines, TSV or CSV; use `read`, or convert "
                "the file."
            )
        notes: list[str] = []
        text = recoded(source, encoding, notes.append)
        dialect = dialect_of(text, kind, said) if kind in DELIMITED else None
        lines = _Recording(Lines(text, kind in MAY_BE_OLD and encoding is None, notes.append), text)
        first = list(islice(rows_of_lines(lines, kind, dialect), SAMPLE))
        reader = RowReader(said, kind in DELIMITED, path)
        reader.look_at([row for _, row in first])
        found = reader.to_json()
        for line, row in first:
            reader.document(line, row)
        notes += reader.notes()
        is_plain = text is source and not is_compressed(path)
        return Form(
            path,
            kind,
            found,
            is_plain and (dialect is None or dialect == Dialect("\t", quoted=False)),
            dialect,
            encoding,
            changed,
            tuple(notes),
        )


def pieces(form: Form, size: int) -> Iterator[Piece]:
    """Cut a file into pieces of about ``size`` bytes, in constant memory."""
    with open_source(form.path) as source:
        text = recoded(source, form.encoding, lambda sentence: None)
        may_be_old = form.kind in MAY_BE_OLD and form.encoding is None
        lines = _Recording(Lines(text, may_be_old, lambda sentence: None), text)
        rows: Iterator[Any] = lines
        if form.dialect is not None and form.dialect.quoted:
            # Only what has read the rows before knows whether a line is the beginning of a row.
            rows = rows_of_lines(lines, form.kind, form.dialect)
        number, first_line = 0, 1
        while True:
            for row in rows:
                if isinstance(row, tuple) and isinstance(row[1], CorpusError) and lines.is_broken:
                    raise row[1]
                if lines.size >= size:
                    break
            if not lines.taken:
                return
            encoded = "".join(lines.taken).encode()
            yield Piece(number, first_line, np.frombuffer(encoded, np.uint8))
            number, first_line = number + 1, lines.number + 1
            lines.taken, lines.size = [], 0
    form.check_unchanged()


class _Recording:
    """Lines that are kept until they are taken."""

    def __init__(self, lines: Lines, source: Source) -> None:
        self.source, self._lines = source, lines
        self.taken: list[str] = []
        self.size = 0
        #: Whether a line could not be decoded.
        self.is_broken = False

    @property
    def number(self) -> int:
        """The number of the last line."""
        return self._lines.number

    def __iter__(self) -> _Recording:
        return self

    def __next__(self) -> str:
        try:
            line = next(self._lines)
        except CorpusError:
            self.is_broken = True
            raise
        self.taken.append(line)
        self.size += len(line)
        return line


class _Given:
    """The lines of a piece."""

    def __init__(self, path: str, first_line: int, encoded: NDArray[np.uint8]) -> None:
        self._stream = io.BytesIO(encoded.tobytes())
        self.source = Source(self._stream, path)  # type: ignore[arg-type]
        self.number = first_line - 1

    def __iter__(self) -> _Given:
        return self

    def __next__(self) -> str:
        line = next(self._stream)
        self.number += 1
        return line.decode()


class _Between:
    """The lines that start in a byte range of a file."""

    def __init__(self, path: str, start: int, stop: int) -> None:
        self.number = 0
        self._file = open(path, "rb")  # noqa: SIM115 - closed when the last line is read
        self.source = Source(self._file, path)  # type: ignore[arg-type]
        self._stop = stop
        if start > 0:
            # Skip the rest of a line that starts in the previous range.
            self._file.seek(start - 1)
            self._file.readline()

    def __iter__(self) -> _Between:
        return self

    def __next__(self) -> str:
        is_first = self._file.tell() == 0
        line = self._file.readline() if self._file.tell() < self._stop else b""
        if not line:
            self._file.close()
            self._stop = 0
            raise StopIteration
        self.number += 1
        if is_first:
            line = line.removeprefix(b"\xef\xbb\xbf")
        return self.source.decode(line, self.number)
