"""Changes of a tagger as entries of a journal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scipy import sparse

from manylabel.corpus import Corpus
from manylabel.store.journal import Entry

__all__ = ["Forget", "Learn", "decoded", "documents_of", "encoded"]


class Learn(NamedTuple):
    """A document came.

    Attributes
    ----------
    id, text : str
    labels : list of str
    features : list of (int, float), optional
        Columns and values of a document without a text.
    """

    id: str
    text: str
    labels: list[str]
    features: list[tuple[int, float]] | None = None


class Forget(NamedTuple):
    """A document went."""

    id: str


def documents_of(corpus: Corpus, ids: Sequence[str], counts: sparse.csr_array) -> list[Learn]:
    """The documents of a corpus, of which counts in the tagger's own features are given."""
    if corpus.texts is not None:
        rows = zip(ids, corpus.texts, corpus.label_lists(), strict=True)
        return [Learn(*row) for row in rows]
    found = []
    for row, (name, labels) in enumerate(zip(ids, corpus.label_lists(), strict=True)):
        span = slice(counts.indptr[row], counts.indptr[row + 1])
        features = zip(counts.indices[span].tolist(), counts.data[span].tolist(), strict=True)
        found.append(Learn(name, "", labels, list(features)))
    return found


def encoded(changes: Iterable[Learn | Forget]) -> list[tuple[str, str]]:
    """Kind and content of entries."""
    return [(type(change).__name__.lower(), json.dumps(change._asdict())) for change in changes]


def decoded(entries: Iterable[Entry]) -> list[Learn | Forget]:
    """The changes that entries stand for."""
    kinds: dict[str, type[Learn] | type[Forget]] = {"learn": Learn, "forget": Forget}
    return [kinds[entry.kind](**json.loads(entry.content)) for entry in entries]
