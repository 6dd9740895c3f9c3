"""``manylabel next``: choose what to label next."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from manylabel.cli.models import open_tagger
from manylabel.cli.options import (
    Data,
    Debug,
    Jobs,
    ModelPath,
    Quiet,
)
from manylabel.cli.output import counted, make_console, note, wants_data, working
from manylabel.cli.reading import Reading

__all__ = ["next"]


def next(
    model: ModelPath,
    pool: Annotated[
        str,
        typer.Argument(
            metavar="POOL",
            show_default=False,
            help="Documents to choose from: a file, plain or compressed, a folder of texts, or - "
            "for standard input.",
        ),
    ],
    number: Annotated[
        int,
        typer.Option("--number", "-n", metavar="N", min=1, help="Number of documents to choose."),
    ] = 20,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="ORDER",
            help="coverage: documents that represent most others. words: titles with frequent "
            "words that few labelled ones have. auto: words for titles, coverage for longer "
            "texts. uncertainty: those of which the model is least sure.",
        ),
    ] = "auto",
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="OUT", help="A file; - is standard output."),
    ] = "-",
    as_json: Data = None,
    reading: Reading = Reading(),
    jobs: Jobs = -1,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Choose the documents that a person should label next.

    Chooses documents that represent many others, or titles with frequent words, and that differ
    from each other and from the known documents. A terminal shows a table; a file or a pipe gets
    JSON Lines with the id, the text and the suggested labels of each document, in the order in
    which to label them.

    For example:
      manylabel next model unlabelled.jsonl -n 50 -o queue.jsonl
      manylabel next model titles.jsonl --by uncertainty
    """
    from manylabel.corpus.detection import check_writable
    from manylabel.corpus.files import atomic_write
    from manylabel.tagger.quality import ORDERS

    if by not in ORDERS:
        raise typer.BadParameter(f"--by must be {', '.join(ORDERS)}; got {by!r}.")
    check_writable(output)
    tagger = open_tagger(model, jobs, quiet)
    unlabelled = reading.corpus(pool, quiet)
    with working(f"Comparing {counted(len(unlabelled), 'document')} ...", quiet):
        chosen = tagger.next(unlabelled, number, by=by)
    if output == "-" and not wants_data(as_json):
        from manylabel.cli.tables import answers_table

        console = make_console()
        for suggestions in chosen:
            console.print(answers_table(suggestions, tagger.gives_probabilities))
        return
    positions = {name: position for position, name in enumerate(unlabelled.ids)}
    with atomic_write(output) as file:
        for suggestions in chosen:
            record = {"id": suggestions.id}
            if unlabelled.texts is not None:
                record["text"] = unlabelled.texts[positions[str(suggestions.id)]]
            line = json.dumps(record | {"labels": suggestions.to_list()}, ensure_ascii=False)
            file.write(line.encode() + b"\n")
    if output != "-":
        note(f"Wrote {len(chosen):,} of {counted(len(unlabelled), 'document')} to {output}.", quiet)
