"""Quote and unquote ARFF words: plain, or in single or double quotes with backslashes."""

from __future__ import annotations

import re

__all__ = ["quote", "split_words", "take_word", "unquote"]

_SINGLE, _DOUBLE = r"'(?:[^'\\]|\\.)*'", r'"(?:[^"\\]|\\.)*"'
_WORD = re.compile(rf"\s*({_SINGLE}|{_DOUBLE}|[^\s'\"]\S*)(?=\s|$)", re.DOTALL)
_PIECE = re.compile(rf"(?:{_SINGLE}|{_DOUBLE}|[^,'\"])*", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_CODES = {value: f"\\{letter}" for letter, value in _ESCAPES.items()}


def unquote(word: str) -> str:
    r"""A word without its quotes and backslashes.

    Examples
    --------
    >>> unquote(r"'don\'t'")
    "don't"
    """
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
        word = word[1:-1]
    return re.sub(r"""\\([\\'"%nrt])""", lambda match: _ESCAPES.get(match[1], match[1]), word)


def quote(word: str) -> str:
    r"""A word as written in a file, quoted if needed.

    Examples
    --------
    >>> quote("cats"), quote("don't")
    ('cats', "'don\\'t'")
    """
    if re.fullmatch(r"[\w.:/=+*<>()\[\]-]+", word):
        return word
    escaped = re.sub(
        r"""[\\'"%\n\r\t]""", lambda match: _CODES.get(match[0], "\\" + match[0]), word
    )
    return f"'{escaped}'"


def take_word(text: str) -> tuple[str, str] | None:
    """The first word, unquoted, and the rest; None if there is none."""
    match = _WORD.match(text)
    return None if match is None else (unquote(match[1]), text[match.end() :])


def split_words(text: str, *, unquote_them: bool = True) -> list[str] | None:
    """The words between commas; None if a quote is not closed."""
    words = []
    at = 0
    while True:
        match = _PIECE.match(text, at)
        assert match is not None
        words.append(match[0].strip())
        at = match.end()
        if at == len(text):
            break
        if text[at] != ",":
            return None
        at += 1
    return [unquote(word) for word in words] if unquote_them else words
