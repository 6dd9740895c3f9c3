"""``manylabel forget``: remove documents from a model."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from manylabel.cli.learn import show_change
from manylabel.cli.models import open_tagger
from manylabel.cli.options import Debug, Json, ModelPath, Quiet
from manylabel.cli.output import note, working
from manylabel.exceptions import ManylabelError

__all__ = ["forget"]


def forget(
    model: ModelPath,
    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID",
            show_default=False,
            help="Ids of documents, or - for standard input, one per line.",
        ),
    ],
    retrain: Annotated[
        bool,
        typer.Option(
            "--retrain",
            help="Train the model again on the remaining texts: it then equals a model that never "
            "saw the forgotten ones.",
        ),
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Compact the model and search every file for traces of the texts; the exit code "
            "is 1 if there are any.",
        ),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Make a model forget documents.

    They are no longer found, shown or counted. The output names the parts of the model that keep
    traces of them until the next training; --retrain trains at once. After an error, no document
    is forgotten. The texts stay on disk until the next compact, or are removed at once with
    --retrain or --verify.

    For example:
      manylabel forget model x1 x2
      manylabel forget model x1 --retrain
      manylabel forget model x1 --verify
      manylabel forget model - < withdrawn-ids.txt
    """
    wanted = [name for given in ids for name in (_standard_input() if given == "-" else [given])]
    if not wanted:
        raise typer.BadParameter("standard input is empty; give one id per line.")
    tagger = open_tagger(model, 1, quiet)
    documents = [tagger.document(name) for name in wanted] if verify else []
    change = tagger.forget(wanted, retrain)
    show_change(change, as_json, quiet)
    if verify:
        with working(f"Compacting {model} ...", quiet):
            tagger.compact()
            traces = tagger.traces(documents)
        if traces:
            raise ManylabelError(
                f"{model}: traces of the forgotten texts remain ({'; '.join(traces[:5])}); "
                "try manylabel compact MODEL --retrain."
            )
        note("Searched every file and the vocabulary: no traces of the texts remain.", quiet)


def _standard_input() -> list[str]:
    return [line.rstrip("\r\n") for line in sys.stdin if line.strip()]
