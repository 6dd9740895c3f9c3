"""Find the names of labels in texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manylabel.store.strings import StringArray
from manylabel.text.blocks import pieces
from manylabel.text.words import WordRules, character_classes, find_words, word_rules

__all__ = ["Matches", "NameMatcher", "split_qualifier"]

#: Other words that may stand between the first word of a name and its last.
GAPS = 1
#: Longer names are cut: no text is likely to have all of them.
_LONGEST = 16
#: Pairs of words whose distance is remembered.
_MOST_RESTS = 200_000
#: Names are not looked for across these.
_BREAK = re.compile(r"[.!?;:]+(?=\s|$)|[\n\r]+|\s[-–—/]\s")
_QUALIFIER = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]\s*$")


def split_qualifier(name: str) -> tuple[str, str]:
    """A name without what stands in brackets at its end, and what stands there.

    Examples
    --------
    >>> split_qualifier("coaches (occupations)")
    ('coaches', 'occupations')
    >>> split_qualifier("cats")
    ('cats', '')
    """
    found = _QUALIFIER.search(name)
    if found is None or not found.start():
        return name, ""
    return name[: found.start()], found.group(1)


@dataclass(frozen=True)
class Matches:
    """Where names stand in texts, one entry for each match and each name that is written so.

    Parameters
    ----------
    documents, names : ndarray of int64
        The text, and the name by its number.
    passages : ndarray of int64
        The place of the sentence within the text, from 0.
    starts, stops : ndarray of int64
        The words of the text that the match covers, counted from 0.
    gaps : ndarray of int64
        Other words between those of the name.
    covered : ndarray of bool
        Whether the match is part of a longer one.
    rest : ndarray of int64
        How many letters, at most, the words as written differ in at their ends from those of the
        name.
    lengths : ndarray of int64
        The number of words of each text.
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
    """The words of texts as terms of the matcher, -1 for a word that no name has.

    Sentence ``s`` is ``terms[pointers[s]:pointers[s + 1]]``; text ``d`` has the sentences
    ``sentences[d]`` to ``sentences[d + 1]``. ``words`` are the same words by their places in
    ``distinct``.
    """

    terms: NDArray[np.int32]
    words: NDArray[np.int32]
    distinct: list[str]
    pointers: NDArray[np.int64]
    sentences: NDArray[np.int64]

    @property
    def bounds(self) -> NDArray[np.int64]:
        """Where each text begins in ``terms``, and the end."""
        return self.pointers[self.sentences]


