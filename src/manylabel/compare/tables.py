"""The results as Markdown tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from manylabel.compare.plan import Problem
from manylabel.compare.results import LEVEL, Line, Results, Value
from manylabel.compare.significance import SENTENCE
from manylabel.metrics import get_measure
from manylabel.wording import counted

__all__ = [
    "PHASES",
    "describe",
    "digits_by_measure",
    "digits_of",
    "failures",
    "interval_cells",
    "longest_phases",
    "measure_title",
    "number",
    "problem_cells",
    "rank_cells",
    "shown_interval",
    "to_markdown",
]

#: With more measures than this, they are rows and models are columns.
_MAX_COLUMNS = 8
PHASES = ("train", "predict")
_NAMES = {"macro-f1-one": "Macro F1, absent 1", "macro-f1-skip": "Macro F1, absent left out"}
_WORDS = {"p": "P", "ndcg": "nDCG", "psp": "PSP", "rp": "RP", "recall": "R", "psndcg": "PSnDCG"}


def measure_title(name: str) -> str:
    """The name of a measure as papers write it.

    Examples
    --------
    >>> measure_title("p@5"), measure_title("micro-f1"), measure_title("hamming-loss")
    ('P@5', 'Micro F1', 'Hamming loss')
    """
    if name in _NAMES:
        return _NAMES[name]
    family, at, k = name.partition("@")
    if at and k.isdigit():
        return f"{_WORDS.get(family, family)}@{k}"
    words = name.replace("-", " ").replace("f1", "F1").replace("auc", "AUC")
    words = words.replace("AUC roc", "AUC ROC").replace("AUC pr", "AUC PR")
    return words[0].upper() + words[1:]


def number(value: float, digits: int | None = None) -> str:
    """Format the value of a measure; large values such as ranks get fewer decimals."""
    if math.isnan(value):
        return "–"
    return f"{value:,.{digits_of([value]) if digits is None else digits}f}"


def digits_of(values: Iterable[float]) -> int:
    """The number of decimals for all values of a column.

    Examples
    --------
    >>> digits_of([0.25, 0.5]), digits_of([9.5, 12.0])
    (3, 1)
    """
    return 3 if all(abs(value) < 10 for value in values if not math.isnan(value)) else 1


def seconds(value: float, longest: float | None = None) -> str:
    """Format a time, with the same decimals as the longest in its column."""
    return f"{value:.2f}" if (value if longest is None else longest) < 10 else f"{value:,.1f}"


def digits_by_measure(lines: Sequence[Line], names: Iterable[str]) -> dict[str, int]:
    """The number of decimals of each measure, the same for all rows."""
    return {
        name: digits_of(
            [line.values[name].mean for line in lines if name in line.values]
            + [line.published[name] for line in lines if name in line.published]
        )
        for name in names
    }


def longest_phases(lines: Sequence[Line]) -> dict[str, float]:
    """The longest time of each phase over all rows."""
    return {
        phase: max((line.seconds.get(phase, 0.0) for line in lines), default=0.0)
        for phase in PHASES
    }


def describe(results: Results, problem: Problem) -> str:
    """Describe a corpus in one sentence."""
    keys = [cell.problem_key for cell in results.cells if cell.problem.name == problem.name]
    keys = [key for key in keys if key in results.corpora]
    if not keys:
        return "Not run yet."
    corpus = results.corpora[keys[0]]
    train, test = corpus["documents"]
    n_splits = len(set(keys)) if problem.is_split else 0
    kind = "folds" if problem.folds else "random splits"
    split = "A random split: " if n_splits == 1 else f"{n_splits} {kind}, each with "
    return (
        f"{split if n_splits else ''}{counted(train, 'training document')}, "
        f"{counted(test, 'test document')}, "
        f"{counted(corpus['features'], 'feature')}, {counted(corpus['labels'], 'label')}, "
        f"{corpus['cardinality']:.2f} labels per document."
    )


def legend(results: Results) -> list[str]:
    """Sentences on how to read the tables."""
    plan = results.plan
    unit = "seconds by the clock" if plan.n_jobs != 1 else "CPU seconds"
    sentences = [
        "The best value is bold; ≈ marks values that do not differ significantly from it "
        f"(p ≥ {LEVEL}).",
        f"Train and predict are {'mean ' if plan.seeds > 1 else ''}{unit} with "
        f"{counted(plan.n_jobs, 'thread')}, excluding reading, counting words and compiling. "
        "Memory is the peak of the model's process.",
    ]
    if any(problem.folds for problem in plan.problems):
        sentences.insert(1, f"Means over {plan.seeds} folds.")
    elif plan.seeds > 1:
        most = max((line.n_runs for lines in results.lines.values() for line in lines), default=0)
        seeds = f"{plan.seeds}" if most == plan.seeds else f"{most} of {plan.seeds}"
        sentences.insert(1, f"Models that use random numbers have means of {seeds} seeds.")
    if plan.published:
        sentences.insert(0, f"In brackets: {plan.source}.")
    return sentences


def to_markdown(results: Results) -> str:
    """The report as Markdown."""
    plan = results.plan
    sections = [f"# {plan.title}\n"]
    for problem in plan.problems:
        sections += [f"## {problem.heading}\n", describe(results, problem) + "\n"]
        sections += [problem_table(results, problem) + "\n"]
        sections += [interval_table(results, problem)]
        sections += [failures(results.lines[problem.name])]
    for heading, table in rank_sections(results):
        sections += [f"## {heading}\n", table + "\n"]
    sections += [" ".join([*legend(results), SENTENCE]) + "\n"]
    sections += [sentence + "\n" for sentence in plan.sentences()]
    sections += ["  \n".join(results.origin) + "\n" if results.origin else ""]
    return "\n".join(section for section in sections if section)


def problem_table(results: Results, problem: Problem) -> str:
    """The measures of every row on a problem, with times and memory."""
    return markdown_table(*problem_cells(results, problem))


def problem_cells(
    results: Results, problem: Problem, in_percent: bool = False
) -> tuple[list[str], list[list[str]]]:
    """The header and rows of a problem's table; the best values are marked with asterisks."""
    plan, lines = results.plan, results.lines[problem.name]
    costs = ["Train, s", "Predict, s", "Memory, MB"]
    digits, longest = digits_by_measure(lines, plan.metrics), longest_phases(lines)
    shares = {name for name in plan.metrics if in_percent and get_measure(name).is_share}
    titles = {
        name: measure_title(name) + (", %" if name in shares else "") for name in plan.metrics
    }
    if len(plan.metrics) <= _MAX_COLUMNS:
        header = ["Model", *titles.values(), *costs]
        rows = [
            [
                line.title,
                *(_cell(line, name, digits[name], name in shares) for name in plan.metrics),
                *_costs(line, longest),
            ]
            for line in lines
        ]
        return header, rows
    header = ["Measure", *(line.title for line in lines)]
    rows = [
        [titles[name], *(_cell(line, name, digits[name], name in shares) for line in lines)]
        for name in plan.metrics
    ]
    all_costs = [_costs(line, longest) for line in lines]
    rows += [[cost, *(column[i] for column in all_costs)] for i, cost in enumerate(costs)]
    return header, rows


