"""``manylabel convert``: a corpus in another format."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli.options import (
    FORMAT_NAMES,
    Debug,
    Encoding,
    Force,
    Format,
    IdColumn,
    Jobs,
    LabelColumn,
    Labels,
    MinDf,
    Quiet,
    Separator,
    Stemming,
    StopWords,
    TextColumn,
    TitleColumn,
    ZeroBased,
)
from manylabel.cli.output import counted, note, working
from manylabel.cli.reading import count_words, read_corpus
from manylabel.exceptions import ManylabelError

__all__ = ["convert"]

_FEATURES = (Format.xc, Format.svmlight, Format.mulan, Format.meka)


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
    from_format: Annotated[
        Format | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help=f"The format of IN, one of {FORMAT_NAMES}; usually found out.",
        ),
    ] = None,
    to_format: Annotated[
        Format | None,
        typer.Option(
            "--to", metavar="FORMAT", help="The format of OUT; by default its ending tells."
        ),
    ] = None,
    labels: Labels = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    title_column: TitleColumn = None,
    id_column: IdColumn = None,
    encoding: Encoding = None,
    separator: Separator = None,
    to_separator: Annotated[
        str | None,
        typer.Option(
            "--to-separator", metavar="SIGN", help="The same for OUT; --separator is for IN."
        ),
    ] = None,
    zero_based: ZeroBased = None,
    stop_words: StopWords = None,
    stemming: Stemming = None,
    min_df: MinDf = 1,
    jobs: Jobs = -1,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a corpus in another format.

    jsonl, tsv, csv and folder hold texts; xc, svmlight, mulan and meka hold features. Words of
    texts are counted on the way to features; there is no way back. Names of labels and features
    stand in labels.txt and features.txt beside xc and svmlight.

    For example:
      manylabel convert train.jsonl train.csv.gz
      manylabel convert train.jsonl train.txt --stop-words english --min-df 2
      manylabel convert emotions-train.arff - --to svmlight
    """
    from manylabel.corpus import write
    from manylabel.corpus.detection import format_of_name

    if target == "-" and to_format is None:
        raise typer.BadParameter("standard output has no ending: say --to FORMAT.")
    kind = to_format or Format(format_of_name(target))
    if not force:
        _refuse_overwriting(source, target, kind)
    corpus = read_corpus(
        source,
        from_format,
        labels=labels,
        separator=separator,
        text_column=text_column,
        label_column=label_column,
        title_column=title_column,
        id_column=id_column,
        encoding=encoding,
        zero_based=zero_based,
        quiet=quiet,
    )
    if kind in _FEATURES:
        corpus = count_words(
            corpus, stop_words=stop_words, stemming=stemming, min_df=min_df, jobs=jobs, quiet=quiet
        )
    with working(f"Writing {target} ...", quiet or target == "-"):
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
    """Raise an error if a file would be lost."""
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
            raise ManylabelError(f"{file} {what}; choose another name or say --force.")


def _same(source: str, path: Path) -> bool:
    return source != "-" and os.path.exists(source) and path.samefile(source)
