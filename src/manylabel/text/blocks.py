"""Count the features of texts block by block, so that memory never holds the words of a corpus.

A block is a few megabytes of texts. Its features are numbered within the block, so blocks can be
counted in parallel and joined in order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.parallel import effective_jobs
from manylabel.text.dictionaries import Dictionary
from manylabel.text.words import WordRules, character_classes, list_words

__all__ = [
    "NGRAM_MARK",
    "Block",
    "BlockCounter",
    "Rows",
    "character_ngrams",
    "find_tokens",
    "map_in_order",
    "pieces",
    "split_blocks",
]

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Marks a character n-gram where whole words are features too; no word contains it.
NGRAM_MARK = "~"
# Large enough that joining the blocks' vocabularies costs little compared with counting.
_BLOCK_CHARACTERS = 1 << 23
#: Texts with fewer characters, and fewer words, are counted without kernels: that takes some
#: hundredths of a second, while kernels take seconds to compile after an installation.
_FEW_CHARACTERS, _FEW_WORDS = 1 << 19, 1 << 17
#: The first characters in a process are split without kernels even if these are compiled: loading
#: them takes as long. After each as many, the disk is asked again whether they are compiled.
_PATIENCE = 1 << 16
#: The characters so far, and when to ask.
_n_split = [0, _PATIENCE]


@dataclass
class Rows:
    """The counts of a block: row pointers, feature numbers (unsorted within a row), counts."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    counts: NDArray[np.int32]

    def __len__(self) -> int:
        return self.indptr.size - 1

    def to_csr(self, columns: NDArray[np.int32], n_columns: int) -> sparse.csr_array:
        """The counts of the features that have a column, 0 or above, as a canonical matrix."""
        if self.indices.size < _FEW_WORDS:
            indptr, indices, data = _sort_few_rows(self, columns)
        else:
            from manylabel.kernels.text_tokens import sort_rows

            indptr, indices, data = sort_rows(self.indptr, self.indices, self.counts, columns)
        # A block is small; stacked blocks get wider pointers if they need them.
        pointers = indptr.astype(np.int32)
        return sparse.csr_array((data, indices, pointers), shape=(len(self), n_columns))


@dataclass
class Block:
    """The counts of a block of texts.

    Attributes
    ----------
    rows : Rows
    features : list of str
        In any order; a few may have no entry.
    words, word_counts
        Distinct words as written, including stop words, and their numbers of occurrences.
    """

    rows: Rows
    features: list[str]
    words: list[str]
    word_counts: NDArray[np.int64]

    def dictionaries(self) -> tuple[Dictionary, Dictionary]:
        """The features with their numbers of documents and occurrences, and the words."""
        rows, n = self.rows, len(self.features)
        documents = np.bincount(rows.indices, minlength=n)
        occurrences = np.bincount(rows.indices, weights=rows.counts, minlength=n)
        return (
            Dictionary(self.features, np.stack([documents, occurrences.astype(np.int64)])),
            Dictionary(self.words, self.word_counts[np.newaxis]),
        )


def split_blocks(texts: Iterable[str]) -> Iterator[list[str]]:
    """Consecutive texts in blocks of a few megabytes; refuses anything that is not a str."""
    block: list[str] = []
    left = _BLOCK_CHARACTERS
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(
                f"every text must be a str; text {position} is {type(text).__name__}. "
                "Decode bytes and replace missing texts with ''."
            )
        block.append(text)
        left -= len(text) + 1
        if left <= 0:
            yield block
            block, left = [], _BLOCK_CHARACTERS
    if block:
        yield block


def map_in_order(
    work: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None
) -> Iterator[Result]:
    """Results in the order of the items; only a few items are in flight at a time."""
    threads = effective_jobs(n_jobs)
    if threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        pending: deque[Future[Result]] = deque()
        for item in items:
            pending.append(pool.submit(work, item))
            if len(pending) > 2 * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