def rank_sections(results: Results) -> list[tuple[str, str]]:
    """Headings and Markdown tables of ranks."""
    return [
        (heading, markdown_table(header, rows)) for heading, header, rows in rank_cells(results)
    ]


def rank_cells(results: Results) -> list[tuple[str, list[str], list[list[str]]]]:
    """Headings, headers and rows of ranks: of all rows, or of the plan's own rankings."""
    if not results.plan.rankings:
        return [("Average ranks", *_ranks_among(results))] if results.ranks else []
    return [
        (f"Average ranks: {heading}", *_ranks_among(results, titles))
        for heading, titles in results.plan.rankings.items()
        if results.ranks_among(titles)
    ]


def interval_table(results: Results, problem: Problem) -> str:
    """A Markdown table of confidence intervals; empty if there are none."""
    header, rows = interval_cells(results, problem)
    return markdown_table(header, rows) + "\n" if rows else ""


def interval_cells(
    results: Results, problem: Problem, in_percent: bool = False
) -> tuple[list[str], list[list[str]]]:
    """The header and rows of a problem's confidence intervals; no rows if there are none."""
    names, lines = results.plan.metrics, results.lines[problem.name]
    shares = {name for name in names if in_percent and get_measure(name).is_share}
    titles = [measure_title(name) + (", %" if name in shares else "") for name in names]
    digits = digits_by_measure(lines, names)
    rows = [
        [
            line.title,
            *(
                shown_interval(line.values.get(name), digits[name], name in shares)
                for name in names
            ),
        ]
        for line in lines
        if any(line.values[name].interval for name in names if name in line.values)
    ]
    if rows and len(names) > _MAX_COLUMNS:
        columns = list(zip(*rows, strict=True))
        rows = [[title, *cells] for title, cells in zip(titles, columns[1:], strict=True)]
        return ["95 % interval", *columns[0]], rows
    return ["95 % interval", *titles], rows


