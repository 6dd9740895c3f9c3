"""``manylabel compact``: merge changes into the model."""

from __future__ import annotations

from typing import Annotated

import typer

from manylabel.cli.models import folder_size, open_tagger, open_without_journal
from manylabel.cli.options import Debug, Jobs, Json, ModelPath, Quiet
from manylabel.cli.output import counted, note, print_json, readable_size, working

__all__ = ["compact"]


def compact(
    model: ModelPath,
    retrain: Annotated[
        bool,
        typer.Option(
            "--retrain",
            help="Train again on all documents: the whole model, vocabulary included.",
        ),
    ] = False,
    without_journal: Annotated[
        bool,
        typer.Option(
            "--without-journal",
            help="Ignore a lost or damaged journal; its readable part is kept.",
        ),
    ] = False,
    as_json: Json = False,
    jobs: Jobs = -1,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Merge learned and forgotten documents into the model folder.

    After many changes, this makes a model with neighbours faster, and updates its word weights.
    Forgotten texts are removed from all files. Meanwhile others can use and change it.

    For example:
      manylabel compact model
      manylabel compact model --retrain
    """
    before = folder_size(model)
    if without_journal:
        tagger = open_without_journal(model, jobs, quiet)
    else:
        tagger = open_tagger(model, jobs, quiet)
    with working(f"Compacting {model} ...", quiet):
        tagger.compact(retrain)
        if without_journal:
            tagger.save(model)
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
            f"{model}: {counted(tagger.n_documents, 'document')}, "
            f"{counted(len(tagger.labels), 'label')}, "
            f"{readable_size(after)} (before: {readable_size(before)}).",
            quiet,
        )
