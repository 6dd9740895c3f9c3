"""``manylabel learn``: add documents to a model."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli.models import open_tagger
from manylabel.cli.options import (
    Debug,
    Jobs,
    Json,
    ModelPath,
    Quiet,
)
from manylabel.cli.output import note, print_json, working
from manylabel.cli.reading import Reading
from manylabel.cli.training import note_names

if TYPE_CHECKING:
    from manylabel.tagger import Change

__all__ = ["learn", "show_change"]


def learn(
    model: ModelPath,
    corpus: Annotated[
        str | None,
        typer.Argument(
            metavar="CORPUS",
            show_default=False,
            help="Documents with labels: a file, plain or compressed, a folder of texts, or - for "
            "standard input.",
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option("--text", metavar="TEXT", help="One document, instead of a corpus."),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="LABEL", help="A label of --text; repeatable."),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="ID", help="The id of --text; by default a number."),
    ] = None,
    incomplete: Annotated[
        bool,
        typer.Option(
            "--incomplete",
            help="The labels that a document lacks are unknown, not wrong.",
        ),
    ] = False,
    as_json: Json = False,
    reading: Reading = Reading(),
    jobs: Jobs = -1,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Add documents to a model without training again.

    A document with a known id replaces the old one, and labels may be new. After an error, no
    document is learned. When the command ends, the documents are on disk, and a running server
    uses them from its next answer on.

    For example:
      manylabel learn model corrected.jsonl
      manylabel learn model --text "Cats at sea" --label cats --label sea
      manylabel learn model accepted.jsonl --incomplete
    """
    documents: dict[str, Any]
    if (corpus is None) == (text is None):
        raise typer.BadParameter("give either CORPUS or --text.")
    if text is None:
        if label or id is not None:
            raise typer.BadParameter("--label and --id need --text.")
        given = reading.corpus(corpus or "-", quiet)
        documents, names = {"texts": given}, given.label_names
    else:
        ids = None if id is None else [id]
        documents, names = {"texts": [text], "labels": [label or []], "ids": ids}, label or []
    tagger = open_tagger(model, jobs, quiet)
    note_names(tagger, names, quiet)
    with working("Learning ...", quiet):
        change = tagger.learn(**documents, incomplete=incomplete)
    show_change(change, as_json, quiet)


def show_change(change: Change, as_json: bool, quiet: bool) -> None:
    """Print what changed in a model."""
    if as_json:
        print_json(asdict(change))
    else:
        note(str(change), quiet)
