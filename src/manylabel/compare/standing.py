"""How the models of Rubin et al. (2012) compare as corpora change: figures 8 and 9.

Within a corpus, values are centred on the mean of the models shown, as in the paper. Figure 8
orders corpora by the median number of training documents per label, figure 9 by the labels per
document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from manylabel.compare.plan import Problem
from manylabel.compare.results import Results
from manylabel.compare.statements import Statement
from manylabel.compare.tables import markdown_table, measure_title
from manylabel.metrics import get_measure

__all__ = [
    "BY_CARDINALITY",
    "BY_FREQUENCY",
    "METRICS",
    "MODELS",
    "Axis",
    "Standing",
    "cardinality_statements",
    "frequency_statements",
    "stand_in",
    "standing_table",
    "standings",
]

#: The paper's models.
MODELS = ("Dependency-LDA", "Prior-LDA", "Flat-LDA", "Tuned SVM", "Vanilla SVM")
#: Two binary measures and one of rankings.
METRICS = ("micro-f1@proportional", "macro-f1@proportional", "average-precision")
#: The share of the measures that must agree with a statement about several of them.
_MOST = 0.75


@dataclass(frozen=True)
class Axis:
    """What orders the corpora of a figure, and the models that it shows."""

    title: str
    models: tuple[str, ...]
    position: Callable[[Results, Problem], float]
    digits: int


@dataclass(frozen=True)
class Standing:
    """A corpus with the values of the models; another row may stand in for a model."""

    problem: Problem
    position: float
    rows: dict[str, str]
    #: Model -> measure -> value.
    values: dict[str, dict[str, float]]

    def centred(self, model: str, name: str) -> float:
        """A value minus the mean of the models."""
        mean = np.mean([values[name] for values in self.values.values()])
        return float(self.values[model][name] - mean)

    def lead(self, first: str, second: str, name: str) -> float:
        """By how much the first model is better than the second."""
        sign = 1 if get_measure(name).greater_is_better else -1
        return sign * (self.values[first][name] - self.values[second][name])


def _median_frequency(results: Results, problem: Problem) -> float:
    """The median training documents of labels that have any, averaged over splits."""
    found = [np.array(corpus["frequencies"]) for corpus in _corpora(results, problem)]
    return float(np.mean([np.median(each[each > 0]) for each in found]))


def _cardinality(results: Results, problem: Problem) -> float:
    """The labels per training document, averaged over splits."""
    return float(np.mean([corpus["cardinality"] for corpus in _corpora(results, problem)]))


def _corpora(results: Results, problem: Problem) -> list[dict[str, list[int]]]:
    keys = dict.fromkeys(c.problem_key for c in results.cells if c.problem.name == problem.name)
    return [results.corpora[key] for key in keys if key in results.corpora]


BY_FREQUENCY = Axis(
    "Documents per label", ("Dependency-LDA", "Flat-LDA", "Tuned SVM"), _median_frequency, 0
)
BY_CARDINALITY = Axis(
    "Labels per document", ("Dependency-LDA", "Prior-LDA", "Flat-LDA"), _cardinality, 2
)


def stand_in(results: Results, problem: Problem, model: str) -> str | None:
    """The title of a model's row, or of a vanilla SVM where none was tuned; None if not run."""
    lines = {line.title: line for line in results.lines[problem.name] if line.values}
    rows = [row.title for row in results.plan.rows_of(problem)]
    if model == "Tuned SVM" and model not in rows:
        model = "Vanilla SVM"
    return model if model in lines else None


def standings(results: Results, axis: Axis) -> list[Standing]:
    """The corpora that have every model of a figure, in its order."""
    found = []
    for problem in results.plan.problems:
        rows = {model: stand_in(results, problem, model) for model in axis.models}
        known = {model: row for model, row in rows.items() if row is not None}
        if len(known) < len(rows):
            continue
        lines = {line.title: line for line in results.lines[problem.name]}
        values = {
            model: {name: value.mean for name, value in lines[row].values.items()}
            for model, row in known.items()
        }
        found.append(Standing(problem, axis.position(results, problem), known, values))
    return sorted(found, key=lambda each: each.position)


def standing_table(results: Results, axis: Axis) -> str:
    """The centred values of a figure; empty with fewer than two corpora."""
    found = standings(results, axis)
    if len(found) < 2:
        return ""
    rows = []
    for name in METRICS:
        for each in found:
            cells = [
                f"{each.centred(model, name):+z.3f}{_note(each, model)}" for model in axis.models
            ]
            position = f"{each.position:,.{axis.digits}f}"
            rows.append([measure_title(name), each.problem.heading, position, *cells])
    return f"{markdown_table(['Measure', 'Corpus', axis.title, *axis.models], rows)}\n"


def _note(standing: Standing, model: str) -> str:
    return "" if standing.rows[model] == model else " (vanilla)"


def frequency_statements(results: Results) -> list[Statement]:
    """What the paper says about figure 8."""
    found = standings(results, BY_FREQUENCY)
    return [
        _shift(results, found, model, "Tuned SVM", falls=True)
        for model in ("Dependency-LDA", "Flat-LDA")
        if len(found) > 1
    ]


def cardinality_statements(results: Results) -> list[Statement]:
    """What the paper says about figure 9."""
    found = standings(results, BY_CARDINALITY)
    return [
        _shift(results, found, "Dependency-LDA", model, falls=False)
        for model in ("Flat-LDA", "Prior-LDA")
        if len(found) > 1
    ]


def _shift(
    results: Results, found: Sequence[Standing], first: str, second: str, falls: bool
) -> Statement:
    """Whether a lead falls or grows from the first corpus to the last, by most measures."""
    names = [
        name
        for name in results.plan.metrics
        if not name.startswith("label-") and _is_comparable(name)
    ]
    ends = [[each.lead(first, second, name) for name in names] for each in (found[0], found[-1])]
    sign = -1 if falls else 1
    agree = sum(sign * (after - before) > 0 for before, after in zip(*ends, strict=True))
    axis = "training documents per label" if falls else "labels per document"
    verb = "falls" if falls else "grows"
    corpora = f"from {found[0].problem.heading} to {found[-1].problem.heading}"
    return Statement(
        f"The lead of {first} over {second} {verb} with the {axis}",
        f"it {verb} by {agree} of {len(names)} measures {corpora}",
        agree >= _MOST * len(names),
    )


def _is_comparable(name: str) -> bool:
    """Whether values of different corpora are on one scale; ranking loss is one minus AUC ROC."""
    return get_measure(name).is_share and name != "ranking-loss"
