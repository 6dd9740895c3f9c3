"""Find the names of labels in texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manylabel.exceptions import StoreError
from manylabel.strings import StringArray
from manylabel.text.blocks import pieces
from manylabel.text.words import RecentWords, WordRules, character_classes, find_words, word_rules

__all__ = ["Matches", "NameMatcher", "split_qualifier"]

#: Maximum number of other words between the first word of a name and its last.
GAPS = 1
#: Names are cut after this many words: a text is unlikely to contain a longer name in full.
_MAX_NAME_WORDS = 16
_QUALIFIER = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]\s*$")


def split_qualifier(name: str) -> tuple[str, str]:
    """Split a name into its core and the qualifier in brackets at its end.

    Examples
    --------
    >>> split_qualifier("coaches (occupations)")
    ('coaches', 'occupations')
    >>> split_qualifier("cats")
    ('cats', '')
    """
    match = _QUALIFIER.search(name)
    if match is None or not match.start():
        return name, ""
    return name[: match.start()], match.group(1)


@dataclass(frozen=True)
class Matches:
    """Where names occur in texts: one entry per match and name.

    Parameters
    ----------
    documents, names : ndarray of int64
        The numbers of the text and of the name.
    passages : ndarray of int64
        The number of the sentence in the text, from 0.
    starts, stops : ndarray of int64
        The range of words in the text, from 0.
    gaps : ndarray of int64
        Number of other words between those of the name.
    covered : ndarray of bool
        Whether the match is part of a longer one.
    rest : ndarray of int64
        Number of letters by which the ending of a word differs from the name, for the word that
        differs most.
    lengths : ndarray of int64
        The number of words in each text.
    """

    documents: NDArray[np.int64]
    names: NDArray[np.int64]
    passages: NDArray[np.int64]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    gaps: NDArray[np.int64]
    covered: NDArray[np.bool_]
    rest: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def __len__(self) -> int:
        return self.documents.size


@dataclass(frozen=True)
class Tokens:
    """The words of texts as terms of the matcher; -1 for a word that is in no name.

    Sentence ``s`` is ``terms[pointers[s]:pointers[s + 1]]``; text ``d`` has the sentences
    ``sentences[d]`` to ``sentences[d + 1]``. ``words`` has the number of each word; word ``w`` is
    ``letters[starts[w]:stops[w]]``, lower-case UTF-8.
    """

    terms: NDArray[np.int32]
    words: NDArray[np.int32]
    letters: NDArray[np.uint8]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    pointers: NDArray[np.int64]
    sentences: NDArray[np.int64]

    @cached_property
    def bounds(self) -> NDArray[np.int64]:
        """Where each text begins in ``terms``, and where the last one ends."""
        return self.pointers[self.sentences]


class NameMatcher:
    """Finds names in texts in any inflection.

    A name matches where the stems of its words occur in order in a sentence, with at most one other
    word in between. A qualifier in brackets at its end is ignored. The cost is proportional to the
    length of the text and does not depend on the number of names.

    Parameters
    ----------
    names : iterable of str
    stemming : str or None
        A language that Snowball has a stemmer for.

    Examples
    --------
    >>> matcher = NameMatcher(["cats", "unmanned aircraft", "aircraft"], "english")
    >>> matches = matcher.find(["An unmanned military aircraft. A cat."])
    >>> [(matcher.names[name], int(start)) for name, start in zip(matches.names, matches.starts)]
    [('unmanned aircraft', 1), ('aircraft', 3), ('cats', 5)]
    """

    def __init__(self, names: Iterable[str], stemming: str | None = None) -> None:
        from manylabel.kernels.vocabulary_names import build_trie

        self.names, self.stemming = StringArray(names), stemming
        cores, qualifiers = [], []
        for name in self.names:
            core, qualifier = split_qualifier(name)
            cores.append(core)
            qualifiers.append(qualifier)
        words, pointers, distinct = self._tokenized(cores + qualifiers)
        stems = self._rules.terms(distinct)
        self.words, self.terms = StringArray(distinct), StringArray(sorted(set(stems)))
        numbers_of = self._numbers_of
        numbers = np.array([numbers_of[stem] for stem in stems], np.int32)[words]
        n_names = len(cores)
        lengths = np.minimum(np.diff(pointers), _MAX_NAME_WORDS)
        starts = pointers[:-1]
        self.name_ptr, self.name_terms = _rows(numbers, starts[:n_names], lengths[:n_names])
        _, self.name_words = _rows(words, starts[:n_names], lengths[:n_names])
        self.context_ptr, self.context_terms = _rows(numbers, starts[n_names:], lengths[n_names:])
        self.keys, self.children, ends, self.depths = build_trie(self.name_terms, self.name_ptr)
        order = np.argsort(ends, kind="stable")
        order = order[ends[order] > 0]
        self.names_by_node = order
        counts = np.bincount(ends[order], minlength=self.depths.size)
        self.node_ptr = np.concatenate([[0], np.cumsum(counts)])

    @cached_property
    def _numbers_of(self) -> dict[str, int]:
        return {term: number for number, term in enumerate(self.terms)}

    @property
    def term_names(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The names that contain each term: pointers by term, and the names, each once per term."""
        return self._term_names

    @cached_property
    def _term_names(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        lengths, n_terms = np.diff(self.name_ptr), len(self.terms)
        if not _within(self.name_terms, n_terms):
            raise StoreError("the names of labels are damaged; restore the folder from a backup.")
        names = np.repeat(np.arange(lengths.size), lengths)
        pairs = np.unique(self.name_terms.astype(np.int64) * max(lengths.size, 1) + names)
        terms, names = np.divmod(pairs, max(lengths.size, 1))
        pointers = np.concatenate([[0], np.cumsum(np.bincount(terms, minlength=n_terms))])
        return pointers.astype(np.int64), names.astype(np.int32)

    @cached_property
    def _is_name(self) -> NDArray[np.bool_]:
        """Which nodes end a name; also checks that kernels stay within the arrays."""
        sizes = np.diff(self.node_ptr)
        n_names, n_nodes = len(self.names), self.depths.size
        is_sound = (
            self.node_ptr.size == n_nodes + 1
            and self.name_ptr.size == n_names + 1
            and self.keys.size == self.children.size
            and self.keys.size & (self.keys.size - 1) == 0
            and self.name_words.size == self.name_ptr[-1]
            and self.names_by_node.size == self.node_ptr[-1]
            and _within(sizes, self.names_by_node.size + 1)
            and _within(np.diff(self.name_ptr), self.name_words.size + 1)
            and _within(self.names_by_node, n_names)
            and _within(self.name_words, len(self.words))
            and _within(self.children + 1, n_nodes + 1)
        )
        if not is_sound:
            raise StoreError("the names of labels are damaged; restore the folder from a backup.")
        return sizes > 0

    def _store_state(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    @property
    def _rules(self) -> WordRules:
        return word_rules(True, None, self.stemming)

    def _tokenized(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], list[str]]:
        """The words of names by number, where each name begins, and the distinct words."""
        from manylabel.kernels.text_tokens import tokenize

        letters, ends = _encoded(texts)
        # Each text ends a passage, so that words do not continue into the next text.
        words, pointers, starts, stops = tokenize(
            np.frombuffer(letters, np.uint8), ends, character_classes(), 1
        )
        return words, pointers, [word.lower() for word in pieces(letters, starts, stops)]

    def tokens(self, texts: Iterable[str]) -> Tokens:
        """The words of texts as terms."""
        from manylabel.kernels.text_tokens import tokenize
        from manylabel.kernels.vocabulary_names import split_passages

        letters, ends = _encoded(texts)
        is_ascii = letters.isascii()
        if is_ascii:
            letters = letters.lower()
        given = np.frombuffer(letters, np.uint8)
        passages, sentences = split_passages(given, ends)
        words, pointers, starts, stops = tokenize(given, passages, character_classes(), 1)
        distinct = pieces(letters, starts, stops)
        if not is_ascii:
            # Lower-casing can change the length of a word, so words are converted one by one.
            distinct = [word.lower() for word in distinct]
            given, bounds = StringArray(distinct).packed
            starts, stops = bounds[:-1], bounds[1:]
        numbers = np.array(self._known.of(distinct, self._computed), np.int32)
        terms = numbers[words] if numbers.size else np.empty(0, np.int32)
        return Tokens(terms, words, given, starts, stops, pointers, sentences)

    def _computed(self, words: list[str]) -> list[int]:
        """The terms of lower-case words by number; -1 if no name has the term."""
        numbers_of = self._numbers_of
        return [numbers_of.get(term, -1) for term in self._rules.terms(words)]

    @cached_property
    def _known(self) -> RecentWords[int]:
        return RecentWords()

    def find(self, texts: Iterable[str] | Tokens) -> Matches:
        """Find every match of every name."""
        from manylabel.kernels.vocabulary_names import find_names, spread_matches

        tokens = texts if isinstance(texts, Tokens) else self.tokens(texts)
        matches = find_names(
            tokens.terms,
            tokens.pointers,
            GAPS,
            self.keys,
            self.children,
            self.depths,
            self._is_name,
        )
        numbers, covered = spread_matches(
            *matches,
            self.depths,
            self.node_ptr,
            self.names_by_node,
            tokens.sentences,
            tokens.bounds,
            tokens.words,
            tokens.letters,
            tokens.starts,
            tokens.stops,
            self.name_ptr,
            self.name_words,
            *self.words.packed,
        )
        documents, names, passages, starts, stops, gaps, rest = numbers
        lengths = np.diff(tokens.bounds)
        return Matches(documents, names, passages, starts, stops, gaps, covered, rest, lengths)

    def depths_of(self, names: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of words in names, without qualifiers."""
        return self.name_ptr[names + 1] - self.name_ptr[names]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The character range of each word of a text."""
        return [match.span() for match in find_words(text, 1)]


def _within(values: NDArray[Any], stop: int) -> bool:
    """Whether all values are at least 0 and below ``stop``."""
    return not values.size or bool(values.min() >= 0 and values.max() < stop)


def _encoded(texts: Iterable[str]) -> tuple[bytes, NDArray[np.int64]]:
    """Texts concatenated as UTF-8, and where each ends."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    return b"".join(encoded) or b" ", np.cumsum([len(text) for text in encoded], dtype=np.int64)


def _rows(
    values: NDArray[np.int32], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Concatenate ranges of an array; pointers and values."""
    positions, _ = _spread(starts, lengths)
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), values[positions]


def _spread(
    starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All indices within ranges, and the range of each."""
    each = np.repeat(np.arange(lengths.size), lengths)
    before = np.cumsum(lengths) - lengths
    return np.arange(each.size) - before[each] + starts[each], each