class BlockCounter:
    """Turns the texts of one block into counts.

    Parameters
    ----------
    rules : WordRules
    min_length : int
        Shorter words are left out.
    ngram_range : (int, int)
        Minimum and maximum terms per feature.
    char_ngrams : (int, int) or None
        Minimum and maximum characters, for features that are character n-grams of terms.
    whole_words : bool
        Keep the terms besides their character n-grams.
    lead, lead_weight : int
        Each of the first ``lead`` words of a text, or an n-gram that begins with one of them,
        counts ``lead_weight`` times.
    lead_only : bool
        Leave out what comes after these words, which count once.
    """

    def __init__(
        self,
        rules: WordRules,
        min_length: int,
        ngram_range: tuple[int, int],
        char_ngrams: tuple[int, int] | None,
        whole_words: bool = False,
        lead: int = 0,
        lead_weight: int = 1,
        lead_only: bool = False,
    ) -> None:
        self.rules = rules
        self.min_length = min_length
        self.ngram_range = ngram_range
        self.char_ngrams = char_ngrams
        self.whole_words = whole_words
        self.lead = lead
        self.lead_weight = lead_weight
        self.lead_only = lead_only

    def __call__(self, texts: list[str]) -> Block:
        """Count one block."""
        sequence, pointers, words = find_tokens(texts, self.min_length)
        if self.lead_only:
            sequence, pointers = _first_words(sequence, pointers, self.lead)
        word_counts = np.bincount(sequence, minlength=len(words))
        features, term_numbers = _number(self.rules.terms(words))
        sequence = term_numbers[sequence]
        times = self._times(pointers) if self.lead and not self.lead_only else None
        if self.ngram_range != (1, 1):
            if times is not None:
                times = times[sequence >= 0]
            from manylabel.kernels.text_tokens import string_ngrams

            terms, begins = _drop_stop_words(sequence, pointers)
            sequence, pointers, heads, lasts = string_ngrams(
                terms, begins, len(features), *self.ngram_range
            )
            if times is not None:
                # All n-grams have the same length, and the position of their first term.
                lengths = np.diff(pointers)
                shift = np.repeat(begins[:-1] - pointers[:-1], lengths)
                times = times[np.arange(sequence.size) + shift]
            for head, last in zip(heads.tolist(), lasts.tolist(), strict=True):
                features.append(f"{features[head]} {features[last]}")
        if times is not None:
            sequence = np.repeat(sequence, times)
            pointers = np.concatenate([[0], np.cumsum(times)])[pointers]
        rows = _counted_rows(sequence, pointers, len(features))
        if self.char_ngrams is not None:
            ngrams, ngram_rows = _split_terms(features, rows, self.char_ngrams)
            if self.whole_words:
                features, rows = _side_by_side(features, rows, ngrams, ngram_rows)
            else:
                features, rows = ngrams, ngram_rows
        return Block(rows, features, words, word_counts)

    def _times(self, pointers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The weight of each word of the texts."""
        position = np.arange(pointers[-1]) - np.repeat(pointers[:-1], np.diff(pointers))
        return np.where(position < self.lead, self.lead_weight, 1)


def character_ngrams(term: str, low: int, high: int) -> list[str]:
    """Character n-grams of a term, padded with spaces; a term that is too short counts whole.

    Examples
    --------
    >>> character_ngrams("cat", 3, 4)
    [' ca', 'cat', 'at ', ' cat', 'cat ']
    >>> character_ngrams("cat", 6, 7)
    [' cat ']
    """
    padded = f" {term} "
    lengths = range(min(low, len(padded)), min(high, len(padded)) + 1)
    return [padded[i : i + n] for n in lengths for i in range(len(padded) - n + 1)]


def find_tokens(
    texts: list[str], min_length: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], list[str]]:
    """Numbers of the words of all texts, where each text begins, and the distinct words."""
    from manylabel.kernels.text_tokens import tokenize

    n_characters = sum(map(len, texts))
    _n_split[0] += n_characters
    if _n_split[0] < _n_split[1]:
        return _find_few_tokens(texts, min_length)
    if n_characters < _FEW_CHARACTERS and not tokenize.is_compiled:
        _n_split[1] = _n_split[0] + _PATIENCE
        return _find_few_tokens(texts, min_length)
    # A str may hold an unpaired surrogate, which has no other encoding; it separates words.
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
    joined = b"".join(encoded)
    sequence, pointers, starts, stops = tokenize(
        np.frombuffer(joined, np.uint8), ends, character_classes(), min_length
    )
    return sequence, pointers, pieces(joined, starts, stops)


def _find_few_tokens(
    texts: list[str], min_length: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], list[str]]:
    """The same as from the kernel."""
    listed = [list_words(text, min_length) for text in texts]
    numbers: dict[str, int] = {}
    sequence = [numbers.setdefault(word, len(numbers)) for words in listed for word in words]
    pointers = np.cumsum([0, *map(len, listed)], dtype=np.int64)
    return np.array(sequence, np.int32), pointers, list(numbers)


def _counted_rows(numbers: NDArray[np.int32], pointers: NDArray[np.int64], n_distinct: int) -> Rows:
    """How often each number occurs in each row; numbers below zero are left out."""
    if numbers.size >= _FEW_WORDS:
        from manylabel.kernels.text_tokens import count_rows

        return Rows(*count_rows(numbers, pointers, n_distinct))
    n_rows, kept = pointers.size - 1, numbers >= 0
    of = np.repeat(np.arange(n_rows), np.diff(pointers))[kept]
    keys, counts = np.unique(of * max(n_distinct, 1) + numbers[kept], return_counts=True)
    rows, indices = np.divmod(keys, max(n_distinct, 1))
    return Rows(_ends(rows, n_rows), indices.astype(np.int32), counts.astype(np.int32))


def _sort_few_rows(
    rows: Rows, columns: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Rename, select and sort as `sort_rows` does."""
    mine = columns[rows.indices]
    kept = np.flatnonzero(mine >= 0)
    of = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))[kept]
    order = np.lexsort((mine[kept], of))
    kept = kept[order]
    return _ends(of, len(rows)), mine[kept], rows.counts[kept].astype(np.float64)


