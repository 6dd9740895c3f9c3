"""Read a vocabulary; its format is detected from the content."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module

from manylabel.corpus.files import Source, open_source
from manylabel.vocabulary.vocabulary import Concept, Vocabulary

__all__ = ["FORMATS", "detect", "read"]

#: Format -> its reader. To add a format, write a module, and add a line here and a check to
#: `detect`.
FORMATS: dict[str, str] = {
    "jsonl": "manylabel.vocabulary.json_lines:read",
    "csv": "manylabel.vocabulary.tables:read_csv",
    "tsv": "manylabel.vocabulary.tables:read_tsv",
    "turtle": "manylabel.vocabulary.skos:read_turtle",
    "ntriples": "manylabel.vocabulary.skos:read_ntriples",
    "rdfxml": "manylabel.vocabulary.skos:read_rdfxml",
    "jsonld": "manylabel.vocabulary.skos:read_jsonld",
}
_TRIPLE = re.compile(
    rb"\s*(<[^<>\s]+>|_:\S+)\s+<[^<>\s]+>\s+(<[^<>\s]+>|_:\S+|\".*)\s*\.\s*(#.*)?$"
)
_TURTLE = re.compile(rb"^\s*(@prefix|@base|PREFIX|BASE)\s", re.IGNORECASE | re.MULTILINE)
_CSV = re.compile(rb"^\W*(uri|id|identifier|notation)\W*,|^[^\t\n]*\blabel_[a-z]", re.IGNORECASE)


def read(path: str | os.PathLike[str], names_optional: bool = False) -> Vocabulary:
    r"""Read a vocabulary, plain or compressed.

    Parameters
    ----------
    path : path
        SKOS as Turtle, RDF/XML, N-Triples or JSON-LD; a tab-separated table of label and name, as
        in Annif; CSV with a header (``uri``, ``notation``, ``label_en``, ...); or JSON Lines with
        ``id``, ``name``, ``alt`` and ``parents``.
    names_optional : bool, default=False
        Accept labels without names; a plain line of text is then a label.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "yso.tsv")
    ...     _ = path.write_text("<http://www.yso.fi/onto/yso/p10>\tcats\n")
    ...     read(path).name("http://www.yso.fi/onto/yso/p10")
    'cats'
    """
    with open_source(path) as source:
        format = detect(source, "tsv" if names_optional else None)
        module, _, name = FORMATS[format].partition(":")
        reader: Callable[..., Iterator[Concept]] = getattr(import_module(module), name)
        if format == "tsv":
            reader = partial(reader, names_optional=names_optional)
        vocabulary = Vocabulary(reader(source))
        if not len(vocabulary.names) and not names_optional:
            raise source.error("expected label names, found none.")
    return vocabulary


def detect(source: Source, otherwise: str | None = None) -> str:
    """Detect the format of a file by its beginning; use ``otherwise`` if none fits, or raise."""
    head = source.peek()
    start = head.lstrip()
    lines = [line for line in start.splitlines() if line.strip() and not line.startswith(b"#")]
    first = lines[0] if lines else b""
    if start.startswith((b"<?xml", b"<rdf:", b"<!DOCTYPE")):
        return "rdfxml"
    if first.startswith(b"[") or (
        first.startswith(b"{") and re.search(rb'"@(context|graph|id)"', head)
    ):
        return "jsonld"
    if first.startswith(b"{"):
        return "jsonl"
    if _TURTLE.search(head):
        return "turtle"
    if _TRIPLE.match(first):
        return "ntriples"
    if _CSV.match(first):
        return "csv"
    if b"\t" in first:
        return "tsv"
    if otherwise is not None:
        return otherwise
    shown = first[:60].decode("utf-8", "replace")
    raise source.error(
        "expected a vocabulary: SKOS (Turtle, RDF/XML, N-Triples, JSON-LD), a tab-separated table "
        "of label and name, CSV with a header (uri, label_en, ...) or JSON Lines; "
        f"found {shown!r}.",
        1,
    )
