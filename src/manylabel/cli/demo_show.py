"""The pages of ``manylabel demo``."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from manylabel.cli.demo import MEASURES, Outcome
from manylabel.cli.showing import highlighted, reasons_table, suggestions_table
from manylabel.corpus import Corpus
from manylabel.predictions import Predictions
from manylabel.text import feature_spans, surface_forms

__all__ = ["show", "show_why"]

_FIGURES = (
    "documents",
    "labels",
    "features",
    "label-cardinality",
    "label-frequency-median",
    "unique-label-set-proportion",
)
_BOOKS = 5
_LABELS = 5


@dataclass
class _Book:
    """A test document and what the model suggests for it."""

    row: int
    title: str
    text: str
    true_labels: list[str]
    suggestions: list[tuple[str, float]]

    @property
    def certainty(self) -> tuple[bool, float]:
        """Whether the best suggestion is a true label, and its score."""
        label, score = self.suggestions[0]
        return label in self.true_labels, score


def show(console: Console, outcome: Outcome) -> None:
    """Print everything."""
    _show_corpus(console, outcome)
    _show_measures(console, outcome)
    books = list(_books(outcome))
    console.rule("[bold]Books it has never seen")
    console.print(
        "[green]✓[/] is right; [red]✗[/] is a heading of the book that was not suggested.\n"
    )
    for book in books:
        console.print(Text(book.title, "bold cyan"))
        console.print(Text(textwrap.shorten(book.text, 150, placeholder=" ..."), "dim"))
        console.print(suggestions_table(book.suggestions, book.true_labels))
        console.print()
    _show_reasons(console, outcome, max(books, key=lambda book: book.certainty))
    _show_next(console)


def show_why(console: Console, outcome: Outcome) -> None:
    """Print only the reasons for the surest suggestion."""
    _show_reasons(console, outcome, max(_books(outcome), key=lambda book: book.certainty))


def _show_corpus(console: Console, outcome: Outcome) -> None:
    console.rule("[bold]A small library's catalogue")
    console.print(
        "Descriptions of invented books with subject headings, the labels. Most headings are "
        "rare, and hardly two books have the same set."
    )
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("", style="cyan")
    table.add_column("to learn from", justify="right")
    table.add_column("to test on", justify="right")
    parts = [part.statistics().to_dict() for part in (outcome.train, outcome.test)]
    for figure in _FIGURES:
        table.add_row(figure, *(f"{part[figure]:,.4g}" for part in parts))
    console.print(table)


def _show_measures(console: Console, outcome: Outcome) -> None:
    console.rule("[bold]Three ways to tag new books")
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("", style="cyan", no_wrap=True)
    for title in MEASURES.values():
        table.add_column(title, justify="right", no_wrap=True)
    best = {name: max(found[name] for found in outcome.measures.values()) for name in MEASURES}
    for model, found in outcome.measures.items():
        table.add_row(
            model,
            *(
                Text(f"{value:.3f}", "bold green" if value == best[name] else "")
                for name, value in found.items()
            ),
        )
    console.print(table)
    console.print(
        "P@k is the share of right headings among the k best, nDCG@5 also looks at their order, "
        "and micro F1 judges the sets of headings that a threshold makes of the scores. "
        f"All of this took {outcome.seconds:.1f} seconds.\n"
    )


def _books(outcome: Outcome) -> Iterator[_Book]:
    """Test documents from all over the catalogue."""
    rows = [len(outcome.test) * part // _BOOKS for part in range(_BOOKS)]
    documents = outcome.test[rows]
    scores = outcome.model.decision_function(documents.X, top=_LABELS)
    labels = documents.label_lists()
    for row, suggestions in zip(rows, Predictions(scores, documents.label_names), strict=True):
        title, text = _title_and_text(outcome.test, row)
        yield _Book(row, title, text, next(labels), suggestions)


def _title_and_text(corpus: Corpus, row: int) -> tuple[str, str]:
    """The first line and the others."""
    title, _, rest = (corpus.texts or [])[row].partition("\n")
    return title, rest


def _show_reasons(console: Console, outcome: Outcome, book: _Book) -> None:
    label, _ = book.suggestions[0]
    console.rule("[bold]Why?")
    subject = Text(label, "bold green"), " as a heading of ", Text(book.title, "bold cyan")
    console.print(Text.assemble("What speaks for ", *subject, ":\n"))
    why = outcome.model.explain(outcome.test[book.row].X, top=1)[0][0]
    speaking = {
        word.index
        for reason in why.reasons
        for word in (reason, *reason.reasons)
        if word.kind == "word"
    }
    spans = feature_spans(outcome.vectorizer, book.text)
    places = [place for word in spans.keys() & speaking for place in spans[word]]
    console.print(highlighted(book.text, places))
    forms = surface_forms(outcome.vectorizer, [book.title, book.text])
    console.print(
        reasons_table(
            why,
            lambda row: _title_and_text(outcome.train, row)[0],
            lambda feature: forms[feature].lower(),
        )
    )


def _show_next(console: Console) -> None:
    console.rule("[bold]Where to go next")
    console.print(
        "  [cyan]manylabel stats FILE[/]         your own corpus in figures\n"
        "  [cyan]manylabel convert IN OUT[/]     from one format to another\n"
        "  [cyan]manylabel --help[/]             every command\n"
        "  [cyan]docs/formats.md[/]              what a corpus may look like\n"
        "  [cyan]docs/reference/measures.md[/]   every measure"
    )
