"""LaTeX tables with booktabs."""

from __future__ import annotations

from manylabel.compare.plan import Problem
from manylabel.compare.results import Line, Results
from manylabel.compare.tables import (
    PHASES,
    digits_by_measure,
    longest_phases,
    measure_title,
    number,
    seconds,
)

__all__ = ["to_latex"]

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def to_latex(results: Results) -> str:
    r"""Make one ``table`` per corpus, with models as rows.

    The best value is bold; a dagger marks values that do not differ significantly from it. The
    tables need ``\usepackage{booktabs}``.
    """
    return "\n".join(_table(results, problem) for problem in results.plan.problems)


def _table(results: Results, problem: Problem) -> str:
    names = results.plan.metrics
    header = ["", *map(measure_title, names), "Train (s)", "Predict (s)"]
    lines = [line for line in results.lines[problem.name] if line.values]
    digits, longest = digits_by_measure(lines, names), longest_phases(lines)
    rows = [
        [
            _escaped(line.title),
            *(_cell(line, name, digits[name]) for name in names),
            *(seconds(line.seconds[phase], longest[phase]) for phase in PHASES),
        ]
        for line in lines
    ]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escaped(problem.heading)}. Best in bold; $^\dagger$ not significantly "
            r"different from the best (paired bootstrap, $p \geq 0.05$); "
            r"in brackets 95\,\% intervals.}",
            rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            r"\toprule",
            " & ".join(map(_escaped, header)) + r" \\",
            r"\midrule",
            *(" & ".join(row) + r" \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _cell(line: Line, name: str, digits: int) -> str:
    if name not in line.values:
        return "--"
    value = line.values[name]
    text = number(value.mean, digits).replace("–", "--")
    if value.is_best:
        text = rf"\textbf{{{text}}}"
    elif value.is_level:
        text = rf"{text}$^\dagger$"
    if value.interval is None:
        return text
    low, high = (number(end, digits) for end in value.interval)
    return rf"{text} {{\scriptsize [{low}, {high}]}}"


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in text)
