"""The documents of a tagger, by the numbers that the model uses for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.store import StringArray

__all__ = ["SNIPPET", "KeptDocuments", "indicator", "widened"]

#: Characters of a text to show, and to keep with ``keep_texts=False``.
SNIPPET = 300


class KeptDocuments:
    """Ids, texts and labels of documents, numbered in the order in which they were added.

    Documents from `fit` may be read-only and memory-mapped; later ones are in lists.

    Parameters
    ----------
    ids : sequence of str
    texts : sequence of str
    labels : csr_array of shape (n_documents, n_labels)
    incomplete : ndarray of bool, optional
        Which documents may have more labels than are known.
    """

    def __init__(
        self,
        ids: Sequence[str],
        texts: Sequence[str],
        labels: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        self._ids, self._texts, self._labels = ids, texts, labels
        self._new: list[tuple[str, str, list[int]]] = []
        self._removed: set[int] = set()
        #: Numbers of documents that may have more labels than are known.
        self._incomplete = set() if incomplete is None else set(np.flatnonzero(incomplete).tolist())
        #: Numbers of changed training documents; others are found by the ids of removed ones.
        self._changed: set[int] = set()
        #: The new labels of documents from `fit` whose labels were edited.
        self._relabelled: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return self.n_numbers - len(self._removed)

    @property
    def n_numbers(self) -> int:
        """The count of numbers in use, including those of removed documents."""
        return len(self._ids) + len(self._new)

    @property
    def is_changed(self) -> bool:
        """Whether documents were added or removed."""
        return bool(self._new or self._removed)

    def find(self, name: str) -> int | None:
        """The number of a document by its id; None if there is no such document."""
        return self._by_id.get(name)

    def is_there(self, number: int) -> bool:
        """Whether a document with this number exists and was not removed."""
        return 0 <= number < self.n_numbers and number not in self._removed

    def add(self, name: str, text: str, labels: list[int], incomplete: bool = False) -> None:
        """Add a document under the next number; remove one with the same id first."""
        self._by_id[name] = self.n_numbers
        if incomplete:
            self._incomplete.add(self.n_numbers)
        self._new.append((name, text, sorted(set(labels))))
        self._count(labels, 1)

    def is_incomplete(self, number: int) -> bool:
        """Whether a document may have more labels than are known."""
        return number in self._incomplete

    def incomplete(self) -> NDArray[np.bool_] | None:
        """Which of the kept documents are incomplete; None if none is."""
        return self.flags(self.kept())

    def flags(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """Which of these documents are incomplete; None if none is."""
        if not self._incomplete:
            return None
        flags = np.isin(numbers, np.fromiter(self._incomplete, np.int64))
        return flags if flags.any() else None

    def remove(self, number: int) -> None:
        """Remove a document; its number is not reused."""
        del self._by_id[self.id(number)]
        self._incomplete.discard(number)
        self._removed.add(number)
        self._count(self.labels(number), -1)

    def relabel(self, number: int, labels: Iterable[int]) -> None:
        """Replace a document's labels."""
        chosen = sorted(set(labels))
        self._count(self.labels(number), -1)
        old = len(self._ids)
        if number < old:
            self._relabelled[number] = chosen
        else:
            self._new[number - old] = (*self._new[number - old][:2], chosen)
        self._count(chosen, 1)

    def with_label(self, column: int) -> NDArray[np.int64]:
        """The numbers of the documents that have a label."""
        labels = self._all_labels(max(column + 1, self._n_columns))
        rows = np.searchsorted(labels.indptr, np.flatnonzero(labels.indices == column), "right") - 1
        return np.array([row for row in rows.tolist() if row not in self._removed], np.int64)

    def count(self, column: int) -> int:
        """The number of documents with a label."""
        return int(self._counts.get(column, 0))

    @cached_property
    def _counts(self) -> dict[int, int]:
        """The number of documents per label, for labels that have any; computed on first use."""
        counts = np.bincount(self.label_matrix(self._n_columns).indices)
        columns = np.flatnonzero(counts)
        return dict(zip(columns.tolist(), counts[columns].tolist(), strict=True))

    def _count(self, labels: Iterable[int], sign: int) -> None:
        """Update the counts if they were computed before."""
        known = vars(self).get("_counts")
        if known is not None:
            for column in set(labels):
                known[column] = known.get(column, 0) + sign

    @cached_property
    def _by_id(self) -> dict[str, int]:
        """Numbers of the kept documents by id; computed on first use."""
        return {
            name: number
            for number, name in enumerate(chain(self._ids, (name for name, _, _ in self._new)))
            if number not in self._removed
        }

    def id(self, number: int) -> str:
        """The id of a document."""
        old = len(self._ids)
        return self._ids[number] if number < old else self._new[number - old][0]

    def text(self, number: int) -> str:
        """The text of a document, or as much of it as was kept."""
        old = len(self._ids)
        return self._texts[number] if number < old else self._new[number - old][1]

    def snippet(self, number: int) -> str:
        """The beginning of a document's text."""
        if number < len(self._ids) and isinstance(self._texts, StringArray):
            return self._texts.beginning(number, SNIPPET)
        return self.text(number)[:SNIPPET]

    def labels(self, number: int) -> list[int]:
        """The columns of a document's labels."""
        old, ptr = len(self._ids), self._labels.indptr
        if number >= old:
            return self._new[number - old][2]
        if number in self._relabelled:
            return self._relabelled[number]
        return self._labels.indices[ptr[number] : ptr[number + 1]].tolist()

    def kept(self) -> NDArray[np.int64]:
        """The numbers of the documents that were not removed."""
        alive = np.ones(self.n_numbers, np.bool_)
        alive[list(self._removed)] = False
        return np.flatnonzero(alive)

    def restored(self, before: int) -> list[int]:
        """The numbers of documents that equal a removed one with the same id and a number before.

        A compacted collection knows no removed documents, so that it has none of these.
        """
        replaced = ((self.find(self.id(old)), old) for old in self._removed if old < before)
        return [
            new
            for new, old in replaced
            if new is not None
            and not self.is_incomplete(new)
            and self.labels(new) == sorted(self.labels(old))
            and self.text(new) == self.text(old)
        ]

    def changed(self, before: int) -> list[int]:
        """The numbers of kept documents that replaced one with a number before."""
        gone = (old for old in self._removed if old < before or old in self._changed)
        replaced = {self.find(self.id(old)) for old in gone}
        kept = {number for number in self._changed if number not in self._removed}
        return sorted(kept.union(number for number in replaced if number is not None))

    def label_matrix(self, n_labels: int) -> sparse.csr_array:
        """The labels of the kept documents, one row each."""
        whole = self._all_labels(n_labels)
        return whole[self.kept()] if self._removed else whole

    def _all_labels(self, n_labels: int) -> sparse.csr_array:
        """The labels of all documents, including removed ones."""
        old = widened(self._labels, n_labels)
        if self._relabelled:
            rows = np.fromiter(self._relabelled, np.int64)
            others = indicator(self._relabelled.values(), n_labels)
            order = np.arange(old.shape[0])
            order[rows] = old.shape[0] + np.arange(rows.size)
            old = sparse.csr_array(sparse.vstack([old, others], "csr"))[order]
        if not self._new:
            return old
        new = indicator((labels for _, _, labels in self._new), n_labels)
        return sparse.csr_array(sparse.vstack([old, new], "csr"))

    def removed_texts(self) -> Iterator[str]:
        """The texts of removed documents, as far as they are still stored."""
        return filter(None, (self.text(number) for number in sorted(self._removed)))

    def compacted(self, n_labels: int, n_trained: int) -> KeptDocuments:
        """Copy the kept documents and renumber them; the first ``n_trained`` are those of `fit`."""
        numbers = self.kept().tolist()
        kept = KeptDocuments(
            [self.id(number) for number in numbers],
            [self.text(number) for number in numbers],
            self.label_matrix(n_labels),
        )
        kept._incomplete = {at for at, number in enumerate(numbers) if number in self._incomplete}
        changed = set(self.changed(n_trained))
        kept._changed = {at for at, number in enumerate(numbers) if number in changed}
        return kept

    def without_removed_texts(self, n_labels: int) -> KeptDocuments:
        """Copy the documents with their numbers, but without texts and labels of removed ones."""
        numbers = range(self.n_numbers)
        there = [self.is_there(number) for number in numbers]
        kept = KeptDocuments(
            [self.id(number) if there[number] else "" for number in numbers],
            [self.text(number) if there[number] else "" for number in numbers],
            indicator((self.labels(n) if there[n] else [] for n in numbers), n_labels),
        )
        kept._removed, kept._incomplete = set(self._removed), set(self._incomplete)
        kept._changed = set(self._changed)
        return kept

    @property
    def _n_columns(self) -> int:
        """The number of columns that the labels of all documents need."""
        later = chain((labels for *_, labels in self._new), self._relabelled.values())
        return max([self._labels.shape[1], *(max(labels, default=-1) + 1 for labels in later)])

    def _store_state(self) -> dict[str, Any]:
        """Store everything as arrays, which are memory-mapped on loading."""
        return {
            "ids": _joined(self._ids, [name for name, _, _ in self._new]),
            "texts": _joined(self._texts, [text for _, text, _ in self._new]),
            "labels": self._all_labels(self._n_columns),
            "removed": np.array(sorted(self._removed), np.int64),
            "incomplete": np.array(sorted(self._incomplete), np.int64),
            "changed": np.array(sorted(self._changed), np.int64),
        }

    @classmethod
    def _from_store_state(cls, state: dict[str, Any]) -> KeptDocuments:
        documents = cls(state["ids"], state["texts"], state["labels"])
        documents._removed = set(state["removed"].tolist())
        # Older model folders do not store them.
        for name in ("incomplete", "changed"):
            numbers = state[name].tolist() if name in state else []
            setattr(documents, f"_{name}", set(numbers))
        return documents


def _joined(first: Sequence[str], more: Sequence[str]) -> StringArray:
    """Two sequences of strings in one; strings in a file are not read."""
    if isinstance(first, StringArray) and not more:
        return first
    return StringArray(chain(first, more))


def indicator(rows: Iterable[Iterable[int]], n_labels: int) -> sparse.csr_array:
    """Build an indicator matrix from lists of columns."""
    lists = [sorted(set(row)) for row in rows]
    ptr = np.concatenate([[0], np.cumsum([len(row) for row in lists])]).astype(np.int64)
    columns = np.fromiter(chain.from_iterable(lists), np.int32, count=int(ptr[-1]))
    ones = np.ones(columns.size, np.int8)
    return sparse.csr_array((ones, columns, ptr), shape=(len(lists), n_labels))


def widened(matrix: sparse.csr_array, n_columns: int) -> sparse.csr_array:
    """Append empty columns to a matrix."""
    shape = (matrix.shape[0], n_columns)
    return sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=shape)
