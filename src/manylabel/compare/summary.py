"""Published values beside ours, with a sentence where they differ: ``docs/results.md``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from manylabel.compare.best_models import best_counts
from manylabel.compare.paper_tables import frequency_table, time_table, z_table
from manylabel.compare.plan import Claim, Highlight, Problem
from manylabel.compare.results import Line, Results
from manylabel.compare.significance import SENTENCE
from manylabel.compare.tables import (
    describe,
    legend,
    measure_title,
    number,
    problem_table,
    rank_sections,
    seconds,
)
from manylabel.metrics import get_measure
from manylabel.wording import counted

__all__ = [
    "claims_held",
    "highlight_table",
    "judged_values",
    "results_page",
    "verdict",
]

#: Smaller differences, absolute and as a share of the published value, do not count.
_SAME, _SAME_SHARE = 0.005, 0.05

_HEAD = """\
<!-- Made by `make reproduce`: change the code or the presets, then run it again. -->
# Three papers, table by table

Every table and figure of Feremans et al. (2020), Papanikolaou and Tsoumakas (2017) and Rubin et
al. (2012), with its status here and the causes of differences. A published value is *reached* if
ours is within 0.005 and 5 % of it; otherwise ours is *better*, or the value is *not reached*. Rows
that were not run have no figures. [Compare models](howto/compare.md) shows how to run one of these
comparisons, or your own.
"""


def results_page(
    by_preset: Mapping[str, Results],
    searches: str,
    inventory: str,
    future: str,
    figures: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The page with every table and figure of the papers, and its status.

    Parameters
    ----------
    by_preset : mapping of str to Results
        By preset.
    searches, inventory, future : str
        Tables in Markdown.
    figures : mapping of str to sequence of str, optional
        By preset, sections for its figures.
    """
    sections = [_HEAD]
    if any(results.finished for results in by_preset.values()):
        sections.append(f"In all: {_duration(*by_preset.values())}\n")
    sections += [
        inventory + "\n",
        "## What the papers leave as future work\n",
        future + "\n",
    ]
    sections += ["## Searches (tables 4 and 5 of Feremans et al.)\n", searches]
    for name, results in by_preset.items():
        if not results.finished:
            sections += [f"## {results.plan.title}\n", f"Not run yet: preset `{name}`.\n"]
            continue
        sections += [*_preset(name, results), *(figures or {}).get(name, ())]
        missing = _not_run(results)
        if missing:
            sections += ["Not run yet:\n", *(f"- {corpus}." for corpus in missing), ""]
    sections += ["## The test\n", SENTENCE + "\n"]
    return "\n".join(sections)


def _not_run(results: Results) -> list[str]:
    """Corpora, each with the rows that have no run."""
    missing = []
    for problem in results.plan.problems:
        titles = [line.title for line in results.lines[problem.name] if not line.n_runs]
        whole = len(titles) == len(results.lines[problem.name])
        if titles:
            missing.append(f"{problem.heading}: {'all' if whole else '; '.join(titles)}")
    return missing


def _preset(name: str, results: Results) -> list[str]:
    plan = results.plan
    sections = [
        f"## {plan.title}\n",
        f"`manylabel compare --preset {name}`: {_duration(results)}\n",
    ]
    for problem in plan.problems:
        if not any(results.runs(problem, row.title) for row in plan.rows_of(problem)):
            continue
        sections += [
            f"### {problem.heading}\n",
            describe(results, problem) + "\n",
            problem_table(results, problem) + "\n",
        ]
        sections += [sentence + "\n" for sentence in _sentences(results, problem)]
        if table := time_table(results, problem):
            sections.append(table)
        if table := z_table(results, problem):
            sections.append(table)
        if table := best_counts(results, problem):
            sections.append(table)
        if table := frequency_table(results, problem):
            sections.append(table)
    for heading, table in rank_sections(results):
        sections += [f"### {heading}\n", table + "\n"]
    sections += ["How to read these tables:\n"]
    sections += [*(f"- {sentence}" for sentence in (*legend(results), *plan.sentences())), ""]
    return sections


