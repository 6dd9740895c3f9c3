"""``manylabel labels``: rename, merge, hide, delete and add labels of a trained model."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from manylabel.cli.models import open_tagger
from manylabel.cli.options import Debug, Json, ModelPath, Quiet
from manylabel.cli.output import note, print_json

__all__ = ["labels"]


def labels(
    model: ModelPath,
    action: Annotated[
        str | None,
        typer.Argument(
            metavar="[ACTION]",
            show_default=False,
            help="One of rename, merge, hide, show, delete, add and undo; by default labels are "
            "listed.",
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LABEL]...",
            show_default=False,
            help="The labels. The last one is the new label of rename, and what merge merges into.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="What people read: of a label that is added or renamed. A label that is given "
            "another name need not be given another label.",
        ),
    ] = None,
    hidden: Annotated[bool, typer.Option("--hidden", help="List the hidden labels.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """List the labels of a model, or edit them without training again.

    The next command knows of an edit, and so does what serves the model. Documents, neighbours and
    words are as if the documents had always had these labels; the answer names the parts of the
    model that follow at the next training. hide and show take collections and schemes of the
    vocabulary as well. undo takes the last edit back; the last 50 can be taken back.

    For example:
      manylabel labels model
      manylabel labels model rename cats felines
      manylabel labels model rename http://example.org/c1 --name felines
      manylabel labels model merge cats kittens felines
      manylabel labels model hide misc
      manylabel labels model add drones --name "unmanned aircraft"
      manylabel labels model undo
    """
    tagger = open_tagger(model, 1, quiet)
    wanted = list(given or [])
    if action is None:
        listed = tagger.hidden_labels if hidden else tagger.labels
        if as_json:
            print_json({"labels": listed})
        else:
            for label in listed:
                shown = tagger.label_info(label).name
                typer.echo(label if shown == label else f"{label}\t{shown}")
        return
    if hidden:
        raise typer.BadParameter("--hidden is for the list; leave ACTION out.")
    to = None
    if action == "merge" and len(wanted) < 2:
        raise typer.BadParameter("merge needs labels, and at the end the one to merge them into.")
    if action == "rename" and len(wanted) == 1 and name is None:
        raise typer.BadParameter("rename needs a label and the new label, or --name.")
    if action == "merge" or (action == "rename" and len(wanted) > 1):
        to = wanted.pop()
    change = tagger.edit_labels(action, wanted, to=to, name=name)
    if as_json:
        print_json(asdict(change))
    else:
        note(str(change), quiet)
