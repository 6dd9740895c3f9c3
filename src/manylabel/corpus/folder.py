"""A folder of texts: Annif's layout for full documents, or one folder per label.

``name.txt`` is a text and ``name`` its id; .docx, .pdf, .html and .epub files are texts as well.
The labels are in ``name.tsv`` or else ``name.key``, one per line: a name, or an identifier in angle
brackets. The brackets, and everything after a tab, are dropped. A text without such a file has no
labels. Documents are sorted by name.

If a folder has no texts but subfolders with texts, the name of a subfolder is the label of its
texts. A text that is in several subfolders under the same name has all their labels.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from manylabel.corpus.checks import require_texts
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.document_files import DOCUMENT_EXTENSIONS, read_document_file
from manylabel.corpus.documents import Document
from manylabel.corpus.encodings import Lines, recoded
from manylabel.corpus.files import open_source
from manylabel.exceptions import CorpusError

__all__ = ["iter_documents", "write"]

_ENDINGS = (".txt", ".text", ".md", *DOCUMENT_EXTENSIONS)
OnBad = Callable[[CorpusError], None]


def iter_documents(path: str | os.PathLike[str], on_bad: OnBad | None = None) -> Iterator[Document]:
    """The documents of a folder, one at a time.

    Parameters
    ----------
    path : path
    on_bad : callable, optional
        Called with the error of each file that cannot be read; the file is then skipped.
    """
    files = _texts_in(Path(path))
    if not files:
        yield from _by_label(Path(path), on_bad)
        return
    for file in files:
        keys = [file.with_suffix(suffix) for suffix in (".tsv", ".key")]
        key = next((key for key in keys if key.is_file()), None)
        try:
            document = _read(file)
            labels = [] if key is None else _read_labels(key)
        except CorpusError as error:
            if on_bad is None:
                raise
            on_bad(error)
            continue
        yield document._replace(labels=labels)


def _texts_in(folder: Path) -> list[Path]:
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() in _ENDINGS and file.is_file() and not file.name.startswith(".")
    )


def _by_label(path: Path, on_bad: OnBad | None) -> Iterator[Document]:
    """The documents of subfolders that are named after labels."""
    folders = sorted(entry for entry in path.iterdir() if entry.is_dir() and entry.name[0] != ".")
    by_name: dict[str, list[Path]] = {}
    for folder in folders:
        for file in _texts_in(folder):
            by_name.setdefault(file.name, []).append(file)
    if not by_name:
        raise CorpusError(
            "expected .txt, .docx, .pdf, .html or .epub files, or a folder of them for each label, "
            "found none.",
            path=os.fspath(path),
        )
    for files in (by_name[name] for name in sorted(by_name)):
        merged: dict[tuple[str | None, str], Document] = {}
        for file in files:
            try:
                document = _read(file)
            except CorpusError as error:
                if on_bad is None:
                    raise
                on_bad(error)
                continue
            same = document.title, document.text
            before = merged.get(same, document._replace(id=f"{file.parent.name}/{file.stem}"))
            merged[same] = before._replace(labels=[*before.labels, file.parent.name])
        for document in merged.values():
            yield document


def _read(path: Path) -> Document:
    """A document without its labels."""
    if path.suffix.lower() in DOCUMENT_EXTENSIONS:
        return read_document_file(path)
    return Document(path.stem, _read_text(path), [])


def _read_text(path: Path) -> str:
    if path.stat().st_size == 0:
        return ""
    with open_source(path) as source:
        return "".join(Lines(recoded(source, None, _ignore), or_old=True, tell=_ignore))


def _ignore(sentence: str) -> None:
    """Ignore notes on encodings: one for each of a thousand files would not help."""


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
    """Write a new folder with a ``.txt`` and a ``.key`` file for each document."""
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
    """The text; if it starts with a byte order mark, with a second one, as readers drop one."""
    return f"\ufeff{text}" if text.startswith("\ufeff") else text


def _check_ids(ids: list[str], path: str | os.PathLike[str]) -> None:
    """Refuse ids that cannot be file names."""
    seen: set[str] = set()
    for name in ids:
        # Some file systems are not case-sensitive.
        if name.lower() in seen:
            raise CorpusError(
                f"ids must be distinct, but {name!r} occurs twice.",
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
                f"the id {name!r} cannot be a file name; write JSON Lines instead.",
                path=os.fspath(path),
            )


def _check_labels(corpus: Corpus, path: str | os.PathLike[str]) -> None:
    """Refuse labels that would not be read back unchanged."""
    for name in corpus.label_names:
        if not name or name != name.strip() or name.startswith("<") or set(name) & set("\t\r\n"):
            raise CorpusError(
                f"the label {name!r} cannot be written to a key file: it is empty, starts with "
                "'<', has spaces at its ends or contains a tab or a line break; write JSON Lines "
                "instead.",
                path=os.fspath(path),
            )
