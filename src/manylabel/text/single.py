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

from manylabel.kernels import text_names
from manylabel.strings import StringArray
from manylabel.text.blocks import NGRAM_MARK, character_ngrams, find_tokens
from manylabel.text.names import NameTable
from manylabel.text.vectorizer import CountVectorizer
from manylabel.text.words import WordRules, list_words
from manylabel.validation import trusted_csr

__all__ = ["SingleTexts"]

#: Maximum cached words, and their characters; a server keeps meeting new ones.
_MAX_WORDS, _MAX_CHARACTERS = 20_000, 1_000_000
#: From this many characters on, words are found as those of many texts: in half the time, by a
#: kernel, once the process has read enough to load it.
_LONG = 500
#: Stands for a word that is too short to count.
_SHORT = -2
_NO_COLUMNS = np.empty(0, np.int32)


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
        self._names = [vectorizer._names for vectorizer in vectorizers]
        self._sizes = [len(names) for names in self._names]
        self._counters = [vectorizer._counter() for vectorizer in vectorizers]
        self._rules = self._counters[0].rules
        self._min_length = self._counters[0].min_length
        self._written = _written_forms(self._vectorizers)
        self._terms = _Terms(self._rules, self._min_length, self._written)
        self._readers: list[_Words | _Characters] = [
            _Words(vectorizer.name_table, *_KINDS[counter.ngram_range])
            if counter.char_ngrams is None
            else _Characters(vectorizer.name_table, counter.char_ngrams, counter.whole_words)
            for vectorizer, counter in zip(self._vectorizers, self._counters, strict=True)
        ]

    @staticmethod
    def can_read(vectorizers: Sequence[CountVectorizer]) -> bool:
        """Whether all count words, pairs of words or characters, with the same rules for words."""
        first = vectorizers[0]
        shared = ("lowercase", "stop_words", "stemming", "min_length")
        return all(
            tuple(vectorizer.ngram_range) in _KINDS
            and all(getattr(vectorizer, name) == getattr(first, name) for name in shared)
            for vectorizer in vectorizers
        )

    def is_for(self, vectorizers: Sequence[CountVectorizer]) -> bool:
        """Whether these are the same vectorizers, with unchanged vocabularies."""
        return len(vectorizers) == len(self._vectorizers) and all(
            mine is vectorizer and names is vectorizer._names
            for mine, names, vectorizer in zip(
                self._vectorizers, self._names, vectorizers, strict=True
            )
        )

    def count(self, texts: Sequence[str]) -> list[sparse.csr_array]:
        """The counts of texts by each vectorizer, the same as from its ``transform``."""
        if self._terms.is_full:
            self._terms = _Terms(self._rules, self._min_length, self._written)
        terms = self._terms
        counted = [self._count(terms, text) for text in texts]
        matrices = []
        for size, of_texts in zip(self._sizes, zip(*counted, strict=True), strict=True):
            shape = len(texts), size
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
        return [
            reader.count(
                terms,
                numbers[: counter.lead] if counter.lead_only else numbers,
                0 if counter.lead_only else counter.lead,
                counter.lead_weight,
            )
            for counter, reader in zip(self._counters, self._readers, strict=True)
        ]


