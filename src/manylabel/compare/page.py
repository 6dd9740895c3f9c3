"""The report as one self-contained HTML page, without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from manylabel.compare.plan import Problem
from manylabel.compare.plots import Plot
from manylabel.compare.results import Line, Results
from manylabel.compare.significance import SENTENCE
from manylabel.compare.style import INK
from manylabel.compare.tables import (
    PHASES,
    describe,
    digits_by_measure,
    legend,
    longest_phases,
    measure_title,
    number,
    seconds,
    shown_interval,
)
from manylabel.rendering import fill_page

__all__ = ["to_html"]

#: With more measures than this, they are rows and models are columns.
_MAX_COLUMNS = 8
_COSTS = ("Train, s", "Predict, s", "MB")

#: A title, and whether lower is better.
Head = tuple[str, bool]


@dataclass(frozen=True)
class _Cell:
    """A cell of a table."""

    shown: str
    spread: str = ""
    interval: str = ""
    #: The value that a paper published.
    paper: str = ""
    is_best: bool = False
    is_level: bool = False


Row = tuple[Head, list[_Cell]]
Table = tuple[list[Head], list[Row]]


def to_html(results: Results, plots: dict[str, list[Plot]]) -> str:
    """Make the page.

    Parameters
    ----------
    results : Results
    plots : dict
        Name of a problem -> its plots.
    """
    plan = results.plan
    return fill_page(
        "manylabel.compare",
        plan=plan,
        style=_markup(files("manylabel.compare").joinpath("page.css").read_text(encoding="utf-8")),
        sections=[
            _section(results, problem, plots.get(problem.name, [])) for problem in plan.problems
        ],
        ranks=_ranks(results) if results.ranks else None,
        sentences=[*legend(results), SENTENCE, *plan.sentences(), *results.origin],
    )


def _markup(text: str) -> Any:
    """Mark text as HTML that needs no escaping; only for text of our own."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704  # nosec B704


def _section(results: Results, problem: Problem, plots: Iterable[Plot]) -> dict[str, Any]:
    """The section of a problem, as data for the template."""
    position = results.plan.problems.index(problem)
    lines = results.lines[problem.name]
    others = [n for n in results.plan.names_measured() if n not in results.plan.metrics]
    return {
        "heading": problem.heading,
        "about": describe(results, problem),
        "lines": lines,
        "measures": _table(lines, results.plan.metrics, costs=True),
        "n_others": len(others),
        "others": _table(lines, others, costs=False),
        "pairs": _pairs(results, problem),
        "plots": [
            {
                "title": plot.title,
                "caption": plot.caption,
                "svg": _markup(_inline(plot.svg, f"c{position}-{plot.name}")),
            }
            for plot in plots
        ],
    }


def _table(lines: Sequence[Line], names: Sequence[str], costs: bool) -> Table:
    """Make a table whose rows are models or, if there are many measures, measures."""
    digits, longest = digits_by_measure(lines, names), longest_phases(lines)
    heads = [(measure_title(name), not _high(name)) for name in names]
    columns = [[_cell(line, name, digits[name]) for line in lines] for name in names]
    if costs:
        heads += [(cost, False) for cost in _COSTS]
        columns += map(list, zip(*(_cost_cells(line, longest) for line in lines), strict=True))
    titles = [(line.title, False) for line in lines]
    if len(names) > _MAX_COLUMNS:
        return titles, list(zip(heads, columns, strict=True))
    rows = [[column[position] for column in columns] for position in range(len(lines))]
    return heads, list(zip(titles, rows, strict=True))


def _high(name: str) -> bool:
    from manylabel.metrics import get_measure

    return get_measure(name).greater_is_better


def _cell(line: Line, name: str, digits: int) -> _Cell:
    value, theirs = line.values.get(name), line.published.get(name)
    paper = "" if theirs is None else number(theirs, digits)
    if value is None:
        return _Cell("–" if theirs is None else "", paper=paper)
    return _Cell(
        number(value.mean, digits),
        spread=f"±{number(value.deviation, digits)}" if value.deviation else "",
        interval="" if value.interval is None else shown_interval(value, digits),
        paper=paper,
        is_best=value.is_best,
        is_level=value.is_level,
    )


def _cost_cells(line: Line, longest: Mapping[str, float]) -> list[_Cell]:
    cells = []
    for phase in PHASES:
        took, theirs = line.seconds.get(phase), line.published.get(f"{phase}-seconds")
        ours = "–" if took is None else seconds(took, longest[phase])
        cells.append(_Cell(ours, paper="" if theirs is None else f"{theirs:,.0f}"))
    return [*cells, _Cell("–" if line.memory is None else f"{line.memory / 1e6:,.0f}")]


def _ranks(results: Results) -> Table:
    columns = {
        measure_title(name): {t: r[name] for t, r in results.ranks.items()}
        for name in results.plan.metrics
    }
    columns["All"] = {t: sum(r.values()) / len(r) for t, r in results.ranks.items()}
    rows = [
        (
            (name, False),
            [_Cell(f"{r:.2f}", is_best=r == min(ranks.values())) for r in ranks.values()],
        )
        for name, ranks in columns.items()
    ]
    return [(title, False) for title in results.ranks], rows


def _pairs(results: Results, problem: Problem) -> Table:
    """A table of all pairs of models: their difference in each measure, and its p-value."""
    names = results.plan.metrics
    tested = {name: results.pairs(problem, name) for name in names}
    pairs = list(dict.fromkeys(pair for each in tested.values() for pair in each))
    lines = {line.title: line for line in results.lines[problem.name]}

    def cell(first: str, second: str, name: str) -> _Cell:
        p_value = tested[name].get((first, second))
        if p_value is None:
            return _Cell("–")
        gain = lines[first].values[name].mean - lines[second].values[name].mean
        return _Cell(f"{gain:+.3f}", spread=f"p = {p_value:.3f}")

    rows = [
        ((f"{first} − {second}", False), [cell(first, second, name) for name in names])
        for first, second in pairs
    ]
    return [(measure_title(name), False) for name in names], rows


def _inline(svg: str, prefix: str) -> str:
    """Prepare an SVG file for inlining: unique ids, and the page's text colour."""
    inlined = svg[svg.index("<svg") :]
    inlined = re.sub(r'\bid="([^"]*)"', rf'id="{prefix}-\1"', inlined)
    inlined = re.sub(r"url\(#([^)]*)\)", rf"url(#{prefix}-\1)", inlined)
    inlined = re.sub(r'href="#([^"]*)"', rf'href="#{prefix}-\1"', inlined)
    inlined = re.sub(r"<metadata>.*?</metadata>", "", inlined, flags=re.DOTALL)
    return inlined.replace(INK, "currentColor")
