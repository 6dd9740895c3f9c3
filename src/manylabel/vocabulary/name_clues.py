"""Evidence for a label from its names: whole names in a text, and single words of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.parallel import run_blocks
from manylabel.predictions import keep_top
from manylabel.scoring import Documents
from manylabel.validation import distinct, pointers, trusted_csr
from manylabel.vocabulary.clues import Found, find_in_tokens
from manylabel.vocabulary.label_names import LabelNames
from manylabel.vocabulary.name_words import Rarity, Shared, share_in_tokens
from manylabel.vocabulary.weights import DEFAULT_WEIGHTS, N_STATIC

__all__ = ["NameClues", "Named", "clues_in", "look_for_names", "names_in"]

#: Texts per task, and texts whose clues are cached. Of more texts only the labels are cached.
BLOCK = 1_024
#: Maximum labels that names propose per document.
LIMIT = 60


@dataclass(frozen=True)
class NameClues:
    """Labels of which a whole name or words of a name occur in texts.

    Parameters
    ----------
    pattern : csr_array of shape (n_documents, n_labels), int8
    clues : ndarray of shape (n_found, N_STATIC)
        A row for each entry of ``pattern``.
    found : Found
        Whole names.
    shared : Shared
        Words of names.
    in_found, in_shared : ndarray of int64
        For each entry, its position in ``found``, or else in ``shared``; -1 in the other.
    """

    pattern: sparse.csr_array
    clues: NDArray[np.float64]
    found: Found
    shared: Shared
    in_found: NDArray[np.int64]
    in_shared: NDArray[np.int64]

    @property
    def named(self) -> Named:
        """The labels alone."""
        is_word, pattern = self.in_shared >= 0, self.pattern
        ptr = pointers(is_word)[pattern.indptr]
        words = trusted_csr(pattern.data[is_word], pattern.indices[is_word], ptr, pattern.shape)
        return Named(self.found.pattern, words, self.best)

    @property
    def best(self) -> sparse.csr_array:
        """The labels with the best scores by default weights, at most ``LIMIT`` per text."""
        pattern = self.pattern
        values = self.clues @ DEFAULT_WEIGHTS[:N_STATIC]
        scores = trusted_csr(values, pattern.indices, pattern.indptr, pattern.shape)
        if values.size:
            scores = keep_top(scores, LIMIT)
        ones = np.ones(scores.data.size, np.int8)
        return trusted_csr(ones, scores.indices, scores.indptr, pattern.shape)


class Named(NamedTuple):
    """Labels of which a whole name occurs in texts, or only words, and the best of both."""

    whole: sparse.csr_array
    words: sparse.csr_array
    best: sparse.csr_array


def look_for_names(
    named: LabelNames, rarity: NDArray[np.float64], texts: Sequence[str]
) -> NameClues:
    """Find labels by their names in texts, with the clues for each.

    Examples
    --------
    >>> named = LabelNames(["piano music", "dogs"], [0, 1], [0, 0], 2, "english")
    >>> looked = look_for_names(named, np.ones(3), ["Songs for the piano", "A dog"])
    >>> looked.pattern.toarray().tolist(), looked.in_found.tolist()
    ([[1, 0], [0, 1]], [-1, 0])
    """
    tokens = named.matcher.tokens(texts)
    found = find_in_tokens(named, tokens)
    shared = share_in_tokens(named, rarity, tokens)
    whole, words = _keys(found.pattern), _keys(shared.pattern)
    keys = distinct(np.concatenate([whole, words]))
    in_found, in_shared = np.full(keys.size, -1), np.full(keys.size, -1)
    in_found[np.searchsorted(keys, whole)] = np.arange(whole.size)
    in_shared[np.searchsorted(keys, words)] = np.arange(words.size)
    # Beside a whole name, its words say nothing more.
    in_shared[in_found >= 0] = -1
    clues, n_whole = np.zeros((keys.size, N_STATIC)), found.clues.shape[1]
    clues[in_found >= 0, :n_whole] = found.clues
    clues[in_shared >= 0, n_whole:] = shared.clues[in_shared[in_shared >= 0]]
    rows, labels = np.divmod(keys, max(named.n_labels, 1))
    ptr = pointers(np.bincount(rows, minlength=len(texts)))
    ones, shape = np.ones(keys.size, np.int8), (len(texts), named.n_labels)
    pattern = trusted_csr(ones, labels.astype(np.int32), ptr, shape)
    return NameClues(pattern, clues, found, shared, in_found, in_shared)


def clues_in(documents: Documents, named: LabelNames, rarity: Rarity) -> NameClues | None:
    """Labels that names point to in a few documents; None if there are no texts.

    The result is cached, because sources and scorers share it.
    """
    if documents.texts is None:
        return None
    known = documents.cache.get("names")
    if known is None or known[0] is not named or known[1] != named.n_labels:
        looked = look_for_names(named, rarity.of(named), documents.texts)
        documents.cache["names"] = known = named, named.n_labels, looked
    return known[2]


def names_in(
    documents: Documents, named: LabelNames, rarity: Rarity, n_jobs: int | None = None
) -> Named | None:
    """The same for any number of documents, without the clues; None if there are no texts."""
    texts = documents.texts
    if texts is None:
        return None
    if len(texts) <= BLOCK:
        looked = clues_in(documents, named, rarity)
        return None if looked is None else looked.named
    known = documents.cache.get("all names")
    if known is None or known[0] is not named or known[1] != named.n_labels:
        starts, rare = range(0, len(texts), BLOCK), rarity.of(named)
        blocks: dict[int, Named] = {}

        def work(first: int, last: int) -> None:
            for block in range(first, last):
                some = texts[starts[block] : starts[block] + BLOCK]
                blocks[block] = look_for_names(named, rare, some).named

        run_blocks(work, len(starts), 1, n_jobs)
        in_order = [blocks[block] for block in range(len(starts))]
        whole, words, best = (
            sparse.csr_array(sparse.vstack(patterns, "csr"))
            for patterns in zip(*in_order, strict=True)
        )
        known = named, named.n_labels, Named(whole, words, best)
        documents.cache["all names"] = known
    return known[2]


def _keys(pattern: sparse.csr_array) -> NDArray[np.int64]:
    """A number for each entry: its row and its column."""
    rows = np.repeat(np.arange(pattern.shape[0], dtype=np.int64), np.diff(pattern.indptr))
    return rows * pattern.shape[1] + pattern.indices
