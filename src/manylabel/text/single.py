"""Count the features of a few texts, for several vectorizers at once.

`CountVectorizer.transform` is made for many texts and takes several passes over Python strings.
Here each word is looked up once, as written: its term has a number, and each vectorizer has a
column for each number. The counts are the same.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.text.blocks import NGRAM_MARK, character_ngrams, find_tokens
from manylabel.text.vectorizer import CountVectorizer
from manylabel.text.words import WordRules, list_words
from manylabel.validation import trusted_csr

__all__ = ["SingleTexts"]

#: Maximum cached words, and their characters; a server keeps meeting new ones.
_MAX_WORDS, _MAX_CHARACTERS = 20_000, 1_000_000
#: Pairs of words are looked up by number only after this many texts, because the table is slow to
#: build.
_PATIENCE = 4
#: From this many characters on, a kernel finds words faster than a regular expression. It saves
#: less than a millisecond and takes seconds to compile, so short texts do not use it.
_LONG = 10_000
#: Stands for a word that is too short to count.
_SHORT = -2


class SingleTexts:
    """Counts a few texts for vectorizers that agree on what a word is.

    Parameters
    ----------
    vectorizers : sequence of CountVectorizer
        Fitted.

    Examples
    --------
    >>> words = CountVectorizer().fit(["a ship sails"])
    >>> [counts] = SingleTexts([words]).count(["Ship to ship", "sails"])
    >>> counts.toarray()
    array([[0., 2.],
           [1., 0.]])
    """

    def __init__(self, vectorizers: Sequence[CountVectorizer]) -> None:
        self._vectorizers = list(vectorizers)
        self._vocabularies = [vectorizer.vocabulary_ for vectorizer in vectorizers]
        self._counters = [vectorizer._counter() for vectorizer in vectorizers]
        self._rules = self._counters[0].rules
        self._min_length = self._counters[0].min_length
        self._terms = _Terms(self._rules, self._min_length)
        self._readers: list[_Words | _Pairs | _Both | _Characters] = [
            _READERS[counter.ngram_range](vectorizer.vocabulary_)
            if counter.char_ngrams is None
            else _Characters(vectorizer.vocabulary_, counter.char_ngrams, counter.whole_words)
            for vectorizer, counter in zip(self._vectorizers, self._counters, strict=True)
        ]

    @staticmethod
    def can_read(vectorizers: Sequence[CountVectorizer]) -> bool:
        """Whether all count words, pairs of words or characters, with the same rules for words."""
        first = vectorizers[0]
        shared = ("lowercase", "stop_words", "stemming", "min_length")
        return all(
            tuple(vectorizer.ngram_range) in _READERS
            and all(getattr(vectorizer, name) == getattr(first, name) for name in shared)
            for vectorizer in vectorizers
        )

    def is_for(self, vectorizers: Sequence[CountVectorizer]) -> bool:
        """Whether these are the same vectorizers, with unchanged vocabularies."""
        return len(vectorizers) == len(self._vectorizers) and all(
            mine is vectorizer and known is vectorizer.vocabulary_
            for mine, known, vectorizer in zip(
                self._vectorizers, self._vocabularies, vectorizers, strict=True
            )
        )

    def count(self, texts: Sequence[str]) -> list[sparse.csr_array]:
        """The counts of texts by each vectorizer, the same as from its ``transform``."""
        if self._terms.is_full:
            self._terms = _Terms(self._rules, self._min_length)
        terms = self._terms
        counted = [self._count(terms, text) for text in texts]
        matrices = []
        for reader, of_texts in zip(self._readers, zip(*counted, strict=True), strict=True):
            shape = len(texts), len(reader.vocabulary)
            if len(texts) == 1:
                [(columns, counts)] = of_texts
                ptr = np.array([0, columns.size], np.int32)
            else:
                columns = np.concatenate([columns for columns, _ in of_texts])
                counts = np.concatenate([counts for _, counts in of_texts])
                sizes = [columns.size for columns, _ in of_texts]
                ptr = np.array([0, *itertools.accumulate(sizes)], np.int32)
            matrices.append(trusted_csr(counts, columns, ptr, shape))
        return matrices

    def _count(
        self, terms: _Terms, text: str
    ) -> list[tuple[NDArray[np.int32], NDArray[np.float64]]]:
        """The columns of a text's features by each vectorizer, and how often each occurs."""
        if len(text) < _LONG:
            numbers = terms.of(list_words(text, 0))
            numbers = numbers[numbers != _SHORT]
        else:
            sequence, _, words = find_tokens([text], self._min_length)
            numbers = terms.of(words)[sequence]
        found = []
        for counter, reader in zip(self._counters, self._readers, strict=True):
            read = numbers[: counter.lead] if counter.lead_only else numbers
            times = np.ones(read.size)
            if not counter.lead_only:
                times[: counter.lead] = counter.lead_weight
            found.append(reader.count(terms, read, times))
        return found


