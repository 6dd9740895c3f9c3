"""How suggestions and reasons look: in plain text, and in HTML with everything escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["as_text", "html_highlighted", "html_table", "separate"]

_WIDTH = 100
#: Colours of words that speak for and against a label, as red, green, blue.
_FOR, _AGAINST = "255, 193, 7", "220, 53, 69"


def as_text(renderable: Any) -> str:
    """What rich would print, without colours."""
    from io import StringIO

    from rich.console import Console

    page = StringIO()
    console = Console(file=page, width=_WIDTH, color_system=None, force_terminal=False)
    console.print(renderable)
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines()).rstrip("\n")


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of escaped texts; the last column is a number."""

    def row(cells: Sequence[str], tag: str) -> str:
        styles = ["left"] * (len(cells) - 1) + ["right"]
        return "".join(
            f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>'
            for side, cell in zip(styles, cells, strict=True)
        )

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    return f"<table><thead><tr>{row(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"


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
