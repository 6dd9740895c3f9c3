"""Turn texts and labels in memory into a corpus: lists, series, data frames, matrices."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.corpus.columns import Columns, Layout, labels_in, text_in
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.vocabulary import first_repeated
from manylabel.exceptions import InputError, MissingExtraError
from manylabel.validation import check_labels, check_texts

__all__ = ["as_corpus", "as_texts"]

_ROWS_LOOKED_AT = 100


def as_texts(given: Any, text: Any = None) -> str | list[str] | Corpus:
    """Check texts: one text, several, or a corpus; anything else is refused.

    Parameters
    ----------
    given : str, iterable of str, series, data frame or Corpus
    text : str or sequence of str, optional
        The text columns of a data frame.
    """
    if isinstance(given, str | Corpus):
        return given
    given = _by_columns(given)
    if _column_names(given) is not None:
        return _frame_corpus(given, text=text, labels=(), ids=None, title=None)
    return _listed(given)


def as_corpus(
    documents: Any,
    labels: Any = None,
    ids: Any = None,
    *,
    text: Any = None,
    title: Any = None,
    label_names: Sequence[str] | None = None,
    what: str = "texts",
) -> Corpus:
    """Turn documents with labels into a corpus.

    Parameters
    ----------
    documents : iterable of str, series, data frame, Corpus or path
    labels : optional
        Lists of names, an indicator matrix, or the names of columns of a data frame.
    ids : optional
        Names, or the name of a column of a data frame.
    text, title : str or sequence of str, optional
        Columns of a data frame.
    label_names : sequence of str, optional
        Names of the columns of an indicator matrix.
    what : str
        The name of the argument ``documents`` in error messages.
    """
    documents = _by_columns(documents)
    names = _column_names(documents)
    if names is None and (text is not None or title is not None):
        raise InputError(f"`text` and `title` are columns of a data frame; got {_kind(documents)}.")
    if isinstance(documents, str) and (labels is not None or ids is not None):
        raise InputError(
            f"`{what}` must be a list of texts, with labels for each; got a string. Put a single "
            "text and its labels into lists."
        )
    if isinstance(documents, str | os.PathLike):
        from manylabel.corpus.formats import read

        documents = read(documents)
    if isinstance(documents, Corpus):
        if labels is not None or ids is not None:
            raise InputError("a corpus has its own labels and ids; leave out `labels` and `ids`.")
        return documents
    if names is not None:
        if labels is None or _are_columns(labels, names):
            return _frame_corpus(documents, text=text, labels=labels, ids=ids, title=title)
        documents, ids_given = _frame_texts(documents, text, title, ids)
        return _with_labels(documents, labels, ids_given, label_names)
    if labels is None:
        raise InputError(
            f"`labels` are missing; give a list of label names for each text.{_as_frame(documents)}"
        )
    texts = check_texts(_listed(documents, what), allow_empty=True)
    return _with_labels(Corpus.from_texts(texts, [[]] * len(texts)), labels, ids, label_names)


def _as_frame(documents: Any) -> str:
    """A hint for documents given as records or columns."""
    if isinstance(documents, list | tuple) and documents:
        documents = documents[0]
    if not isinstance(documents, Mapping):
        return ""
    return " Turn records or columns into a data frame first, such as a pandas.DataFrame."


def _with_labels(texts: Corpus, labels: Any, ids: Any, names: Sequence[str] | None) -> Corpus:
    """Texts with lists of labels, or with the columns of an indicator matrix."""
    if isinstance(labels, str | bytes | Mapping):
        raise InputError(
            f"`labels` must be a list of label names for each text; got {_kind(labels)}."
        )
    named = None if ids is None else [str(name) for name in _values(ids)]
    labels = _by_columns(labels)
    matrix = _indicator(labels)
    if matrix is None:
        if names is not None:
            raise InputError("`label_names` needs an indicator matrix; got lists of labels.")
        return Corpus.from_texts(
            texts.texts or [], [_items(row) for row in _values(labels)], named, titles=texts.titles
        )
    Y = check_labels(matrix, "labels")
    if Y.shape[0] != len(texts):
        raise InputError(
            f"`texts` and `labels` must have the same length; got {len(texts)} and {Y.shape[0]}."
        )
    columns = _column_names(labels) if names is None else list(names)
    for name in columns or []:
        if not str(name).strip():
            raise InputError("`labels` has a column without a name; give it one.")
    return Corpus(
        None, Y, ids=named, label_names=columns, texts=texts.texts or [], titles=texts.titles
    )


def _items(row: Any) -> Any:
    """The labels of a document; a missing value means no labels."""
    return [] if row is None or (isinstance(row, float) and np.isnan(row)) else row


def _indicator(labels: Any) -> Any:
    """The labels as a matrix of 0 and 1; None if they are lists of names."""
    if sparse.issparse(labels):
        return labels
    if _column_names(labels) is not None and not isinstance(labels, np.ndarray):
        names = _column_names(labels) or []
        _check_names(labels, names)
        return np.array([_flags(name, _values(_taken(labels, name))) for name in names]).T
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "biuf":
        if labels.ndim != 2:
            raise InputError(
                "`labels` must be lists of names or a matrix of 0 and 1 with a row for each text; "
                f"got an array of shape {labels.shape}."
            )
        return labels
    if isinstance(labels, list | tuple) and len(labels) and _are_flags(labels):
        return np.array(labels)
    return None


def _flags(name: str, values: list[Any]) -> list[float]:
    """A column of a data frame of labels, as numbers."""
    for row, value in enumerate(values):
        if not isinstance(value, int | float | np.number | np.bool_):
            raise InputError(
                f"`labels` as a data frame must contain 0 and 1; row {row} of {name!r} is "
                f"{value!r}. If the column contains names of labels, give the column itself."
            )
    return [float(value) for value in values]


def _are_flags(rows: Sequence[Any]) -> bool:
    """Whether rows are lists of 0 and 1 of the same length, at least 2."""
    if not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        return False
    sizes = {len(row) for row in rows}
    if len(sizes) != 1 or 0 in sizes or 1 in sizes:
        return False
    return all(
        isinstance(value, int | np.integer | np.bool_ | float) and value in (0, 1)
        for row in rows
        for value in row
    )


def _listed(given: Any, what: str = "texts") -> list[Any]:
    """The items of a list, a series or a vector."""
    if given is None:
        raise InputError(f"`{what}` is None; give a text or a list of texts.")
    if isinstance(given, Mapping):
        hint = "; give one of its parts" if any(_column_names(v) for v in given.values()) else ""
        raise InputError(
            f"`{what}` must be a text or a list of texts; got {_kind(given)} with "
            f"{', '.join(map(repr, list(given)[:6]))}{hint or '; give the text itself'}."
        )
    if isinstance(given, bytes | bytearray):
        raise InputError(f"`{what}` must be text; got bytes. Decode them first.")
    if sparse.issparse(given) or (isinstance(given, np.ndarray) and given.ndim != 1):
        raise InputError(
            f"`{what}` must be a text or a list of texts; got a matrix of shape {given.shape}. "
            "Give a Corpus for features."
        )
    if isinstance(given, os.PathLike):
        raise InputError(
            f"`{what}` must be a text or a list of texts; got a path. Read the file first, with "
            "`read_text()` or `manylabel.corpus.read`."
        )
    if not isinstance(given, Iterable):
        raise InputError(f"`{what}` must be a text or a list of texts; got {_kind(given)}.")
    return _values(given)


def _values(column: Any) -> list[Any]:
    """The values of a column or a series as Python objects."""
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _column_names(given: Any) -> list[str] | None:
    """The columns of a data frame of any library; None for other objects.

    pandas, Polars and others have ``columns``; Arrow's tables and Hugging Face's datasets have
    ``column_names``.
    """
    if isinstance(given, str | bytes | list | tuple | Mapping | Corpus | np.ndarray):
        return None
    names = getattr(given, "column_names", None)
    if names is None or callable(names):
        names = getattr(given, "columns", None)
    if names is None or callable(names) or isinstance(names, str):
        return None
    return [str(name) for name in names] if hasattr(given, "__getitem__") else None


def _by_columns(given: Any) -> Any:
    """Convert a data frame of an unknown library to a known one.

    Such a frame supports the dataframe interchange protocol or Arrow's stream interface. Any other
    object is returned unchanged.
    """
    if all(hasattr(type(given), name) for name in ("collect", "collect_schema")):
        raise InputError(f"a {_kind(given)} is not evaluated; give the result of its `collect()`.")
    # A series supports these protocols too, but is read as a list.
    is_series = any(hasattr(given, name) for name in ("to_list", "to_pylist", "tolist"))
    if is_series or _column_names(given) is not None:
        return given
    if hasattr(given, "__arrow_c_stream__"):
        pyarrow = _imported("pyarrow")
        if pyarrow is not None:
            return pyarrow.table(given)
    if hasattr(given, "__dataframe__"):
        reader = _imported("pyarrow.interchange") or _imported("pandas.api.interchange")
        if reader is None:
            raise MissingExtraError("Reading this data frame", "pyarrow", "files")
        return reader.from_dataframe(given)
    return given


def _imported(name: str) -> Any:
    """A module; None if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def _are_columns(labels: Any, names: list[str]) -> bool:
    """Whether ``labels`` names columns of a data frame."""
    if isinstance(labels, str | int):
        return True
    return (
        isinstance(labels, list | tuple)
        and bool(labels)
        and all(isinstance(name, str | int) for name in labels)
    )


