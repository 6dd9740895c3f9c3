"""Tables of suggested labels."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from manylabel.tagger import Suggestions

__all__ = ["answers_table", "suggestions_table"]

_BAR = 16


def suggestions_table(
    suggestions: Sequence[tuple[str, float]], true_labels: Collection[str]
) -> Table:
    """Labels with probabilities, best first; marks true labels and adds those that are missed."""
    from rich.table import Table
    from rich.text import Text

    from manylabel.wording import percent

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    best = max((score for _, score in suggestions), default=0.0)
    for label, score in suggestions:
        right = label in true_labels
        bar = "━" * max(1, round(_BAR * score / best)) if best > 0 else ""
        table.add_row(
            Text("✓" if right else " ", "green"),
            Text(label, "bold green" if right else ""),
            Text(percent(score), "dim"),
            Text(bar, "green" if right else "dim"),
        )
    suggested = {label for label, _ in suggestions}
    for label in true_labels:
        if label not in suggested:
            table.add_row(Text("✗", "red"), Text(label, "red"), Text("missed", "dim red"))
    return table


def answers_table(suggestions: Suggestions, is_percent: bool) -> Group:
    """A document's id, and below it its labels with scores."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from manylabel.wording import percent

    head = Text("" if suggestions.id is None else str(suggestions.id), "bold")
    if not suggestions:
        return Group(head, Text("  no label fits", "dim"))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    best = max(score for _, score, _ in suggestions)
    for label, score, name in suggestions:
        shown = percent(score) if is_percent else f"{score:.3f}"
        bar = "━" * max(1, round(_BAR * score / best)) if best > 0 and score > 0 else ""
        title = Text(name) if name == label else Text.assemble(name, (f"  {label}", "dim"))
        table.add_row(Text(shown), title, Text(bar, "green"))
    return Group(head, table)
