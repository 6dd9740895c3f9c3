"""Read documents with the options of a command."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from manylabel.cli.groups import Group
from manylabel.cli.options import (
    DocumentsFormat,
    Encoding,
    IdColumn,
    Jobs,
    LabelColumn,
    Labels,
    MaxExpansion,
    MaxLine,
    MinDf,
    OnError,
    OnErrorChoice,
    ReadFormat,
    Separator,
    Stemming,
    StopWords,
    TextColumn,
    TitleColumn,
    ZeroBased,
)
from manylabel.cli.output import counted, note, print_error, working

if TYPE_CHECKING:
    from manylabel.cli.documents import DocumentStream
    from manylabel.corpus import Corpus
    from manylabel.corpus.chunks import TextFile
    from manylabel.corpus.columns import Columns
    from manylabel.exceptions import CorpusError

__all__ = ["Counting", "DocumentReading", "Reading", "is_model"]

#: Maximum bad lines to show; the rest are counted.
_SHOWN = 20
#: Options that limit files of any format.
_LIMITS = ("max_line", "max_expansion")


def is_model(path: str) -> bool:
    """Whether a path is a model folder."""
    return (Path(path) / "model.json").exists()


@dataclass(frozen=True)
class Reading(Group):
    """How to read a corpus: the options of every command that takes one."""

    format: ReadFormat = None
    labels: Labels = None
    text_column: TextColumn = None
    label_column: LabelColumn = None
    title_column: TitleColumn = None
    id_column: IdColumn = None
    encoding: Encoding = None
    separator: Separator = None
    zero_based: ZeroBased = None
    max_line: MaxLine = None
    max_expansion: MaxExpansion = None

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of `manylabel.corpus.read` except the path."""
        named = {field.name: getattr(self, field.name) for field in fields(Reading)}
        return {name: value for name, value in named.items() if name not in _LIMITS}

    def around(self) -> AbstractContextManager[None]:
        """Apply the limits while the command runs."""
        if self.max_line is None and self.max_expansion is None:
            return nullcontext()
        from manylabel.corpus import limits

        return limits(line=self.max_line, expansion=self.max_expansion)

    def corpus(self, path: str, quiet: bool) -> Corpus:
        """Read a corpus, with a spinner in a terminal."""
        from manylabel.corpus import read

        messages: list[str] = []
        with working(f"Reading {path} ...", quiet):
            corpus = read(path, **self.options, tell=messages.append)
        for sentence in messages:
            note(sentence, quiet)
        return corpus

    def text_file(self, path: str, quiet: bool) -> TextFile | None:
        """The file as one that a cluster reads in chunks; None if it cannot be read that way."""
        from manylabel.corpus.chunks import TextFile

        if self.labels is not None or self.zero_based is not None:
            return None
        file = TextFile.at(path, self.format, self.columns, self.encoding)
        for sentence in () if file is None else file.notes:
            note(sentence, quiet)
        return file

    @property
    def columns(self) -> Columns:
        """The columns that the user has named."""
        from manylabel.corpus.columns import Columns

        return Columns.of(
            self.text_column,
            self.label_column,
            self.title_column,
            self.id_column,
            self.separator,
        )


@dataclass(frozen=True)
class DocumentReading(Reading):
    """How to read documents that need no labels, in batches."""

    format: DocumentsFormat = None
    on_error: OnError = OnErrorChoice.stop

    def documents(self, file: str, text: str | None, quiet: bool) -> DocumentStream:
        """The documents of a command: one text, or those of a file."""
        from manylabel.cli.documents import DocumentStream, OneText

        if text is not None:
            if file != "-":
                raise typer.BadParameter("give either FILE or --text, not both.")
            if not text.strip():
                raise typer.BadParameter("--text is empty; give a text.")
            return OneText(text)
        if file == "-" and sys.stdin.isatty():
            note("Reading standard input, one text per line; press Ctrl-D to finish.", quiet=False)
        return DocumentStream(
            file,
            self.format,
            columns=self.columns,
            encoding=self.encoding,
            labels=self.labels,
            zero_based=self.zero_based,
            on_bad=None if self.on_error is OnErrorChoice.stop else _report_bad_line,
            tell=lambda sentence: note(sentence, quiet),
        )


@dataclass(frozen=True)
class Counting:
    """How to count words, for commands that need features."""

    stop_words: StopWords = None
    stemming: Stemming = None
    min_df: MinDf = 1
    jobs: Jobs = -1

    @property
    def words(self) -> dict[str, Any]:
        """The arguments of `manylabel.text.CountVectorizer` except threads."""
        return {"stop_words": self.stop_words, "stemming": self.stemming, "min_df": self.min_df}

    def counted(self, corpus: Corpus, quiet: bool) -> Corpus:
        """Count the words of a corpus; return a corpus with features unchanged."""
        if corpus.X is not None:
            return corpus
        from manylabel.text import CountVectorizer

        note(f"Counting the words of {counted(len(corpus), 'text')} ...", quiet)
        vectorizer = CountVectorizer(
            **self.words, n_jobs=self.jobs, verbose=not quiet and sys.stderr.isatty()
        )
        return corpus.vectorized(vectorizer)


def _report_bad_line(error: CorpusError, number: int) -> None:
    if number <= _SHOWN:
        print_error(f"{error} Skipped.")
    elif number == _SHOWN + 1:
        print_error("more lines cannot be read; they are skipped and counted at the end.")
