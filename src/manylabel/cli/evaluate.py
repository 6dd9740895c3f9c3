"""``manylabel evaluate``: measure suggestions against known labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manylabel.cli.models import open_tagger
from manylabel.cli.options import (
    CorpusPath,
    Data,
    Debug,
    Jobs,
    ModelPath,
    Quiet,
)
from manylabel.cli.output import (
    counted,
    in_percent,
    make_console,
    note,
    print_json,
    wants_data,
    working,
)
from manylabel.cli.reading import Reading
from manylabel.cli.training import note_names

if TYPE_CHECKING:
    from rich.table import Table

    from manylabel.metrics import CoverageCurve

__all__ = ["evaluate", "measures_tables"]

#: Precisions, the rows of the table.
_LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def evaluate(
    model: ModelPath,
    corpus: CorpusPath,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            metavar="NAMES",
            help="Measures, separated by commas, such as p@1,micro-f1; by default all.",
        ),
    ] = None,
    curve: Annotated[
        Path | None,
        typer.Option(
            "--curve",
            metavar="FILE",
            help="Plot precision against the share of documents that get labels, as .svg, .png or "
            ".pdf, and show the table.",
        ),
    ] = None,
    as_json: Data = None,
    reading: Reading = Reading(),
    jobs: Jobs = -1,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Measure suggestions on documents with known labels.

    Ranking measures use the scores of all candidates; measures of label sets use the labels that
    the model's own threshold selects. Labels that the model does not know count as missed.

    For example:
      manylabel evaluate model test.jsonl
      manylabel evaluate model test.jsonl --metrics p@1,p@5,micro-f1
      manylabel evaluate model test.jsonl --json
      manylabel evaluate model test.jsonl --curve precision.svg
    """
    from manylabel.metrics import get_measure

    names = None if metrics is None else [name.strip() for name in metrics.split(",")]
    for name in names or []:
        get_measure(name)
    tagger = open_tagger(model, jobs, quiet)
    given = reading.corpus(corpus, quiet)
    note_names(tagger, given.label_names, quiet)
    with working(f"Suggesting labels for {counted(len(given), 'document')} ...", quiet):
        measured = tagger.evaluate(given, metrics=names)
        unseen = tagger.unseen(given)
        found_curve = None if curve is None else tagger.coverage_curve(given)
    if unseen["unseen"]:
        note(
            f"True labels: {unseen['true']:,}. Without a training document: {unseen['unseen']:,}, "
            f"of which {unseen['suggested']:,} among the first 10 suggestions and "
            f"{unseen['unknown']:,} unknown to the model.",
            quiet,
        )
    if curve is not None and found_curve is not None:
        found_curve.plot(curve)
        note(f"Wrote {curve}.", quiet)
    if wants_data(as_json):
        print_json(measured)
        return
    console = make_console()
    shown = {name: v for name, v in measured.items() if names is not None or _is_common(name)}
    console.print(
        f"{tagger.model_name} on {counted(len(given), 'document')}", style="bold", markup=False
    )
    for table in measures_tables(shown):
        console.print(table)
    if len(shown) < len(measured):
        left_out = len(measured) - len(shown)
        console.print(f"{left_out} more: --json, or --metrics with their names", style="dim")
    if found_curve is not None:
        console.print(_curve_table(found_curve))


def _curve_table(curve: CoverageCurve) -> Table:
    """Show how coverage falls as the required precision rises."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for title in ("Precision", "Documents with labels", "Labels per document", "Recall"):
        table.add_column(title, justify="right", no_wrap=True)
    for level in _LEVELS:
        at = curve.at_precision(level)
        if at is None:
            table.add_row(in_percent(level), "-", "-", "-")
        else:
            table.add_row(
                in_percent(level),
                in_percent(at["coverage"]),
                f"{at['labels']:.2f}",
                in_percent(at["recall"]),
            )
    return table


def _is_common(name: str) -> bool:
    """Whether to show a measure by default: not rankings by label, not oracle cutoffs."""
    return not name.startswith("label-") and not re.search(r"@\D", name)


def measures_tables(measured: dict[str, float]) -> Iterator[Table]:
    """Tables of measures with their meanings: those at k side by side, then the others."""
    from rich import box
    from rich.table import Table

    from manylabel.metrics import get_measure

    cutoff_of = {name: re.fullmatch(r"(.+)@(\d+)", name) for name in measured}
    cutoffs = sorted({int(at[2]) for at in cutoff_of.values() if at is not None})
    families = list(dict.fromkeys(at[1] for at in cutoff_of.values() if at is not None))
    others = [name for name, at in cutoff_of.items() if at is None]
    if families:
        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("The k best", style="cyan", no_wrap=True)
        for k in cutoffs:
            table.add_column(f"k = {k}", justify="right", no_wrap=True)
        table.add_column("Meaning", style="dim")
        for family in families:
            values = [measured.get(f"{family}@{k}") for k in cutoffs]
            cells = ["" if value is None else in_percent(value) for value in values]
            table.add_row(f"{family}@k", *cells, get_measure(f"{family}@1").description)
        yield table
    if others:
        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("Measure", style="cyan", no_wrap=True)
        table.add_column("Value", justify="right", no_wrap=True)
        table.add_column("Meaning", style="dim")
        for name in others:
            measure = get_measure(name)
            low = "" if measure.greater_is_better else "; lower is better"
            value = measured[name]
            shown = in_percent(value) if measure.is_share else f"{value:,.2f}"
            table.add_row(name, shown, f"{measure.description}{low}")
        yield table
