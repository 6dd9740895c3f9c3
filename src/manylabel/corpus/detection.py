"""Which format a file is in: its ending where that tells, its first lines otherwise."""

from __future__ import annotations

import os
import re
from pathlib import Path

from manylabel.corpus import mulan, xc
from manylabel.corpus.files import Source, bare_suffix
from manylabel.corpus.tables import header_columns
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
    r"(\d+(,\d+)*(?=[ \t]|$))?([ \t]*\d+:[-+.\deE]+(?=[ \t]|$))*[ \t]*(#.*)?", re.ASCII
)
_LINES = 5


def detect(source: Source) -> str:
    """The format of an opened file."""
    peeked = source.peek()
    start = peeked.decode("utf-8", "replace")
    if len(peeked) == source.peek_size:
        start = start[: max(map(start.rfind, " \t\n")) + 1]
    # Three numbers are no row of svmlight, whatever the ending says.
    if xc.HEADER.fullmatch(start.split("\n", 1)[0]):
        return "xc"
    kind = _ENDINGS.get(bare_suffix(source.name)) or _by_content(start)
    if kind is None:
        raise source.error(
            "the format cannot be told from the name or the content; "
            f"pass one of {', '.join(FORMATS)} as `format`."
        )
    return "meka" if kind == "mulan" and mulan.find_xml(source) is None else kind


def _by_content(start: str) -> str | None:
    """The format that the first lines are in."""
    lines = [line.removesuffix("\r") for line in start.split("\n") if line.strip()]
    line = next((line for line in lines if not line.startswith("#")), "")
    if line.lstrip().startswith(("@", "%")):
        return "mulan"
    if line.lstrip().startswith("{"):
        return "jsonl"
    if ":" in "".join(lines[:_LINES]) and all(map(_ROW.fullmatch, lines[:_LINES])):
        return "svmlight"
    if "\t" in line:
        return "tsv"
    if header_columns(line.replace('"', "").split(",")):
        return "csv"
    return None


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
