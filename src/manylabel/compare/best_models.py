"""By how many measures each model is the best: figure 13 of Rubin et al. (2012).

Ranking loss is one minus the area under ROC, so it is not counted again. Models with the same
value are both best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from manylabel.compare.plan import Problem
from manylabel.compare.results import Line, Results
from manylabel.compare.standing import BY_FREQUENCY, MODELS, Standing, standings
from manylabel.compare.statements import Statement
from manylabel.compare.tables import markdown_table
from manylabel.metrics import get_measure

__all__ = ["best_counts", "best_statements", "best_table"]

#: The paper's best models of each kind.
_TWO = ("Dependency-LDA", "Tuned SVM")
#: Totals that differ by at most this share of the measures are comparable.
_COMPARABLE = 0.25


def best_counts(results: Results, problem: Problem) -> str:
    """A table of the paper's models on one problem.

    Empty if documents and labels are not both pivots, or a model is missing.
    """
    titles = next(iter(results.plan.rankings.values()), ())
    lines = _lines(results, problem)
    groups = _groups(results)
    if not titles or not all(groups.values()) or any(title not in lines for title in titles):
        return ""
    rows = []
    for title in titles:
        counts = _counts(groups, lines, titles, title)
        rows.append([title, *map(str, counts), str(sum(counts))])
    return (
        "By how many measures each of the paper's models is the best of them (figure 13):\n\n"
        f"{markdown_table(['Model', *_sizes(groups), 'All'], rows)}\n"
    )


def best_table(results: Results) -> str:
    """Dependency-LDA and tuned SVMs on every problem, by training documents per label."""
    groups = _groups(results)
    rows = []
    for each in standings(results, BY_FREQUENCY) if all(groups.values()) else []:
        for model in _TWO:
            counts = _of_model(results, groups, each, model)
            rows.append([each.problem.heading, each.rows[model], *map(str, counts)])
            rows[-1] += [str(sum(counts[:2])), str(sum(counts[2:])), str(sum(counts))]
    header = ["Corpus", "Model", *_sizes(groups), "Documents", "Labels", "All"]
    return f"{markdown_table(header, rows)}\n" if rows else ""


def best_statements(results: Results) -> list[Statement]:
    """What the paper says about the figure, for the corpora that were run."""
    groups = _groups(results)
    if not all(groups.values()):
        return []
    found = {
        each.problem.name: (each, [_of_model(results, groups, each, model) for model in _TWO])
        for each in standings(results, BY_FREQUENCY)
    }
    n_measures = sum(map(len, groups.values()))
    statements = []
    for name, (each, (topics, svm)) in found.items():
        totals = f"{each.problem.heading}: {sum(topics)} and {sum(svm)} of {n_measures}"
        if name == "eurlex57k":
            text = "With power-law frequencies, Dependency-LDA has an advantage over SVMs"
            statements.append(Statement(text, totals, sum(topics) > sum(svm)))
        elif name.startswith("yahoo"):
            is_level = abs(sum(topics) - sum(svm)) <= _COMPARABLE * n_measures
            text = "On Yahoo, Dependency-LDA and tuned SVMs are comparable"
            statements.append(Statement(text, totals, is_level))
    if "yahoo-health" in found:
        topics, svm = found["yahoo-health"][1]
        statements.append(
            Statement(
                "On Health, Dependency-LDA is better for documents, tuned SVMs for labels",
                f"documents: {sum(topics[:2])} and {sum(svm[:2])}; "
                f"labels: {sum(topics[2:])} and {sum(svm[2:])}",
                sum(topics[:2]) > sum(svm[:2]) and sum(topics[2:]) < sum(svm[2:]),
            )
        )
    return statements


def _groups(results: Results) -> dict[str, list[str]]:
    """The paper's four tasks -> their measures."""
    shown = [name for name in results.plan.metrics if not name.endswith("ranking-loss")]
    return {
        f"{pivot}s, {kind}": [
            name
            for name in shown
            if name.startswith("label-") == (pivot == "Label")
            and ("f1@" in name) == (kind == "binary")
        ]
        for pivot in ("Document", "Label")
        for kind in ("ranking", "binary")
    }


def _sizes(groups: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{group} ({len(names)})" for group, names in groups.items()]


def _of_model(
    results: Results, groups: Mapping[str, Sequence[str]], standing: Standing, model: str
) -> list[int]:
    """By how many measures of each task a model is the best of the paper's models that were run."""
    lines = _lines(results, standing.problem)
    titles = [title for title in MODELS if title in lines]
    return _counts(groups, lines, titles, standing.rows[model])


def _lines(results: Results, problem: Problem) -> dict[str, Line]:
    return {line.title: line for line in results.lines[problem.name] if line.values}


def _counts(
    groups: Mapping[str, Sequence[str]],
    lines: Mapping[str, Line],
    titles: Sequence[str],
    title: str,
) -> list[int]:
    return [
        sum(_is_best(lines, titles, title, name) for name in names) for names in groups.values()
    ]


def _is_best(lines: Mapping[str, Line], titles: Sequence[str], title: str, name: str) -> bool:
    """Whether no other row is better by a measure."""
    sign = 1 if get_measure(name).greater_is_better else -1
    best = max(sign * lines[each].values[name].mean for each in titles)
    return sign * lines[title].values[name].mean == best
