"""Arguments and options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from manylabel.models import MODELS

__all__ = [
    "CharNgrams",
    "CorpusPath",
    "Dask",
    "Data",
    "Debug",
    "DocumentFormat",
    "DocumentsFormat",
    "DocumentsPath",
    "Encoding",
    "Features",
    "Force",
    "Format",
    "IdColumn",
    "Jobs",
    "Json",
    "KeepTexts",
    "LabelColumn",
    "LabelInfo",
    "Labels",
    "Language",
    "MaxDf",
    "MaxExpansion",
    "MaxFeatures",
    "MaxLine",
    "MinDf",
    "ModelName",
    "ModelPath",
    "NewModel",
    "Ngrams",
    "OnError",
    "OnErrorChoice",
    "Quiet",
    "ReadFormat",
    "Seed",
    "Separator",
    "Settings",
    "Spool",
    "State",
    "Stemming",
    "StopWords",
    "Text",
    "TextColumn",
    "TitleColumn",
    "TrainingPath",
    "VocabularyFile",
    "ZeroBased",
]


@dataclass
class State:
    """State that all commands share."""

    debug: bool = False
    #: What follows ``manylabel``.
    arguments: tuple[str, ...] = ()


class Format(StrEnum):
    """The formats of corpora; listed here so that the help does not import their readers."""

    jsonl = "jsonl"
    tsv = "tsv"
    csv = "csv"
    xc = "xc"
    svmlight = "svmlight"
    mulan = "mulan"
    meka = "meka"
    folder = "folder"
    json = "json"
    xlsx = "xlsx"
    ods = "ods"
    parquet = "parquet"
    docx = "docx"
    pdf = "pdf"
    html = "html"
    epub = "epub"
    lines = "lines"


FORMAT_NAMES = ", ".join(Format)


#: Documents without labels have the same formats as corpora.
DocumentFormat = Format


class OnErrorChoice(StrEnum):
    """What to do with a line that cannot be read."""

    stop = "stop"
    skip = "skip"


def _remember_debug(ctx: typer.Context, asked: bool) -> bool:
    if asked:
        ctx.ensure_object(State).debug = True
    return asked


def _share_or_count(text: str) -> float:
    """Parse a whole number of documents, or a share of them."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number; give one such as 2 or 0.01.") from None


def _complete_model(incomplete: str) -> list[str]:
    return [name for name in MODELS if name.startswith(incomplete)]


