"""One threshold or one for each label: figure 1 of Feremans et al. (2020).

The paper shows how often the 30 most frequent labels of Corel5k are true and predicted, with LCIF
tuned for macro F1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manylabel.compare.plan import Problem
from manylabel.compare.presets.lcif import THRESHOLD_ROWS
from manylabel.compare.results import LEVEL, Results
from manylabel.compare.significance import resample
from manylabel.compare.statements import Statement
from manylabel.compare.tables import markdown_table, number
from manylabel.wording import counted

__all__ = [
    "CORPUS",
    "SHOWN",
    "PredictedLabels",
    "gain_table",
    "match_table",
    "predicted_labels",
    "threshold_statements",
]

CORPUS = "corel5k"
#: The number of labels in the figure, and in each group of the table.
SHOWN, _GROUP = 30, 10
_MEASURE = "macro-f1-one"
#: Labels with at most this many training documents count as rare.
_RARE = 20
#: The paper's average gain of macro F1.
_GAIN = 0.011

Counted = NDArray[np.int64]


@dataclass(frozen=True)
class PredictedLabels:
    """Documents of each label, from the most to the least frequent in the test documents.

    Pairs have one threshold first and label thresholds second.
    """

    trained: Counted
    true: Counted
    predicted: tuple[Counted, Counted]
    f1: tuple[NDArray[np.float64], NDArray[np.float64]]

    def off(self, which: int) -> float:
        """The mean absolute difference to the truth, over the labels of the figure."""
        return float(np.abs(self.predicted[which] - self.true)[:SHOWN].mean())


def predicted_labels(results: Results, problem: Problem) -> PredictedLabels | None:
    """The labels of a problem; None if a row was not run, or in older cells, without counts."""
    runs = [results.runs(problem, title)[:1] for title in THRESHOLD_ROWS]
    first = [run for each in runs for run in each if _MEASURE in run.counts]
    if len(first) < len(THRESHOLD_ROWS):
        return None
    key = next(cell.problem_key for cell in results.cells if cell.problem.name == problem.name)
    single, by_label = (run.counts[_MEASURE] for run in first)
    order = np.argsort(-single[2], kind="stable")
    f1 = [run.units[_MEASURE][0][order] for run in first]
    return PredictedLabels(
        np.array(results.corpora[key]["frequencies"], np.int64)[order],
        single[2][order],
        (single[1][order], by_label[1][order]),
        (f1[0], f1[1]),
    )


def match_table(results: Results) -> str:
    """How often the labels of Corel5k are true and predicted; empty without its runs."""
    found = _on_corpus(results)
    if found is None:
        return ""
    n_occurring = int((found.true > 0).sum())
    groups = range(_GROUP, SHOWN + 1, _GROUP)
    ends = [*(min(end, n_occurring) for end in groups), n_occurring, found.true.size]
    names = [f"{end - _GROUP + 1} to {end}" for end in groups]
    names += ["others in the test documents", "not in the test documents"]
    rows = []
    for name, start, end in zip(names, [0, *ends], ends, strict=False):
        if start < end:
            sums = [each[start:end].sum() for each in (found.true, *found.predicted)]
            rows.append([name, f"{end - start:,}", *(f"{each:,}" for each in sums)])
    header = ["Labels by frequency", "Labels", "True", "One threshold", "Label thresholds"]
    return (
        "Test documents of Corel5k, summed over labels: with the label, and predicted by LCIF "
        "tuned for macro F1.\n\n"
        f"{markdown_table(header, rows)}\n\n"
        f"{_match(found, 'One threshold', 0)} {_match(found, 'Label thresholds', 1)}\n"
    )


def _match(found: PredictedLabels, name: str, which: int) -> str:
    """A sentence on how well the predicted labels match the truth."""
    often, rarely = (
        (int(each[:SHOWN].sum()), int(each[SHOWN:].sum()))
        for each in (found.predicted[which] > found.true, found.predicted[which] < found.true)
    )
    return (
        f"{name}: a label of the {SHOWN} most frequent is off by {found.off(which):.1f} documents "
        f"on average; {often[0]} are predicted too often and {rarely[0]} too rarely, of the other "
        f"labels {often[1]} and {rarely[1]}."
    )


def gain_table(results: Results) -> str:
    """Macro F1 with one threshold and with label thresholds by corpus; empty without runs."""
    rows, reasons = [], []
    for problem in results.plan.problems:
        values = _values(results, problem)
        if values is None:
            continue
        gain, found = values[1] - values[0], predicted_labels(results, problem)
        judged = "better" if gain > 0 else "worse"
        judged = judged if _is_significant(results, problem) else f"≈ {judged}"
        rows.append([problem.heading, *map(number, values), f"{gain:+z.3f}", judged, "–"])
        if found is not None:
            occurs = found.true > 0
            rows[-1][-1] = f"{(found.f1[1] - found.f1[0])[occurs].mean():+z.3f}"
        if gain <= 0:
            reasons.append(f"\n{problem.heading}: {_reason(found)}\n")
    if not rows:
        return ""
    header = ["Corpus", "One threshold", "Label thresholds", "Gain", "", "Gain, labels in test"]
    return (
        "Macro F1 of LCIF, with 1 for a label that is neither true nor predicted, as in Mulan. The "
        "last column leaves out labels that are not in the test documents; ≈ is not significant "
        f"(p ≥ {LEVEL}, these two rows only).\n\n{markdown_table(header, rows)}\n{''.join(reasons)}"
    )


def _is_significant(results: Results, problem: Problem) -> bool:
    """Whether both rows differ; it is one planned test, so nothing is corrected for others."""
    first, second = (results.units(problem, title, _MEASURE) for title in THRESHOLD_ROWS)
    if first is None or second is None or first.shape != second.shape:
        return False
    return (
        resample(dict(zip(THRESHOLD_ROWS, (first, second), strict=True))).p_value(*THRESHOLD_ROWS)
        < LEVEL
    )


def _reason(found: PredictedLabels | None) -> str:
    """What makes label thresholds worse, in sentences."""
    if found is None:
        return "these runs kept no counts of labels, so the reason is not known."
    change = (found.f1[1] - found.f1[0]) / found.true.size
    absent, rare = found.true == 0, found.trained <= _RARE
    wrong = [absent & (each > 0) for each in found.predicted]
    few = f"at most {counted(_RARE, 'training document')}"
    parts = {
        "labels that are not in the test documents": change[absent].sum(),
        f"labels in the test documents with {few}": change[~absent & rare].sum(),
        "labels with more": change[~absent & ~rare].sum(),
    }
    told = "; ".join(f"{name} {value:+z.3f}" for name, value in parts.items())
    new = wrong[1] & ~wrong[0]
    return (
        f"change of macro F1 by {told}. Of the {absent.sum():,} labels that are not in the test "
        f"documents, one threshold predicts {wrong[0].sum():,} and label thresholds "
        f"{wrong[1].sum():,}, which then count as 0 instead of 1; {(new & rare).sum():,} of the "
        f"{new.sum():,} new ones have {few}."
    )


def threshold_statements(results: Results) -> list[Statement]:
    """What the paper says about thresholds, as far as it can be checked."""
    statements = []
    found = _on_corpus(results)
    if found is not None:
        most, least = slice(0, _GROUP), slice(SHOWN - _GROUP, SHOWN)
        true = [int(found.true[each].sum()) for each in (most, least)]
        ours = [int(found.predicted[0][each].sum()) for each in (most, least)]
        statements += [
            Statement(
                f"One threshold overestimates majority labels: here the {_GROUP} most frequent",
                f"{ours[0]:,} predicted, {true[0]:,} true",
                ours[0] > true[0],
            ),
            Statement(
                f"It underestimates minority labels: here the last {_GROUP} of {SHOWN}",
                f"{ours[1]:,} predicted, {true[1]:,} true",
                ours[1] < true[1],
            ),
            Statement(
                "Label thresholds match the distribution better",
                f"off by {found.off(1):.1f} documents per label instead of {found.off(0):.1f}",
                found.off(1) < found.off(0),
            ),
        ]
    problems = results.plan.problems
    pairs = [pair for each in problems if (pair := _values(results, each)) is not None]
    if pairs:
        gain = float(np.mean([after - before for before, after in pairs]))
        told = f"{100 * gain:+z.1f} % on {len(pairs)} of {len(problems)} corpora"
        statements.append(Statement("Macro F1 gains 1.1 % on average", told, gain >= _GAIN))
    return statements


def _on_corpus(results: Results) -> PredictedLabels | None:
    """The labels of Corel5k."""
    named = [problem for problem in results.plan.problems if problem.name == CORPUS]
    return predicted_labels(results, named[0]) if named else None


def _values(results: Results, problem: Problem) -> tuple[float, float] | None:
    """Macro F1 of both rows; None if one was not run."""
    lines = {line.title: line for line in results.lines[problem.name]}
    values = [lines[each].values.get(_MEASURE) for each in THRESHOLD_ROWS if each in lines]
    known = [value.mean for value in values if value is not None]
    return (known[0], known[1]) if len(known) == len(THRESHOLD_ROWS) else None
