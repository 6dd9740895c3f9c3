"""``manylabel stats``: statistics of a corpus, or the drift of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli.models import open_tagger
from manylabel.cli.options import (
    Data,
    Debug,
    Quiet,
)
from manylabel.cli.output import make_console, note, print_json, wants_data
from manylabel.cli.reading import Counting, Reading, is_model
from manylabel.exceptions import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from manylabel.corpus import Corpus
    from manylabel.tagger.drift import Drift

__all__ = ["statistics_table", "stats"]

#: Heading -> figure -> its meaning.
MEANINGS = {
    "Size": {
        "documents": "",
        "features": "distinct words or columns",
        "labels": "in the vocabulary",
    },
    "Labels per document": {
        "label-cardinality": "on average",
        "label-density": "as a share of all labels",
        "labels-per-document-median": "half of them have no more",
        "labels-per-document-max": "",
        "documents-without-labels": "",
    },
    "Documents per label": {
        "label-frequency-mean": "on average",
        "label-frequency-median": "half of them have no more",
        "label-frequency-mode": "the most common value",
        "label-frequency-max": "of the most frequent label",
        "labels-without-documents": "",
    },
    "Sets of labels": {
        "distinct-label-sets": "combinations that occur",
        "label-set-frequency-mean": "documents per combination",
        "unique-label-set-proportion": "documents whose combination is unique",
    },
    "Features per document": {
        "feature-cardinality": "non-zero, on average",
        "feature-density": "as a share of all features",
        "documents-without-features": "",
    },
}


#: Figure of a model -> its meaning.
MODEL_MEANINGS = {
    "promised": "mean probability of its suggestions, as if it had not learned the documents",
    "accepted": "share of these suggestions that people gave",
    "standard-errors": "difference of the two; beyond 3 it is not chance",
}


def stats(
    corpus: Annotated[
        str,
        typer.Argument(
            metavar="CORPUS|MODEL",
            show_default=False,
            help="A file, plain or compressed, a folder of texts, - for standard input, or a model "
            "folder.",
        ),
    ],
    as_json: Data = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="OUT.svg",
            help="Plot how labels are distributed, into two .svg, .pdf or .png files.",
        ),
    ] = None,
    reading: Reading = Reading(),
    counting: Counting = Counting(),
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show statistics of a corpus, or the state of a model.

    For texts, words are counted first; the options about words decide how many features there are.
    For a model that gives probabilities, the command says whether to train again: it compares the
    probabilities for documents learned since the last training with the labels that they have.

    For example:
      manylabel stats train.jsonl --stop-words english --min-df 2
      manylabel stats bibtex/train.txt.xz --json
      manylabel stats model
      manylabel stats emotions-train.arff --plot emotions.svg
      xzcat train.jsonl.xz | manylabel stats -
    """
    if is_model(corpus):
        if plot is not None:
            raise InputError("--plot is for a corpus, not for a model; leave it out.")
        _show_model(corpus, wants_data(as_json))
        return
    name = "standard input" if corpus == "-" else corpus
    counted_corpus = counting.counted(reading.corpus(corpus, quiet), quiet)
    figures = counted_corpus.statistics().to_dict()
    if wants_data(as_json):
        print_json(figures)
    else:
        make_console().print(statistics_table(figures, name))
    if plot is not None:
        for path in _draw(counted_corpus, plot):
            note(f"Wrote {path}", quiet)


def _show_model(path: str, as_json: bool) -> None:
    """Show the size of a model, and whether its probabilities still hold."""
    tagger = open_tagger(path, 1, quiet=True)
    figures: dict[str, Any] = {
        "documents": tagger.n_documents,
        "labels": len(tagger.labels),
        "learned-since-training": tagger.n_learned,
    }
    drift: Drift | None = None
    try:
        drift = tagger.drift()
        advice = drift.advice
        if tagger.n_learned > drift.n_changed and not drift.n_documents:
            advice = "Cannot say whether to train again: all documents learned are incomplete."
    except InputError as error:
        advice = f"Cannot say whether to train again: {error}"
    is_compared = drift is not None and drift.n_documents > 0
    figures |= {
        "promised": drift.promised if drift is not None else None,
        "accepted": drift.accepted if drift is not None else None,
        "standard-errors": drift.z if drift is not None else None,
        "retrain": drift.should_retrain if drift is not None else None,
    }
    if as_json:
        print_json(figures)
        return
    table = _new_table(path)
    for name in ("documents", "labels", "learned-since-training"):
        table.add_row(name, f"{figures[name]:,}", "")
    for name, meaning in MODEL_MEANINGS.items() if is_compared else ():
        value = f"{figures[name]:+.1f}" if name == "standard-errors" else f"{figures[name]:.1%}"
        table.add_row(name, value, meaning)
    console = make_console()
    console.print(table)
    console.print(advice, markup=False)
    if figures["retrain"]:
        console.print(f"manylabel compact {path} --retrain", style="bold", markup=False)


def statistics_table(figures: dict[str, Any], title: str) -> Table:
    """A table of the figures with their meanings, under headings."""
    from rich.text import Text

    table = _new_table(title)
    for heading, meanings in MEANINGS.items():
        table.add_row(Text(heading, "bold"))
        for name, meaning in meanings.items():
            table.add_row(f"  {name}", _shown(figures[name]), meaning)
    return table


def _new_table(title: str) -> Table:
    """An empty table for figures, values and meanings."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title, "bold"), title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("Figure", style="cyan", no_wrap=True)
    table.add_column("Value", justify="right", no_wrap=True)
    table.add_column("Meaning", style="dim")
    return table


def _shown(value: float) -> str:
    """Format a whole number in full, any other with four significant digits."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.2f}" if value >= 100 else f"{value:.4g}"


def _draw(corpus: Corpus, path: Path) -> list[Path]:
    """Plot figures 1 and 2 of Rubin et al. into two files named after ``path``."""
    from manylabel.corpus.plots import plot_label_frequencies, plot_labels_per_document

    drawn = []
    for name, draw in (
        ("label-frequencies", plot_label_frequencies),
        ("labels-per-document", plot_labels_per_document),
    ):
        target = path.with_name(f"{path.stem}-{name}{path.suffix}")
        draw(corpus, target)
        drawn.append(target)
    return drawn
