"""Explanations in a notebook; whatever comes from texts and labels is escaped."""

from __future__ import annotations

import textwrap
from html import escape

from manylabel.tagger.explanations import LabelReasons, TextExplanation
from manylabel.tagger.shown import html_highlighted, html_table

__all__ = ["explanation_html"]

_NEIGHBOURS, _WORDS, _SHARED = 10, 15, 8


def explanation_html(why: TextExplanation) -> str:
    """A section a label: the text with its words highlighted, and what adds up to the score."""
    if not why.labels:
        return f"<p>{escape(why.text)}</p><p>no suggestions</p>"
    return "".join(
        _label_html(why.text, reasons, is_open=place == 0)
        for place, reasons in enumerate(why.labels)
    )


def _label_html(text: str, reasons: LabelReasons, is_open: bool) -> str:
    title = escape(reasons.name)
    if reasons.name != reasons.label:
        title += f" <small>({escape(reasons.label)})</small>"
    pieces = [
        f'<p style="white-space:pre-wrap">{html_highlighted(text, reasons.highlights())}</p>',
        html_table(("part", "adds"), [(part.kind, f"{part.share:+.4f}") for part in reasons.parts]),
    ]
    if reasons.neighbours:
        rows = [
            (
                neighbour.id,
                textwrap.shorten(neighbour.text, 100, placeholder=" ..."),
                ", ".join(word.word for word in neighbour.words[:_SHARED]),
                f"{neighbour.similarity:.2f}",
                f"{neighbour.share:+.4f}",
            )
            for neighbour in reasons.neighbours[:_NEIGHBOURS]
        ]
        head = ("document", "text", "shared words", "similarity", "adds")
        pieces.append(html_table(head, rows))
    if reasons.words:
        words = [(word.word, f"{word.share:+.4f}") for word in reasons.words[:_WORDS]]
        pieces.append(html_table(("word", "adds"), words))
    return (
        f"<details{' open' if is_open else ''}><summary><b>{title}</b> {reasons.verdict}"
        f"</summary>{''.join(pieces)}</details>"
    )
