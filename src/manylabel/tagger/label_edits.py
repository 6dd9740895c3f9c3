"""Edits of labels, kept beside the vocabulary so that they survive a new one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from manylabel.vocabulary import ALTERNATIVE, PREFERRED
from manylabel.wording import counted

if TYPE_CHECKING:
    from manylabel.vocabulary import LabelNames, Vocabulary

__all__ = ["ACTIONS", "LabelChange", "LabelEdits", "Record"]

#: Action -> its past tense, for messages.
ACTIONS = {
    "rename": "Renamed",
    "merge": "Merged",
    "hide": "Hid",
    "show": "Showed",
    "delete": "Deleted",
    "add": "Added",
    "undo": "Undid",
}
#: Maximum edits that can be undone.
_REMEMBERED = 50


@dataclass(frozen=True)
class LabelChange:
    """The result of `Tagger.edit_labels`.

    Parameters
    ----------
    action : str
        One of "rename", "merge", "hide", "show", "delete", "add" and "undo".
    labels : tuple of str
        The labels that were edited.
    to : str, optional
        What they were renamed to or merged into.
    documents : int
        The number of documents whose labels changed.
    undone : str, optional
        The action that was undone.
    not_updated : tuple of str
        Parts of the model that the edit reaches only at the next training. Everything else is as
        if the documents had always had these labels.

    Examples
    --------
    >>> print(LabelChange("merge", ("drones", "uavs"), "drones", 3, not_updated=("linear",)))
    Merged 2 labels into 'drones': 3 documents. Not updated until the next training: linear.
    >>> print(LabelChange("undo", ("cats",), undone="hide"))
    Undid the last edit: hide 'cats'.
    """

    action: str
    labels: tuple[str, ...] = ()
    to: str | None = None
    documents: int = 0
    undone: str | None = None
    not_updated: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.labels:
            return "Nothing changed."
        what = repr(self.labels[0])
        if len(self.labels) > 1:
            what = counted(len(self.labels), "label")
        message = f"{ACTIONS[self.action]} {what}"
        if self.action == "undo":
            message = f"{ACTIONS[self.action]} the last edit: {self.undone} {what}"
        if self.to is not None:
            message += f" {'to' if 'rename' in (self.action, self.undone) else 'into'} {self.to!r}"
        if self.documents:
            message += f": {counted(self.documents, 'document')}"
        message += "."
        if self.not_updated:
            message += f" Not updated until the next training: {', '.join(self.not_updated)}."
        return message


@dataclass
class Record:
    """An edit that was made, with what is needed to undo it.

    Parameters
    ----------
    action : str
    labels : list of str
        Those that it changed.
    to, name : str, optional
    documents : dict of str to (list of str, list of str)
        By id: the labels that a document lost, and those that it gained.
    before : dict
        What was recorded about these labels before; see `LabelEdits.snapshot`.
    """

    action: str
    labels: list[str]
    to: str | None = None
    name: str | None = None
    documents: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    before: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class LabelEdits:
    """The labels that were hidden, added, named, renamed, merged or deleted.

    Attributes
    ----------
    hidden : set of str
        Never suggested or listed.
    added : set of str
        Added by hand; no document or vocabulary need have them.
    names : dict of str to str
        Names given by hand, by label.
    gone : dict of str to (str or None)
        Deleted, merged or renamed labels, and the label that has their documents and names now.
    concepts : dict of str to str
        Renamed labels, and their identifiers in the vocabulary.
    history : list of Record
        The edits that can be undone, the oldest first.
    version : int
        A counter that rises with every edit.
    """

    hidden: set[str] = field(default_factory=set)
    added: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)
    gone: dict[str, str | None] = field(default_factory=dict)
    concepts: dict[str, str] = field(default_factory=dict)
    history: list[Record] = field(default_factory=list)
    version: int = 0

    def snapshot(self, labels: list[str]) -> dict[str, Any]:
        """Everything that is recorded about labels."""
        return {
            "hidden": [label for label in labels if label in self.hidden],
            "added": [label for label in labels if label in self.added],
            "names": {label: self.names[label] for label in labels if label in self.names},
            "gone": {label: self.gone[label] for label in labels if label in self.gone},
            "concepts": {label: self.concepts[label] for label in labels if label in self.concepts},
        }

    def restore(self, labels: list[str], known: dict[str, Any]) -> None:
        """Replace what is recorded about labels by a `snapshot`."""
        for kept in (self.hidden, self.added):
            kept.difference_update(labels)
        for by_label in (self.names, self.gone, self.concepts):
            for label in labels:
                by_label.pop(label, None)  # type: ignore[attr-defined]
        self.hidden.update(known["hidden"])
        self.added.update(known["added"])
        self.names.update(known["names"])
        self.gone.update(known["gone"])
        self.concepts.update(known["concepts"])

    def remember(self, record: Record) -> None:
        """Add an edit to the history."""
        self.history = [*self.history, record][-_REMEMBERED:]

    def forget_document(self, name: str) -> None:
        """Leave a document out of later undos: it was forgotten, or learned again."""
        for record in self.history:
            record.documents.pop(name, None)

    def successor(self, label: str) -> str | None:
        """The label that replaces this one; itself if it still exists, None if it was deleted."""
        seen: set[str] = set()
        current: str | None = label
        while current is not None and current in self.gone and current not in seen:
            seen.add(current)
            current = self.gone[current]
        return current

    def label_names(
        self, vocabulary: Vocabulary, labels: Sequence[str], full: str | None, code: str | None
    ) -> LabelNames:
        """The names of columns: those of the vocabulary, with edits applied.

        Parameters
        ----------
        vocabulary : Vocabulary
        labels : sequence of str
            In the order of the columns.
        full, code : str or None
            The language of the names, in full and as a code.
        """
        column = {label: position for position, label in enumerate(labels)}
        known_as = [
            "" if label in self.gone else self.concepts.get(label, label) for label in labels
        ]
        taken = {concept for label, concept in self.concepts.items() if label not in self.gone}
        moved, more = {}, []
        for label in self.gone:
            successor = self.successor(label)
            if successor in column and label not in taken:
                moved[label] = column[successor]
        for label, name in self.names.items():
            successor = self.successor(label)
            if successor in column:
                kind = PREFERRED if successor == label else ALTERNATIVE
                more.append((name, column[successor], kind))
        return vocabulary.label_names(known_as, full, code, moved, more)

    def _store_state(self) -> dict[str, str]:
        """Store as one JSON text: edits are few."""
        kept = vars(self) | {
            "hidden": sorted(self.hidden),
            "added": sorted(self.added),
            "history": [asdict(record) for record in self.history],
        }
        return {"json": json.dumps(kept)}

    @classmethod
    def _from_store_state(cls, state: dict[str, str]) -> LabelEdits:
        edits, kept = cls(), json.loads(state["json"])
        vars(edits).update(kept)
        edits.hidden, edits.added = set(kept["hidden"]), set(kept["added"])
        edits.history = [Record(**record) for record in kept["history"]]
        return edits
