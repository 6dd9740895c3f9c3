"""Files with the names of labels and features, one per line, next to the corpus."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from manylabel.corpus.corpus import Corpus
from manylabel.corpus.files import Source, atomic_write, open_source
from manylabel.corpus.vocabulary import first_repeated
from manylabel.exceptions import CorpusError

__all__ = ["Names", "find", "given_names", "read_names", "write_beside"]

#: The type of ``labels=`` and ``features=``: a file, or the names themselves.
Names = str | os.PathLike[str] | Sequence[str]


def find(source: Source, what: str, given: Names | None, expected: int | None) -> list[str] | None:
    """The names that the user gave, or those in a file next to the corpus, or None."""
    if given is None:
        file = None if source.folder is None else source.folder / f"{what}.txt"
        if file is None or not file.is_file() or file == Path(source.name):
            return None
        given = file
    named, where = given_names(given), ""
    if isinstance(given, str | os.PathLike):
        where = f" in {os.fspath(given)}"
    if expected is not None and len(named) != expected:
        raise source.error(
            f"expected {expected} names{where}, one for each of the {what}, found {len(named)}; "
            f"give other names with `{what}`."
        )
    return named


def given_names(given: Names) -> list[str]:
    """The names in a file, or the list itself."""
    return read_names(given) if isinstance(given, str | os.PathLike) else list(given)


def read_names(path: str | os.PathLike[str]) -> list[str]:
    """Read distinct names, one per line; from a table, the first column."""
    with open_source(path) as source:
        named = [line.split("\t", 1)[0] for _, line in source.lines()]
        repeated = first_repeated(named)
        if repeated is not None:
            position = [i for i, name in enumerate(named, start=1) if name == repeated][1]
            raise source.error(f"expected each name once, found {repeated!r} again.", position)
    return named


def write_beside(corpus: Corpus, path: str | os.PathLike[str]) -> None:
    """Write ``labels.txt`` and ``features.txt`` next to a file, if the corpus has names.

    Existing files are kept if their content is the same. Otherwise raise, because another corpus in
    the folder needs them.
    """
    if os.fspath(path) == "-":
        return
    wanted = {
        "labels.txt": corpus.label_names if corpus.has_label_names else None,
        "features.txt": corpus.feature_names if corpus.has_feature_names else None,
    }
    for file_name, named in wanted.items():
        file = Path(path).parent / file_name
        if named is None:
            if file.is_file():
                raise CorpusError(
                    "this file would give names to the corpus, which has none; write to another "
                    "folder.",
                    path=str(file),
                )
            continue
        if file.is_file():
            if read_names(file) != named:
                raise CorpusError(
                    "the file exists and has other names than the corpus; write to another folder.",
                    path=str(file),
                )
            continue
        write_names(file, named)


def write_names(path: Path, named: Sequence[str]) -> None:
    """Write one name per line; refuse names that would not be read back unchanged."""
    for name in named:
        if set(name) & set("\t\r\n") or name.startswith("\ufeff"):
            raise CorpusError(
                f"the name {name!r} contains a tab, a line break or a byte order mark, which this "
                "format does not allow; rename it.",
                path=str(path),
            )
    with atomic_write(path) as file:
        file.writelines(f"{name}\n".encode() for name in named)
