"""``manylabel explain``: show why labels are suggested."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from manylabel.cli.models import open_tagger
from manylabel.cli.options import (
    Data,
    Debug,
    DocumentsPath,
    Jobs,
    ModelPath,
    Quiet,
    Text,
)
from manylabel.cli.output import make_console, wants_data
from manylabel.cli.reading import DocumentReading

__all__ = ["explain"]


def explain(
    model: ModelPath,
    file: DocumentsPath = "-",
    text: Text = None,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="LABEL", help="Explain this label; repeatable."),
    ] = None,
    top: Annotated[
        int,
        typer.Option(
            "--top", metavar="N", min=1, help="Number of labels to explain, without --label."
        ),
    ] = 3,
    as_json: Data = None,
    reading: DocumentReading = DocumentReading(),
    jobs: Jobs = -1,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show why labels are suggested.

    Shows words and similar documents, and the share of each in the score. The shares sum to the
    score exactly. Words in favour of the first label are highlighted in the text.

    For example:
      manylabel explain model --text "A voyage around the world"
      manylabel explain model --text "A voyage to the ice" --label "Sea stories"
      manylabel explain model new.jsonl --top 1 --json
    """
    documents = reading.documents(file, text, quiet)
    tagger = open_tagger(model, jobs, quiet)
    console, is_data = make_console(), wants_data(as_json)
    for batch in documents:
        for row, name in enumerate(batch.ids):
            why = tagger.explain(batch[row], label=label or None, top=top)
            if is_data:
                print(json.dumps({"id": name} | why.to_dict(), ensure_ascii=False), flush=True)
                continue
            if text is None:
                from rich.text import Text as Shown

                console.rule(Shown(name))
            console.print(why)
            if not why.labels:
                console.print("No label fits this text.")
