"""What the tables of texts, TSV and CSV, have in common.

The columns are ``text`` and ``labels``, optionally ``id`` and ``title``. A first row that names
them may put them in any order and have other columns, which are ignored; without it there are
exactly two columns, text and labels. Labels are identifiers in angle brackets with blanks between
them, as Annif writes them (``<http://...> <http://...>``, of which the brackets are dropped), or
names with a separator between them, ``;`` unless told otherwise.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from manylabel.corpus.checks import require_texts, shorten
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.documents import Document
from manylabel.corpus.files import Source
from manylabel.exceptions import CorpusError, ParameterError

__all__ = ["header_columns", "read_rows", "rows_of", "split_labels"]

_ALIASES = {name: name for name in ("id", "title", "text", "labels")} | {"subject_uris": "labels"}
_IDENTIFIERS = re.compile(r"\s*(<[^<>\s]+>\s*)*")


def header_columns(fields: Sequence[str]) -> dict[str, int] | None:
    """Where each column is, if this row names the columns."""
    columns: dict[str, int] = {}
    for place, value in enumerate(fields):
        name = _ALIASES.get(value.strip().lower())
        if name is not None:
            columns.setdefault(name, place)
    if "text" in columns and (len(columns) > 1 or len(fields) == 1):
        return columns
    return None


def read_rows(
    source: Source, rows: Iterable[tuple[int, list[str]]], separator: str
) -> Iterator[Document]:
    """The documents in rows of fields."""
    if not separator or separator.isspace() or separator in "<>":
        raise ParameterError(
            f"`separator` must be a sign other than a blank, < and >; got {separator!r}."
        )
    columns: dict[str, int] | None = None
    expected = 2
    for position, (line, fields) in enumerate(rows):
        if position == 0:
            columns = header_columns(fields)
            if columns is not None:
                expected = len(fields)
                continue
            columns = {"text": 0, "labels": 1}
        assert columns is not None
        if len(fields) != expected:
            raise source.error(f"expected {expected} columns, found {len(fields)}.", line)
        cells = {name: fields[place] for name, place in columns.items()}
        labels = split_labels(cells.get("labels", ""), separator)
        if labels is None:
            raise source.error(
                f"expected identifiers as <...> with blanks between them, "
                f"found {shorten(cells['labels'])}.",
                line,
            )
        yield Document(cells.get("id"), cells["text"], labels, cells.get("title"), line)


def split_labels(cell: str, separator: str) -> list[str] | None:
    """The labels in a cell; None if it starts with ``<`` and goes on otherwise."""
    if cell.lstrip().startswith("<"):
        return re.findall("<(.*?)>", cell) if _IDENTIFIERS.fullmatch(cell) else None
    return [name.strip() for name in cell.split(separator) if name.strip()]


def rows_of(corpus: Corpus, path: str | os.PathLike[str], separator: str) -> Iterator[list[str]]:
    """The rows of a corpus with a header, or an error for what cannot be read back."""
    texts = require_texts(corpus, path)
    _check_label_names(corpus, path, separator)
    named = corpus.has_ids or corpus.titles is not None
    optional = {"id": corpus.ids if named else None, "title": corpus.titles}
    shown = {name: values for name, values in optional.items() if values is not None}
    yield [*shown, "text", "labels"]
    for row, labels in enumerate(corpus.label_lists()):
        yield [*(values[row] for values in shown.values()), texts[row], separator.join(labels)]


def _check_label_names(corpus: Corpus, path: str | os.PathLike[str], separator: str) -> None:
    used = set(corpus.Y.indices.tolist())
    for label, name in enumerate(corpus.label_names):
        if label in used and (
            not name or name != name.strip() or separator in name or name.startswith("<")
        ):
            raise CorpusError(
                f"the label {name!r} cannot be told from its neighbours: it is empty, starts or "
                f"ends with a blank, starts with '<' or holds the separator {separator!r}. "
                "Write JSON Lines instead, or choose another separator.",
                path=os.fspath(path),
            )
