"""Stop words for some of Snowball's languages.

The lists are files in ``stop_lists``; the first lines of each name its source and its licence.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

__all__ = ["LANGUAGES", "stop_words"]

#: Languages with a list.
LANGUAGES = (
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "italian",
    "norwegian",
    "portuguese",
    "spanish",
    "swedish",
)

_FOLDER = Path(__file__).with_name("stop_lists")


@cache
def stop_words(language: str) -> frozenset[str]:
    """The stop words of one of ``LANGUAGES``.

    Examples
    --------
    >>> "the" in stop_words("english"), "und" in stop_words("german")
    (True, True)
    """
    lines = (_FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())
