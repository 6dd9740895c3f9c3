"""Statements of a paper's text, checked with our results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from manylabel.compare.tables import markdown_table

__all__ = ["Statement", "statement_table"]


@dataclass(frozen=True)
class Statement:
    """What a paper says, what our runs give, and whether it holds for them."""

    text: str
    ours: str
    holds: bool


def statement_table(statements: Sequence[Statement]) -> str:
    """A Markdown table with a row for each statement; empty if there are none."""
    rows = [
        [each.text, each.ours, "holds" if each.holds else "does not hold"] for each in statements
    ]
    return f"{markdown_table(['The paper', 'Ours', ''], rows)}\n" if rows else ""
