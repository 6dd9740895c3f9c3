"""Create empty figures and write figures to files; Matplotlib is an optional dependency."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from manylabel.exceptions import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["finished", "new_axes"]


def new_axes(x: str, y: str) -> tuple[Figure, Any]:
    """A figure with one pair of axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("Drawing plots", "matplotlib", "plot") from None
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return figure, axes


def finished(figure: Figure, path: str | os.PathLike[str] | None) -> Figure:
    """Return the figure; with a path, also write it to a file whose suffix sets the format."""
    if path is not None:
        figure.savefig(path)
    return figure
