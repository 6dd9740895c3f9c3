"""What people changed about labels: kept beside the vocabulary, in force when that is replaced."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from manylabel.vocabulary import ALTERNATIVE, PREFERRED

if TYPE_CHECKING:
    from manylabel.vocabulary import LabelNames, Vocabulary

__all__ = ["ACTIONS", "LabelChange", "LabelEdits", "Record"]

#: What can be done to labels, and how that is told.
ACTIONS = {
    "rename": "Renamed",
    "merge": "Merged",
    "hide": "Hid",
    "show": "Showed",
    "delete": "Deleted",
    "add": "Added",
    "undo": "Took back",
}
#: Edits that can be taken back.
_REMEMBERED = 50


@dataclass(frozen=True)
class LabelChange:
    """The answer of `Tagger.edit_labels`.

    Parameters
    ----------
    action : str
        One of "rename", "merge", "hide", "show", "delete", "add" and "undo".
    labels : tuple of str
        The labels that were edited.
    to : str, optional
        What they were renamed to or merged into.
    documents : int
        How many documents have other labels now.
    undone : str, optional
        The action that was taken back.
    not_updated : tuple of str
        Parts of the model that know of the change after the next training. Everything else is as
        if the documents had always had these labels.

    Examples
    --------
    >>> print(LabelChange("merge", ("drones", "uavs"), "drones", 3, not_updated=("linear",)))
    Merged 2 labels into 'drones': 3 documents. Not updated until the next training: linear.
    >>> print(LabelChange("undo", ("cats",), undone="hide"))
    Took back the last edit: hide 'cats'.
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
            what = f"{len(self.labels):,} labels"
        told = f"{ACTIONS[self.action]} {what}"
        if self.action == "undo":
            told = f"{ACTIONS[self.action]} the last edit: {self.undone} {what}"
        if self.to is not None:
            told += f" {'to' if 'rename' in (self.action, self.undone) else 'into'} {self.to!r}"
        if self.documents:
            told += f": {self.documents:,} document{'' if self.documents == 1 else 's'}"
        told += "."
        if self.not_updated:
            told += f" Not updated until the next training: {', '.join(self.not_updated)}."
        return told


@dataclass
class Record:
    """An edit that was made, and what takes it back.

    Parameters
    ----------
    action : str
    labels : list of str
        Those that it changed something about.
    to, name : str, optional
    documents : dict of str to (list of str, list of str)
        By id: the labels that a document lost, and those that it got.
    before : dict
        What was known of labels before: see `LabelEdits.known_of`.
    """

    action: str
    labels: list[str]
    to: str | None = None
    name: str | None = None
    documents: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    before: dict[str, Any] = field(default_factory=dict)


class LabelEdits:
    """Labels that people hid, added, named, renamed, merged and deleted.

    Attributes
    ----------
    hidden : set of str
        Never suggested, never listed.
    added : set of str
        Labels though no document has them and no vocabulary describes them.
    names : dict of str to str
        What people are to read, given by hand.
    gone : dict of str to (str or None)
        Labels that are none any more, and the label that has their documents and names.
    concepts : dict of str to str
        Under which identifier the vocabulary knows a label that was renamed.
    history : list of Record
    version : int
        Rises with every edit.
    """

    def __init__(self) -> None:
        self.hidden: set[str] = set()
        self.added: set[str] = set()
        self.names: dict[str, str] = {}
        self.gone: dict[str, str | None] = {}
        self.concepts: dict[str, str] = {}
        self.history: list[Record] = []
        self.version = 0

    def known_of(self, labels: list[str]) -> dict[str, Any]:
        """Everything that is kept of labels."""
        return {
            "hidden": [label for label in labels if label in self.hidden],
            "added": [label for label in labels if label in self.added],
            "names": {label: self.names[label] for label in labels if label in self.names},
            "gone": {label: self.gone[label] for label in labels if label in self.gone},
            "concepts": {label: self.concepts[label] for label in labels if label in self.concepts},
        }

    def restore(self, labels: list[str], known: dict[str, Any]) -> None:
        """Keep of labels what `known_of` gave, and nothing else."""
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
        """Put an edit where it can be taken back."""
        self.history = [*self.history, record][-_REMEMBERED:]

    def forget_document(self, name: str) -> None:
        """Leave a document out of edits that are taken back: it is gone, or was learned again."""
        for record in self.history:
            record.documents.pop(name, None)

    def heir(self, label: str) -> str | None:
        """The label that has taken the place of one; itself if it is still there."""
        seen: set[str] = set()
        current: str | None = label
        while current is not None and current in self.gone and current not in seen:
            seen.add(current)
            current = self.gone[current]
        return current

    def label_names(
        self, vocabulary: Vocabulary, labels: Sequence[str], full: str | None, code: str | None
    ) -> LabelNames:
        """The names of columns: those of the vocabulary, and what people made of them.

        Parameters
        ----------
        vocabulary : Vocabulary
        labels : sequence of str
            Column by column.
        full, code : str or None
            The language of the names.
        """
        column = {label: place for place, label in enumerate(labels)}
        known_as = [
            "" if label in self.gone else self.concepts.get(label, label) for label in labels
        ]
        taken = {concept for label, concept in self.concepts.items() if label not in self.gone}
        moved, more = {}, []
        for label in self.gone:
            heir = self.heir(label)
            if heir in column and label not in taken:
                moved[label] = column[heir]
        for label, name in self.names.items():
            heir = self.heir(label)
            if heir in column:
                kind = PREFERRED if heir == label else ALTERNATIVE
                more.append((name, column[heir], kind))
        return vocabulary.label_names(known_as, full, code, moved, more)

    def _store_state(self) -> dict[str, str]:
        """One text: edits are few."""
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
