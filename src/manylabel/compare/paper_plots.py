"""Pictures of the papers' figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from manylabel.compare.results import Results
from manylabel.compare.standing import METRICS, MODELS, Axis, Standing, standings
from manylabel.compare.style import draw, look, new_figure
from manylabel.compare.tables import measure_title
from manylabel.compare.thresholding import CORPUS, SHOWN, predicted_labels

__all__ = ["draw_standings", "draw_thresholds"]


def draw_thresholds(results: Results) -> str:
    """Figure 1 of Feremans et al. as SVG; empty without its runs."""
    problem = next((each for each in results.plan.problems if each.name == CORPUS), None)
    found = None if problem is None else predicted_labels(results, problem)
    if found is None:
        return ""
    bars = {
        "true": found.true,
        "predicted, one threshold": found.predicted[0],
        "predicted, label thresholds": found.predicted[1],
    }

    def figure() -> Any:
        drawn, axes = new_figure(f"the {SHOWN} most frequent labels", "test documents")
        drawn.set_size_inches(9, 3.6)
        width = 0.8 / len(bars)
        for position, ((title, values), style) in enumerate(
            zip(bars.items(), look(list(bars)).values(), strict=True)
        ):
            shown = values[:SHOWN]
            places = np.arange(shown.size) + 1 + (position - 1) * width
            axes.bar(places, shown, width, color=style.colour, label=title)
        axes.set_xlim(0, min(SHOWN, found.true.size) + 1)
        axes.grid(visible=False, axis="x")
        axes.legend(loc="upper right")
        return drawn

    return draw(figure).decode()


def draw_standings(results: Results, axis: Axis) -> str:
    """Figure 8 or 9 of Rubin et al. as SVG; empty with fewer than two corpora."""
    found = standings(results, axis)
    if len(found) < 2:
        return ""

    def figure() -> Any:
        from matplotlib.figure import Figure

        drawn = Figure(figsize=(9, 3.6), layout="constrained")
        panels = drawn.subplots(1, len(METRICS))
        for axes, name in zip(panels, METRICS, strict=True):
            _draw_measure(axes, found, axis, name)
        panels[0].set_ylabel("difference to the mean")
        handles, titles = panels[0].get_legend_handles_labels()
        drawn.legend(handles, titles, loc="outside lower center", ncols=len(titles))
        return drawn

    return draw(figure).decode()


def _draw_measure(axes: Any, found: list[Standing], axis: Axis, name: str) -> None:
    """One measure: a line for each model over the corpora."""
    looks = look(list(MODELS))
    for model in axis.models:
        style = looks[model]
        values = [each.centred(model, name) for each in found]
        axes.plot(values, style.line, marker=style.mark, color=style.colour, label=model)
        hollow = [place for place, each in enumerate(found) if each.rows[model] != model]
        axes.plot(
            hollow, [values[place] for place in hollow], style.mark, color=style.colour,
            markerfacecolor="white",
        )  # fmt: skip
    labels = [f"{each.problem.heading}\n{each.position:,.{axis.digits}f}" for each in found]
    axes.set_xticks(range(len(found)), labels)
    axes.set_xlabel(axis.title.lower())
    axes.margins(x=0.15)
    axes.set_title(measure_title(name), fontsize=9)