def _duration(*presets: Results) -> str:
    """The number of runs and their total time, as a sentence."""
    runs = [run for results in presets for run in results.finished.values()]
    # Tuning is part of training.
    total = sum(
        seconds
        for run in runs
        for phase, seconds in run.record["seconds"].items()
        if phase != "tune"
    )
    n_jobs = max(results.plan.n_jobs for results in presets)
    cpu = "CPU " if n_jobs == 1 else ""
    shown = f"{total / 60:,.0f} {cpu}minutes" if total >= 120 else f"{total:,.0f} {cpu}seconds"
    return f"{len(runs)} runs in {shown} with {counted(n_jobs, 'thread')}."


def _sentences(results: Results, problem: Problem) -> list[str]:
    lines = results.lines[problem.name]
    sentences = [verdict(results, problem)]
    sentences += [_claim(results, problem, claim) for claim in results.plan.claims]
    sentences += [f"{line.title} failed: {line.error}" for line in lines if line.error]
    return [sentence for sentence in sentences if sentence]


class _Judged(NamedTuple):
    """How many of our values are better than the published ones or equal, and which are worse."""

    better: int
    same: int
    worse: list[str]

    @property
    def total(self) -> int:
        return self.better + self.same + len(self.worse)


def judged_values(results: Results, metrics: Sequence[str] = ()) -> tuple[int, int, int]:
    """Count how many of our values are better than, the same as, and worse than published ones.

    Parameters
    ----------
    results : Results
    metrics : sequence of str
        Only these; all of them if empty.
    """
    judged = [_judge(results, problem, metrics) for problem in results.plan.problems]
    return (
        sum(each.better for each in judged),
        sum(each.same for each in judged),
        sum(len(each.worse) for each in judged),
    )


#: The paper's words -> the share of a claim's measures that they imply.
_WORDS = {
    "nearly all": 0.75,
    "convincingly": 0.75,
    "consistently": 0.75,
    "significantly better (on EUR-Lex)": 0.75,
}


def claims_held(results: Results, pivots: Sequence[str]) -> tuple[int, int]:
    """How many of a paper's statements hold, and how many could be checked.

    ``pivots`` are "document" and "label". "Nearly all", "convincingly", "consistently" and
    "significantly better" mean three in four.
    """
    held = total = 0
    for problem in results.plan.problems:
        for claim in results.plan.claims:
            pivot = "label" if claim.metrics[0].startswith("label-") else "document"
            wins = _wins_of(results, problem, claim)
            if problem.name not in claim.words or pivot not in pivots or wins is None:
                continue
            words = claim.words[problem.name]
            asked = _WORDS.get(words, 0) * len(claim.metrics) or int(words.split()[0])
            held, total = held + (wins >= asked), total + 1
    return held, total


def _judge(results: Results, problem: Problem, metrics: Sequence[str] = ()) -> _Judged:
    better, same, worse = 0, 0, []
    for line in results.lines[problem.name]:
        for name, theirs in line.published.items():
            if metrics and name not in metrics:
                continue
            if name not in line.values or math.isnan(line.values[name].mean):
                continue
            sign = 1 if get_measure(name).greater_is_better else -1
            gain = sign * (line.values[name].mean - theirs)
            least = min(_SAME, _SAME_SHARE * theirs)
            if gain > least:
                better += 1
            elif gain >= -least:
                same += 1
            else:
                worse.append(f"{line.title}, {measure_title(name)} by {number(-gain)}")
    return _Judged(better, same, worse)


