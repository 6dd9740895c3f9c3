r"""Split texts into words, and reduce words to terms.

A word is a run of letters, digits, underscores and the combining marks that follow them, in any
script. Everything else separates words, apostrophes and hyphens too: *l'État* is *l* and *État*,
*e-mail* is *e* and *mail*. In scripts without spaces each run is one long word; character n-grams
work better there.

Without combining marks this is scikit-learn's default, ``\w\w+``. With them it keeps Hindi,
Tamil or vocalised Arabic words whole, and Latin words whose accents are separate characters.
Words are lower-cased one by one, so the lower-case form of Σ does not depend on the next word.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from manylabel.exceptions import MissingExtraError, ParameterError
from manylabel.lazy_modules import import_snowball
from manylabel.text import stop_words as lists

__all__ = [
    "LEMMAS",
    "RecentWords",
    "WordRules",
    "character_classes",
    "find_words",
    "list_words",
    "word_rules",
    "word_spans",
]

Value = TypeVar("Value")

#: Prefix of a language code for dictionary forms by simplemma, instead of Snowball's stems.
LEMMAS = "simplemma-"
_N_CODE_POINTS = 0x110000
#: No letter or digit follows this code point: other planes of Unicode have none.
_AFTER_LETTERS = 0x40000
#: The ranges of code points with combining marks: without surrogates and private ones.
_WITH_MARKS = ((0x300, 0xD800), (0xF900, 0x20000), (0xE0000, 0xE0200))
#: The categories of combining marks.
_MARKS = ("Mn", "Mc")
#: Words that a cache keeps at least, or this many times the words that it was last asked for: a
#: server meets new words all the time, and a training reads the same ones in each block of texts.
_MIN_CACHED, _TIMES = 20_000, 32
#: Characters per cached word, on average: texts without blanks must not fill the memory.
_MAX_MEAN_LENGTH = 50


_PLAIN = re.compile(r"\w+")


@lru_cache(maxsize=1)
def character_classes() -> NDArray[np.uint8]:
    """The class of each code point, as the kernel expects it."""
    from manylabel.kernels.text_tokens import MARK, WORD

    classes = np.zeros(_N_CODE_POINTS, np.uint8)
    is_word = np.char.isalnum(np.arange(_AFTER_LETTERS, dtype=np.uint32).view("U1"))
    classes[:_AFTER_LETTERS][is_word] = WORD
    classes[ord("_")] = WORD
    for first, end in _WITH_MARKS:
        others = first + np.flatnonzero(classes[first:end] != WORD)
        is_mark = [unicodedata.category(other) in _MARKS for other in map(chr, others.tolist())]
        classes[others[is_mark]] = MARK
    return classes


def _pattern(text: str) -> re.Pattern[str]:
    """A pattern for the words of a text, with only the marks that occur in it, for speed."""
    if text.isascii():
        return _PLAIN
    marks = [letter for letter in set(text) if unicodedata.category(letter) in _MARKS]
    return re.compile(rf"\w[\w{''.join(sorted(marks))}]*") if marks else _PLAIN


def find_words(text: str, min_length: int = 2) -> Iterator[re.Match[str]]:
    """The words of one text with their positions.

    Examples
    --------
    >>> [word.group() for word in find_words("The co-operative's 2 cafés")]
    ['The', 'co', 'operative', 'cafés']
    """
    for match in _pattern(text).finditer(text):
        if match.end() - match.start() >= min_length:
            yield match


def word_spans(text: str, min_length: int = 2) -> list[tuple[int, int]]:
    """The positions of the words of one text.

    Examples
    --------
    >>> word_spans("A ship in 1901")
    [(2, 6), (7, 9), (10, 14)]
    """
    spans = map(re.Match.span, _pattern(text).finditer(text))
    return [span for span in spans if span[1] - span[0] >= min_length]


def list_words(text: str, min_length: int = 2) -> list[str]:
    """The words of one text.

    Examples
    --------
    >>> list_words("The co-operative's 2 cafés")
    ['The', 'co', 'operative', 'cafés']
    """
    words = _pattern(text).findall(text)
    return words if min_length <= 1 else [word for word in words if len(word) >= min_length]


class RecentWords(Generic[Value]):
    """Caches a value per word, and drops words that were not used lately.

    There are two generations. A word that is asked for belongs to the recent one. When this is
    full, it becomes the older one, and the words that were older are dropped.

    Examples
    --------
    >>> RecentWords().of(["ship", "sea", "ship"], lambda new: map(len, new))
    [4, 3, 4]
    """

    def __init__(self) -> None:
        self._recent: dict[str, Value] = {}
        self._older: dict[str, Value] = {}
        self._n_characters = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._recent) + len(self._older)

    def of(self, words: list[str], compute: Callable[[list[str]], Iterable[Value]]) -> list[Value]:
        """The value of each word; ``compute`` returns those of new words, one thread at a time."""
        recent = self._recent
        try:
            return [recent[word] for word in words]
        except KeyError:
            with self._lock:
                recent = self._with(list(dict.fromkeys(words)), compute)
            return [recent[word] for word in words]

    def _with(
        self, words: list[str], compute: Callable[[list[str]], Iterable[Value]]
    ) -> dict[str, Value]:
        """The recent generation with these words."""
        most = max(_MIN_CACHED, _TIMES * len(words))
        if len(self._recent) > most or self._n_characters > most * _MAX_MEAN_LENGTH:
            self._recent, self._older, self._n_characters = {}, self._recent, 0
        recent, older = self._recent, self._older
        missing = [word for word in words if word not in recent]
        new = [word for word in missing if word not in older]
        recent.update((word, older[word]) for word in missing if word in older)
        recent.update(zip(new, compute(new), strict=True))
        self._n_characters += sum(map(len, missing))
        return recent


class WordRules:
    """Turns words as written into terms: lower-casing, then stop words, then stemming.

    Parameters
    ----------
    lowercase : bool
    stop_words : None, str or collection of str
    stemming : None or str

    Examples
    --------
    >>> WordRules(True, "english", "english").terms(["The", "Engines", "engine", "running"])
    ['', 'engin', 'engin', 'run']
    """

    def __init__(
        self, lowercase: bool, stop_words: str | Collection[str] | None, stemming: str | None
    ) -> None:
        self.lowercase = lowercase
        self._stop_words = _stop_words(stop_words, lowercase)
        # Stemmers are slow, and hold the word that they work on.
        self._stemmer = _stemmer(stemming)
        self._stems = RecentWords[str]()

    def terms(
        self, words: list[str], stems: Callable[[list[str]], list[str]] | None = None
    ) -> list[str]:
        """The term of each word, "" for a stop word.

        ``stems`` is used instead of :meth:`stems` for words that are not cached.
        """
        if self.lowercase:
            words = list(map(str.lower, words))
        if self._stop_words:
            words = ["" if word in self._stop_words else word for word in words]
        return words if self._stemmer is None else self._stems.of(words, stems or self.stems)

    def stems(self, words: list[str]) -> list[str]:
        """The stem of each word, which is neither lower-cased nor looked up."""
        stems: list[str] = self._stemmer.stemWords(words)
        return stems


def word_rules(
    lowercase: bool, stop_words: str | Collection[str] | None, stemming: str | None
) -> WordRules:
    """The rules for these parameters, with cached stems: stemming is slow."""
    if not (stop_words is None or isinstance(stop_words, str)):
        return WordRules(lowercase, stop_words, stemming)
    return _shared_rules(lowercase, stop_words, stemming)


@lru_cache(maxsize=4)
def _shared_rules(lowercase: bool, stop_words: str | None, stemming: str | None) -> WordRules:
    return WordRules(lowercase, stop_words, stemming)


def _stop_words(stop_words: Any, lowercase: bool) -> frozenset[str]:
    if stop_words is None:
        return frozenset()
    if isinstance(stop_words, str):
        if stop_words not in lists.LANGUAGES:
            raise ParameterError(
                f"`stop_words` must be None, a list of words or one of "
                f"{', '.join(lists.LANGUAGES)}; got {stop_words!r}."
            )
        return lists.stop_words(stop_words)
    words = list(stop_words)
    for word in words:
        if not isinstance(word, str):
            raise ParameterError(f"`stop_words` must contain strings; got {word!r}.")
    return frozenset(word.lower() for word in words) if lowercase else frozenset(words)


def _stemmer(stemming: Any) -> Any:
    if stemming is None:
        return None
    if isinstance(stemming, str) and stemming.startswith(LEMMAS):
        return _Lemmatizer(stemming.removeprefix(LEMMAS))
    snowballstemmer = import_snowball()
    if stemming not in snowballstemmer.algorithms():
        raise ParameterError(
            f"`stemming` must be None, one of {', '.join(snowballstemmer.algorithms())}, or "
            f"{LEMMAS} and a language code, such as {LEMMAS}fi; got {stemming!r}."
        )
    return snowballstemmer.stemmer(stemming)


class _Lemmatizer:
    """Dictionary forms instead of stems, by simplemma.

    Parameters
    ----------
    language : str
        A code such as "fi".
    """

    def __init__(self, language: str) -> None:
        try:
            import simplemma
        except ImportError:
            raise MissingExtraError("Lemmatising words", "simplemma", "lemmas") from None
        try:
            simplemma.lemmatize("a", lang=language)
        except (ValueError, FileNotFoundError):
            raise ParameterError(
                f"simplemma does not support the language {language!r}; use a code such as 'fi'."
            ) from None
        self._language, self._lemmatize = language, simplemma.lemmatize

    def stemWords(self, words: list[str]) -> list[str]:  # noqa: N802  # as Snowball's stemmers
        """The lemma of each word, in lower case."""
        return [self._lemmatize(word, lang=self._language).lower() for word in words]