class _Terms:
    """Numbers of terms by word as written; -1 for stop words, -2 for words that are too short."""

    def __init__(self, rules: WordRules, min_length: int) -> None:
        self.rules, self._min_length = rules, min_length
        self.numbers: dict[str, int] = {}
        self.listed: list[str] = []
        self._by_term: dict[str, int] = {}
        self._n_characters = 0
        self._lock = threading.Lock()

    @property
    def is_full(self) -> bool:
        """Whether the next texts need a new object, without these words."""
        return len(self.numbers) > _MAX_WORDS or self._n_characters > _MAX_CHARACTERS

    def of(self, words: list[str]) -> NDArray[np.int32]:
        """The number of each word's term."""
        try:
            return np.array([self.numbers[word] for word in words], np.int32)
        except KeyError:
            with self._lock:
                self._add([word for word in words if word not in self.numbers])
            return self.of(words)

    def _add(self, words: list[str]) -> None:
        self._n_characters += sum(map(len, words))
        self.numbers.update((word, _SHORT) for word in words if len(word) < self._min_length)
        words = [word for word in words if len(word) >= self._min_length]
        for word, term in zip(words, self.rules.terms(words), strict=True):
            number = self._by_term.get(term, -1)
            if term and number < 0:
                number = self._by_term[term] = len(self.listed)
                self.listed.append(term)
            self.numbers[word] = number


