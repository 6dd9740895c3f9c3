"""How suggestions and reasons look: in a terminal, in a notebook, and as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from manylabel.rendering import html_table

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from manylabel.tagger.explanations import LabelReasons, NeighbourReason, TextExplanation

__all__ = [
    "explanation_html",
    "explanation_view",
    "html_highlighted",
    "separate",
]

#: Neighbours, words and words of a neighbour that are shown, in a terminal and in a notebook.
_NEIGHBOURS, _WORDS, _SHARED = 5, 8, 5
_TEXT = 1_500
_PAGE_NEIGHBOURS, _PAGE_WORDS, _PAGE_SHARED = 10, 15, 8
#: Colours of words that speak for and against a label, as red, green, blue.
_FOR, _AGAINST = "255, 193, 7", "220, 53, 69"


def separate(spans: Iterable[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """Places that do not overlap, in order; of overlapping ones those that weigh most."""
    heaviest = sorted(spans, key=lambda span: (-abs(span[2]), span[0]))
    taken = bytearray(max((end for _, end, _ in heaviest), default=0))
    chosen = []
    for start, end, weight in heaviest:
        if not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            chosen.append((start, end, weight))
    return sorted(chosen)


def html_highlighted(text: str, spans: Iterable[tuple[int, int, float]]) -> str:
    """A text, escaped, whose words stand out the more they weigh."""
    places = separate(spans)
    most = max((abs(weight) for _, _, weight in places), default=0.0) or 1.0
    pieces, at = [], 0
    for start, end, weight in places:
        colour = _FOR if weight >= 0 else _AGAINST
        strength = 0.15 + 0.85 * abs(weight) / most
        pieces.append(escape(text[at:start]))
        pieces.append(
            f'<mark style="color:inherit;background:rgba({colour}, {strength:.2f})" '
            f'title="{weight:+.4f}">{escape(text[start:end])}</mark>'
        )
        at = end
    return "".join(pieces) + escape(text[at:])


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
        table.add_row(f"{part.share:+.4f}", Text(part.title, "bold"))
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


def explanation_html(why: TextExplanation) -> str:
    """A section a label: the text with its words highlighted, and what adds up to the score."""
    if not why.labels:
        return f"<p>{escape(why.text)}</p><p>no suggestions</p>"
    return "".join(
        _label_section(why.text, reasons, is_open=place == 0)
        for place, reasons in enumerate(why.labels)
    )


def _label_section(text: str, reasons: LabelReasons, is_open: bool) -> str:
    title = escape(reasons.name)
    if reasons.name != reasons.label:
        title += f" <small>({escape(reasons.label)})</small>"
    pieces = [
        f'<p style="white-space:pre-wrap">{html_highlighted(text, reasons.highlights())}</p>',
        html_table(
            ("part", "adds"), [(part.title, f"{part.share:+.4f}") for part in reasons.parts]
        ),
    ]
    if reasons.neighbours:
        rows = [
            (
                neighbour.id,
                textwrap.shorten(neighbour.text, 100, placeholder=" ..."),
                ", ".join(word.word for word in neighbour.words[:_PAGE_SHARED]),
                f"{neighbour.similarity:.2f}",
                f"{neighbour.share:+.4f}",
            )
            for neighbour in reasons.neighbours[:_PAGE_NEIGHBOURS]
        ]
        head = ("document", "text", "shared words", "similarity", "adds")
        pieces.append(html_table(head, rows))
    if reasons.words:
        words = [(word.word, f"{word.share:+.4f}") for word in reasons.words[:_PAGE_WORDS]]
        pieces.append(html_table(("word", "adds"), words))
    return (
        f"<details{' open' if is_open else ''}><summary><b>{title}</b> {reasons.verdict}"
        f"</summary>{''.join(pieces)}</details>"
    )
