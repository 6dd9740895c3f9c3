"""``manylabel forget``: documents that a model shall not know any more."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from manylabel.cli.learn import show_change
from manylabel.cli.models import open_tagger
from manylabel.cli.options import Debug, Json, ModelPath, Quiet

__all__ = ["forget"]


def forget(
    model: ModelPath,
    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...",
            show_default=False,
            help="Ids of documents, or - for standard input, one a line.",
        ),
    ],
    retrain: Annotated[
        bool,
        typer.Option(
            "--retrain",
            help="Then train the model again from the texts that are left: it is the same as one "
            "that never saw the forgotten ones.",
        ),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Make a model forget documents.

    They are no longer found, shown or counted. The answer names the parts of the model that
    still bear traces of them until the model is trained again; --retrain does that at once. All
    documents are forgotten or, after an error, none.

    For example:
      manylabel forget model x1 x2
      manylabel forget model x1 --retrain
      manylabel forget model - < withdrawn-ids.txt
    """
    wanted = [name for given in ids for name in (_standard_input() if given == "-" else [given])]
    if not wanted:
        raise typer.BadParameter("standard input names no document.")
    change = open_tagger(model, 1, quiet).forget(wanted, retrain)
    show_change(change, as_json, quiet)


def _standard_input() -> list[str]:
    return [line.rstrip("\r\n") for line in sys.stdin if line.strip()]
