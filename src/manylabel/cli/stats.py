"""``manylabel stats``: a corpus in figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli.options import (
    CorpusPath,
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

__all__ = ["statistics_table", "stats"]

#: Heading -> figure -> what it means.
MEANINGS = {
    "Size": {
        "documents": "",
        "features": "distinct words or columns",
        "labels": "in the vocabulary",
    },
    "Labels of a document": {
        "label-cardinality": "on average",
        "label-density": "as a share of all labels",
        "labels-per-document-median": "half of them have no more",
        "labels-per-document-max": "",
        "documents-without-labels": "",
    },
    "Documents of a label": {
        "label-frequency-mean": "on average",
        "label-frequency-median": "half of them have no more",
        "label-frequency-mode": "the most common number",
        "label-frequency-max": "of the most common label",
        "labels-without-documents": "",
    },
    "Sets of labels": {
        "distinct-label-sets": "combinations that occur",
        "label-set-frequency-mean": "documents a combination",
        "unique-label-set-proportion": "documents alone with theirs",
    },
    "Features of a document": {
        "feature-cardinality": "not zero, on average",
        "feature-density": "as a share of all features",
        "documents-without-features": "",
    },
}


#: Of a model: figure -> what it means.
MODEL_MEANINGS = {
    "promised": "mean probability of the labels that it suggested, before it learned the documents",
    "accepted": "share of them that people gave",
    "standard-errors": "between the two; more than 3 either way is not chance",
}


def stats(
    corpus: CorpusPath,
    as_json: Data = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="OUT.svg",
            help="Draw how labels are distributed, as .svg, .pdf or .png: two files.",
        ),
    ] = None,
    reading: Reading = Reading(),
    counting: Counting = Counting(),
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Describe a corpus in figures, or say whether a model should be trained again.

    Words of texts are counted first; the options about words decide how many features there are.
    For a model, shows which precision it promised for the documents that it has learned since its
    training, what people accepted, and whether to train again.

    For example:
      manylabel stats train.jsonl --stop-words english --min-df 2
      manylabel stats bibtex/train.txt.xz --json
      manylabel stats model
      manylabel stats emotions-train.arff --plot emotions.svg
      xzcat train.jsonl.xz | manylabel stats -
    """
    if is_model(corpus):
        if plot is not None:
            raise InputError("--plot draws a corpus, not a model; leave it out.")
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
    """What a model holds, and whether its probabilities still do."""
    from manylabel.tagger import Tagger

    tagger = Tagger.load(path)
    drift = tagger.drift()
    figures = {
        "documents": tagger.n_documents,
        "labels": len(tagger.labels),
        "learned-since-training": drift.n_documents,
        "promised": drift.promised,
        "accepted": drift.accepted,
        "standard-errors": drift.z,
        "retrain": drift.should_retrain,
    }
    if as_json:
        print_json(figures)
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(path, "bold"), title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("Figure", style="cyan", no_wrap=True)
    table.add_column("Value", justify="right", no_wrap=True)
    table.add_column("Meaning", style="dim")
    shown = dict(MODEL_MEANINGS) if drift.n_documents else {}
    for name in ("documents", "labels", "learned-since-training"):
        table.add_row(name, f"{figures[name]:,}", "")
    for name, meaning in shown.items():
        value = f"{figures[name]:+.1f}" if name == "standard-errors" else f"{figures[name]:.1%}"
        table.add_row(name, value, meaning)
    console = make_console()
    console.print(table)
    console.print(drift.advice)
    if drift.should_retrain:
        console.print(f"manylabel compact {path} --retrain", style="bold", markup=False)


def statistics_table(figures: dict[str, Any], title: str) -> Table:
    """The figures under their headings, with what they mean."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title, "bold"), title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("Figure", style="cyan", no_wrap=True)
    table.add_column("Value", justify="right", no_wrap=True)
    table.add_column("Meaning", style="dim")
    for heading, meanings in MEANINGS.items():
        table.add_row(Text(heading, "bold"))
        for name, meaning in meanings.items():
            table.add_row(f"  {name}", _shown(figures[name]), meaning)
    return table


def _shown(value: float) -> str:
    """A whole number in full, any other with four digits that say something."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.2f}" if value >= 100 else f"{value:.4g}"


def _draw(corpus: Corpus, path: Path) -> list[Path]:
    """Draw Rubin's figures 1 and 2 into files whose names start as ``path`` does."""
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
