"""Find traces of forgotten texts in the files of a model folder."""

from __future__ import annotations

import json
import mmap
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

__all__ = ["find_traces", "phrases"]

#: Maximum phrases to look for per text.
MAX_PHRASES = 60
#: Words per phrase.
WORDS = 3


def phrases(text: str) -> list[str]:
    """Phrases of a text, spread over it; the whole text if it is short.

    Examples
    --------
    >>> phrases("one two three  four")
    ['one two three', 'two three  four']
    """
    words = list(re.finditer(r"\S+", text))
    if len(words) <= WORDS:
        return [text.strip()] if text.strip() else []
    starts = range(len(words) - WORDS + 1)
    step = max(1, len(starts) // MAX_PHRASES)
    return [text[words[i].start() : words[i + WORDS - 1].end()] for i in starts[::step]]


def find_traces(
    folder: str | os.PathLike[str], texts: Iterable[str], kept: Sequence[str] = ()
) -> list[str]:
    """Files of a folder that contain a phrase of one of the texts and of no kept text.

    Searches the bytes of every file for the phrase as UTF-8 and as escaped JSON.

    Parameters
    ----------
    folder : path
    texts : iterable of str
    kept : sequence of str
        Texts that may be there.

    Returns
    -------
    list of str
        ``FILE: "PHRASE"``, one per file with a trace; empty if there are none.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "notes").write_text("he said: a secret name it is")
    ...     find_traces(folder, ["a secret name"]), find_traces(folder, ["something else"])
    (['notes: "a secret name"'], [])
    """
    wanted = [phrase for text in texts for phrase in phrases(text)]
    traces = []
    for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
        for phrase in _phrases_in(path, wanted):
            if not any(phrase in text for text in kept):
                traces.append(f'{path.relative_to(folder)}: "{phrase[:60]}"')
                break
    return traces


def _phrases_in(path: Path, wanted: list[str]) -> Iterator[str]:
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            for phrase in wanted:
                plain = phrase.encode("utf-8", "surrogatepass")
                escaped = json.dumps(phrase)[1:-1].encode()
                if content.find(plain) >= 0 or content.find(escaped) >= 0:
                    yield phrase
