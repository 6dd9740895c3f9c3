"""A folder of texts, Annif's layout for whole documents.

``name.txt`` is a text and ``name`` its id. Its labels are in ``name.tsv`` or else ``name.key``, one
a line: an identifier in angle brackets, whose brackets and whatever follows a tab are dropped, or a
name. A text without such a file has no labels. Documents come in the order of their names.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from manylabel.corpus.checks import require_texts
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.documents import Document
from manylabel.corpus.files import open_source
from manylabel.exceptions import CorpusError

__all__ = ["iter_documents", "write"]


def iter_documents(path: str | os.PathLike[str]) -> Iterator[Document]:
    """The documents of a folder, one at a time."""
    texts = sorted(file for file in Path(path).glob("*.txt") if file.is_file())
    if not texts:
        raise CorpusError("expected files that end in .txt, found none.", path=os.fspath(path))
    for file in texts:
        keys = [file.with_suffix(suffix) for suffix in (".tsv", ".key")]
        key = next((key for key in keys if key.is_file()), None)
        yield Document(file.stem, _read_text(file), [] if key is None else _read_labels(key))


def _read_text(path: Path) -> str:
    if path.stat().st_size == 0:
        return ""
    with open_source(path) as source:
        return "".join(line for _, line in source.raw_lines())


def _read_labels(path: Path) -> list[str]:
    if path.stat().st_size == 0:
        return []
    with open_source(path) as source:
        names = [line.split("\t", 1)[0].strip() for _, line in source.lines()]
    return [
        name[1:-1] if name.startswith("<") and name.endswith(">") else name
        for name in names
        if name
    ]


def write(corpus: Corpus, path: str | os.PathLike[str]) -> None:
    """Write a folder that does not exist yet, with a ``.txt`` and a ``.key`` for each document."""
    texts = require_texts(corpus, path)
    target = Path(path)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise CorpusError("expected a new or an empty folder, found files.", path=os.fspath(path))
    ids = corpus.ids
    _check_ids(ids, path)
    _check_labels(corpus, path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        temporary.mkdir()
        for row, labels in enumerate(corpus.label_lists()):
            (temporary / f"{ids[row]}.txt").write_bytes(_with_mark(texts[row]).encode())
            lines = "".join(f"{label}\n" for label in labels)
            (temporary / f"{ids[row]}.key").write_bytes(lines.encode())
        if target.exists():
            target.rmdir()
        os.replace(temporary, target)
    except OSError as error:
        raise CorpusError(
            f"the folder cannot be written ({error.strerror or error}).", path=os.fspath(path)
        ) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _with_mark(text: str) -> str:
    """The text, behind a byte order mark if it starts with one: readers drop the first."""
    return f"\ufeff{text}" if text.startswith("\ufeff") else text


def _check_ids(ids: list[str], path: str | os.PathLike[str]) -> None:
    """Refuse ids that cannot be file names."""
    seen: set[str] = set()
    for name in ids:
        # Some file systems do not tell capitals from small letters.
        if name.lower() in seen:
            raise CorpusError(
                f"documents are told apart by their ids, but {name!r} is there twice.",
                path=os.fspath(path),
            )
        seen.add(name.lower())
        if (
            not name
            or name.startswith(".")
            or set(name) & set('/\\:*?"<>|\0')
            or (len(name.encode()) > 250 or not name.isprintable())
        ):
            raise CorpusError(
                f"the id {name!r} cannot be a file's name; write JSON Lines instead.",
                path=os.fspath(path),
            )


def _check_labels(corpus: Corpus, path: str | os.PathLike[str]) -> None:
    """Refuse labels that would not be read back the same."""
    for name in corpus.label_names:
        if not name or name != name.strip() or name.startswith("<") or set(name) & set("\t\r\n"):
            raise CorpusError(
                f"the label {name!r} is empty, starts with '<', has blanks at its ends or holds a "
                "tab or a line break, which a key file cannot carry; write JSON Lines instead.",
                path=os.fspath(path),
            )