def _frame_corpus(frame: Any, *, text: Any, labels: Any, ids: Any, title: Any) -> Corpus:
    """The documents of a data frame; columns are detected by name, as in files."""
    names = _column_names(frame) or []
    _check_names(frame, names)
    wanted = None if labels == () else labels
    text, wanted, title, ids = map(_as_names, (text, wanted, title, ids))
    columns = {name: _column(frame, name) for name in names}
    rows = list(zip(*columns.values(), strict=True))
    keys = dict(enumerate(names))
    said = Columns.of(text, wanted, title, ids if isinstance(ids, str) else None)
    try:
        layout = Layout.of(keys, said, rows[:_ROWS_LOOKED_AT])
    except InputError as error:
        # These arguments have other names than those of file readers.
        raise InputError(_renamed(str(error))) from None
    if layout is None:
        raise InputError(f"no text column found among {_shown(names)}; name it with `text`.")
    if labels is None and not layout.labels and not layout.one_hot:
        raise InputError(f"no label column found among {_shown(names)}; name it with `labels`.")
    for key in layout.text:
        check_texts([row[key] for row in rows], allow_empty=True)
    given: list[list[str]] = []
    for number, row in enumerate(rows):
        try:
            given.append(labels_in(row, layout))
        except InputError as error:
            raise InputError(f"row {number}: {_renamed(str(error))}") from None
    named = None
    if layout.id is not None:
        named = [str(row[layout.id]) for row in rows]
    if ids is not None and not isinstance(ids, str):
        named = [str(name) for name in _values(ids)]
    titles = None
    if layout.title is not None:
        titles = ["" if row[layout.title] is None else str(row[layout.title]) for row in rows]
    return Corpus.from_texts([text_in(row, layout) for row in rows], given, named, titles=titles)


