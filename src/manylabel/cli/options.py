"""Arguments and options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

__all__ = [
    "CorpusPath",
    "Debug",
    "Force",
    "Format",
    "Jobs",
    "Json",
    "Labels",
    "MinDf",
    "Quiet",
    "Separator",
    "State",
    "Stemming",
    "StopWords",
    "ZeroBased",
]


@dataclass
class State:
    """What the whole application needs to know of a call."""

    debug: bool = False


class Format(StrEnum):
    """The formats of corpora, known here so that the help need not import their readers."""

    jsonl = "jsonl"
    tsv = "tsv"
    csv = "csv"
    xc = "xc"
    svmlight = "svmlight"
    mulan = "mulan"
    meka = "meka"
    folder = "folder"


FORMAT_NAMES = ", ".join(Format)


def _remember_debug(ctx: typer.Context, asked: bool) -> bool:
    if asked:
        ctx.ensure_object(State).debug = True
    return asked


def _share_or_count(text: str) -> float:
    """A whole number of documents, or a share of them."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number.") from None


CorpusPath = Annotated[
    str,
    typer.Argument(
        metavar="CORPUS",
        show_default=False,
        help="A file, plain or compressed, a folder of texts, or - for standard input.",
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="The names of the labels, one a line; for ARFF, Mulan's XML.",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="SIGN",
        help="What stands between labels in TSV and CSV, by default a semicolon.",
    ),
]
ZeroBased = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based",
        show_default=False,
        help="How svmlight counts features; usually found out.",
    ),
]
StopWords = Annotated[
    str | None,
    typer.Option(
        "--stop-words",
        metavar="LANGUAGE",
        help="Leave out this language's most common words, when texts are counted.",
    ),
]
Stemming = Annotated[
    str | None,
    typer.Option("--stemming", metavar="LANGUAGE", help="Count forms of a word as one."),
]
MinDf = Annotated[
    float,
    typer.Option(
        "--min-df",
        metavar="N",
        parser=_share_or_count,
        help="Leave out words of fewer documents: a number, or a share such as 0.01.",
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", metavar="N", help="Threads; -1 is every core.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No messages but errors.")]
Debug = Annotated[
    bool,
    typer.Option("--debug", callback=_remember_debug, help="Show where an error comes from."),
]
