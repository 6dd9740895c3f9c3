"""The plots of a report."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

from manylabel.compare.frequency import frequency_curves
from manylabel.compare.plan import Problem
from manylabel.compare.results import LEVEL, Results
from manylabel.compare.style import INK, QUIET, Look, draw, look, new_figure
from manylabel.compare.tables import measure_title, number
from manylabel.metrics import get_measure

__all__ = ["PLOTS", "plots_of"]


class Plot:
    """A plot as SVG, and as PDF on request, with a title and a caption."""

    def __init__(self, name: str, title: str, caption: str, figure: Callable[[], Any]) -> None:
        self.name, self.title, self.caption, self._figure = name, title, caption, figure
        self.svg = draw(figure).decode()

    @cached_property
    def pdf(self) -> bytes:
        """The plot as PDF, for LaTeX."""
        return draw(self._figure, "pdf")


def plots_of(results: Results, problem: Problem) -> list[Plot]:
    """Draw every plot that the results of a problem allow."""
    looks = look(results.plan.titles_of(problem))
    made = (make(results, problem, looks) for make in PLOTS.values())
    return [plot for plot in made if plot is not None]


def _trade_off(results: Results, problem: Problem, looks: dict[str, Look]) -> Plot | None:
    """Accuracy against training time."""
    name = results.plan.metrics[0]
    points = [
        (line.title, max(line.seconds["train"], 1e-3), line.values[name].mean)
        for line in results.lines[problem.name]
        if name in line.values and not math.isnan(line.values[name].mean)
    ]
    if len(points) < 2:
        return None

    def figure() -> Any:
        drawn, axes = new_figure("seconds to train, logarithmic", measure_title(name))
        axes.set_xscale("log")
        for title, seconds, value in points:
            axes.plot(seconds, value, looks[title].mark, color=looks[title].colour, markersize=8)
        axes.margins(0.16, 0.14)
        axes.xaxis.set_major_formatter("{x:g}")
        times = [seconds for _, seconds, _ in points]
        # Within a decade, major ticks alone would give at most one number.
        axes.xaxis.set_minor_formatter("{x:g}" if max(times) < 10 * min(times) else "")
        if not get_measure(name).greater_is_better:
            axes.invert_yaxis()
        _label_points(drawn, axes, points)
        return drawn

    return Plot(
        "trade-off",
        "Accuracy against training time",
        f"{measure_title(name)} and seconds to train; the best models are at the top left.",
        figure,
    )


def _label_points(figure: Any, axes: Any, points: list[tuple[str, float, float]]) -> None:
    """Write titles beside their points, without covering a point or another title."""
    figure.draw_without_rendering()
    height, width = 12.0, 5.2
    dots = [axes.transData.transform((x, y)) for _, x, y in points]
    scale = figure.dpi / 72
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in dots]
    bounds = axes.get_window_extent()
    for (title, x, y), (left, bottom) in zip(points, dots, strict=True):
        length = width * len(title) * scale
        offsets = [(dx, dy) for dy in (0, 14, -14, 28, -28) for dx in (9, -9)]
        boxes = []
        for dx, dy in offsets:
            start = left + dx * scale if dx > 0 else left + dx * scale - length
            middle = bottom + dy * scale
            half = height * scale / 2
            boxes.append((start, middle - half, start + length, middle + half))
        free = [
            offset
            for offset, box in zip(offsets, boxes, strict=True)
            if box[0] > bounds.x0 - 4
            and box[2] < bounds.x1 + 4
            and not any(_overlap(box, other) for other in taken)
        ]
        dx, dy = free[0] if free else offsets[0]
        taken.append(boxes[offsets.index((dx, dy))])
        axes.annotate(
            title, (x, y), (dx, dy), textcoords="offset points", color=INK, fontsize=8.5,
            va="center", ha="left" if dx > 0 else "right",
        )  # fmt: skip


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _frequency(results: Results, problem: Problem, looks: dict[str, Look]) -> Plot | None:
    """Figure 12 of Rubin et al."""
    curves = frequency_curves(results, problem)
    if not curves or len(curves[0].bins) < 2:
        return None
    reference = curves[0]

    def figure() -> Any:
        drawn, axes = new_figure("training documents of a label", "mean average precision")
        positions = range(len(reference.bins))
        for curve in sorted(curves, key=lambda curve: list(looks).index(curve.title)):
            style = looks[curve.title]
            axes.plot(positions, curve.values, style.line, color=style.colour)
            axes.plot([], [], style.line + style.mark, color=style.colour, label=curve.title)
            for position, value in enumerate(curve.values):
                sure = curve.differs is None or curve.differs[position]
                axes.plot(
                    position, value, style.mark, color=style.colour,
                    markerfacecolor=style.colour if sure else "white",
                )  # fmt: skip
        names = [
            f"{name}\n{n:,} labels"
            for name, n in zip(reference.bins, reference.n_labels, strict=True)
        ]
        axes.set_xticks(list(positions), [name.replace("-", "–") for name in names])
        axes.set_ylim(bottom=0)
        _legend(axes)
        return drawn

    return Plot(
        "label-frequency",
        "Accuracy against label frequency",
        "Average precision of the documents ranked for each label, in quintiles of how many "
        f"training documents labels have. A hollow mark does not differ from {reference.title} in "
        f"that quintile (paired t-test over labels, p ≥ {LEVEL}).",
        figure,
    )


def _precision_recall(results: Results, problem: Problem, looks: dict[str, Look]) -> Plot | None:
    curves = _curves(results, problem, "precision-recall")
    curves = {title: curve for title, curve in curves.items() if curve["recall"]}
    if not curves:
        return None

    def figure() -> Any:
        drawn, axes = new_figure("recall", "precision")
        for title, curve in curves.items():
            style = looks[title]
            axes.plot(
                curve["recall"], curve["precision"], style.line, color=style.colour, label=title
            )
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.02)
        _legend(axes)
        return drawn

    return Plot(
        "precision-recall",
        "Precision and recall",
        "Over all pairs of a document and a label, as the score that a pair must reach falls. A "
        "curve ends where a model has no more candidates.",
        figure,
    )


def _calibration(results: Results, problem: Problem, looks: dict[str, Look]) -> Plot | None:
    curves = _curves(results, problem, "calibration")
    others = [
        line.title
        for line in results.lines[problem.name]
        if line.n_runs and line.title not in curves
    ]
    if not curves:
        return None

    def figure() -> Any:
        drawn, axes = new_figure("score", "share of right labels")
        axes.plot([0, 1], [0, 1], color=QUIET, linewidth=1, linestyle=(0, (4, 3)))
        for title, curve in curves.items():
            style = looks[title]
            axes.plot(
                curve["score"], curve["right"], style.line, marker=style.mark, color=style.colour,
                label=f"{title} ({number(curve['expected-error'])})",
            )  # fmt: skip
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.02)
        _legend(axes)
        return drawn

    left_out = (
        f" Scores of {', '.join(others)} are not between 0 and 1, and so no probabilities."
        if others
        else ""
    )
    return Plot(
        "calibration",
        "Calibration",
        "Candidates in ten bins of their score: how many are right. On the broken line scores are "
        f"probabilities; in brackets, the mean distance from it.{left_out}",
        figure,
    )


def _curves(results: Results, problem: Problem, name: str) -> dict[str, Any]:
    """Title of a row -> the curve of its first run."""
    curves = {}
    for line in results.lines[problem.name]:
        runs = results.runs(problem, line.title)
        curve = runs[0].record["curves"].get(name) if runs else None
        if curve is not None:
            curves[line.title] = curve
    return curves


def _legend(axes: Any) -> None:
    """Place the legend beside the plot, where it covers nothing."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)


#: Name -> function that draws the plot, in the order of the page.
PLOTS: dict[str, Callable[[Results, Problem, dict[str, Look]], Plot | None]] = {
    "trade-off": _trade_off,
    "label-frequency": _frequency,
    "precision-recall": _precision_recall,
    "calibration": _calibration,
}