class _Terms:
    """Numbers of terms by word as written; -1 for stop words, -2 for words that are too short."""

    def __init__(
        self, rules: WordRules, min_length: int, written: tuple[NameTable, StringArray] | None
    ) -> None:
        self._rules, self._min_length, self._written = rules, min_length, written
        self.numbers: dict[str, int] = {}
        self._by_term: dict[str, int] = {}
        self._n_characters = 0
        self._lock = threading.Lock()
        # Both have room for more. What is there never changes, so readers need no lock.
        self._letters, self._ends = np.empty(1 << 12, np.uint8), np.zeros(1 << 10, np.int64)

    def __len__(self) -> int:
        return len(self._by_term)

    @property
    def is_full(self) -> bool:
        """Whether the next texts need a new object, without these words."""
        return len(self.numbers) > _MAX_WORDS or self._n_characters > _MAX_CHARACTERS

    @property
    def packed(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The terms in UTF-8, and where each begins and the last one ends; there may be more."""
        return self._letters, self._ends

    def of(self, words: list[str]) -> NDArray[np.int32]:
        """The number of each word's term."""
        try:
            return np.fromiter(map(self.numbers.__getitem__, words), np.int32, len(words))
        except KeyError:
            with self._lock:
                self._add([word for word in dict.fromkeys(words) if word not in self.numbers])
            return self.of(words)

    def _add(self, words: list[str]) -> None:
        self._n_characters += sum(map(len, words))
        self.numbers.update((word, _SHORT) for word in words if len(word) < self._min_length)
        words = [word for word in words if len(word) >= self._min_length]
        terms, n_known = self._terms(words), len(self._by_term)
        new = [term for term in dict.fromkeys(terms) if term and term not in self._by_term]
        encoded = [term.encode("utf-8", "surrogatepass") for term in new]
        ends = self._ends[n_known] + np.cumsum([0, *map(len, encoded)])
        self._letters = _roomy(self._letters, int(ends[-1]))
        self._ends = _roomy(self._ends, n_known + ends.size)
        self._letters[ends[0] : ends[-1]] = np.frombuffer(b"".join(encoded), np.uint8)
        self._ends[n_known : n_known + ends.size] = ends
        # Published only now that the arrays have them.
        self._by_term.update(zip(new, itertools.count(n_known)))
        for word, term in zip(words, terms, strict=True):
            self.numbers[word] = self._by_term[term] if term else -1

    def _terms(self, words: list[str]) -> list[str]:
        """The term of each word."""
        return self._rules.terms(words, None if self._written is None else self._stems)

    def _stems(self, words: list[str]) -> list[str]:
        """The stem of each word, without a stemmer where training has seen the word."""
        assert self._written is not None
        table, names = self._written
        columns = table.find(words)
        others = iter(
            self._rules.stems([words[place] for place in np.flatnonzero(columns < 0).tolist()])
        )
        return [names[column] if column >= 0 else next(others) for column in columns.tolist()]

    def term(self, number: int) -> str:
        """A term by its number."""
        letters, ends = self.packed
        return letters[ends[number] : ends[number + 1]].tobytes().decode("utf-8", "surrogatepass")


def _written_forms(
    vectorizers: Sequence[CountVectorizer],
) -> tuple[NameTable, StringArray] | None:
    """The words that features are shown as, in lower case, and the features, which are their terms.

    None if no vectorizer counts words.
    """
    for vectorizer in vectorizers:
        is_of_words = vectorizer.char_ngrams is None or vectorizer.whole_words
        if is_of_words and tuple(vectorizer.ngram_range) == (1, 1) and vectorizer.stemming:
            shown = vectorizer.shown_names
            return NameTable(shown.lower() if vectorizer.lowercase else shown), vectorizer._names
    return None


def _roomy(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array itself if it is long enough, or a longer copy."""
    if size <= array.size:
        return array
    longer = np.empty(max(size, 2 * array.size), array.dtype)
    longer[: array.size] = array
    return longer


class _Columns:
    """The column of each term by its number, looked up when first needed."""

    def __init__(self, table: NameTable) -> None:
        self._table = table
        self._lock = threading.Lock()
        self._known: tuple[_Terms | None, NDArray[np.int32], int] = None, _NO_COLUMNS, 0

    def of(self, terms: _Terms) -> NDArray[np.int32]:
        """The column of each term that is known now; -1 for those without a column."""
        owner, columns, size = self._known
        if owner is not terms or size < len(terms):
            with self._lock:
                owner, columns, size = self._known
                if owner is not terms:
                    columns, size = np.empty(1 << 10, np.int32), 0
                n_terms, (letters, ends) = len(terms), terms.packed
                columns = _roomy(columns, n_terms)
                found = self._table.find_packed(letters, ends[size : n_terms + 1])
                columns[size:n_terms] = found
                self._known = terms, columns, n_terms
        return columns


class _Words:
    """Counts words, pairs of adjacent words, ignoring stop words between them, or both."""

    def __init__(self, table: NameTable, with_words: bool, with_pairs: bool) -> None:
        self._names, self._with_pairs = table.names, with_pairs
        self._columns = _Columns(table) if with_words else None

    def count(
        self, terms: _Terms, numbers: NDArray[np.int32], lead: int, lead_weight: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Columns in ascending order, and how often each occurs."""
        columns = _NO_COLUMNS if self._columns is None else self._columns.of(terms)
        size = numbers.size * (self._with_pairs + (self._columns is not None))
        found, counts = np.empty(size, np.int32), np.empty(size)
        n_found = text_names.count_features(
            numbers, lead, lead_weight, columns, self._with_pairs, *terms.packed, self._names,
            np.empty(size, np.int64), found, counts,
        )  # fmt: skip
        return found[:n_found], counts[:n_found]


#: Whether words and pairs of words are counted, for each n-gram range.
_KINDS: dict[tuple[int, int], tuple[bool, bool]] = {
    (1, 1): (True, False),
    (2, 2): (False, True),
    (1, 2): (True, True),
}


class _Characters:
    """Counts character n-grams of words, and the words themselves if they are features too."""

    def __init__(self, table: NameTable, lengths: tuple[int, int], whole_words: bool) -> None:
        self._table, self._lengths, self._whole_words = table, lengths, whole_words
        self._known: tuple[_Terms | None, dict[int, NDArray[np.int32]]] = None, {}

    def count(
        self, terms: _Terms, numbers: NDArray[np.int32], lead: int, lead_weight: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Columns in ascending order, and how often each occurs."""
        owner, known = self._known
        if owner is not terms:
            known = {}
            self._known = terms, known
        times = np.ones(numbers.size)
        times[:lead] = lead_weight
        kept = numbers >= 0
        pieces = []
        for number in numbers[kept].tolist():
            columns = known.get(number)
            if columns is None:
                columns = known[number] = self._spelled(terms.term(number))
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
        columns = self._table.find(names)
        return columns[columns >= 0]


def _summed(
    values: NDArray[np.int32], times: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The distinct values in ascending order, and the sum of the times of each."""
    if not values.size:
        return values, times
    order = np.argsort(values, kind="stable")
    values = values[order]
    firsts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return values[firsts], np.add.reduceat(times[order], firsts)
