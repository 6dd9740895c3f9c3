"""The measures by which Rubin et al. (2012) compare with other papers: figures 14 and 15.

The values are in figures only, so these are ours, with what the text says about the models that
we have, too. Figure 16 is for RCV1-V2, which is not available.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from manylabel.compare.plan import Problem
from manylabel.compare.results import Line, Results
from manylabel.compare.standing import MODELS
from manylabel.compare.statements import Statement
from manylabel.compare.tables import digits_by_measure, markdown_table, measure_title, number
from manylabel.metrics import get_measure

__all__ = ["other_papers_statements", "other_papers_table"]

#: Figure 15: a label's share of the documents decides how many get it.
_MICRO, _MACRO = "label-micro-f1@proportional", "label-macro-f1@proportional"
_YAHOO = (_MACRO, _MICRO)
#: Figure 14.
_RANKING = ("is-error", "one-error", "ranking-loss", "margin", "average-precision")
_MEASURES = {"yahoo-arts": _YAHOO, "yahoo-health": _YAHOO, "eurlex57k": _RANKING}
_SVMS = ("Tuned SVM", "Vanilla SVM")


@dataclass(frozen=True)
class _Check:
    """A model that is better than others on a corpus, by all of some measures."""

    corpus: str
    text: str
    better: tuple[str, ...]
    worse: tuple[str, ...]
    metrics: tuple[str, ...]


_CHECKS = (
    _Check("yahoo-arts", "Arts, macro F1: Dependency-LDA is better than all others",
           ("Dependency-LDA",), ("Prior-LDA", "Flat-LDA", *_SVMS), (_MACRO,)),
    _Check("yahoo-arts", "Arts, macro F1: Prior-LDA is as good as a method that beats SVMs",
           ("Prior-LDA",), _SVMS, (_MACRO,)),
    _Check("yahoo-arts", "Arts, micro F1: Dependency-LDA is worse than tuned SVMs",
           ("Tuned SVM",), ("Dependency-LDA",), (_MICRO,)),
    _Check("yahoo-arts", "Arts, micro F1: Dependency-LDA is better than vanilla SVMs",
           ("Dependency-LDA",), ("Vanilla SVM",), (_MICRO,)),
    _Check("yahoo-health", "Health, micro F1: both SVMs are better than Dependency-LDA",
           _SVMS, ("Dependency-LDA",), (_MICRO,)),
    *(_Check(corpus, f"{name}: tuned SVMs are better than vanilla SVMs",
             ("Tuned SVM",), ("Vanilla SVM",), _YAHOO)
      for corpus, name in (("yahoo-arts", "Arts"), ("yahoo-health", "Health"))),
    _Check("eurlex57k", "EUR-Lex: Dependency-LDA is better than the other LDA models",
           ("Dependency-LDA",), ("Prior-LDA", "Flat-LDA"), _RANKING),
)  # fmt: skip


def other_papers_table(results: Results) -> str:
    """Our values by the measures of figures 14 and 15; empty without runs."""
    tables = []
    for problem in results.plan.problems:
        lines = _lines(results, problem)
        names = _MEASURES.get(problem.name, ())
        if not lines or not names:
            continue
        digits = digits_by_measure(lines, names)
        rows = [[line.title, *_cells(line, lines, names, digits)] for line in lines]
        titles = [measure_title(name) for name in names]
        tables.append(f"{problem.heading}:\n\n{markdown_table(['Model', *titles], rows)}\n")
    return "\n".join(tables)


def _cells(
    line: Line, lines: Sequence[Line], names: Sequence[str], digits: dict[str, int]
) -> list[str]:
    """The values of a row; the best of the paper's models are bold."""
    cells = []
    for name in names:
        value = line.values[name].mean
        shown = number(value, digits[name])
        is_best = not any(_gain(name, other.values[name].mean, value) > 0 for other in lines)
        cells.append(f"**{shown}**" if is_best else shown)
    return cells


def other_papers_statements(results: Results) -> list[Statement]:
    """What the text says about models that were run."""
    statements = []
    for problem in results.plan.problems:
        lines = {line.title: line for line in _lines(results, problem)}
        for check in _CHECKS:
            if check.corpus == problem.name and all(
                title in lines for title in (*check.better, *check.worse)
            ):
                statements.append(_checked(check, lines))
    return statements


def _checked(check: _Check, lines: dict[str, Line]) -> Statement:
    """Compare every pair of models by every measure; a statement needs all of them."""
    gains = [
        _gain(name, lines[first].values[name].mean, lines[second].values[name].mean)
        for name in check.metrics
        for first in check.better
        for second in check.worse
    ]
    held = sum(gain > 0 for gain in gains)
    ours = f"difference {gains[0]:+z.3f}"
    if len(gains) > 1:
        spread = f"{min(gains):+z.3f} to {max(gains):+z.3f}"
        ours = f"{held} of {len(gains)} comparisons, differences {spread}"
    return Statement(check.text, ours, held == len(gains))


def _gain(name: str, first: float, second: float) -> float:
    """By how much the first value is better."""
    return (first - second) * (1 if get_measure(name).greater_is_better else -1)


def _lines(results: Results, problem: Problem) -> list[Line]:
    """The paper's models that were run."""
    lines = {line.title: line for line in results.lines[problem.name] if line.values}
    return [lines[title] for title in MODELS if title in lines]