def shown_interval(value: Value | None, digits: int, in_percent: bool = False) -> str:
    """Format an interval as its two ends."""
    if value is None or value.interval is None:
        return "–"
    return "–".join(_measured(end, digits, in_percent) for end in value.interval)


def _ranks_among(
    results: Results, titles: Sequence[str] | None = None
) -> tuple[list[str], list[list[str]]]:
    """Ranks by each measure and over all; ranks of published values are in brackets."""
    ranked = results.ranks_among(titles)
    theirs = results.ranks_among(list(ranked), published=True)
    columns = _rank_columns(results, ranked)
    brackets = _rank_columns(results, theirs) if set(theirs) == set(ranked) else {}

    def cell(name: str, title: str) -> str:
        of = columns[name]
        shown = f"{of[title]:.2f}"
        shown = f"**{shown}**" if of[title] == min(of.values()) else shown
        return f"{shown} ({brackets[name][title]:.2f})" if brackets else shown

    if len(columns) > _MAX_COLUMNS + 1:
        rows = [[name, *(cell(name, title) for title in ranked)] for name in columns]
        return ["Measure", *ranked], rows
    rows = [[title, *(cell(name, title) for name in columns)] for title in ranked]
    return ["Model", *columns], rows


def _rank_columns(
    results: Results, ranked: dict[str, dict[str, float]]
) -> dict[str, dict[str, float]]:
    """Measure -> title -> rank, with the mean over all measures last."""
    names = results.plan.metrics
    columns = {measure_title(name): {t: r[name] for t, r in ranked.items()} for name in names}
    return {**columns, "All": {t: sum(r.values()) / len(r) for t, r in ranked.items()}}


def _cell(line: Line, name: str, digits: int, in_percent: bool = False) -> str:
    shown = _value(line.values[name], digits, in_percent) if name in line.values else "–"
    theirs = line.published.get(name)
    return shown if theirs is None else f"{shown} ({_measured(theirs, digits, in_percent)})"


def _measured(value: float, digits: int, in_percent: bool) -> str:
    """Format the value of a measure; in percent it has two decimals fewer."""
    return number(100 * value, digits - 2) if in_percent else number(value, digits)


def _value(value: Value, digits: int, in_percent: bool) -> str:
    text = _measured(value.mean, digits, in_percent)
    if value.is_best:
        return f"**{text}**"
    return f"≈ {text}" if value.is_level else text


def _costs(line: Line, longest: Mapping[str, float]) -> list[str]:
    shown = []
    for phase in PHASES:
        took = line.seconds.get(phase)
        text = "–" if took is None else seconds(took, longest[phase])
        theirs = line.published.get(f"{phase}-seconds")
        shown.append(text if theirs is None else f"{text} ({theirs:,.0f})")
    return [*shown, "–" if line.memory is None else f"{line.memory / 1e6:,.0f}"]


def failures(lines: Sequence[Line]) -> str:
    """One line per failed row."""
    return "".join(f"{line.title} failed: {line.error}\n" for line in lines if line.error)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns line up in plain text."""
    cells = [[_escaped(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    shown = [
        "| "
        + " | ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        + " |"
        for row in cells
    ]
    line = "|" + "|".join(
        "-" * (width + 2) if i == 0 else "-" * (width + 1) + ":" for i, width in enumerate(widths)
    )
    return "\n".join([shown[0], line + "|", *shown[1:]])


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
