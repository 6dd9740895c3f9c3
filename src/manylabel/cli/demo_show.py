"""The output of ``manylabel demo``."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from manylabel.cli.demo import MEASURES, Outcome
from manylabel.cli.tables import suggestions_table
from manylabel.tagger import LabelReasons, Suggestions, TextExplanation

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
#: Maximum words and similar books in the short form of the reasons.
_WORDS, _SIMILAR = 5, 2


@dataclass
class _Book:
    """A test document, its suggestions, and the reasons for the first one."""

    text: str
    true_labels: list[str]
    suggestions: Suggestions
    why: TextExplanation

    @property
    def title(self) -> str:
        return _title(self.text)

    @property
    def certainty(self) -> tuple[bool, float]:
        """Whether the best suggestion is a true label, and its score."""
        best = self.suggestions[0]
        return best.label in self.true_labels, best.score


def show(console: Console, outcome: Outcome) -> None:
    """Print everything."""
    _show_corpus(console, outcome)
    _show_measures(console, outcome)
    books = list(_books(outcome))
    console.rule("[bold]New books")
    console.print("[green]✓[/] right; [red]✗[/] a heading of the book that was not suggested.\n")
    for book in books:
        console.print(Text(book.title, "bold cyan"))
        console.print(Text(textwrap.shorten(_below_title(book.text), 150, placeholder=" ...")))
        scores = [(suggestion.label, suggestion.score) for suggestion in book.suggestions]
        console.print(suggestions_table(scores, book.true_labels))
        console.print(_summary(book.text, book.why[0]))
        console.print()
    _show_reasons(console, max(books, key=lambda book: book.certainty))
    _show_next(console)


def show_why(console: Console, outcome: Outcome) -> None:
    """Print only the reasons for the most certain suggestion."""
    _show_reasons(console, max(_books(outcome), key=lambda book: book.certainty))


def _show_corpus(console: Console, outcome: Outcome) -> None:
    console.rule("[bold]A catalogue of books")
    console.print(
        "Descriptions of invented books with their subject headings, the labels. Most headings are "
        "rare, and few books have the same set of headings."
    )
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("", style="cyan")
    table.add_column("training", justify="right")
    table.add_column("test", justify="right")
    subsets = outcome.to_dict()["statistics"].values()
    for figure in _FIGURES:
        table.add_row(figure, *(f"{subset[figure]:,.4g}" for subset in subsets))
    console.print(table)


def _show_measures(console: Console, outcome: Outcome) -> None:
    console.rule("[bold]Ways to tag new books")
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("", style="cyan", no_wrap=True)
    for title in MEASURES.values():
        table.add_column(title, justify="right", no_wrap=True)
    best = {name: max(row[name] for row in outcome.measures.values()) for name in MEASURES}
    for model, row in outcome.measures.items():
        table.add_row(
            model,
            *(
                Text(f"{100 * value:.1f} %", "bold green" if value == best[name] else "")
                for name, value in row.items()
            ),
        )
    console.print(table)
    console.print(
        "P@k is the share of right headings among the k best. nDCG@5 also counts their order. "
        "Micro F1 measures the sets of headings that a threshold selects. "
        f"All of this took {outcome.seconds:.1f} seconds.\n"
    )


def _books(outcome: Outcome) -> Iterator[_Book]:
    """Choose test documents, evenly spread."""
    rows = [len(outcome.test) * book // _BOOKS for book in range(_BOOKS)]
    documents = outcome.test[rows]
    texts = documents.texts or []
    for text, labels in zip(texts, documents.label_lists(), strict=True):
        suggestions = outcome.tagger.suggest(text, top=_LABELS)
        yield _Book(text, labels, suggestions, outcome.tagger.explain(text, top=1))


def _title(text: str) -> str:
    """The first line."""
    return text.partition("\n")[0]


def _below_title(text: str) -> str:
    return text.partition("\n")[2]


def _summary(text: str, why: LabelReasons) -> Text:
    """Summarise the words and similar books that count most for a label."""
    heaviest = sorted(why.highlights(), key=lambda span: -span[2])
    words = dict.fromkeys(text[start:end].lower() for start, end, weight in heaviest if weight > 0)
    shown = Text.assemble((why.name, "bold green"), ": ")
    if words:
        shown.append("the words ").append(", ".join(list(words)[:_WORDS]), "yellow")
    if why.neighbours:
        titles = [_title(neighbour.text) for neighbour in why.neighbours[:_SIMILAR]]
        shown.append(", and " if words else "")
        shown.append("books like ").append(", ".join(titles), "cyan")
    return shown


def _show_reasons(console: Console, book: _Book) -> None:
    console.rule("[bold]Why?")
    label = Text(book.suggestions[0].name, "bold green")
    subject = Text.assemble("The reasons for ", label, " as a heading of ")
    console.print(subject.append(book.title, "bold cyan").append(", in full:\n"))
    console.print(book.why)


def _show_next(console: Console) -> None:
    console.rule("[bold]Next steps")
    console.print(
        "  [cyan]manylabel demo --serve[/]              try this model in the browser\n"
        "  [cyan]manylabel train FILE -o MODEL[/]       train on your own documents\n"
        "  [cyan]manylabel predict MODEL FILE[/]        suggest labels for new documents\n"
        "  [cyan]manylabel explain MODEL --text ...[/]  show the reasons\n"
        "  [cyan]manylabel --help[/]                    list all commands\n"
        "  [cyan]docs/howto/commands.md[/]              read the guide, step by step"
    )
