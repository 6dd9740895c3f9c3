"""Read files that contain one document each: .docx, .pdf, .html and .epub.

The libraries belong to the extra ``files`` and are imported when such a file is read.
"""

from __future__ import annotations

import io
import logging
import os
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from manylabel.corpus.documents import Document
from manylabel.corpus.file_limits import check_archive
from manylabel.corpus.files import bare_stem, bare_suffix, open_source
from manylabel.exceptions import CorpusError, MissingExtraError

__all__ = ["DOCUMENT_EXTENSIONS", "parse_document_file", "read_document_file", "require"]

#: Maximum size of a file inside an archive; books are smaller.
_MAX_MEMBER = 1 << 28


def require(module: str, package: str, what: str) -> Any:
    """Import a library of the extra ``files``."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(what, package, "files") from None


def read_document_file(path: str | os.PathLike[str]) -> Document:
    """Read the document in a file; its id is the file's name."""
    with open_source(path) as source:
        kind = DOCUMENT_EXTENSIONS[bare_suffix(path)]
        return parse_document_file(kind, source.stream.read(), source.name)


def parse_document_file(kind: str, content: bytes, name: str) -> Document:
    """Read the document in the bytes of a file.

    Parameters
    ----------
    kind : {"docx", "pdf", "html", "epub"}
    content : bytes
    name : str
        The file's name, for its id and for errors.
    """
    check_archive(content, name)
    try:
        title, text = _READERS[kind](content)
    except (CorpusError, MissingExtraError):
        raise
    except Exception as error:  # the libraries raise many kinds of errors
        raise CorpusError(
            f"the file cannot be read as .{kind} ({type(error).__name__}: {error}).", name
        ) from None
    if not text.strip():
        why = "; scanned pages need text recognition (OCR) first" if kind == "pdf" else ""
        raise CorpusError(f"there is no text in this file{why}.", name)
    named = None if name == "-" else bare_stem(name)
    return Document(named, text, [], title or None, 1)


def _docx(content: bytes) -> tuple[str, str]:
    docx = require("docx", "python-docx", "Reading .docx files")
    document = docx.Document(io.BytesIO(content))
    lines = [paragraph.text for paragraph in document.paragraphs]
    for table in document.tables:
        lines += ["\t".join(cell.text for cell in row.cells) for row in table.rows]
    return document.core_properties.title or "", _tidy("\n".join(lines))


def _pdf(content: bytes) -> tuple[str, str]:
    pypdf = require("pypdf", "pypdf", "Reading .pdf files")
    with _silent("pypdf"):
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ValueError("it needs a password")
        pages = "\n\n".join(page.extract_text() or "" for page in reader.pages)
        title = reader.metadata.title if reader.metadata is not None else None
    # Join words that are hyphenated at the end of a line.
    return str(title or ""), _tidy(re.sub(r"(?<=[^\W\d_])-\n(?=[a-zà-ÿ])", "", pages))


@contextmanager
def _silent(name: str) -> Iterator[None]:
    """Switch off the messages of a library, which has one for each oddity of a file."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _html(content: bytes) -> tuple[str, str]:
    return _of_markup(content, "Reading .html files")


def _of_markup(content: bytes, what: str) -> tuple[str, str]:
    bs4 = require("bs4", "beautifulsoup4", what)
    page = bs4.BeautifulSoup(content, "html.parser")
    title = page.title.get_text(" ", strip=True) if page.title is not None else ""
    for element in page(["script", "style", "template", "noscript", "nav", "head"]):
        element.decompose()
    return title, _tidy(page.get_text("\n", strip=True))


def _epub(content: bytes) -> tuple[str, str]:
    bs4 = require("bs4", "beautifulsoup4", "Reading .epub files")
    with zipfile.ZipFile(io.BytesIO(content)) as book:

        def inside(name: str) -> bytes:
            if book.getinfo(name).file_size > _MAX_MEMBER:
                raise ValueError(f"{name} in the archive is too large")
            return book.read(name)

        container = bs4.BeautifulSoup(inside("META-INF/container.xml"), "html.parser")
        package = container.find("rootfile")["full-path"]
        contents = bs4.BeautifulSoup(inside(package), "html.parser")
        title = contents.find("dc:title")
        hrefs = {item["id"]: item["href"] for item in contents.find_all("item")}
        chapters = []
        for entry in contents.find_all("itemref"):
            name = posixpath.join(posixpath.dirname(package), hrefs[entry["idref"]])
            chapters.append(_of_markup(inside(posixpath.normpath(name)), "Reading .epub files")[1])
    return "" if title is None else title.get_text(strip=True), "\n\n".join(chapters)


def _tidy(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t\xa0]+", " ", text)).strip()


_READERS: dict[str, Callable[[bytes], tuple[str, str]]] = {
    "docx": _docx,
    "pdf": _pdf,
    "html": _html,
    "epub": _epub,
}
#: Extension -> format.
DOCUMENT_EXTENSIONS = {f".{kind}": kind for kind in _READERS} | {".htm": "html"}
