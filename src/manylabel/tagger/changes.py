"""Changes to a model without training: entries of its journal, and results for the caller."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from scipy import sparse

from manylabel.corpus import Corpus
from manylabel.store.journal import Entry
from manylabel.wording import counted

__all__ = ["Change", "Changed", "Edit", "Forget", "Learn", "decoded", "documents_of", "encoded"]


@dataclass(frozen=True)
class Change:
    """The result of `Tagger.learn` and `Tagger.forget`.

    Parameters
    ----------
    learned, forgotten : tuple of str
        Ids of documents. A document that replaces another is in ``learned`` and in
        ``replaced``.
    replaced : tuple of str
    new_labels : tuple of str
        Labels that no document had before.
    not_updated : tuple of str
        Parts of the model that the change reaches only at the next training. Everything else is
        as if the learned documents had always been there and the forgotten ones never.

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
        """Whether the change has reached every part of the model."""
        return not self.not_updated

    def __str__(self) -> str:
        if not self.learned and not self.forgotten:
            return "Nothing changed."
        parts = []
        if self.learned:
            parts.append(f"Learned {counted(len(self.learned), 'document')}")
        if self.replaced:
            parts.append(f"{len(self.replaced):,} replaced")
        if self.forgotten:
            forgot = "forgot" if parts else "Forgot"
            parts.append(f"{forgot} {counted(len(self.forgotten), 'document')}")
        if self.new_labels:
            parts.append(counted(len(self.new_labels), "new label"))
        sentence = f"{', '.join(parts)}."
        if self.not_updated:
            sentence += f" Not updated until the next training: {', '.join(self.not_updated)}."
        return sentence


class Learn(NamedTuple):
    """A document to add, or to replace the one with its id.

    Attributes
    ----------
    id, text : str
    labels : list of str
    features : list of (int, float), optional
        Columns and values, if the model was trained on features.
    incomplete : bool
        Whether the labels that it lacks are unknown, not wrong.
    """

    id: str
    text: str
    labels: list[str]
    features: list[tuple[int, float]] | None = None
    incomplete: bool = False


class Forget(NamedTuple):
    """A document to remove."""

    id: str


class Edit(NamedTuple):
    """An edit of labels.

    Attributes
    ----------
    action : str
        One of `manylabel.tagger.label_edits.ACTIONS`.
    labels : list of str
    to : str, optional
        What a label is renamed to, or labels are merged into.
    name : str, optional
        The name to show for the label.
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
    """Turn a corpus into changes; ``counts`` are its documents in the tagger's own features."""
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
    """Encode changes as entries of a journal: pairs of kind and JSON content."""
    return [(type(change).__name__.lower(), json.dumps(_fields(change))) for change in changes]


def _fields(change: Changed) -> dict[str, Any]:
    """The content of a change; ``incomplete`` only if set, so that older versions can read it."""
    fields = change._asdict()
    if not fields.get("incomplete", True):
        del fields["incomplete"]
    return fields


def decoded(entries: Iterable[Entry]) -> list[Changed]:
    """Decode entries of a journal."""
    kinds: dict[str, type[Changed]] = {"learn": Learn, "forget": Forget, "edit": Edit}
    return [kinds[entry.kind](**json.loads(entry.content)) for entry in entries]
