"""Find labels whose names share words with a text, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.predictions import best_of_rows
from manylabel.strings import StringArray
from manylabel.validation import pointers, trusted_csr
from manylabel.vocabulary.label_names import PREFERRED, LabelNames
from manylabel.vocabulary.matching import Tokens

__all__ = ["WORD_CLUES", "Rarity", "Shared", "count_words", "share_in_tokens"]

#: Words that are in more names than this propose no label; of the others, only the first of a text.
MAX_NAMES, MAX_TERMS = 300, 40
#: Maximum labels per text.
_SCORED = 100
#: Texts per block, and texts in which words are counted.
_BLOCK, _COUNTED = 1_024, 50_000
#: Weight, in texts, of the frequency of a word among names as a prior of its frequency in texts.
_PRIOR_TEXTS = 500.0
#: Clue -> how reasons describe it.
WORD_CLUES: dict[str, str] = {
    "word": "a word of its name is in the text",
    "share": "how much of its name is in the text",
    "most": "nearly all of its name is in the text",
    "every": "every word of its name is in the text",
    "rare": "how rare these words are",
    "size": "how rare all its words are",
    "of words": "how many words the name has",
    "of text": "how long the text beside these words is",
    "other": "the words are of an alternative name",
}


class Rarity:
    """How rare the words of names are in texts.

    Parameters
    ----------
    terms : StringArray
    heard : ndarray
        The number of texts with each term.
    n_texts : int
    """

    def __init__(self, terms: StringArray, heard: NDArray[np.int64], n_texts: int) -> None:
        self.terms, self.heard, self.n_texts = terms, heard, n_texts

    def of(self, named: LabelNames) -> NDArray[np.float64]:
        """The weight of each term of a matcher, cached."""
        known = self.__dict__.get("_of")
        if known is None or known[0] is not named.matcher:
            matcher = named.matcher
            heard = self.heard
            if matcher.terms is not self.terms and matcher.terms != self.terms:
                positions = {term: number for number, term in enumerate(self.terms)}
                numbers = np.array([positions.get(term, -1) for term in matcher.terms], np.int64)
                heard = np.where(numbers >= 0, np.append(self.heard, 0)[numbers], 0)
            n_names = np.diff(matcher.term_names[0])
            usual = (n_names + 1) / (len(matcher.names) + 1)
            weights = np.log(
                (self.n_texts + _PRIOR_TEXTS) / (heard + _PRIOR_TEXTS * np.minimum(usual, 1))
            )
            known = self.__dict__["_of"] = matcher, np.maximum(weights, 0.01)
        return known[1]

    def _store_state(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}


@dataclass(frozen=True)
class Shared:
    """Labels that share words with texts.

    Parameters
    ----------
    pattern : csr_array of shape (n_documents, n_labels), int8
    clues : ndarray of shape (n_found, n_clues)
        A row for each entry of ``pattern``; columns as in ``WORD_CLUES``.
    names : ndarray of int64
        For each entry, the name that shares most with the text.
    """

    pattern: sparse.csr_array
    clues: NDArray[np.float64]
    names: NDArray[np.int64]


def share_in_tokens(named: LabelNames, rarity: NDArray[np.float64], tokens: Tokens) -> Shared:
    """Find labels that share words with one block of texts, with the clues for each.

    Examples
    --------
    >>> named = LabelNames(["piano music", "dogs"], [0, 1], [0, 0], 2, "english")
    >>> tokens = named.matcher.tokens(["Songs for the piano"])
    >>> shared = share_in_tokens(named, np.ones(3), tokens)
    >>> shared.pattern.toarray().tolist(), shared.clues[0, 1].tolist()
    ([[1, 0]], 0.5)
    """
    from manylabel.kernels.vocabulary_words import share_words

    matcher, n_texts = named.matcher, tokens.bounds.size - 1
    counts, labels, names, common, total = share_words(
        tokens.terms,
        tokens.bounds,
        MAX_NAMES,
        MAX_TERMS,
        *matcher.term_names,
        matcher.name_ptr,
        matcher.name_terms,
        named.columns,
        rarity,
        named.n_labels,
    )
    shape = n_texts, named.n_labels
    ptr = pointers(counts)
    rows = np.repeat(np.arange(n_texts), counts)
    order = np.lexsort((labels, rows))
    labels, names, common, total = labels[order], names[order], common[order], total[order]
    share = common / total
    if labels.size and counts.max() > _SCORED:
        kept = np.flatnonzero(best_of_rows(ptr.astype(np.int64), share + 1e-2 * common, _SCORED))
        labels, names, common = labels[kept], names[kept], common[kept]
        total, share = total[kept], share[kept]
        ptr = pointers(np.minimum(counts, _SCORED))
    labels = labels.astype(np.int32, copy=False)
    pattern = trusted_csr(np.ones(labels.size, np.int8), labels, ptr, shape)
    lengths = np.maximum(np.diff(tokens.bounds), 1)
    clues = np.column_stack(
        [
            np.ones(labels.size),
            share,
            share**2,
            share > 0.999,
            common / 10,
            total / 10,
            np.log(np.maximum(matcher.depths_of(names), 1)),
            np.repeat(np.log(lengths) / 3, np.diff(ptr)),
            named.kinds[names] != PREFERRED,
        ]
    )
    return Shared(pattern, clues, names)


def count_words(named: LabelNames, texts: Sequence[str]) -> Rarity:
    """How rare the words of names are in texts, or in an even sample of many."""
    matcher = named.matcher
    texts = texts[:: max(1, -(-len(texts) // _COUNTED))]
    heard = np.zeros(len(matcher.terms), np.int64)
    for start in range(0, len(texts), _BLOCK):
        tokens = matcher.tokens(texts[start : start + _BLOCK])
        rows = np.repeat(np.arange(tokens.bounds.size - 1), np.diff(tokens.bounds))
        pairs = np.unique(rows * (heard.size + 1) + tokens.terms + 1) % (heard.size + 1)
        heard += np.bincount(pairs, minlength=heard.size + 1)[1:]
    return Rarity(matcher.terms, heard, len(texts))
