"""The tables of ``manylabel compare`` in a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from manylabel.cli.output import make_console
from manylabel.compare.significance import SENTENCE
from manylabel.compare.tables import (
    describe,
    failures,
    interval_cells,
    legend,
    problem_cells,
    rank_cells,
)

if TYPE_CHECKING:
    from manylabel.compare import Results

__all__ = ["show"]


def show(results: Results) -> None:
    """Print the tables of every problem, shares in percent."""
    console = make_console()
    console.print(Text(results.plan.title, "bold"))
    for problem in results.plan.problems:
        console.print(Text(f"\n{problem.heading}", "bold cyan"))
        console.print(Text(describe(results, problem)))
        console.print(_table(*problem_cells(results, problem, in_percent=True)))
        header, rows = interval_cells(results, problem, in_percent=True)
        if rows:
            console.print(_table(header, rows))
        console.print(Text(failures(results.lines[problem.name]), "red"), end="")
    for heading, header, rows in rank_cells(results):
        console.print(Text(heading, "bold cyan"))
        console.print(_table(header, rows))
    notes = [" ".join([*legend(results), SENTENCE]), *results.plan.sentences(), *results.origin]
    for sentence in notes:
        console.print(Text(sentence, "dim"))


def _table(header: list[str], rows: list[list[str]]) -> Table:
    """Make a table with right-aligned numbers, the best in bold."""
    table = Table(box=box.SIMPLE_HEAD)
    for position, title in enumerate(header):
        table.add_column(Text(title), justify="left" if position == 0 else "right")
    for title, *cells in rows:
        table.add_row(Text(title, "cyan"), *map(_marked, cells))
    return table


def _marked(cell: str) -> Text:
    """Turn Markdown's bold into a star and bold green; the star also shows without colours."""
    best = re.fullmatch(r"\*\*(.+?)\*\*(.*)", cell)
    return Text(cell) if best is None else Text.assemble((f"* {best[1]}", "bold green"), best[2])
