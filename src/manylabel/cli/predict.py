"""``manylabel predict``: suggest labels for documents."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import Annotated

import typer

from manylabel.cli.models import open_tagger, parsed_value
from manylabel.cli.options import (
    Dask,
    Debug,
    DocumentsPath,
    Jobs,
    ModelPath,
    Quiet,
    Spool,
    Text,
)
from manylabel.cli.output import counted, counting, note
from manylabel.cli.reading import DocumentReading
from manylabel.exceptions import ManylabelError

__all__ = ["predict"]

_TOP = 10
#: The most labels that a server gives.
_MAX_LABELS = 1000


class AnswerFormat(StrEnum):
    """Formats of suggestions."""

    jsonl = "jsonl"
    tsv = "tsv"
    csv = "csv"
    xc = "xc"
    table = "table"


def predict(
    model: ModelPath,
    file: DocumentsPath = "-",
    text: Text = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            metavar="N",
            min=1,
            help=f"Maximum labels per document; by default {_TOP}, or no limit with a threshold.",
        ),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            "--threshold",
            metavar="auto|NUMBER|PROMISE",
            help="Only labels with at least this score; auto for the model's own threshold. "
            "recall:0.8 promises to find 80 % of the labels, fdr:0.1 that at most 10 % are wrong.",
        ),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            "--precision",
            metavar="SHARE",
            help="Promise that this share of the labels is right, such as 0.9; documents without a "
            'label are marked "abstained". The same as --threshold precision:SHARE.',
        ),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(
            "--include",
            metavar="LABEL",
            help="Suggest only this label, or the labels of this collection or scheme of the "
            "vocabulary; repeatable.",
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude",
            metavar="LABEL",
            help="Never suggest this label, or the labels of this collection or scheme; "
            "repeatable.",
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="A file, compressed if it ends in .gz, .bz2, .xz or .zst; - for standard output.",
        ),
    ] = "-",
    to: Annotated[
        AnswerFormat | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="table, for people; jsonl, one object per document; tsv or csv, one line per "
            "label; or xc, scores as in the Extreme Classification repository. By default OUT's "
            "extension decides; otherwise table in a terminal and jsonl elsewhere.",
        ),
    ] = None,
    via: Annotated[
        str | None,
        typer.Option(
            "--via",
            metavar="URL",
            help="With --text: ask the server at this address, which serves the model, instead of "
            "loading it. A read token is taken from MANYLABEL_READ_TOKEN.",
        ),
    ] = None,
    reading: DocumentReading = DocumentReading(),
    jobs: Jobs = -1,
    dask: Dask = None,
    spool: Spool = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Suggest labels for documents.

    Texts are read in batches, so a file may have any length. Labels that documents already have
    are ignored. A terminal shows a table; a file or a pipe gets one JSON object per document, best
    label first: {"id": ..., "labels": [{"label": ..., "score": ...}, ...]}.

    For example:
      manylabel predict model new.jsonl
      manylabel predict model new.tsv --threshold auto --to tsv -o labels.tsv
      manylabel predict model new.jsonl --precision 0.9
      manylabel predict model --text "A voyage around the world" --top 3
      manylabel predict model --text "A voyage" --via http://127.0.0.1:8000
      xzcat new.jsonl.xz | manylabel predict model - --on-error skip | head
      manylabel predict model huge.jsonl -o labels.jsonl --dask tcp://host:8786
    """
    if precision is not None:
        if threshold is not None:
            raise typer.BadParameter("give --threshold or --precision, not both.")
        threshold = f"precision:{precision:g}"
    limit = None if threshold is None else parsed_value(threshold)
    is_promise = isinstance(limit, str) and limit != "auto"
    if top is None and limit is None:
        top = _TOP
    if via is not None:
        if text is None or file != "-" or output != "-" or to not in (None, AnswerFormat.jsonl):
            raise typer.BadParameter("--via needs --text, and prints JSON to standard output.")
        from manylabel.cli.via import ask

        record = ask(
            via,
            model,
            text,
            {
                "top": top or _MAX_LABELS,
                "threshold": limit,
                "include": include or None,
                "exclude": exclude or None,
            },
        )
        if is_promise:
            record["abstained"] = not record["labels"]
        typer.echo(json.dumps(record, ensure_ascii=False))
        return
    from manylabel.cli.answers import format_of_answers, writing_answers
    from manylabel.cli.clusters import Manifest, cluster_at, suggestions_of

    is_terminal = output == "-" and sys.stdout.isatty()
    kind = to or AnswerFormat(format_of_answers(output, is_terminal))
    documents = reading.documents(file, text, quiet)
    tagger = open_tagger(model, jobs, quiet)
    # A progress bar would mix with the data in the terminal.
    is_bar_shown = not quiet and text is None and not is_terminal
    n_documents = n_abstained = 0
    choice = (top, limit, include or None, exclude or None)
    manifest = Manifest(output, {"model": model, "documents": file, "output": output})
    with (
        cluster_at(None if text is not None else dask, spool, output, quiet) as cluster,
        writing_answers(tagger, output, kind, is_promise) as write,
        counting("documents", not is_bar_shown) as tell,
    ):
        for batch in suggestions_of(cluster, tagger, documents, choice, manifest):
            write(batch)
            n_documents += len(batch)
            n_abstained += sum(not len(suggestions) for suggestions in batch)
            tell(n_documents, documents.done, documents.total)
    if cluster is not None:
        manifest.write()
    if documents.n_bad:
        note(f"Skipped {counted(documents.n_bad, 'line')} that could not be read.", quiet)
    if is_promise and n_abstained:
        note(
            f"No label for {n_abstained:,} of {counted(n_documents, 'document')} "
            f"({n_abstained / n_documents:.1%}): a person should look at them.",
            quiet,
        )
    if output != "-":
        note(f"Wrote labels of {counted(n_documents, 'document')} to {output}.", quiet)
    if manifest.n_failed:
        raise ManylabelError(f"{counted(manifest.n_failed, 'document')} failed; see above.")
