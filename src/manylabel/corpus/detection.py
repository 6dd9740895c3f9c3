"""Which format a file is in: its ending where that tells, its first lines otherwise."""

from __future__ import annotations

import os
import re
from pathlib import Path

from manylabel.corpus import xc
from manylabel.corpus.files import Source, bare_suffix
from manylabel.corpus.texts import COLUMNS
from manylabel.exceptions import CorpusError

__all__ = ["FORMATS", "detect", "format_of_name"]

#: Every format; "mulan" and "meka" are two ways to say in ARFF which attributes are labels.
FORMATS = ("jsonl", "tsv", "csv", "xc", "svmlight", "mulan", "meka", "folder")

_ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".tsv": "tsv",
    ".csv": "csv",
    ".arff": "mulan",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}
_ROW = re.compile(
    r"(\d+(,\d+)*)?([ \t]+\d+:[-+.\deE]+)*[ \t]*(#.*)?|\d+:[-+.\deE]+([ \t].*)?", re.ASCII
)


def detect(source: Source) -> str:
    """The format of an opened file."""
    start = source.peek().removeprefix(b"\xef\xbb\xbf")
    if not start.strip() and len(start) < source.peek_size:
        raise source.error("the file is empty.")
    lines = start.decode("utf-8", "replace").split("\n")
    # Three numbers are no row of svmlight, whatever the ending says.
    if lines and xc.HEADER.fullmatch(lines[0]):
        return "xc"
    known = _ENDINGS.get(bare_suffix(source.name))
    if known is not None:
        return known
    line = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    if line.startswith(("@", "%")):
        return "mulan"
    if line.lstrip().startswith("{"):
        return "jsonl"
    if ":" in line and _ROW.fullmatch(line):
        return "svmlight"
    if "\t" in line:
        return "tsv"
    if set(line.lower().replace('"', "").split(",")) <= COLUMNS:
        return "csv"
    raise source.error(
        f"the format cannot be told from the name or the content; pass one of {', '.join(FORMATS)} "
        "as `format`."
    )


def format_of_name(path: str | os.PathLike[str]) -> str:
    """The format to write a file of this name in."""
    suffix = bare_suffix(path)
    if suffix in _ENDINGS:
        return _ENDINGS[suffix]
    if suffix == ".txt":
        return "xc"
    if not suffix and os.fspath(path) != "-":
        return "folder"
    raise CorpusError(
        f"the format cannot be told from the name; pass one of {', '.join(FORMATS)} as `format`.",
        path=str(Path(path)),
    )
