"""Count documents with the names of labels, and those of them that have the labels."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.predictions import values_at
from manylabel.vocabulary.name_clues import Named
from manylabel.vocabulary.weights import WHOLE, WORDS

__all__ = ["NameCounts", "known_entries"]


@dataclass(frozen=True)
class NameCounts:
    """Numbers of documents for each label.

    Parameters
    ----------
    documents : ndarray of int64
        That have the label.
    named, named_true : ndarray of int64
        With a whole name of the label in the text; and those of them that have the label.
    worded, worded_true : ndarray of int64
        The same for words of a name, but no whole name.
    """

    documents: NDArray[np.int64]
    named: NDArray[np.int64]
    named_true: NDArray[np.int64]
    worded: NDArray[np.int64]
    worded_true: NDArray[np.int64]

    @property
    def each(self) -> list[NDArray[np.int64]]:
        """The arrays, in order."""
        return [getattr(self, field.name) for field in fields(self)]

    @classmethod
    def none(cls, n_labels: int) -> NameCounts:
        """Counts of no documents."""
        return cls(*(np.zeros(n_labels, np.int64) for _ in fields(cls)))

    @classmethod
    def of(
        cls, looked: Named, Y: sparse.csr_array, incomplete: NDArray[np.bool_] | None = None
    ) -> NameCounts:
        """Counts of documents with these names and labels."""
        counts = [np.bincount(Y.indices, minlength=Y.shape[1])]
        for pattern in (looked.whole, looked.words):
            known = pattern.indices[known_entries(pattern, Y, incomplete)]
            true = pattern.indices[values_at(Y, pattern) > 0]
            counts += [np.bincount(some, minlength=Y.shape[1]) for some in (known, true)]
        return cls(*counts)

    @classmethod
    def of_matches(
        cls,
        clues: NDArray[np.float64],
        labels: NDArray[np.int64],
        truth: NDArray[np.bool_],
        documents: NDArray[np.int64],
    ) -> NameCounts:
        """Counts of documents whose matches are known, with their clues."""
        counts = [documents]
        for is_there in (clues[:, WHOLE] > 0, clues[:, WORDS] > 0):
            counts += [
                np.bincount(labels[some], minlength=documents.size)
                for some in (is_there, is_there & truth)
            ]
        return cls(*counts)

    def plus(self, more: NameCounts, sign: int = 1) -> NameCounts:
        """Counts with more documents; with a ``sign`` of -1, without them."""
        pairs = zip(self.each, more.each, strict=True)
        return NameCounts(*(mine + sign * other for mine, other in pairs))

    def grown(self, n_labels: int) -> NameCounts:
        """Counts with labels that appear later."""
        more = n_labels - self.documents.size
        return NameCounts(*(np.pad(each, (0, more)) for each in self.each)) if more > 0 else self

    def at(
        self,
        labels: NDArray[Any],
        is_whole: NDArray[np.bool_],
        has_words: NDArray[np.bool_],
        truth: NDArray[np.bool_] | None = None,
    ) -> NameCounts:
        """Counts of the labels of some matches; with ``truth``, without the match's document."""
        counts = NameCounts(*(each[labels] for each in self.each))
        if truth is None:
            return counts
        own = truth, is_whole, is_whole & truth, has_words, has_words & truth
        return counts.plus(NameCounts(*(each.astype(np.int64) for each in own)), -1)


def known_entries(
    pattern: sparse.csr_array, Y: sparse.csr_array, incomplete: NDArray[np.bool_] | None
) -> NDArray[np.bool_]:
    """Whether it is known, for each entry, if the document has the label."""
    if incomplete is None:
        return np.ones(pattern.nnz, np.bool_)
    given = values_at(Y, pattern) > 0
    return given | np.repeat(~incomplete, np.diff(pattern.indptr))