def _ends(rows: NDArray[np.int64], n_rows: int) -> NDArray[np.int64]:
    """Row pointers from the row of each entry."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])


def pieces(text: bytes, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> list[str]:
    """Words in UTF-8 as strings; no word holds a line feed."""
    slices = [text[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]
    return b"\n".join(slices).decode().split("\n") if slices else []


def _number(terms: list[str]) -> tuple[list[str], NDArray[np.int32]]:
    """The distinct terms, and the number of each given term among them; -1 for ""."""
    numbers: dict[str, int] = {}
    positions = [numbers.setdefault(term, len(numbers)) if term else -1 for term in terms]
    return list(numbers), np.array(positions, np.int32)


def _first_words(
    sequence: NDArray[np.int32], pointers: NDArray[np.int64], most: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The first words of each text, up to a maximum."""
    position = np.arange(sequence.size) - np.repeat(pointers[:-1], np.diff(pointers))
    sizes = np.minimum(np.diff(pointers), most)
    return sequence[position < most], np.concatenate([[0], np.cumsum(sizes)])


def _drop_stop_words(
    sequence: NDArray[np.int32], pointers: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    kept = sequence >= 0
    before = np.concatenate([[0], np.cumsum(kept)])
    return sequence[kept], before[pointers]


def _side_by_side(
    terms: list[str], rows: Rows, ngrams: list[str], ngram_rows: Rows
) -> tuple[list[str], Rows]:
    """Terms and their character n-grams, which are marked as such."""
    both = sparse.hstack(
        [
            sparse.csr_array((r.counts, r.indices, r.indptr), shape=(len(r), len(names)))
            for r, names in ((rows, terms), (ngram_rows, ngrams))
        ],
        format="csr",
    )
    indptr, indices = both.indptr.astype(np.int64), both.indices.astype(np.int32)
    return [*terms, *(NGRAM_MARK + ngram for ngram in ngrams)], Rows(indptr, indices, both.data)


def _split_terms(terms: list[str], rows: Rows, lengths: tuple[int, int]) -> tuple[list[str], Rows]:
    """Counts of character n-grams: counts of terms times the n-grams of each term."""
    ngrams = [character_ngrams(term, *lengths) for term in terms]
    features, numbers = _number([ngram for group in ngrams for ngram in group])
    ends = np.cumsum([0, *map(len, ngrams)])
    ones = np.ones(numbers.size, np.int32)
    spelling = sparse.csr_array((ones, numbers, ends), shape=(len(terms), len(features)))
    by_term = sparse.csr_array(
        (rows.counts, rows.indices, rows.indptr), shape=(len(rows), len(terms))
    )
    product = by_term @ spelling
    indptr, indices = product.indptr.astype(np.int64), product.indices.astype(np.int32)
    return features, Rows(indptr, indices, product.data)