class _Columns:
    """The column of each term by its number, looked up when first needed."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self.vocabulary = vocabulary
        self._known: tuple[_Terms | None, NDArray[np.int32]] = None, np.full(1, -1, np.int32)

    def of(self, terms: _Terms, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """The column of each term; -1 for stop words and unknown terms."""
        owner, columns = self._known
        if owner is not terms:
            columns = np.full(1, -1, np.int32)
        if numbers.size and numbers.max() >= columns.size - 1:
            new = terms.listed[columns.size - 1 :]
            # The last entry is for stop words, whose number is -1.
            more = [self.vocabulary.get(term, -1) for term in new]
            columns = np.concatenate([columns[:-1], np.array([*more, -1], np.int32)])
            self._known = terms, columns
        return columns[numbers]


class _Words:
    """Counts words."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self.vocabulary = vocabulary
        self._columns = _Columns(vocabulary)

    def count(
        self, terms: _Terms, numbers: NDArray[np.int32], times: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Columns in ascending order, and how often each occurs."""
        columns = self._columns.of(terms, numbers)
        kept = columns >= 0
        return _summed(columns[kept], times[kept])


class _Pairs:
    """Counts pairs of adjacent words, ignoring stop words between them."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self.vocabulary = vocabulary
        self._n_read = 0
        self._table: _Table | None = None

    def count(
        self, terms: _Terms, numbers: NDArray[np.int32], times: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Columns in ascending order, and how often each occurs."""
        kept = numbers >= 0
        numbers, times = numbers[kept], times[kept][:-1]
        self._n_read += 1
        if self._table is None and self._n_read > _PATIENCE:
            self._table = _Table.of(self.vocabulary)
        if self._table is not None:
            return self._table.count(terms, numbers, times)
        names = [terms.listed[number] for number in numbers.tolist()]
        known = [
            self.vocabulary.get(f"{head} {last}", -1) for head, last in itertools.pairwise(names)
        ]
        columns = np.array(known, np.int32)
        there = columns >= 0
        return _summed(columns[there], times[there])


class _Both:
    """Counts words and pairs of words."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self.vocabulary = vocabulary
        self._words = _Words(vocabulary)
        self._pairs = _Pairs({name: at for name, at in vocabulary.items() if " " in name})

    def count(
        self, terms: _Terms, numbers: NDArray[np.int32], times: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Columns in ascending order, and how often each occurs."""
        words, word_counts = self._words.count(terms, numbers, times)
        pairs, pair_counts = self._pairs.count(terms, numbers, times)
        return _summed(np.concatenate([words, pairs]), np.concatenate([word_counts, pair_counts]))


class _Characters:
    """Counts character n-grams of words, and the words themselves if they are features too."""

    def __init__(
        self, vocabulary: dict[str, int], lengths: tuple[int, int], whole_words: bool
    ) -> None:
        self.vocabulary = vocabulary
        self._lengths, self._whole_words = lengths, whole_words
        self._known: tuple[_Terms | None, dict[int, NDArray[np.int32]]] = None, {}

    def count(
        self, terms: _Terms, numbers: NDArray[np.int32], times: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Columns in ascending order, and how often each occurs."""
        owner, known = self._known
        if owner is not terms:
            known = {}
            self._known = terms, known
        kept = numbers >= 0
        pieces = []
        for number in numbers[kept].tolist():
            columns = known.get(number)
            if columns is None:
                columns = known[number] = self._spelled(terms.listed[number])
            pieces.append(columns)
        if not pieces:
            return np.empty(0, np.int32), np.empty(0)
        sizes = np.array([columns.size for columns in pieces])
        return _summed(np.concatenate(pieces), np.repeat(times[kept], sizes))

    def _spelled(self, term: str) -> NDArray[np.int32]:
        """The columns of a term and its n-grams, as often as each occurs."""
        names = character_ngrams(term, *self._lengths)
        if self._whole_words:
            names = [term, *(NGRAM_MARK + name for name in names)]
        known = (self.vocabulary.get(name, -1) for name in names)
        return np.array([column for column in known if column >= 0], np.int32)


#: Reader for each n-gram range.
_READERS: dict[tuple[int, int], type[_Words | _Pairs | _Both]] = {
    (1, 1): _Words,
    (2, 2): _Pairs,
    (1, 2): _Both,
}


class _Table:
    """The column of each pair of terms in a vocabulary, by the terms' numbers."""

    def __init__(
        self, terms: dict[str, int], keys: NDArray[np.int64], columns: NDArray[np.int32]
    ) -> None:
        self._columns, self._n_terms = _Columns(terms), len(terms)
        self._keys, self._positions = keys, columns

    @classmethod
    def of(cls, vocabulary: dict[str, int]) -> _Table | None:
        """The table of a vocabulary of pairs; None if it has other features."""
        # A forgotten feature has a name that cannot occur in a text.
        names = [name for name in vocabulary if not name.startswith("\0")]
        columns = np.array([vocabulary[name] for name in names], np.int32)
        sequence, pointers, terms = find_tokens(names, 1)
        sizes = np.array([len(term.encode()) for term in terms], np.int64)
        whole = np.fromiter((len(name.encode()) for name in names), np.int64, len(names))
        if not (np.diff(pointers) == 2).all():
            return None
        pairs = sequence.reshape(-1, 2)
        if (sizes[pairs].sum(axis=1) + 1 != whole).any():
            return None
        keys = pairs[:, 0].astype(np.int64) * len(terms) + pairs[:, 1]
        order = np.argsort(keys)
        numbered = {term: number for number, term in enumerate(terms)}
        return cls(numbered, keys[order], columns[order])

    def count(
        self, terms: _Terms, numbers: NDArray[np.int32], times: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Columns in ascending order, and how often each occurs."""
        own = self._columns.of(terms, numbers).astype(np.int64)
        there = (own[:-1] >= 0) & (own[1:] >= 0)
        keys = (own[:-1] * self._n_terms + own[1:])[there]
        keys, times = _summed(keys, times[there])
        positions = np.searchsorted(self._keys, keys)
        positions[positions == self._keys.size] = 0
        is_known = self._keys[positions] == keys if self._keys.size else np.zeros(0, np.bool_)
        return _summed(self._positions[positions[is_known]], times[is_known])


def _summed(
    values: NDArray[Any], times: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The distinct values in ascending order, and the sum of the times of each."""
    if not values.size:
        return values, times
    order = np.argsort(values, kind="stable")
    values = values[order]
    firsts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return values[firsts], np.add.reduceat(times[order], firsts)
