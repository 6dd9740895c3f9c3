"""Read vocabularies from tables: tab-separated label and name, or CSV with a header."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from manylabel.corpus.files import Source
from manylabel.vocabulary.label_names import ALTERNATIVE, HIDDEN, PREFERRED
from manylabel.vocabulary.vocabulary import Concept, Name

__all__ = ["read_csv", "read_tsv"]

_KINDS = {"": PREFERRED, "pref": PREFERRED, "alt": ALTERNATIVE, "hidden": HIDDEN}
_COLUMN = re.compile(r"(?:(pref|alt|hidden|)label|(alt|hidden))(?:[_@-]([A-Za-z-]+))?$")


def read_tsv(source: Source, names_optional: bool = False) -> Iterator[Concept]:
    """Read ``<uri>``, name and an optional notation (as in Annif) or description per line."""
    for number, line in source.lines():
        # A plain label may be a hashtag, so "#" does not start a comment there.
        if not line.strip() or (line.startswith("#") and not names_optional):
            continue
        label, tab, rest = line.partition("\t")
        if not label.strip() or not (tab or names_optional):
            raise source.error("expected a label and its name, separated by a tab.", number)
        name, _, more = rest.partition("\t")
        # A notation is a single code; a description has several words.
        is_code = bool(more.strip()) and " " not in more.strip()
        yield Concept(
            label, [Name(name)], more.strip() if is_code else "", "" if is_code else more.strip()
        )


def read_csv(source: Source) -> Iterator[Concept]:
    """Read CSV whose header has ``uri`` (or ``id``), ``label_en``, ``altlabel_en``, ..."""
    rows = csv.reader(line for _, line in source.raw_lines())
    header = [cell.strip().lower() for cell in next(rows)]
    key = next((header.index(name) for name in ("uri", "id", "identifier") if name in header), None)
    named = {
        position: (_KINDS[match[1] or match[2] or ""], match[3] or "")
        for position, cell in enumerate(header)
        if (match := _COLUMN.match("label" if cell == "name" else cell))
    }
    if key is None or not named:
        raise source.error(
            "expected a header with 'uri' and at least one of 'label', 'label_en', ...; "
            f"found {', '.join(header)}.",
            1,
        )
    for row in rows:
        if not row or not row[key:]:
            continue
        cells = dict(zip(header, row, strict=False))
        yield Concept(
            row[key],
            [
                Name(text, kind, language)
                for position, (kind, language) in named.items()
                if position < len(row)
                for text in (row[position].split("|") if kind else [row[position]])
            ],
            cells.get("notation", ""),
            cells.get("description", ""),
            (cells.get("broader") or "").split(),
            (cells.get("related") or "").split(),
            (cells.get("deprecated") or "").strip().lower() in ("1", "true", "yes"),
        )
