"""What is left of forgotten texts in the files of a model folder."""

from __future__ import annotations

import json
import mmap
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

__all__ = ["find_traces", "phrases"]

#: Phrases that are looked for, of each text.
MOST = 60
#: Words of a phrase.
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
    step = max(1, len(starts) // MOST)
    return [text[words[i].start() : words[i + WORDS - 1].end()] for i in starts[::step]]


def find_traces(
    folder: str | os.PathLike[str], texts: Iterable[str], kept: Sequence[str] = ()
) -> list[str]:
    """Files of a folder that hold a phrase of one of the texts, which no kept text has.

    Looks at the bytes of every file, whatever it is: as UTF-8, and as JSON writes it.

    Parameters
    ----------
    folder : path
    texts : iterable of str
    kept : sequence of str
        Texts that may be there.

    Returns
    -------
    list of str
        ``FILE: "PHRASE"``, one for each file with a trace; empty if there is none.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "notes").write_text("he said: a secret name it is")
    ...     find_traces(folder, ["a secret name"]), find_traces(folder, ["something else"])
    (['notes: "a secret name"'], [])
    """
    wanted = [phrase for text in texts for phrase in phrases(text)]
    found = []
    for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
        for phrase in _phrases_in(path, wanted):
            if not any(phrase in text for text in kept):
                found.append(f'{path.relative_to(folder)}: "{phrase[:60]}"')
                break
    return found


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
