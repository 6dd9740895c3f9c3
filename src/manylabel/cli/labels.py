"""``manylabel labels``: list and edit the labels of a trained model."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from manylabel.cli.models import open_tagger
from manylabel.cli.options import Data, Debug, ModelPath, Quiet
from manylabel.cli.output import make_console, note, print_json, wants_data

if TYPE_CHECKING:
    from manylabel.tagger import Tagger

__all__ = ["labels"]


def labels(
    model: ModelPath,
    action: Annotated[
        str | None,
        typer.Argument(
            metavar="ACTION",
            show_default=False,
            help="rename, merge, hide, show, delete, add or undo; without an action, list the "
            "labels.",
        ),
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LABEL",
            show_default=False,
            help="The labels to edit. Without --to, the last one is the target of rename or merge.",
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="LABEL",
            help="The label to rename to, or to merge into.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="The name to show, for add and rename. With --name alone, rename keeps the label "
            "and changes its name.",
        ),
    ] = None,
    hidden: Annotated[bool, typer.Option("--hidden", help="List the hidden labels.")] = False,
    as_json: Data = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """List or edit the labels of a model.

    An edit takes effect at once, without training, also in a running server. Documents, neighbours
    and words are as if the documents had always had these labels; the output names the parts of the
    model that follow at the next training. hide and show also take collections and schemes of the
    vocabulary. undo undoes the last edit, up to 50 times.

    For example:
      manylabel labels model
      manylabel labels model rename cats felines
      manylabel labels model rename http://example.org/c1 --name felines
      manylabel labels model merge cats kittens --to felines
      manylabel labels model hide misc
      manylabel labels model add drones --name "unmanned aircraft"
      manylabel labels model undo
    """
    tagger = open_tagger(model, 1, quiet)
    wanted = list(labels or [])
    if action is None:
        _show(tagger, tagger.hidden_labels if hidden else tagger.labels, wants_data(as_json))
        return
    if hidden:
        raise typer.BadParameter("--hidden lists labels; leave out ACTION.")
    if to is None:
        if action == "merge" and len(wanted) < 2:
            raise typer.BadParameter("merge needs labels, and a target as the last one or as --to.")
        if action == "rename" and len(wanted) == 1 and name is None:
            raise typer.BadParameter("rename needs a label and a new label, or a label and --name.")
        if action == "merge" or (action == "rename" and len(wanted) > 1):
            to = wanted.pop()
    change = tagger.edit_labels(action, wanted, to=to, name=name)
    if as_json:  # without --json, even a pipe gets nothing: the sentence goes to standard error
        print_json(asdict(change))
    else:
        note(str(change), quiet)


def _show(tagger: Tagger, listed: list[str], is_data: bool) -> None:
    """Print labels with their names, as JSON Lines or as a table."""
    names = {label: tagger.label_info(label).name for label in listed}
    if is_data:
        for label, shown in names.items():
            print(json.dumps({"label": label, "name": shown}, ensure_ascii=False))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    for label, shown in names.items():
        table.add_row(Text(label), Text("" if shown == label else shown, "dim"))
    make_console().print(table)
