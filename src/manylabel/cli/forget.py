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
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Make a model forget documents, as if it had never seen them.

    Says which parts of the model still know something of them until it is trained again. All
    documents are forgotten or, after an error, none.

    For example:
      manylabel forget model x1 x2
      manylabel forget model - < withdrawn-ids.txt
    """
    wanted = [name for given in ids for name in (_standard_input() if given == "-" else [given])]
    if not wanted:
        raise typer.BadParameter("standard input names no document.")
    change = open_tagger(model, 1, quiet).forget(wanted)
    show_change(change, as_json, quiet)


def _standard_input() -> list[str]:
    return [line.rstrip("\r\n") for line in sys.stdin if line.strip()]
