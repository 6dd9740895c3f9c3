"""One HTML page with everything: no script, no other file, nothing fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from importlib.resources import files

from manylabel.compare.plan import Problem
from manylabel.compare.plots import Plot
from manylabel.compare.results import Line, Results, Value
from manylabel.compare.significance import SENTENCE
from manylabel.compare.style import INK
from manylabel.compare.tables import describe, legend, measure_title, number, seconds

__all__ = ["to_html"]


def to_html(results: Results, plots: dict[str, list[Plot]]) -> str:
    """The page.

    Parameters
    ----------
    results : Results
    plots : dict
        Problem's name -> its plots.
    """
    plan = results.plan
    style = files("manylabel.compare").joinpath("page.css").read_text(encoding="utf-8")
    body = [f"<header><h1>{escape(plan.title)}</h1>", _contents(results), "</header>"]
    for problem in plan.problems:
        body += _section(results, problem, plots.get(problem.name, []))
    if results.ranks:
        body += ['<section id="ranks"><h2>Average ranks</h2>', _ranks(results), "</section>"]
    body.append(_footer(results))
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta http-equiv="Content-Security-Policy" '
            "content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>{escape(plan.title)}</title>",
            f"<style>\n{style}</style></head><body><main>",
            *body,
            "</main></body></html>\n",
        ]
    )


def _contents(results: Results) -> str:
    """Links to the parts, if there are several."""
    plan = results.plan
    links = [
        f'<a href="#corpus-{place}">{escape(problem.heading)}</a>'
        for place, problem in enumerate(plan.problems)
    ]
    if results.ranks:
        links.append('<a href="#ranks">Average ranks</a>')
    return f"<nav>{' '.join(links)}</nav>" if len(links) > 1 else ""


def _section(results: Results, problem: Problem, plots: Iterable[Plot]) -> list[str]:
    place = results.plan.problems.index(problem)
    lines = results.lines[problem.name]
    parts = [
        f'<section id="corpus-{place}"><h2>{escape(problem.heading)}</h2>',
        f'<p class="about">{escape(describe(results, problem))}</p>',
        _table(lines, results.plan.metrics, costs=True),
    ]
    failed = [line for line in lines if line.error]
    parts += [
        f'<p class="failed"><strong>{escape(line.title)}</strong> failed: '
        f"{escape(line.error or '')}</p>"
        for line in failed
    ]
    parts.append('<div class="plots">')
    for plot in plots:
        inner = _inline(plot.svg, f"c{place}-{plot.name}")
        parts.append(
            f"<figure><h3>{escape(plot.title)}</h3>{inner}"
            f"<figcaption>{escape(plot.caption)}</figcaption></figure>"
        )
    parts.append("</div>")
    others = [n for n in results.plan.names_measured() if n not in results.plan.metrics]
    if others:
        parts.append(
            f"<details><summary>{len(others)} more measures</summary>"
            f"{_table(lines, others, costs=False)}</details>"
        )
    parts += [_settings(lines), "</section>"]
    return parts


def _table(lines: list[Line], names: Iterable[str], costs: bool) -> str:
    """Rows are models if there are few measures, and measures if there are many."""
    names = list(names)
    marks = {name: "" if _high(name) else ' <span class="low">low is good</span>' for name in names}
    heads = {name: f"{escape(measure_title(name))}{marks[name]}" for name in names}
    if len(names) <= 8:
        header = [f"<th scope=col>{head}</th>" for head in heads.values()]
        if costs:
            header += [f"<th scope=col>{cost}</th>" for cost in ("Train, s", "Predict, s", "MB")]
        rows = [
            [f"<th scope=row>{escape(line.title)}</th>", *(_cell(line, name) for name in names)]
            + (_cost_cells(line) if costs else [])
            for line in lines
        ]
    else:
        header = [f"<th scope=col>{escape(line.title)}</th>" for line in lines]
        rows = [
            [f"<th scope=row>{heads[name]}</th>", *(_cell(line, name) for line in lines)]
            for name in names
        ]
        if costs:
            cells = [_cost_cells(line) for line in lines]
            rows += [
                [f"<th scope=row>{cost}</th>", *(found[i] for found in cells)]
                for i, cost in enumerate(("Train, s", "Predict, s", "MB"))
            ]
    shown = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f'<div class="wide"><table><thead><tr><th></th>{"".join(header)}</tr></thead>'
        f"<tbody>{shown}</tbody></table></div>"
    )


def _high(name: str) -> bool:
    from manylabel.metrics import get_measure

    return get_measure(name).greater_is_better


def _cell(line: Line, name: str) -> str:
    value = line.values.get(name)
    theirs = line.published.get(name)
    paper = "" if theirs is None else f'<span class="paper">{number(theirs)}</span>'
    if value is None:
        return f"<td>{'–' if theirs is None else ''}{paper}</td>"
    spread = f"<small>±{number(value.deviation)}</small>" if value.deviation else ""
    kind = ' class="best"' if value.is_best else ""
    return f"<td{kind}>{_mark(value)}{number(value.mean)}{spread}{paper}</td>"


def _mark(value: Value) -> str:
    return '<span class="level">≈</span>' if value.is_level else ""


def _cost_cells(line: Line) -> list[str]:
    cells = []
    for phase in ("train", "predict"):
        ours = seconds(line.seconds[phase]) if phase in line.seconds else "–"
        theirs = line.published.get(f"{phase}-seconds")
        paper = "" if theirs is None else f'<span class="paper">{theirs:,.0f}</span>'
        cells.append(f"<td>{ours}{paper}</td>")
    memory = "–" if line.memory is None else f"{line.memory / 1e6:,.0f}"
    return [*cells, f"<td>{memory}</td>"]


def _ranks(results: Results) -> str:
    names = results.plan.metrics
    columns = {
        measure_title(name): {t: r[name] for t, r in results.ranks.items()} for name in names
    }
    columns["All"] = {t: sum(r.values()) / len(r) for t, r in results.ranks.items()}
    header = "".join(f"<th scope=col>{escape(title)}</th>" for title in results.ranks)
    rows = []
    for name, ranks in columns.items():
        best = min(ranks.values())
        cells = "".join(
            f"<td{' class=best' if rank == best else ''}>{rank:.2f}</td>" for rank in ranks.values()
        )
        rows.append(f"<tr><th scope=row>{escape(name)}</th>{cells}</tr>")
    return (
        f'<div class="wide"><table><thead><tr><th></th>{header}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
        "<p>Ranks of each model among the models compared, averaged over the corpora; equal values "
        "share a rank.</p>"
    )


def _settings(lines: list[Line]) -> str:
    shown = [
        f"<dt>{escape(line.title)}</dt><dd>"
        + (escape(", ".join(f"{k} {v}" for k, v in line.settings.items())) or "defaults")
        + "</dd>"
        for line in lines
        if line.n_runs
    ]
    if not shown:
        return ""
    return f"<details><summary>Settings</summary><dl>{''.join(shown)}</dl></details>"


def _footer(results: Results) -> str:
    sentences = [*legend(results), SENTENCE, *results.plan.sentences()]
    machine = next(iter(results.found.values())).record["machine"] if results.found else {}
    versions = ", ".join(f"{name} {version}" for name, version in machine.items())
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    return f"<footer>{said}<p>{escape(versions)}</p></footer>"


def _inline(svg: str, prefix: str) -> str:
    """An SVG file as a part of a page: names of its own, and the page's colour of text."""
    found = svg[svg.index("<svg") :]
    found = re.sub(r'\bid="([^"]*)"', rf'id="{prefix}-\1"', found)
    found = re.sub(r"url\(#([^)]*)\)", rf"url(#{prefix}-\1)", found)
    found = re.sub(r'href="#([^"]*)"', rf'href="#{prefix}-\1"', found)
    found = re.sub(r"<metadata>.*?</metadata>", "", found, flags=re.DOTALL)
    return found.replace(INK, "currentColor")