CorpusPath = Annotated[
    str,
    typer.Argument(
        metavar="CORPUS",
        show_default=False,
        help="A file, plain or compressed, a folder of texts, or - for standard input.",
    ),
]
TrainingPath = Annotated[
    str | None,
    typer.Argument(
        metavar="CORPUS",
        show_default=False,
        help="A file, plain or compressed, a folder of texts, or - for standard input.",
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="A file with the names of the labels, one per line; for ARFF, Mulan's XML file.",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--label-separator",
        "--separator",
        metavar="CHARACTER",
        help="Separator of labels in one cell or string; detected by default.",
    ),
]
TextColumn = Annotated[
    list[str] | None,
    typer.Option(
        "--text-column",
        metavar="NAME",
        help="The column or field with the text; if repeated, the texts are joined. Names such as "
        "text, content or abstract are recognised.",
    ),
]
LabelColumn = Annotated[
    list[str] | None,
    typer.Option(
        "--label-column",
        metavar="NAME",
        help="The column or field with the labels; repeatable. A column of 0s and 1s is itself a "
        "label. Names such as labels, keywords or subjects are recognised.",
    ),
]
TitleColumn = Annotated[
    str | None, typer.Option("--title-column", metavar="NAME", help="The column with the title.")
]
IdColumn = Annotated[
    str | None, typer.Option("--id-column", metavar="NAME", help="The column with the id.")
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Encoding of the texts, such as utf-8 or cp1252; detected by default.",
    ),
]
ZeroBased = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based",
        show_default=False,
        help="Whether svmlight's features are counted from 0 or 1; detected by default.",
    ),
]
MaxLine = Annotated[
    int | None,
    typer.Option(
        "--max-line",
        metavar="BYTES",
        min=1,
        show_default=False,
        help="Refuse a file with a longer line; 64 MiB by default.",
    ),
]
MaxExpansion = Annotated[
    float | None,
    typer.Option(
        "--max-expansion",
        metavar="TIMES",
        min=1,
        show_default=False,
        help="Refuse a compressed file that expands more than this; 100 times by default.",
    ),
]
StopWords = Annotated[
    str | None,
    typer.Option(
        "--stop-words",
        metavar="LANGUAGE",
        help="Leave out the stop words of this language.",
    ),
]
Stemming = Annotated[
    str | None,
    typer.Option(
        "--stemming",
        metavar="LANGUAGE",
        help="Count the forms of a word as one, with the stemmer of this language.",
    ),
]
MinDf = Annotated[
    float,
    typer.Option(
        "--min-df",
        metavar="N",
        parser=_share_or_count,
        help="Leave out words in fewer documents than this: a number, or a share such as 0.01.",
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", metavar="N", help="Threads; -1 for all cores.")]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        envvar="DASK_SCHEDULER_ADDRESS",
        show_envvar=False,
        help="Run on a Dask cluster: tcp://host:8786, or local:4 for processes here; by default "
        "DASK_SCHEDULER_ADDRESS.",
    ),
]
Spool = Annotated[
    str | None,
    typer.Option(
        "--spool",
        metavar="PLACE",
        help="Where the cluster exchanges inputs and results: a folder that all machines can "
        "access, an address such as s3://bucket/folder, or dask if they share nothing. By "
        "default a folder beside the output, removed on success.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Data = Annotated[
    bool | None,
    typer.Option(
        "--json/--table",
        show_default=False,
        help="Print JSON for programs, or tables for people; by default tables in a terminal and "
        "JSON elsewhere.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
Debug = Annotated[
    bool,
    typer.Option("--debug", callback=_remember_debug, help="Show the traceback of an error."),
]

ReadFormat = Annotated[
    Format | None,
    typer.Option("--format", metavar="FORMAT", help=f"One of {FORMAT_NAMES}; detected by default."),
]
ModelPath = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", show_default=False, help="A model folder, written by manylabel train."
    ),
]
NewModel = Annotated[
    str,
    typer.Option("--output", "-o", metavar="MODEL", help="The folder to write the model to."),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        autocompletion=_complete_model,
        help=f"Model to train: one of {', '.join(MODELS)}.",
        show_default="ensemble",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the model, such as k=50; repeatable.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed", metavar="N", min=0, help="Random seed: the same seed gives the same model."
    ),
]
Language = Annotated[
    str,
    typer.Option(
        "--language",
        metavar="LANGUAGE",
        help="Language of the texts, such as en, fi or german: chooses stop words and stems. auto "
        "detects it; none uses neither.",
    ),
]
Features = Annotated[
    str,
    typer.Option(
        "--features",
        metavar="KIND",
        help="auto or words: auto tests on a sample whether weighting the first words of long "
        "texts, or counting character n-grams in short ones, helps.",
    ),
]
Effort = Annotated[
    str | None,
    typer.Option(
        "--effort",
        metavar="LEVEL",
        help="quick, normal or best: how long an ensemble may train. quick uses only neighbours "
        "and one linear model.",
        show_default="normal",
    ),
]
Ngrams = Annotated[
    str | None,
    typer.Option(
        "--ngrams",
        metavar="A-B",
        help="Count sequences of words: 1-2 counts words and pairs of words.",
    ),
]
CharNgrams = Annotated[
    str | None,
    typer.Option(
        "--char-ngrams",
        metavar="A-B",
        help="Count character n-grams instead of words; 3-5 counts those of 3 to 5 characters.",
    ),
]
MaxDf = Annotated[
    float | None,
    typer.Option(
        "--max-df",
        metavar="N",
        parser=_share_or_count,
        help="Leave out words in more documents than this: a number, or a share such as 0.5.",
    ),
]
MaxFeatures = Annotated[
    int | None,
    typer.Option("--max-features", metavar="N", min=1, help="Count only the most common words."),
]
VocabularyFile = Annotated[
    str | None,
    typer.Option(
        "--vocabulary",
        metavar="FILE",
        help="Names and relations of labels: SKOS, Annif's TSV, CSV with a header or JSON Lines. "
        "The model looks for the names in texts, so it can suggest labels that no document has.",
    ),
]
LabelInfo = Annotated[
    str | None,
    typer.Option(
        "--label-info",
        metavar="FILE",
        help="Names and descriptions of labels: tab-separated label, name and description, or "
        "JSON Lines.",
    ),
]
KeepTexts = Annotated[
    bool,
    typer.Option(
        "--keep-texts/--keep-snippets",
        help="Keep whole texts, to show as reasons and to train again, or only their first 300 "
        "characters.",
    ),
]
DocumentsPath = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        show_default=False,
        help="Documents: a file, plain or compressed, a folder of texts, or - for standard input, "
        "which is the default.",
    ),
]
DocumentsFormat = Annotated[
    DocumentFormat | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"One of {FORMAT_NAMES}; detected by default. Anything else "
        "is read as plain text, one text per line.",
    ),
]
Text = Annotated[
    str | None,
    typer.Option("--text", metavar="TEXT", help="A text, instead of a file of documents."),
]
OnError = Annotated[
    OnErrorChoice,
    typer.Option(
        "--on-error",
        metavar="stop|skip",
        help="Stop at a line that cannot be read, or report and skip it.",
    ),
]
