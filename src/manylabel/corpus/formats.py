"""Read and write a corpus in any format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from manylabel.corpus.columns import Columns
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.detection import FORMATS, READ_ONLY, TEXT_FORMATS, detect, format_of_name
from manylabel.corpus.documents import Document, collect
from manylabel.corpus.files import open_source
from manylabel.corpus.names import Names, given_names
from manylabel.corpus.texts import TextReader
from manylabel.exceptions import CorpusError, ParameterError

__all__ = ["iter_documents", "read", "write"]

# Option -> the formats that have it.
_READ_OPTIONS = {
    "features": ("xc", "svmlight"),
    "zero_based": ("svmlight",),
}
_WRITE_OPTIONS: dict[str, tuple[str, ...]] = {"separator": ("tsv", "csv")}
_FEATURES = tuple(kind for kind in FORMATS if kind not in TEXT_FORMATS)


def read(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    labels: Names | None = None,
    features: Names | None = None,
    zero_based: bool | None = None,
    text_column: str | Sequence[str] | None = None,
    label_column: str | Sequence[str] | None = None,
    title_column: str | None = None,
    id_column: str | None = None,
    separator: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    tell: Callable[[str], None] | None = None,
) -> Corpus:
    """Read a corpus.

    Parameters
    ----------
    path : path
        A file, plain or compressed (.gz, .bz2, .xz, .zst), a folder, or ``-`` for standard input.
    format : str, optional
        One of ``manylabel.corpus.detection.FORMATS``: texts in "jsonl", "json", "tsv", "csv",
        "xlsx", "ods", "parquet", "folder", "docx", "pdf", "html", "epub" or "lines"; features in
        "xc", "svmlight", "mulan" or "meka". Detected by default.
    labels : path or sequence of str, optional
        The names of the labels, or a file with one name per line (for ARFF, Mulan's XML). By
        default a file next to the corpus is used, if there is one. For texts this is the
        vocabulary, and other labels are refused.
    features : path or sequence of str, optional
        The names of the features ("xc" and "svmlight").
    zero_based : bool, optional
        Whether features are counted from 0 or from 1 ("svmlight"); by default from 0 if a 0 occurs.
    text_column, label_column : str or sequence of str, optional
        The columns, or fields of records, with the texts and the labels. Several text columns are
        joined by blank lines. Several label columns are combined; the name of a column of 0 and 1
        is the label. By default columns are detected by name, such as ``abstract`` and
        ``keywords``.
    title_column, id_column : str, optional
    separator : str, optional
        Separator of labels in one string; detected by default.
    delimiter : str, optional
        Separator of the cells of CSV; detected by default.
    encoding : str, optional
        Encoding of texts; by default UTF-8, or UTF-16 or Windows-1252 if detected.
    tell : callable, optional
        Called with sentences on the detected columns and on those that are ignored.

    Returns
    -------
    Corpus
        Documents without labels, and rows without features, are kept.

    Raises
    ------
    CorpusError
        With the file, the line and what was expected there.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pets.jsonl")
    ...     _ = path.write_text('{"text": "my cat", "labels": ["cats"]}')
    ...     read(path)
    <Corpus: 1 document, texts, 1 label, 1.00 labels per document>
    """
    _check_format(format)
    columns = Columns.of(text_column, label_column, title_column, id_column, separator)
    reader = TextReader(path, format, columns, delimiter=delimiter, encoding=encoding, tell=tell)
    options = {"features": features, "zero_based": zero_based}
    if _is_folder(path):
        _checked_options("folder", options, _READ_OPTIONS)
        vocabulary = None if labels is None else given_names(labels)
        return collect(reader, os.fspath(path), vocabulary)
    with open_source(path) as source:
        kind = format or detect(source)
        chosen = _checked_options(kind, options, _READ_OPTIONS)
        if kind in _FEATURES:
            _check_no_columns(columns, kind)
            return _module(kind).read(source, labels=labels, **chosen)
        vocabulary = None if labels is None else given_names(labels)
        return collect(reader.documents(source), source.name, vocabulary)


def iter_documents(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    text_column: str | Sequence[str] | None = None,
    label_column: str | Sequence[str] | None = None,
    title_column: str | None = None,
    id_column: str | None = None,
    separator: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Document]:
    r"""Read the documents of a corpus of texts one at a time, in constant memory.

    Parameters are those of `read`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pets.tsv")
    ...     _ = path.write_text("my cat\tcats; pets")
    ...     [document.labels for document in iter_documents(path)]
    [['cats', 'pets']]
    """
    _check_format(format)
    columns = Columns.of(text_column, label_column, title_column, id_column, separator)
    yield from TextReader(path, format, columns, delimiter=delimiter, encoding=encoding, tell=tell)


def write(
    corpus: Corpus,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    separator: str | None = None,
) -> None:
    """Write a corpus atomically: a crash leaves either the old file or the new one.

    "jsonl", "tsv", "csv" and "folder" store texts; "xc", "svmlight", "mulan" and "meka" store
    features. The rest of a corpus is not written. Formats of texts omit labels without documents.

    Parameters
    ----------
    corpus : Corpus
    path : path
        Its extension selects the compression and, without ``format``, the format: ``.txt`` is
        "xc", no extension "folder", ``.arff`` "mulan". ``-`` is standard output.
    format : str, optional
        As in `read`.
    separator : str, optional
        Separator of labels in one string ("tsv" and "csv"); ``;`` by default.

    Raises
    ------
    CorpusError
        If the format cannot represent the corpus.
    """
    _check_format(format)
    kind = format or format_of_name(path)
    if kind in READ_ONLY:
        raise CorpusError(f"cannot write {kind}; write csv or jsonl instead.", path=os.fspath(path))
    options = _checked_options(kind, {"separator": separator}, _WRITE_OPTIONS)
    try:
        _module(kind).write(corpus, path, **options)
    except UnicodeEncodeError as error:
        raise CorpusError(
            f"a text or name contains {error.object[error.start : error.end]!r}, an unpaired "
            "surrogate, which UTF-8 cannot encode; remove it.",
            path=os.fspath(path),
        ) from None


def _check_no_columns(columns: Columns, kind: str) -> None:
    """Refuse options for columns if the format has features, not columns."""
    given = [name for name, _ in columns.named]
    if columns.separator is not None:
        given.append("separator")
    for name in given:
        raise ParameterError(f"`{name}` is an option for texts, but the format is {kind}.")


def _is_folder(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path) != "-" and Path(path).is_dir()


def _module(kind: str) -> Any:
    """Import the module of a format."""
    return import_module(f"manylabel.corpus.{kind}")


def _check_format(kind: str | None) -> None:
    if kind is not None and kind not in FORMATS:
        raise ParameterError(f"`format` must be one of {', '.join(FORMATS)}; got {kind!r}.")


def _checked_options(
    kind: str, options: dict[str, Any], known: dict[str, tuple[str, ...]]
) -> dict[str, Any]:
    """The given options; an error for one that the format does not have."""
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if kind not in known[name]:
            raise ParameterError(
                f"`{name}` is an option for {' and '.join(known[name])}, but the format is {kind}."
            )
    return given
