"""Documents as the options of a command describe them."""

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
from manylabel.cli.output import complain, counted, note, working

if TYPE_CHECKING:
    from manylabel.cli.documents import DocumentStream
    from manylabel.corpus import Corpus
    from manylabel.exceptions import CorpusError

__all__ = ["Counting", "DocumentReading", "Reading", "is_model"]

#: The number of bad lines that are shown; the rest are counted.
_SHOWN = 20
#: Options about files of any format.
_LIMITS = ("max_line", "max_expansion")


def is_model(path: str) -> bool:
    """Whether a path is the folder of a model."""
    return (Path(path) / "model.json").exists()


@dataclass(frozen=True)
class Reading(Group):
    """How a corpus is read: the options of every command that takes one."""

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
        """The arguments of `manylabel.corpus.read` besides the path."""
        named = {field.name: getattr(self, field.name) for field in fields(Reading)}
        return {name: value for name, value in named.items() if name not in _LIMITS}

    def around(self) -> AbstractContextManager[None]:
        """Read files with the limits that were given."""
        if self.max_line is None and self.max_expansion is None:
            return nullcontext()
        from manylabel.corpus import limits

        return limits(line=self.max_line, expansion=self.max_expansion)

    def corpus(self, path: str, quiet: bool) -> Corpus:
        """Read a corpus, while a terminal shows that this takes its time."""
        from manylabel.corpus import read

        said: list[str] = []
        with working(f"Reading {path} ...", quiet):
            corpus = read(path, **self.options, tell=said.append)
        for sentence in said:
            note(sentence, quiet)
        return corpus

    def can_be_counted_in_chunks(self, path: str) -> bool:
        """Whether a file holds texts that a tagger can read in chunks, without further options."""
        from manylabel.corpus.chunks import TextFile

        return all(value is None for value in self.options.values()) and (
            TextFile.at(path) is not None
        )


@dataclass(frozen=True)
class DocumentReading(Reading):
    """How documents are read that need no labels, one after another."""

    format: DocumentsFormat = None
    on_error: OnError = OnErrorChoice.stop

    def documents(self, file: str, text: str | None, quiet: bool) -> DocumentStream:
        """The documents that a command was given, as a text or as a file."""
        from manylabel.cli.documents import DocumentStream, OneText
        from manylabel.corpus.columns import Columns

        if text is not None:
            if file != "-":
                raise typer.BadParameter("give FILE or --text, not both.")
            if not text.strip():
                raise typer.BadParameter("--text is empty: there is nothing to find labels for.")
            return OneText(text)
        if file == "-" and sys.stdin.isatty():
            note("Reading standard input, one text per line; Ctrl-D ends.", quiet=False)
        return DocumentStream(
            file,
            self.format,
            columns=Columns.of(
                self.text_column,
                self.label_column,
                self.title_column,
                self.id_column,
                self.separator,
            ),
            encoding=self.encoding,
            labels=self.labels,
            zero_based=self.zero_based,
            on_bad=None if self.on_error is OnErrorChoice.stop else _report_bad_line,
            tell=lambda sentence: note(sentence, quiet),
        )


@dataclass(frozen=True)
class Counting:
    """How words become features, where a command needs features."""

    stop_words: StopWords = None
    stemming: Stemming = None
    min_df: MinDf = 1
    jobs: Jobs = -1

    @property
    def words(self) -> dict[str, Any]:
        """The arguments of `manylabel.text.CountVectorizer` besides threads."""
        return {"stop_words": self.stop_words, "stemming": self.stemming, "min_df": self.min_df}

    def counted(self, corpus: Corpus, quiet: bool) -> Corpus:
        """The corpus with counts of words as features; one that has features stays as it is."""
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
        complain(f"{error} Skipped.")
    elif number == _SHOWN + 1:
        complain("more lines cannot be read; they are skipped and counted.")
