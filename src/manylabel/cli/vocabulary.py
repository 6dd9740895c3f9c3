"""``manylabel vocabulary``: show or replace the vocabulary of a trained model."""

from __future__ import annotations

from typing import Annotated

import typer

from manylabel.cli.models import open_tagger
from manylabel.cli.options import Data, Debug, ModelPath, Quiet
from manylabel.cli.output import counted, note, print_json, wants_data

__all__ = ["vocabulary"]


def vocabulary(
    model: ModelPath,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="The new vocabulary: SKOS, Annif's TSV, CSV with a header or JSON Lines.",
        ),
    ] = None,
    update: Annotated[
        bool,
        typer.Option("--update", help="Keep the entries of labels that are not in FILE."),
    ] = False,
    as_json: Data = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show or replace the vocabulary of a model.

    This needs no training. A model that was trained with a vocabulary looks for the new names in
    texts, so it suggests new labels at once. In other models, names are only shown.

    For example:
      manylabel vocabulary model
      manylabel vocabulary model stw.ttl
      manylabel vocabulary model new-labels.tsv --update
    """
    tagger = open_tagger(model, 1, quiet)
    if file is not None:
        tagger.set_vocabulary(file, update=update)
        note(f"{'Updated' if update else 'Replaced'} the vocabulary of {model}.", quiet)
    figures = tagger.vocabulary_figures()
    if wants_data(as_json):
        print_json(figures)
    elif figures["names"]:
        typer.echo(
            f"{counted(figures['labels'], 'label')}, {figures['without_documents']:,} of them "
            f"without documents; {counted(figures['names'], 'name')}"
            f"{' in ' + figures['languages'] if figures['languages'] else ''}."
        )
        if not figures["found_in_texts"]:
            typer.echo("Names are only shown; train with --vocabulary to look for them in texts.")
    else:
        typer.echo(f"{counted(figures['labels'], 'label')} without a vocabulary.")