def _as_names(given: Any) -> Any:
    """Names of columns as strings; pandas numbers columns without names."""
    if isinstance(given, int):
        return str(given)
    if isinstance(given, list | tuple):
        return [str(name) for name in given] or None
    return given


def _check_names(frame: Any, names: list[str]) -> None:
    """Refuse columns with the same name, and multi-level names."""
    if getattr(getattr(frame, "columns", None), "nlevels", 1) > 1:
        raise InputError(
            "the columns have multi-level names; give them plain names, such as "
            "frame.columns = ['text', 'labels']."
        )
    repeated = first_repeated(names)
    if repeated is not None:
        raise InputError(f"two columns are called {repeated!r}; rename or drop one of them.")


def _taken(frame: Any, name: str) -> Any:
    """A column by its name as a string; pandas numbers columns without names."""
    try:
        return frame[name]
    except KeyError:
        return frame[next(column for column in frame.columns if str(column) == name)]


def _frame_texts(frame: Any, text: Any, title: Any, ids: Any) -> tuple[Corpus, Any]:
    """The texts of a data frame whose labels are given separately."""
    corpus = _frame_corpus(frame, text=text, labels=(), ids=ids, title=title)
    return corpus, corpus.ids if corpus.has_ids else None


def _column(frame: Any, name: str) -> list[Any]:
    """The values of a column; class numbers become the names of the classes."""
    values = [_missing_as_none(value) for value in _values(_taken(frame, name))]
    features = getattr(frame, "features", None)
    feature = features.get(name) if isinstance(features, Mapping) else None
    classes = getattr(feature, "names", None) or getattr(
        getattr(feature, "feature", None), "names", None
    )
    if not classes:
        return values
    return [
        [classes[number] for number in value]
        if isinstance(value, list | tuple)
        else value
        if value is None
        else classes[value]
        for value in values
    ]


def _missing_as_none(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    is_missing = isinstance(value, float) and np.isnan(value)
    return None if is_missing or type(value).__name__ == "NAType" else value


def _renamed(sentence: str) -> str:
    pairs = {"text_column": "text", "label_column": "labels", "id_column": "ids"}
    for option, argument in (pairs | {"title_column": "title"}).items():
        sentence = sentence.replace(f"`{option}`", f"`{argument}`")
    return sentence


def _shown(names: list[str]) -> str:
    return ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")


def _kind(value: Any) -> str:
    return "a string" if isinstance(value, str) else f"{type(value).__name__}"