class NameMatcher:
    """Finds names in texts, whatever their inflection.

    A name is found where the stems of its words stand in its order in a sentence, with at most one
    other word between them. What stands in brackets at its end is not looked for. The cost is in
    proportion to the text and does not depend on the number of names.

    Parameters
    ----------
    names : iterable of str
    stemming : str or None
        A language of Snowball's stemmers.

    Examples
    --------
    >>> matcher = NameMatcher(["cats", "unmanned aircraft", "aircraft"], "english")
    >>> found = matcher.find(["An unmanned military aircraft. A cat."])
    >>> [(matcher.names[name], int(start)) for name, start in zip(found.names, found.starts)]
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
        place = self._place
        numbers = np.array([place[stem] for stem in stems], np.int32)[words]
        n_names = len(cores)
        lengths = np.minimum(np.diff(pointers), _LONGEST)
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
    def _place(self) -> dict[str, int]:
        return {term: number for number, term in enumerate(self.terms)}

    @cached_property
    def _n_names(self) -> NDArray[np.int64]:
        """How many names end at each node: found once, for texts do not depend on it."""
        return np.diff(self.node_ptr)

    @cached_property
    def _is_name(self) -> NDArray[np.bool_]:
        return self._n_names > 0

    def _store_state(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    @property
    def _rules(self) -> WordRules:
        return word_rules(True, None, self.stemming)

    def _tokenized(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], list[str]]:
        """The words of texts by number, where each text begins, and the distinct words."""
        from manylabel.kernels.text_tokens import tokenize

        encoded = [text.encode("utf-8", "replace") for text in texts]
        ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
        joined = b"".join(encoded) or b" "
        # Texts end at their own ends: words do not run on from one to the next.
        words, pointers, starts, stops = tokenize(
            np.frombuffer(joined, np.uint8), ends, character_classes(), 1
        )
        return words, pointers, [word.lower() for word in pieces(joined, starts, stops)]

    def tokens(self, texts: Iterable[str]) -> Tokens:
        """The words of texts as terms."""
        passages: list[str] = []
        sentences = [0]
        for text in texts:
            passages.extend(_BREAK.split(text))
            sentences.append(len(passages))
        words, pointers, distinct = self._tokenized(passages)
        place = self._place
        numbers = np.array([place.get(t, -1) for t in self._rules.terms(distinct)], np.int32)
        terms = numbers[words] if numbers.size else np.empty(0, np.int32)
        return Tokens(terms, words, distinct, pointers, np.array(sentences, np.int64))

    def find(self, texts: Iterable[str] | Tokens) -> Matches:
        """Every match of every name."""
        from manylabel.kernels.vocabulary_names import find_names

        tokens = texts if isinstance(texts, Tokens) else self.tokens(texts)
        passages, nodes, starts, stops, covered = find_names(
            tokens.terms,
            tokens.pointers,
            GAPS,
            self.keys,
            self.children,
            self.depths,
            self._is_name,
        )
        gaps = stops - starts - self.depths[nodes]
        documents = np.searchsorted(tokens.sentences, passages, side="right") - 1
        before = tokens.bounds[documents]
        n_names = self._n_names[nodes]
        places, each = _spread(self.node_ptr[nodes], n_names)
        names = self.names_by_node[places]
        return Matches(
            documents[each],
            names,
            (passages - tokens.sentences[documents])[each],
            (starts - before)[each],
            (stops - before)[each],
            gaps[each],
            covered[each],
            self._rest(tokens, starts[each], names, gaps[each]),
            np.diff(tokens.bounds),
        )

    def _rest(
        self,
        tokens: Tokens,
        starts: NDArray[np.int64],
        names: NDArray[np.int64],
        gaps: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """How far the words of matches are from those of their names; 0 where there are gaps."""
        lengths = np.where(gaps == 0, self.depths_of(names), 0)
        mine, each = _spread(self.name_ptr[names], lengths)
        theirs, _ = _spread(starts, lengths)
        pairs = tokens.words[theirs].astype(np.int64) << 32 | self.name_words[mine]
        distinct, place = np.unique(pairs, return_inverse=True)
        rests = np.array(
            [
                self._rest_of(tokens.distinct[pair >> 32], pair & 0xFFFFFFFF)
                for pair in distinct.tolist()
            ],
            np.int64,
        )
        found = np.zeros(names.size, np.int64)
        if rests.size:
            np.maximum.at(found, each, rests[place])
        return found

    def _rest_of(self, written: str, word: int) -> int:
        """How far a word as written is from a word of a name; texts repeat themselves."""
        known = self._rests
        found = known.get((written, word))
        if found is None:
            if len(known) > _MOST_RESTS:
                known.clear()
            found = known[written, word] = _rest(written, self.words[word])
        return found

    @cached_property
    def _rests(self) -> dict[tuple[str, int], int]:
        return {}

    def depths_of(self, names: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many words names have, without their qualifiers."""
        return self.name_ptr[names + 1] - self.name_ptr[names]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each word of a text stands."""
        return [match.span() for match in find_words(text, 1)]


def _rest(one: str, other: str) -> int:
    """How many letters are left of the longer of two words behind what both begin with."""
    if one == other:
        return 0
    pairs = enumerate(zip(one, other, strict=False))
    shared = next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
    return max(len(one), len(other)) - shared


def _rows(
    values: NDArray[np.int32], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Some stretches of an array, one after the other."""
    places, _ = _spread(starts, lengths)
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), values[places]


def _spread(
    starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All places of stretches, and the stretch of each."""
    each = np.repeat(np.arange(lengths.size), lengths)
    before = np.cumsum(lengths) - lengths
    return np.arange(each.size) - before[each] + starts[each], each
