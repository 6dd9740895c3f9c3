"""Suggested labels and the reasons for them, for people to read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from manylabel.evidence import Explanation, Reason

__all__ = ["highlighted", "reasons_table", "suggestions_table"]

_DIGITS = 4
_BAR = 16
_WORDS = 5


def suggestions_table(
    suggestions: Sequence[tuple[str, float]], true_labels: Collection[str]
) -> Table:
    """Labels with their scores, best first; true labels are marked, also those not suggested."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    best = max((score for _, score in suggestions), default=0.0)
    for label, score in suggestions:
        right = label in true_labels
        bar = "━" * max(1, round(_BAR * score / best)) if best > 0 else ""
        table.add_row(
            Text("✓" if right else " ", "green"),
            Text(label, "bold green" if right else ""),
            Text(f"{score:.{_DIGITS}f}", "dim"),
            Text(bar, "green" if right else "dim"),
        )
    suggested = {label for label, _ in suggestions}
    for label in true_labels:
        if label not in suggested:
            table.add_row(Text("✗", "red"), Text(label, "red"), Text("missed", "dim red"))
    return table


def reasons_table(
    why: Explanation,
    document_name: Callable[[int], str],
    word: Callable[[int], str],
    top: int = 8,
) -> Table:
    """The greatest addends of a score, the sum of the others, and the score."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_footer=True)
    table.add_column("Adds", f"{why.score:.{_DIGITS}f}", justify="right", no_wrap=True)
    table.add_column("Because", Text("is the score, the sum of the above"))
    shown = why.reasons[:top]
    for reason in shown:
        table.add_row(f"{reason.share:.{_DIGITS}f}", _because(reason, document_name, word))
    if len(why.reasons) > top:
        # Of the rounded numbers, so that what is printed adds up.
        rest = round(why.score, _DIGITS) - sum(round(reason.share, _DIGITS) for reason in shown)
        table.add_row(
            f"{rest:.{_DIGITS}f}", Text(f"of {len(why.reasons) - top} smaller reasons", "dim")
        )
    return table


def _because(
    reason: Reason, document_name: Callable[[int], str], word: Callable[[int], str]
) -> Text:
    """One reason in words."""
    from rich.text import Text

    if reason.index is None:
        return Text(reason.kind)
    if reason.kind != "neighbour":
        return Text.assemble("the word ", (word(reason.index), "yellow"), " speaks for it")
    words = [word(shared.index) for shared in reason.reasons[:_WORDS] if shared.index is not None]
    return Text.assemble(
        (document_name(reason.index), "cyan"),
        f" has it, similarity {reason.similarity:.2f}: ",
        (", ".join(words), "yellow"),
    )


def highlighted(text: str, spans: Iterable[tuple[int, int]]) -> Text:
    """A text whose words at some places stand out."""
    from rich.text import Text

    shown = Text(text)
    for start, end in spans:
        shown.stylize("bold yellow", start, end)
    return shown
