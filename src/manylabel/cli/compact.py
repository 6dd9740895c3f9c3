"""``manylabel compact``: what was learned and forgotten becomes part of the model itself."""

from __future__ import annotations

from typing import Annotated

import typer

from manylabel.cli.models import folder_size, open_tagger
from manylabel.cli.options import Debug, Jobs, Json, ModelPath, Quiet
from manylabel.cli.output import note, print_json, readable_size, working

__all__ = ["compact"]


def compact(
    model: ModelPath,
    retrain: Annotated[
        bool,
        typer.Option(
            "--retrain",
            help="Train anew on everything that is known: any model, and the vocabulary, too.",
        ),
    ] = False,
    as_json: Json = False,
    jobs: Jobs = -1,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fold what was learned and forgotten into a model.

    A model of neighbours that has learned or forgotten much answers faster afterwards, weighs
    words as if it had known everything from the start, and keeps nothing of forgotten documents
    but their words in its vocabulary. Others may use the model meanwhile.

    For example:
      manylabel compact model
      manylabel compact model --retrain
    """
    before = folder_size(model)
    tagger = open_tagger(model, jobs, quiet)
    with working(f"Compacting {model} ...", quiet):
        tagger.compact(retrain)
    after = folder_size(model)
    if as_json:
        print_json(
            {
                "documents": tagger.n_documents,
                "labels": len(tagger.labels),
                "bytes_before": before,
                "bytes": after,
            }
        )
    else:
        note(
            f"{model} holds {tagger.n_documents:,} documents with {len(tagger.labels):,} labels "
            f"in {readable_size(after)}; it was {readable_size(before)}.",
            quiet,
        )
