"""``manylabel audit``: labels that look wrong or missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manylabel.cli.learn import show_change
from manylabel.cli.models import open_tagger
from manylabel.cli.options import (
    Data,
    Debug,
    Jobs,
    Language,
    Quiet,
)
from manylabel.cli.output import counted, make_console, note, print_json, wants_data, working
from manylabel.cli.reading import Reading, is_model

if TYPE_CHECKING:
    from manylabel.tagger import AuditReport

__all__ = ["audit"]

#: Pairs to print, and names of other findings.
_SHOWN, _NAMED = 20, 3


def audit(
    source: Annotated[
        str,
        typer.Argument(
            metavar="CORPUS|MODEL",
            show_default=False,
            help="Documents with labels, or a model that keeps its documents.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="REPORT",
            help="Write the pairs to a .jsonl or .csv file, or everything to an .html page.",
        ),
    ] = None,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="Maximum pairs to report.")
    ] = 200,
    fix: Annotated[
        Path | None,
        typer.Option(
            "--fix",
            metavar="DECISIONS",
            help="Do not audit; change labels of MODEL as this file says, one JSON object "
            'per line: {"id": ..., "label": ..., "decision": "add", "remove" or "keep"}.',
        ),
    ] = None,
    undo: Annotated[
        Path | None,
        typer.Option(
            "--undo", metavar="FILE", help="With --fix: the file for the decisions that undo it."
        ),
    ] = None,
    as_json: Data = None,
    reading: Reading = Reading(),
    language: Language = "en",
    jobs: Jobs = -1,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find labels that look wrong or missing, and say why.

    Every pair of a document and a label is judged by models that have not seen the document. The
    report names the reasons for and against, and the most similar documents with and without the
    label. It also lists nearly identical documents with different labels, labels that cannot be
    told apart, labels that may have two meanings, and labels that cannot be learned.

    For example:
      manylabel audit train.jsonl
      manylabel audit model -o report.html
      manylabel audit train.jsonl -o suspects.jsonl --top 1000
      manylabel audit model --fix decisions.jsonl --undo undo.jsonl
    """
    from manylabel.tagger import Tagger, read_decisions

    from_model = is_model(source)
    if fix is not None:
        if not from_model:
            raise typer.BadParameter(f"--fix needs a model folder; {source} is not one.")
        decisions = read_decisions(fix)
        change, back = open_tagger(source, jobs, quiet).fix(decisions)
        if undo is not None:
            _write_lines(undo, back)
        show_change(change, bool(as_json), quiet)
        return
    if undo is not None:
        raise typer.BadParameter("--undo needs --fix.")
    if output is not None and output.suffix.lower() not in (".jsonl", ".csv", ".html"):
        raise typer.BadParameter(f"-o {output} must end in .jsonl, .csv or .html.")
    if from_model:
        tagger, corpus = open_tagger(source, jobs, quiet), None
    else:
        corpus = reading.corpus(source, quiet)
        tagger = Tagger(language=None if language == "none" else language, n_jobs=jobs)
    with working("Judging every label by models that have not seen its document ...", quiet):
        report = tagger.audit(corpus, top=top)
    if output is not None:
        report.write(output)
        note(f"Wrote {counted(len(report), 'pair')} to {output}.", quiet)
    # A report in a file is not printed as well, unless asked for.
    if as_json or (output is None and wants_data(as_json)):
        print_json(report.to_dict())
    elif output is None:
        _show(report)


def _show(report: AuditReport) -> None:
    """Show the first pairs, and count the other findings."""
    from manylabel.tagger import AuditReport

    console = make_console()
    console.print(
        f"{counted(report.n_documents, 'document')}, {counted(report.n_labels, 'label')}",
        style="bold",
        markup=False,
    )
    first = AuditReport(
        list(report[:_SHOWN]),
        report.n_documents,
        report.n_labels,
        duplicates=[],
        same=[],
        two_meanings=[],
        unlearned=[],
    )
    console.print(first)
    for found, thing, sentence in (
        (
            [" and ".join(pair["ids"]) for pair in report.duplicates],
            "pair",
            "nearly identical documents with different labels",
        ),
        (
            [" and ".join(each["name"] for each in pair["labels"]) for pair in report.same],
            "pair",
            "labels that cannot be told apart",
        ),
        ([each["name"] for each in report.two_meanings], "label", "may have two meanings"),
        ([each["name"] for each in report.unlearned], "label", "cannot be learned"),
    ):
        more = ", ..." if len(found) > _NAMED else ""
        named = f" ({', '.join(found[:_NAMED])}{more})" if found else ""
        console.print(f"{counted(len(found), thing)}: {sentence}{named}", markup=False)
    console.print("Use -o report.html to see all, with reasons.", style="dim", markup=False)


def _write_lines(path: Path, records: list[dict[str, str]]) -> None:
    """Write one JSON object per line."""
    from manylabel.corpus.files import atomic_write

    with atomic_write(path) as file:
        file.writelines(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in records)
