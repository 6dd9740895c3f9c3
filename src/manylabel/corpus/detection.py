"""Detect the format of a file by its first bytes, its extension or its first lines."""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path

from manylabel.corpus import mulan, xc
from manylabel.corpus.dialects import is_header
from manylabel.corpus.files import Source, bare_suffix
from manylabel.exceptions import CorpusError

__all__ = ["DOCUMENT_FORMATS", "FORMATS", "READ_ONLY", "TEXT_FORMATS", "detect", "format_of_name"]

#: Formats with one document per file.
DOCUMENT_FORMATS = ("docx", "pdf", "html", "epub")
#: Formats of texts; "lines" is plain text, one document per line.
TEXT_FORMATS = (
    *("jsonl", "json", "tsv", "csv", "xlsx", "ods", "parquet", "folder"),
    *DOCUMENT_FORMATS,
    "lines",
)
#: Formats that can be read but not written.
READ_ONLY = ("json", "xlsx", "ods", "parquet", *DOCUMENT_FORMATS, "lines")
#: All formats; "mulan" and "meka" are ARFF with different ways to declare labels.
FORMATS = (
    *("jsonl", "tsv", "csv", "xc", "svmlight", "mulan", "meka", "folder"),
    *READ_ONLY,
)

_ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".csv": "csv",
    ".arff": "mulan",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".htm": "html",
    ".xlsm": "xlsx",
} | {f".{name}": name for name in ("xlsx", "ods", "parquet", *DOCUMENT_FORMATS)}
#: First bytes of binary files -> format.
_BINARY = (
    (b"PAR1", "parquet"),
    (b"%PDF", "pdf"),
)
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_ZIP = b"PK\x03\x04"
_MEMBERS_OF_ZIP = (
    (b"application/vnd.oasis.opendocument.spreadsheet", "ods"),
    (b"application/epub+zip", "epub"),
    (b"word/", "docx"),
    (b"xl/", "xlsx"),
)
_ROW = re.compile(
    r"(\d+(,\d+)*(?=[ \t]|$))?([ \t]*\d+:[-+.\deE]+(?=[ \t]|$))*[ \t]*(#.*)?", re.ASCII
)
_LINES = 5


def detect(source: Source, otherwise: str | None = None) -> str:
    """Detect the format of an open file; ``otherwise`` is the default, without it raise."""
    peeked = source.peek()
    if (binary := _of_bytes(source, peeked)) is not None:
        return binary
    start = _as_text(peeked)
    if len(peeked) == source.peek_size:
        start = start[: max(map(start.rfind, " \t\n")) + 1]
    # Three numbers are not a row of svmlight, whatever the extension.
    if xc.HEADER.fullmatch(start.split("\n", 1)[0]):
        return "xc"
    kind = _ENDINGS.get(bare_suffix(source.name)) or _by_content(start) or otherwise
    if kind == "jsonl" and start.lstrip().startswith("[") and not start.startswith("[["):
        kind = "json"
    if kind is None:
        raise source.error(
            "the format cannot be detected from the name or the content; "
            f"pass one of {', '.join(FORMATS)} as `format`."
        )
    return "meka" if kind == "mulan" and mulan.find_xml(source) is None else kind


def _of_bytes(source: Source, start: bytes) -> str | None:
    """The format of a binary file; None for text, an error for other binary files."""
    for magic, kind in _BINARY:
        if start.startswith(magic):
            return kind
    suffix = bare_suffix(source.name)
    if start.startswith(_ZIP):
        for member, kind in _MEMBERS_OF_ZIP:
            if member in start:
                return kind
        if suffix in (".xlsx", ".xlsm", ".ods", ".docx", ".epub"):
            return _ENDINGS[suffix]
        raise source.error("this is a ZIP archive; unpack it, and give the file or folder inside.")
    if start.startswith(_OLD_OFFICE):
        raise source.error(
            "this is an old Office format; save the file as .xlsx, .docx or .csv first."
        )
    is_known_text = suffix in _ENDINGS and _is_utf8(start)
    if b"\0" in start and not is_known_text and not _is_utf16(start):
        raise source.error(
            "this is not text: it contains zero bytes. Convert it to text, a table or JSON Lines."
        )
    return None


def _is_utf8(start: bytes) -> bool:
    """Whether bytes are UTF-8, apart from a character that is cut off at the end."""
    try:
        start.decode()
    except UnicodeDecodeError as error:
        return error.start > len(start) - 4
    return True


def _is_utf16(start: bytes) -> bool:
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return True
    zeros = start.count(0)
    return 0.35 * len(start) <= zeros <= 0.5 * len(start)


def _as_text(start: bytes) -> str:
    """The first bytes as text, accurate enough to detect the format."""
    if b"\0" in start or start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        is_big = start[:2] == b"\xfe\xff" or (start[:2] != b"\xff\xfe" and start[:1] == b"\0")
        return start.decode("utf-16-be" if is_big else "utf-16-le", "replace").lstrip("\ufeff")
    return start.decode("utf-8", "replace")


def _by_content(start: str) -> str | None:
    """Detect the format from the first lines."""
    lines = [line.removesuffix("\r") for line in start.split("\n") if line.strip()]
    line = next((line for line in lines if not line.startswith("#")), "")
    if line.lstrip().startswith(("@", "%")):
        return "mulan"
    if line.lstrip().startswith(("{", '[{"')) or (line.strip() == "[" and "{" in start):
        return "jsonl"
    if line.lstrip().casefold().startswith(("<!doctype html", "<html")):
        return "html"
    if ":" in "".join(lines[:_LINES]) and all(map(_ROW.fullmatch, lines[:_LINES])):
        return "svmlight"
    if "\t" in line:
        return "tsv"
    if line.casefold().startswith("sep="):
        return "csv"
    for delimiter in ",;|":
        # `csv` refuses a carriage return in the middle of a line.
        fields = next(csv.reader(line.split("\r")[:1], delimiter=delimiter), [])
        if len(fields) > 1 and is_header(fields):
            return "csv"
    return None


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a file name whose extension belongs to a read-only format."""
    suffix = bare_suffix(path)
    if _ENDINGS.get(suffix) in READ_ONLY:
        raise CorpusError(
            f"cannot write {suffix} files; write .csv or .jsonl instead.",
            path=str(Path(path)),
        )


def format_of_name(path: str | os.PathLike[str]) -> str:
    """The format in which to write a file with this name."""
    check_writable(path)
    suffix = bare_suffix(path)
    kind = _ENDINGS.get(suffix)
    if kind is not None:
        return kind
    if suffix == ".txt":
        return "xc"
    if not suffix and os.fspath(path) != "-":
        return "folder"
    written = [name for name in FORMATS if name not in READ_ONLY]
    raise CorpusError(
        f"the format cannot be detected from the name; pass one of {', '.join(written)} as "
        "`format`.",
        path=str(Path(path)),
    )
