"""``manylabel convert``: convert a corpus to another format."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli.options import (
    FORMAT_NAMES,
    Debug,
    Force,
    Format,
    Quiet,
)
from manylabel.cli.output import counted, note, renaming, working
from manylabel.cli.reading import Counting, Reading
from manylabel.exceptions import ManylabelError

__all__ = ["convert"]

_FEATURES = (Format.xc, Format.svmlight, Format.mulan, Format.meka)


@dataclass(frozen=True)
class FromReading(Reading):
    """How to read the corpus to convert."""

    format: Annotated[
        Format | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help=f"The format of IN, one of {FORMAT_NAMES}; detected by default.",
        ),
    ] = None


def convert(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN", show_default=False, help="A file, a folder or - for standard input."
        ),
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            show_default=False,
            help="A file, compressed if it ends in .gz, .bz2, .xz or .zst; a folder; or - for "
            "standard output.",
        ),
    ],
    to_format: Annotated[
        Format | None,
        typer.Option(
            "--to", metavar="FORMAT", help="The format of OUT; by default its extension decides."
        ),
    ] = None,
    to_separator: Annotated[
        str | None,
        typer.Option(
            "--to-separator", metavar="CHARACTER", help="Separator of labels in one cell of OUT."
        ),
    ] = None,
    reading: FromReading = FromReading(),
    counting: Counting = Counting(),
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Convert a corpus to another format.

    jsonl, tsv, csv and folder contain texts; xc, svmlight, mulan and meka contain features. Texts
    become features by counting words; features cannot become texts. For xc and svmlight, the names
    of labels and features are in labels.txt and features.txt beside the file.

    For example:
      manylabel convert train.jsonl train.csv.gz
      manylabel convert train.jsonl train.txt --stop-words english --min-df 2
      manylabel convert emotions-train.arff - --to svmlight
    """
    from manylabel.corpus import write
    from manylabel.corpus.detection import format_of_name

    if target == "-" and to_format is None:
        raise typer.BadParameter("standard output has no extension; give --to FORMAT.")
    with renaming(format="to_format"):
        kind = to_format or Format(format_of_name(target))
    if not force:
        _refuse_overwriting(source, target, kind)
    corpus = reading.corpus(source, quiet)
    if kind in _FEATURES:
        corpus = counting.counted(corpus, quiet)
    with (
        working(f"Writing {target} ...", quiet or target == "-"),
        renaming(format="to_format", separator="to_separator"),
    ):
        write(corpus, target, kind, separator=to_separator)
    shown = "standard output" if target == "-" else target
    content = counted(corpus.n_features, "feature") if kind in _FEATURES else "texts"
    note(
        f"Wrote {counted(len(corpus), 'document')}, {content} and "
        f"{counted(corpus.n_labels, 'label')} "
        f"to {shown} ({kind}).",
        quiet,
    )


def _refuse_overwriting(source: str, target: str, kind: Format) -> None:
    """Raise an error if a file would be overwritten."""
    from manylabel.corpus.files import bare_stem

    if target == "-":
        return
    path = Path(target)
    written = [path]
    if kind is Format.mulan:
        written.append(path.with_name(f"{bare_stem(path)}.xml"))
    for file in written:
        if file.is_file() or (file.is_dir() and any(file.iterdir())):
            what = "is the corpus to convert" if _same(source, file) else "exists"
            raise ManylabelError(f"{file} {what}; choose another name or give --force.")


def _same(source: str, path: Path) -> bool:
    return source != "-" and os.path.exists(source) and path.samefile(source)