def verdict(results: Results, problem: Problem) -> str:
    """A sentence on how our values compare with the published ones, and which are worse."""
    judged = _judge(results, problem)
    if not judged.total:
        return ""
    verdicts = (
        f"Published values: {judged.total}. Ours are better in {judged.better} cases, the same in "
        f"{judged.same} (within {_SAME} and {_SAME_SHARE:.0%}) and worse in {len(judged.worse)}"
    )
    return f"{verdicts}: {'; '.join(judged.worse)}." if judged.worse else f"{verdicts}."


def _claim(results: Results, problem: Problem, claim: Claim) -> str:
    """A sentence on how many measures support a claim, with the paper's words."""
    wins = _wins_of(results, problem, claim)
    if wins is None:
        return ""
    spread = _spread(results, problem, claim)
    pivot = "label" if claim.metrics[0].startswith("label-") else "document"
    kind = "binary " if all("f1@" in name for name in claim.metrics) else ""
    paper = f" The paper: {claim.words[problem.name]}." if problem.name in claim.words else ""
    return (
        f"{claim.better} is better than {claim.worse} by {wins} of {len(claim.metrics)} "
        f"{kind}{pivot}-pivoted measures{spread}.{paper}"
    )


def _wins_of(results: Results, problem: Problem, claim: Claim) -> int | None:
    """How many measures support a claim; None if one of its rows was not run."""
    lines = {line.title: line for line in results.lines[problem.name]}
    if claim.better not in lines or claim.worse not in lines:
        return None
    first, second = lines[claim.better].values, lines[claim.worse].values
    if not first or not second:
        return None
    return _wins(
        {name: value.mean for name, value in first.items()},
        {name: value.mean for name, value in second.items()},
        claim.metrics,
    )


def _wins(first: Mapping[str, float], second: Mapping[str, float], names: Sequence[str]) -> int:
    """The number of measures by which the first is better."""
    signs = {name: 1 if get_measure(name).greater_is_better else -1 for name in names}
    return sum(signs[name] * first[name] > signs[name] * second[name] for name in names)


def _spread(results: Results, problem: Problem, claim: Claim) -> str:
    """The range over several splits, as text; empty for one split."""
    runs = [results.runs(problem, title) for title in (claim.better, claim.worse)]
    if not problem.is_split or len(runs[0]) < 2 or len(runs[0]) != len(runs[1]):
        return ""
    counts = [
        _wins(first.measures, second.measures, claim.metrics)
        for first, second in zip(*runs, strict=True)
    ]
    return f", {min(counts)} to {max(counts)} by split"


def highlight_table(by_preset: Mapping[str, Results]) -> str:
    """A short table of the highlights of presets that were run."""
    rows = [
        row
        for results in by_preset.values()
        for highlight in results.plan.highlights
        if (row := _highlight(results, highlight))
    ]
    table = [["Corpus, measures", "Compared with", "manylabel"], ["---"] * 3, *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in table)


def _highlight(results: Results, highlight: Highlight) -> list[str]:
    """The cells of a highlight; empty if its row was not run."""
    headings = {problem.name: problem.heading for problem in results.plan.problems}
    lines = {line.title: line for line in results.lines.get(highlight.problem, [])}
    if highlight.row not in lines or not lines[highlight.row].values:
        return []
    beside = [
        _short(lines[title], highlight.metrics, is_published=title == highlight.row)
        for title in highlight.beside
        if title in lines
    ]
    measures = ", ".join(map(measure_title, highlight.metrics))
    own = _short(lines[highlight.row], highlight.metrics)
    return [f"{headings[highlight.problem]}: {measures}", "; ".join(beside), own]


def _short(line: Line, metrics: Sequence[str], is_published: bool = False) -> str:
    """The measures of a row as text, with the training time if it was run."""
    is_published = is_published or not line.values
    values = [line.published[name] if is_published else line.values[name].mean for name in metrics]
    shown = " ".join(number(value).removeprefix("0") for value in values)
    if not is_published:
        return f"{line.title}: {shown} in {seconds(line.seconds['train'])} s"
    suffix = "" if "published" in line.title else ", published"
    return f"{line.title}{suffix}: {shown}"
