"""Colours, markers and fonts of the plots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from manylabel.exceptions import MissingExtraError

__all__ = ["INK", "QUIET", "Look", "draw", "look", "new_figure"]

INK = "#1c2733"
QUIET = "#8a94a0"
#: They differ in lightness as well as in hue, and are legible on white and on near-black.
_COLOURS = (
    "#2f6fb5", "#d9603b", "#2e9e79", "#b0449a", "#c79a1e",
    "#6a5acd", "#4aa3c7", "#8f6b4a", "#d1495b", "#7c9a3a",
)  # fmt: skip
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h")

_SETTINGS: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["Inter", "Helvetica Neue", "Arial", "DejaVu Sans", "sans-serif"],
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": QUIET,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": QUIET,
    "grid.alpha": 0.22,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.minor.size": 0,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.5,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "manylabel",
}


class Look:
    """The colour and marker of a row, the same in every plot."""

    def __init__(self, position: int) -> None:
        self.colour = _COLOURS[position % len(_COLOURS)]
        self.mark = _MARKS[position % len(_MARKS)]
        # When colours repeat, lines are dashed.
        self.line = "-" if position < len(_COLOURS) else "--"


def look(titles: list[str]) -> dict[str, Look]:
    """Assign a look to each row."""
    return {title: Look(position) for position, title in enumerate(titles)}


def draw(plot: Callable[[], Any], format: str = "svg") -> bytes:
    """Render the figure of a function as SVG or PDF; the same results give the same bytes."""
    import io

    try:
        import matplotlib as mpl
    except ImportError:
        raise MissingExtraError("Drawing plots", "matplotlib", "plot") from None
    undated = {"Date" if format == "svg" else "CreationDate": None}
    with mpl.rc_context(_SETTINGS):  # type: ignore[arg-type]
        stream = io.BytesIO()
        plot().savefig(stream, format=format, transparent=True, metadata=undated)
    return stream.getvalue()


def new_figure(x: str, y: str) -> tuple[Any, Any]:
    """Make a figure with one pair of axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, 3.9), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return figure, axes
