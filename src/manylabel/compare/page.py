"""One HTML page with everything: no script, no other file, nothing fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files

from manylabel.compare.plan import Problem
from manylabel.compare.plots import Plot
from manylabel.compare.results import Line, Results, Value
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
    parts += [_pairs(results, problem), _settings(lines), "</section>"]
    return parts


def _table(lines: list[Line], names: Iterable[str], costs: bool) -> str:
    """Rows are models if there are few measures, and measures if there are many."""
    names = list(names)
    digits, longest = digits_by_measure(lines, names), longest_phases(lines)
    marks = {name: "" if _high(name) else ' <span class="low">low is good</span>' for name in names}
    heads = {name: f"{escape(measure_title(name))}{marks[name]}" for name in names}
    if len(names) <= 8:
        header = [f"<th scope=col>{head}</th>" for head in heads.values()]
        if costs:
            header += [f"<th scope=col>{cost}</th>" for cost in ("Train, s", "Predict, s", "MB")]
        rows = [
            [
                f"<th scope=row>{escape(line.title)}</th>",
                *(_cell(line, name, digits[name]) for name in names),
            ]
            + (_cost_cells(line, longest) if costs else [])
            for line in lines
        ]
    else:
        header = [f"<th scope=col>{escape(line.title)}</th>" for line in lines]
        rows = [
            [
                f"<th scope=row>{heads[name]}</th>",
                *(_cell(line, name, digits[name]) for line in lines),
            ]
            for name in names
        ]
        if costs:
            cells = [_cost_cells(line, longest) for line in lines]
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


def _cell(line: Line, name: str, digits: int) -> str:
    value = line.values.get(name)
    theirs = line.published.get(name)
    paper = "" if theirs is None else f'<span class="paper">{number(theirs, digits)}</span>'
    if value is None:
        return f"<td>{'–' if theirs is None else ''}{paper}</td>"
    spread = f"<small>±{number(value.deviation, digits)}</small>" if value.deviation else ""
    if value.interval is not None:
        spread += f'<small class="interval">{shown_interval(value, digits)}</small>'
    kind = ' class="best"' if value.is_best else ""
    return f"<td{kind}>{_mark(value)}{number(value.mean, digits)}{spread}{paper}</td>"


def _mark(value: Value) -> str:
    return '<span class="level">≈</span>' if value.is_level else ""


def _cost_cells(line: Line, longest: Mapping[str, float]) -> list[str]:
    cells = []
    for phase in PHASES:
        took = line.seconds.get(phase)
        ours = "–" if took is None else seconds(took, longest[phase])
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


def _pairs(results: Results, problem: Problem) -> str:
    """Which of two models is better by each measure, and whether that could be chance."""
    names = results.plan.metrics
    tested = {name: results.pairs(problem, name) for name in names}
    pairs = list(dict.fromkeys(pair for found in tested.values() for pair in found))
    if len(pairs) < 2:
        return ""
    lines = {line.title: line for line in results.lines[problem.name]}
    header = "".join(f"<th scope=col>{escape(measure_title(name))}</th>" for name in names)
    rows = []
    for first, second in pairs:
        cells = []
        for name in names:
            p_value = tested[name].get((first, second))
            if p_value is None:
                cells.append("<td>–</td>")
                continue
            gain = lines[first].values[name].mean - lines[second].values[name].mean
            cells.append(f"<td>{gain:+.3f}<small>p = {p_value:.3f}</small></td>")
        title = f"{escape(first)} − {escape(second)}"
        rows.append(f"<tr><th scope=row>{title}</th>{''.join(cells)}</tr>")
    return (
        "<details><summary>Every pair of models</summary>"
        f'<div class="wide"><table><thead><tr><th></th>{header}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
        "<p>Differences with p-values of the paired bootstrap, corrected after Holm for the number "
        "of pairs.</p></details>"
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
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in [*sentences, *results.origin])
    return f"<footer>{said}</footer>"


def _inline(svg: str, prefix: str) -> str:
    """An SVG file as a part of a page: names of its own, and the page's colour of text."""
    found = svg[svg.index("<svg") :]
    found = re.sub(r'\bid="([^"]*)"', rf'id="{prefix}-\1"', found)
    found = re.sub(r"url\(#([^)]*)\)", rf"url(#{prefix}-\1)", found)
    found = re.sub(r'href="#([^"]*)"', rf'href="#{prefix}-\1"', found)
    found = re.sub(r"<metadata>.*?</metadata>", "", found, flags=re.DOTALL)
    return found.replace(INK, "currentColor")
