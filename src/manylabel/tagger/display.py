"""How suggestions and reasons look: in a terminal, in a notebook, and as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from manylabel.rendering import html_table
from manylabel.wording import counted, percent

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from manylabel.tagger.explanations import (
        LabelReasons,
        NeighbourReason,
        TextExplanation,
        WordReason,
    )

__all__ = [
    "AGAINST",
    "FOR",
    "SCALE",
    "explanation_html",
    "explanation_view",
    "html_highlighted",
    "separate",
]

#: The page uses the same headings.
FOR, AGAINST = "Words in its favour", "Words against it"
SCALE = (
    "Each figure makes the label more or less likely, and their sum gives its probability: "
    "0 is 50 %, +3 is 95 %, −3 is 5 % (log-odds)."
)

#: Maximum neighbours, words, and words per neighbour in a terminal.
_NEIGHBOURS, _WORDS, _SHARED = 5, 8, 5
#: Maximum characters of the text in a terminal.
_TEXT = 1_500
#: Maximum neighbours, words, and words per neighbour in a notebook.
_NOTEBOOK_NEIGHBOURS, _NOTEBOOK_WORDS, _NOTEBOOK_SHARED = 10, 15, 8
#: Colours of words for and against a label, as red, green, blue.
_FOR, _AGAINST = "255, 193, 7", "220, 53, 69"


def separate(spans: Iterable[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """Drop overlapping spans, keeping those with the greatest weight; sort the rest by position."""
    heaviest = sorted(spans, key=lambda span: (-abs(span[2]), span[0]))
    taken = bytearray(max((end for _, end, _ in heaviest), default=0))
    chosen = []
    for start, end, weight in heaviest:
        if taken.find(1, start, end) < 0:
            taken[start:end] = b"\1" * (end - start)
            chosen.append((start, end, weight))
    return sorted(chosen)


def html_highlighted(text: str, spans: Iterable[tuple[int, int, float]]) -> str:
    """Escape a text and highlight spans; greater weights get stronger colours."""
    kept = separate(spans)
    most = max((abs(weight) for _, _, weight in kept), default=0.0) or 1.0
    pieces, at = [], 0
    for start, end, weight in kept:
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
    """Show the text with the words of the best label highlighted, then the reasons per label."""
    from rich.console import Group
    from rich.text import Text

    shown = Text(why.text[:_TEXT])
    for start, end, weight in separate(why.labels[0].highlights() if why.labels else []):
        shown.stylize("bold yellow" if weight >= 0 else "red", start, end)
    if len(why.text) > _TEXT:
        shown.append(" ...", "dim")
    views = [view for label in why.labels for view in (Text(), _label_view(label))]
    if any(label.probability is not None for label in why.labels):
        views += [Text(), Text(SCALE, "dim")]
    return Group(shown, *views)


def _label_view(reasons: LabelReasons) -> Table:
    """Show parts and their sum, words for and against, and similar documents, as on the page."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    chance = reasons.probability
    verdict = f"{reasons.score:.4f}" if chance is None else percent(chance)
    title = Text.assemble((reasons.name, "bold green"), f"  {verdict}")
    if reasons.name != reasons.label:
        title.append(f"  {reasons.label}", "dim")
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", show_header=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for part in reasons.parts:
        table.add_row(f"{part.share:+.4f}", Text(part.title, "bold"))
    total = "Score" if chance is None else f"Total {verdict}"
    table.add_row(f"{reasons.score:+.4f}", Text(total, "bold green"))
    for heading, words in words_for_and_against(reasons):
        table.add_section()
        table.add_row("", Text(heading, "dim"))
        for word in words:
            table.add_row(f"{word.share:+.4f}", Text(word.word, "yellow"))
    if reasons.neighbours:
        table.add_section()
        near = counted(len(reasons.neighbours), "similar document")
        table.add_row("", Text(f"{near} with this label", "dim"))
    for neighbour in reasons.neighbours[:_NEIGHBOURS]:
        table.add_row(f"{neighbour.share:+.4f}", _neighbour_line(neighbour))
    return table


def words_for_and_against(reasons: LabelReasons) -> Iterator[tuple[str, list[WordReason]]]:
    """Pair each heading with its words, greatest share first; skip headings without words.

    As on the page, a word is left out if its share is under a fiftieth of the greatest.
    """
    least = max((abs(word.share) for word in reasons.words), default=0.0) / 50
    for heading, sign in ((FOR, 1), (AGAINST, -1)):
        chosen = [word for word in reasons.words if word.share * sign > least][:_WORDS]
        if chosen:
            yield heading, chosen


def _neighbour_line(neighbour: NeighbourReason) -> Text:
    from rich.text import Text

    beginning = textwrap.shorten(neighbour.text, 60, placeholder=" ...")
    words = ", ".join(dict.fromkeys(word.word.lower() for word in neighbour.words[:_SHARED]))
    return Text.assemble(
        (neighbour.id, "cyan"),
        f" {beginning}" if beginning else "",
        f", {percent(neighbour.similarity)} similar: ",
        (words, "yellow"),
    )


def explanation_html(why: TextExplanation) -> str:
    """Show, label by label, the text with highlighted words and tables that sum to the score."""
    if not why.labels:
        return f"<p>{escape(why.text)}</p><p>no suggestions</p>"
    return "".join(
        _label_section(why.text, reasons, is_open=position == 0)
        for position, reasons in enumerate(why.labels)
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
                ", ".join(word.word for word in neighbour.words[:_NOTEBOOK_SHARED]),
                f"{neighbour.similarity:.2f}",
                f"{neighbour.share:+.4f}",
            )
            for neighbour in reasons.neighbours[:_NOTEBOOK_NEIGHBOURS]
        ]
        head = ("document", "text", "shared words", "similarity", "adds")
        pieces.append(html_table(head, rows))
    if reasons.words:
        words = [(word.word, f"{word.share:+.4f}") for word in reasons.words[:_NOTEBOOK_WORDS]]
        pieces.append(html_table(("word", "adds"), words))
    return (
        f"<details{' open' if is_open else ''}><summary><b>{title}</b> {reasons.verdict}"
        f"</summary>{''.join(pieces)}</details>"
    )
