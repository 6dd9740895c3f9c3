"""Documents of a file one batch after another; a bad line need not be the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from manylabel.cli.options import DocumentFormat
from manylabel.corpus import Corpus, Document, iter_documents
from manylabel.corpus.detection import detect
from manylabel.corpus.files import Source, bare_suffix, open_source
from manylabel.exceptions import CorpusError

__all__ = ["DocumentStream", "OneText"]

#: A batch ends after so many documents, or so many characters.
_DOCUMENTS, _CHARACTERS = 1_000, 4_000_000
_TABLES = (DocumentFormat.tsv, DocumentFormat.csv)
_TEXTS = (DocumentFormat.jsonl, *_TABLES, DocumentFormat.lines)


class DocumentStream:
    """Iterates over corpora of some documents each: in constant memory, if they are texts.

    A document without a name is named after its place in the file, counted from 0.

    Parameters
    ----------
    path : str
        A file, a folder, or ``-`` for standard input.
    format : DocumentFormat, optional
        By default found out; what is nothing else is lines of plain text.
    separator, zero_based, labels
        As in `manylabel.corpus.read`; ``labels`` is for features only.
    on_bad : callable, optional
        Is told of each line that cannot be read, and how many there were, itself included; the
        line is then skipped. By default it is an error, raised when everything before it has been
        given. Files of features are read as a whole, so that an error there is always the end.

    Attributes
    ----------
    done, total : int, int or None
        How much has been read and how much there is, both in the same unit; None if nobody knows.
    n_bad : int
        Lines that were skipped.
    """

    def __init__(
        self,
        path: str,
        format: DocumentFormat | None = None,
        *,
        separator: str | None = None,
        zero_based: bool | None = None,
        labels: str | None = None,
        on_bad: Callable[[CorpusError, int], None] | None = None,
    ) -> None:
        self._path, self._format, self._on_bad = path, format, on_bad
        self._options = {"separator": separator, "zero_based": zero_based, "labels": labels}
        self.done = self.n_bad = 0
        self.total: int | None = None

    def __iter__(self) -> Iterator[Corpus]:
        if self._path != "-" and Path(self._path).is_dir():
            yield from _batches(iter_documents(self._path, self._format, **self._only("separator")))
            return
        with open_source(self._path) as source:
            kind = self._format or _detected(source)
            if kind is DocumentFormat.folder:
                raise source.error("expected a folder, found a file.")
            if kind in _TEXTS:
                yield from _batches(self._texts(source, kind))
            else:
                options = self._only("labels")
                if kind is DocumentFormat.svmlight:
                    options |= self._only("zero_based")
                yield from self._slices(_module(kind).read(source, **options))

    def _only(self, name: str) -> dict[str, Any]:
        """An option, if it was given."""
        value = self._options[name]
        return {} if value is None else {name: value}

    def _slices(self, corpus: Corpus) -> Iterator[Corpus]:
        """A corpus that was read as a whole, in batches."""
        self.total = len(corpus)
        for start in range(0, len(corpus), _DOCUMENTS):
            part = corpus[start : start + _DOCUMENTS]
            yield part
            self.done += len(part)

    def _texts(self, source: Source, kind: DocumentFormat) -> Iterator[Document]:
        """The documents of a file of texts."""
        parse = _plain_lines if kind is DocumentFormat.lines else _module(kind).iter_documents
        options = self._only("separator") if kind in _TABLES else {}
        self.total = _plain_size(source)
        header: list[bytes] = []
        may_be_header = kind in _TABLES
        row = 0
        for number, lines in _records(source.stream, quoted=kind is DocumentFormat.csv):
            self.done += sum(map(len, lines))
            try:
                found = list(parse(_Piece(source.name, number, header, lines), **options))
            except CorpusError as error:
                located = CorpusError(error.message, source.name, number)
                if self._on_bad is None:
                    raise located from None
                self.n_bad += 1
                self._on_bad(located, self.n_bad)
                row, may_be_header = row + 1, False
                continue
            if may_be_header and lines[0].strip():
                may_be_header = False
                # Of the rows of a table only the one that names the columns is no document.
                header = [] if found else lines
            for document in found:
                yield document._replace(id=str(row) if document.id is None else document.id)
                row += 1


class OneText(DocumentStream):
    """A stream of one document."""

    def __init__(self, text: str) -> None:
        super().__init__("--text")
        self._text = text

    def __iter__(self) -> Iterator[Corpus]:
        yield Corpus.from_texts([self._text], [[]])


class _Piece(Source):
    """Some lines of a file, below its header, as if they were all of it."""

    def __init__(self, name: str, number: int, header: list[bytes], lines: list[bytes]) -> None:
        self.name = name
        self._number, self._header, self._lines = number, header, lines

    def raw_lines(self) -> Iterator[tuple[int, str]]:
        for line in self._header:
            yield 1, self.decode(line, 1)
        for number, line in enumerate(self._lines, self._number):
            yield number, self.decode(line, number)


def _records(stream: Iterable[bytes], quoted: bool) -> Iterator[tuple[int, list[bytes]]]:
    """Lines with the number of the first; several where quotation marks go beyond a line."""
    lines: list[bytes] = []
    first, is_open = 1, False
    for number, line in enumerate(stream, start=1):
        if not lines:
            first = number
        lines.append(line)
        is_open ^= quoted and line.count(b'"') % 2 == 1
        if not is_open:
            yield first, lines
            lines = []
    if lines:
        yield first, lines


def _module(kind: DocumentFormat) -> Any:
    """The module of a format."""
    return import_module(f"manylabel.corpus.{kind}")


def _plain_lines(source: Source) -> Iterator[Document]:
    """Each line that is not blank is a text."""
    for number, line in source.lines():
        if line.strip():
            yield Document(None, line, [], line=number)


def _batches(documents: Iterator[Document]) -> Iterator[Corpus]:
    """Corpora of some documents each; an error comes after what was there before it."""
    batch: list[Document] = []
    size = 0
    try:
        for document in documents:
            batch.append(document)
            size += len(document.text)
            if len(batch) >= _DOCUMENTS or size >= _CHARACTERS:
                yield _corpus(batch)
                batch, size = [], 0
    except CorpusError:
        if batch:
            yield _corpus(batch)
        raise
    if batch:
        yield _corpus(batch)


def _corpus(documents: list[Document]) -> Corpus:
    return Corpus.from_texts(
        [document.text for document in documents],
        [document.labels for document in documents],
        [str(document.id) for document in documents],
    )


def _detected(source: Source) -> DocumentFormat:
    """The format of a file, or lines if it is in none."""
    try:
        return DocumentFormat(detect(source))
    except CorpusError:
        return DocumentFormat.lines


def _plain_size(source: Source) -> int | None:
    """The bytes of a file that is not compressed."""
    path = Path(source.name)
    if source.name == "-" or not path.is_file() or bare_suffix(path) != path.suffix.lower():
        return None
    return os.path.getsize(path)
