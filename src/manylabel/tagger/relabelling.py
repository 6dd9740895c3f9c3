"""Applies edits of labels to the labels and documents of a tagger."""

from __future__ import annotations

from manylabel.tagger.changes import Edit
from manylabel.tagger.documents import KeptDocuments
from manylabel.tagger.label_edits import Record
from manylabel.tagger.labels import Labels

__all__ = ["edit_labels"]


def edit_labels(edit: Edit, labels: Labels, documents: KeptDocuments) -> list[int]:
    """Apply a checked edit and return the numbers of the documents whose labels change.

    Parameters
    ----------
    edit : Edit
    labels : Labels
        Changed in place.
    documents : KeptDocuments
        Changed in place.
    """
    edits = labels.edits
    edits.version += 1
    if edit.action == "undo":
        return _undo(labels, documents)
    touched = [*edit.labels, *([] if edit.to is None else [edit.to])]
    before = edits.snapshot(touched)
    record = Record(edit.action, list(edit.labels), edit.to, edit.name, before=before)
    changed: list[int] = []
    if edit.action == "hide":
        record.labels = [label for label in edit.labels if label not in edits.hidden]
        edits.hidden.update(edit.labels)
    elif edit.action == "show":
        record.labels = [label for label in edit.labels if label in edits.hidden]
        edits.hidden.difference_update(edit.labels)
    elif edit.action == "add":
        for label in edit.labels:
            labels.add(label)
            if not labels.is_known(label):
                edits.names[label] = label
        edits.added.update(edit.labels)
    elif edit.action == "rename" and edit.to is not None:
        _rename(edit.labels[0], edit.to, labels)
    elif edit.action in ("merge", "delete"):
        record.labels = [label for label in edit.labels if label != edit.to]
        changed = _merge(record, labels, documents)
    if edit.name is not None:
        edits.names[edit.to or edit.labels[0]] = edit.name
    edits.remember(record)
    return changed


def _rename(label: str, to: str, labels: Labels) -> None:
    """Transfer everything that is recorded about a label to its new name."""
    edits = labels.edits
    concept = labels._concept(label)
    edits.concepts.pop(label, None)
    labels.rename(label, to)
    edits.gone.pop(to, None)
    edits.gone[label] = to
    if concept is not None:
        edits.concepts[to] = concept
    for kept in (edits.hidden, edits.added):
        if label in kept:
            kept.remove(label)
            kept.add(to)
    if label in edits.names:
        edits.names[to] = edits.names.pop(label)


def _merge(record: Record, labels: Labels, documents: KeptDocuments) -> list[int]:
    """Replace labels by another, or by none, in all documents, and mark them as gone."""
    edits, to = labels.edits, record.to
    new: list[int] = []
    if to is not None:
        new = [labels.add(to)]
        if not documents.count(new[0]) and not labels.is_known(to):
            edits.added.add(to)
    # Training may have dropped the columns of labels without documents.
    old = {labels.column(label) for label in record.labels if labels.has_column(label)}
    changed = sorted({n for column in old for n in documents.with_label(column).tolist()})
    for number in changed:
        before = documents.labels(number)
        lost = [labels.listed[column] for column in before if column in old]
        got = [labels.listed[column] for column in new if column not in before]
        record.documents[documents.id(number)] = lost, got
        documents.relabel(number, (set(before) - old).union(new))
    for label in record.labels:
        edits.gone[label] = to
        edits.hidden.discard(label)
        edits.added.discard(label)
    return changed


def _undo(labels: Labels, documents: KeptDocuments) -> list[int]:
    """Undo the last edit."""
    edits = labels.edits
    record = edits.history[-1]
    edits.history = edits.history[:-1]
    if record.action == "rename" and record.to is not None:
        labels.rename(record.to, record.labels[0])
    touched = record.labels if record.to is None else [*record.labels, record.to]
    edits.restore(touched, record.before)
    for label in touched:
        # Training may have dropped its column.
        if label not in edits.gone and labels.is_known(label):
            labels.add(label)
    changed = []
    for name, (lost, got) in record.documents.items():
        number = documents.find(name)
        if number is not None:
            # Training may have dropped the columns of labels without documents.
            kept = set(documents.labels(number)) - {labels.add(label) for label in got}
            documents.relabel(number, kept | {labels.add(label) for label in lost})
            changed.append(number)
    return changed
