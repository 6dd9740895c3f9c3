"""Plain text for terminals and HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["as_text", "html_table"]

_WIDTH = 100


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
