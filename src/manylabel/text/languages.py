"""Detect the language of a text by its common words and its character trigrams."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from manylabel.exceptions import ParameterError
from manylabel.text.stop_words import stop_words

__all__ = ["DETECTED", "detect_language", "detect_languages"]

#: Code -> name of each language that can be detected.
DETECTED = {
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "sv": "swedish",
}
_WORD = re.compile(r"[^\W\d_]+")
#: Only this many characters at the start of a text are read.
_MAX_CHARACTERS = 5_000
#: Log-likelihood of a common word, in addition to that of its trigrams.
_COMMON = 3.0
#: Laplace smoothing of trigram counts, and the approximate number of trigrams per language.
_SMOOTHING, _TRIGRAMS = 1.0, 2_000
#: Letters that are typical of each language.
_LETTERS = {
    "danish": "æøå",
    "norwegian": "æøå",
    "swedish": "åäö",
    "finnish": "äö",
    "german": "äöüß",
    "french": "éèêëàâçîïôùûœ",
    "spanish": "áéíóúñ",
    "portuguese": "ãõáâéêíóôúç",
    "italian": "àèéìòù",
    "dutch": "ëï",
}


def detect_language(text: str, languages: Sequence[str] | None = None) -> list[tuple[str, float]]:
    """Estimate the probability that a text is in each language.

    The evidence is common words, such as articles and pronouns, and character trigrams. A few
    sentences are enough; a title of three words often is not.

    Parameters
    ----------
    text : str
    languages : sequence of str, optional
        Codes of the languages to consider; by default all of `DETECTED`.

    Returns
    -------
    list of (str, float)
        Codes with probabilities that add up to 1, the most likely first; empty if the text has no
        words.

    Examples
    --------
    >>> detect_language("Alle Menschen sind frei und gleich an Würde und Rechten geboren.")[0][0]
    'de'
    """
    codes = list(DETECTED) if languages is None else list(languages)
    for code in codes:
        if code not in DETECTED:
            raise ParameterError(
                f"`languages` must hold some of {', '.join(DETECTED)}; got {code!r}."
            )
    words = [word.lower() for word in _WORD.findall(text[:_MAX_CHARACTERS])]
    if not words or not codes:
        return []
    profiles = _profiles()
    values = {code: _log_likelihood(words, *profiles[code]) for code in codes}
    best = max(values.values())
    weights = {code: math.exp(value - best) for code, value in values.items()}
    total = sum(weights.values())
    return sorted(((code, weight / total) for code, weight in weights.items()), key=_rank)


def detect_languages(texts: Iterable[str]) -> str | None:
    """The code of the language that most texts are in; None if they have no words.

    Examples
    --------
    >>> detect_languages(["Der Hund bellt im Garten", "Die Katze schläft auf dem Sofa", "OK"])
    'de'
    """
    shares: Counter[str] = Counter()
    for text in texts:
        for code, share in detect_language(text):
            shares[code] += share  # type: ignore[assignment]
    return max(shares, key=lambda code: (shares[code], code)) if shares else None


def _rank(one: tuple[str, float]) -> tuple[float, str]:
    return -one[1], one[0]


def _trigrams(word: str) -> list[str]:
    padded = f" {word} "
    return [padded[at : at + 3] for at in range(len(padded) - 2)]


def _log_likelihood(
    words: list[str], common: frozenset[str], letters: Counter[str], n_letters: int
) -> float:
    """The log-likelihood of words in a language, up to a constant."""
    value = 0.0
    for word, count in Counter(words).items():
        if word in common:
            value += count * _COMMON
        fit = [
            math.log((letters[one] + _SMOOTHING) / (n_letters + _SMOOTHING * _TRIGRAMS))
            for one in _trigrams(word)
        ]
        # The mean, so that long words do not count more than short ones.
        value += count * (sum(fit) / len(fit))
        special = [letter for letter in set(word) if letter in letters and not letter.isascii()]
        value += count * len(special) * _COMMON / 2
    return value


@lru_cache(maxsize=1)
def _profiles() -> dict[str, tuple[frozenset[str], Counter[str], int]]:
    """For each language: common words, counts of their trigrams and special letters, the total."""
    profiles = {}
    for code, language in DETECTED.items():
        words = stop_words(language)
        letters = Counter(one for word in words for one in _trigrams(word))
        n_letters = sum(letters.values())
        letters.update(_LETTERS.get(language, ""))
        profiles[code] = words, letters, n_letters
    return profiles
