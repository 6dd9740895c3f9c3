"""Plain text for terminals, HTML for notebooks, and pages from templates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["as_text", "fill_page", "html_table"]

_WIDTH = 100


def as_text(renderable: Any) -> str:
    """The text that rich would print, without colours."""
    from io import StringIO

    from rich.console import Console

    page = StringIO()
    console = Console(file=page, width=_WIDTH, color_system=None, force_terminal=False)
    console.print(renderable)
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines()).rstrip("\n")


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An HTML table of escaped texts; the last column is right-aligned."""

    def row(cells: Sequence[str], tag: str) -> str:
        styles = ["left"] * (len(cells) - 1) + ["right"]
        return "".join(
            f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>'
            for side, cell in zip(styles, cells, strict=True)
        )

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    return f"<table><thead><tr>{row(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"


def fill_page(package: str, **values: Any) -> str:
    """Fill the template ``page.html`` of a package; values are escaped."""
    from importlib.resources import files

    from jinja2 import Environment, StrictUndefined

    template = files(package).joinpath("page.html").read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    return environment.from_string(template).render(values)
