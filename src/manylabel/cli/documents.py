"""Read documents in batches; lines that cannot be read may be skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from manylabel.cli.options import DocumentFormat
from manylabel.corpus import Corpus, Document
from manylabel.corpus.columns import Columns
from manylabel.corpus.detection import TEXT_FORMATS, detect
from manylabel.corpus.files import open_source
from manylabel.corpus.texts import TextReader
from manylabel.exceptions import CorpusError

__all__ = ["DocumentStream", "OneText"]

#: Maximum documents and characters per batch.
_DOCUMENTS, _CHARACTERS = 1_000, 4_000_000


class DocumentStream:
    """Iterates over batches of documents; texts are read in constant memory.

    The id of a document without one is its position in the file, counted from 0.

    Parameters
    ----------
    path : str
        A file, a folder, or ``-`` for standard input.
    format : DocumentFormat, optional
        By default detected; an unknown format is read as plain text, one text per line.
    columns : Columns, optional
        The columns of texts, labels and ids.
    encoding, zero_based, labels, tell
        As in `manylabel.corpus.read`; ``labels`` is for features only.
    on_bad : callable, optional
        Called with the error of each line that cannot be read, and the number of such lines so
        far; the line is then skipped. By default the error is raised after all documents before
        it. Files of features are read as a whole, so an error there always ends the reading.

    Attributes
    ----------
    done, total : int, int or None
        How much has been read, and how much there is, in the same unit; None if unknown.
    n_bad : int
        The number of skipped lines.
    """

    def __init__(
        self,
        path: str,
        format: DocumentFormat | None = None,
        *,
        columns: Columns | None = None,
        encoding: str | None = None,
        zero_based: bool | None = None,
        labels: str | None = None,
        on_bad: Callable[[CorpusError, int], None] | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._path, self._format = path, format
        self._options = {"zero_based": zero_based, "labels": labels}
        self._texts = TextReader(
            path,
            None if format is None else str(format),
            columns,
            encoding=encoding,
            on_bad=on_bad,
            tell=tell,
        )
        self._done = 0
        self._total: int | None = None

    @property
    def done(self) -> int:
        """How much has been read."""
        return self._done or self._texts.done

    @property
    def total(self) -> int | None:
        """How much there is, in the unit of ``done``; None if unknown."""
        return self._texts.total if self._total is None else self._total

    @property
    def n_bad(self) -> int:
        """The number of skipped lines."""
        return self._texts.n_bad

    def __iter__(self) -> Iterator[Corpus]:
        if self._path != "-" and Path(self._path).is_dir():
            yield from _batches(self._texts, iter(self._texts))
            return
        with open_source(self._path) as source:
            kind = self._format or DocumentFormat(detect(source, otherwise="lines"))
            if kind in TEXT_FORMATS:
                self._texts.format = str(kind)
                yield from _batches(self._texts, self._texts.documents(source))
            else:
                options = self._only("labels")
                if kind is DocumentFormat.svmlight:
                    options |= self._only("zero_based")
                yield from self._slices(_module(kind).read(source, **options))

    def _only(self, name: str) -> dict[str, Any]:
        """An option as a keyword argument, if it was given."""
        value = self._options[name]
        return {} if value is None else {name: value}

    def _slices(self, corpus: Corpus) -> Iterator[Corpus]:
        """Split a corpus that was read as a whole into batches."""
        self._total = len(corpus)
        for start in range(0, len(corpus), _DOCUMENTS):
            batch = corpus[start : start + _DOCUMENTS]
            yield batch
            self._done += len(batch)


class OneText(DocumentStream):
    """A stream of one document."""

    def __init__(self, text: str) -> None:
        super().__init__("--text")
        self._text = text

    def __iter__(self) -> Iterator[Corpus]:
        yield Corpus.from_texts([self._text], [[]])


def _module(kind: DocumentFormat) -> Any:
    """The module that reads a format."""
    return import_module(f"manylabel.corpus.{kind}")


def _batches(reader: TextReader, documents: Iterator[Document]) -> Iterator[Corpus]:
    """Collect documents into batches; an error is raised after the documents before it."""
    batch: list[Document] = []
    size = 0
    try:
        for document in documents:
            name = str(reader.row) if document.id is None else document.id
            batch.append(document._replace(id=name))
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
    titles = [document.title for document in documents]
    return Corpus.from_texts(
        [document.text for document in documents],
        [document.labels for document in documents],
        [str(document.id) for document in documents],
        titles=[title or "" for title in titles] if any(titles) else None,
    )
