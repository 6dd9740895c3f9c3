"""What changes a model without training: entries of its journal, and answers to who asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from scipy import sparse

from manylabel.corpus import Corpus
from manylabel.store.journal import Entry

__all__ = ["Change", "Changed", "Edit", "Forget", "Learn", "decoded", "documents_of", "encoded"]


@dataclass(frozen=True)
class Change:
    """The answer of `Tagger.learn` and `Tagger.forget`.

    Parameters
    ----------
    learned, forgotten : tuple of str
        Ids of documents. A document that took the place of another is in ``learned`` and
        ``replaced``.
    replaced : tuple of str
    new_labels : tuple of str
        Labels that no document had before.
    not_updated : tuple of str
        Parts of the model that stay as they were when it was trained. Everything else is as if
        the learned documents had always been there and the forgotten ones never.

    Examples
    --------
    >>> print(Change(learned=("x1",), new_labels=("cats",), not_updated=("word weights",)))
    Learned 1 document, 1 new label. Not updated until the next training: word weights.
    >>> print(Change(forgotten=("x1", "x2")))
    Forgot 2 documents.
    """

    learned: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    new_labels: tuple[str, ...] = ()
    not_updated: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether every part of the model knows of the change."""
        return not self.not_updated

    def __str__(self) -> str:
        if not self.learned and not self.forgotten:
            return "Nothing changed."
        told = []
        if self.learned:
            told.append(f"Learned {_counted(self.learned, 'document')}")
        if self.replaced:
            told.append(f"{len(self.replaced):,} replaced")
        if self.forgotten:
            told.append(f"{'forgot' if told else 'Forgot'} {_counted(self.forgotten, 'document')}")
        if self.new_labels:
            told.append(_counted(self.new_labels, "new label"))
        sentence = f"{', '.join(told)}."
        if self.not_updated:
            sentence += f" Not updated until the next training: {', '.join(self.not_updated)}."
        return sentence


def _counted(things: Sequence[str], name: str) -> str:
    """How many things there are."""
    return f"{len(things):,} {name}{'' if len(things) == 1 else 's'}"


class Learn(NamedTuple):
    """A document came.

    Attributes
    ----------
    id, text : str
    labels : list of str
    features : list of (int, float), optional
        Columns and values of a document without a text.
    incomplete : bool
        Whether labels that it lacks are unknown, not wrong.
    """

    id: str
    text: str
    labels: list[str]
    features: list[tuple[int, float]] | None = None
    incomplete: bool = False


class Forget(NamedTuple):
    """A document went."""

    id: str


class Edit(NamedTuple):
    """Labels were edited.

    Attributes
    ----------
    action : str
        One of `manylabel.tagger.label_edits.ACTIONS`.
    labels : list of str
    to : str, optional
        What a label is renamed to, or labels are merged into.
    name : str, optional
        What people read from now on.
    """

    action: str
    labels: list[str]
    to: str | None = None
    name: str | None = None


Changed = Learn | Forget | Edit


def documents_of(
    corpus: Corpus,
    ids: Sequence[str],
    counts: sparse.csr_array,
    incomplete: Sequence[bool] | None = None,
) -> list[Learn]:
    """The documents of a corpus, of which counts in the tagger's own features are given."""
    texts = corpus.full_texts
    flags = [False] * len(ids) if incomplete is None else list(incomplete)
    if texts is not None:
        rows = zip(ids, texts, corpus.label_lists(), flags, strict=True)
        return [Learn(name, text, labels, incomplete=flag) for name, text, labels, flag in rows]
    changes = []
    for row, (name, labels) in enumerate(zip(ids, corpus.label_lists(), strict=True)):
        span = slice(counts.indptr[row], counts.indptr[row + 1])
        features = zip(counts.indices[span].tolist(), counts.data[span].tolist(), strict=True)
        changes.append(Learn(name, "", labels, list(features), flags[row]))
    return changes


def encoded(changes: Iterable[Changed]) -> list[tuple[str, str]]:
    """Kind and content of entries."""
    return [(type(change).__name__.lower(), json.dumps(_fields(change))) for change in changes]


def _fields(change: Changed) -> dict[str, Any]:
    """The content of a change; what versions before incomplete documents know, if it is enough."""
    fields = change._asdict()
    if not fields.get("incomplete", True):
        del fields["incomplete"]
    return fields


def decoded(entries: Iterable[Entry]) -> list[Changed]:
    """The changes that entries stand for."""
    kinds: dict[str, type[Changed]] = {"learn": Learn, "forget": Forget, "edit": Edit}
    return [kinds[entry.kind](**json.loads(entry.content)) for entry in entries]
