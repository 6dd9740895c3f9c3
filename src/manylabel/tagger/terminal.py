"""Explanations in a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from manylabel.tagger.explanations import LabelReasons, NeighbourReason, TextExplanation
from manylabel.tagger.shown import separate

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

__all__ = ["explanation_view"]

#: How many neighbours, words and words of a neighbour are shown.
_NEIGHBOURS, _WORDS, _SHARED = 5, 8, 5
_TEXT = 1_500


def explanation_view(why: TextExplanation) -> Group:
    """The text with the words for the best label highlighted, then the reasons label by label."""
    from rich.console import Group
    from rich.text import Text

    shown = Text(why.text[:_TEXT])
    for start, end, weight in separate(why.labels[0].highlights() if why.labels else []):
        shown.stylize("bold yellow" if weight >= 0 else "red", start, end)
    if len(why.text) > _TEXT:
        shown.append(" ...", "dim")
    return Group(shown, *(view for label in why.labels for view in (Text(), _label_view(label))))


def _label_view(reasons: LabelReasons) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    title = Text.assemble((reasons.name, "bold green"), f"  {reasons.verdict}")
    if reasons.name != reasons.label:
        title.append(f"  {reasons.label}", "dim")
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", show_header=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for part in reasons.parts:
        table.add_row(f"{part.share:+.4f}", Text(part.kind, "bold"))
    if reasons.neighbours or reasons.words:
        table.add_section()
    for neighbour in reasons.neighbours[:_NEIGHBOURS]:
        table.add_row(f"{neighbour.share:+.4f}", _neighbour_line(neighbour))
    for word in reasons.words[:_WORDS]:
        table.add_row(f"{word.share:+.4f}", Text.assemble("the word ", (word.word, "yellow")))
    return table


def _neighbour_line(neighbour: NeighbourReason) -> Text:
    from rich.text import Text

    beginning = textwrap.shorten(neighbour.text, 60, placeholder=" ...")
    words = ", ".join(dict.fromkeys(word.word.lower() for word in neighbour.words[:_SHARED]))
    return Text.assemble(
        (neighbour.id, "cyan"),
        f" {beginning}" if beginning else "",
        f", similarity {neighbour.similarity:.2f}: ",
        (words, "yellow"),
    )
