"""Detect which columns of a table, or fields of a record, are texts, titles, labels and ids.

Files with named columns, JSON, spreadsheets and data frames all use this module. It recognises
common names of such columns; columns that the user names take precedence. It also lists the
remaining columns, so that callers can report which ones are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from manylabel.corpus.cells import flag_in, guess_separator, labels_in_cell, shorten_cell
from manylabel.exceptions import InputError, ParameterError

__all__ = [
    "ROLES",
    "SAMPLE",
    "Columns",
    "Layout",
    "labels_in",
    "role_of",
    "text_in",
]

#: Role of a column -> its common names, the most reliable first.
ROLES: dict[str, tuple[str, ...]] = {
    "text": (
        *("text", "texts", "full text", "fulltext", "content", "contents", "body", "abstract"),
        *("abstracts", "document", "article", "description", "summary", "message", "comment text"),
        *("comment", "review", "review text", "question", "post", "sentence", "note", "notes"),
    ),
    "title": ("title", "titles", "headline", "heading", "article title", "document title"),
    "labels": (
        *("labels", "label", "subject uris", "subjects", "subject", "tags", "tag", "keywords"),
        *("keyword", "key words", "author keywords", "categories", "category", "topics", "topic"),
        *("descriptors", "classes", "class", "themes", "index terms", "mesh terms", "genres"),
    ),
    "id": (
        *("id", "ids", "identifier", "document id", "doc id", "docid", "doi", "pmid", "uri"),
        *("url", "isbn", "eid"),
    ),
}
_RANK = {name: (role, rank) for role, names in ROLES.items() for rank, name in enumerate(names)}
#: Rows from which columns are detected.
SAMPLE = 100


def role_of(name: Any) -> str | None:
    """The role of a column with this name: "text", "title", "labels", "id" or None.

    Examples
    --------
    >>> role_of("Author Keywords"), role_of("subject_uris"), role_of("year")
    ('labels', 'labels', None)
    """
    ranked = _RANK.get(_plain(name))
    return None if ranked is None else ranked[0]


def _plain(name: Any) -> str:
    return re.sub(r"[\s_.-]+", " ", str(name)).strip().casefold()


@dataclass(frozen=True)
class Columns:
    """The columns that the user has named.

    Parameters
    ----------
    text, labels : tuple of str
        Several text columns are joined by blank lines; several label columns are combined.
    title, id : str, optional
    separator : str, optional
        Separator of labels in one string.
    """

    text: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    title: str | None = None
    id: str | None = None
    separator: str | None = None

    @classmethod
    def of(
        cls,
        text_column: str | Sequence[str] | None = None,
        label_column: str | Sequence[str] | None = None,
        title_column: str | None = None,
        id_column: str | None = None,
        separator: str | None = None,
    ) -> Columns:
        """Check the arguments of a reader."""
        if separator is not None:
            # A shell passes a tab or a line break as two characters.
            separator = {"\\n": "\n", "\\t": "\t"}.get(separator, separator)
            is_space = separator.isspace() and separator not in "\n\t"
            if not separator or is_space or separator in "<>":
                raise ParameterError(
                    f"`separator` must not be empty, a space, < or >; got {separator!r}."
                )
        return cls(
            _several(text_column), _several(label_column), title_column, id_column, separator
        )

    @property
    def named(self) -> list[tuple[str, str]]:
        """The argument and the name of every column that the user has named."""
        pairs = [("text_column", name) for name in self.text]
        pairs += [("label_column", name) for name in self.labels]
        pairs += [("title_column", self.title)] if self.title is not None else []
        return pairs + ([("id_column", self.id)] if self.id is not None else [])


def _several(given: str | Sequence[str] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)


@dataclass(frozen=True)
class Layout:
    """The role of each column or field.

    A key is the position of a column in a row that is a list, or the name of a field in a record.

    Parameters
    ----------
    text, labels, one_hot : tuple of keys
        Columns of ``one_hot`` contain 0 or 1, and the column's name is the label.
    title, id : key or None
    separator : str
        Separator of labels in one string.
    names : mapping of key to str
        All columns; empty for a table whose columns have no names.
    """

    text: tuple[Any, ...]
    labels: tuple[Any, ...] = ()
    one_hot: tuple[Any, ...] = ()
    title: Any = None
    id: Any = None
    separator: str = ";"
    names: Mapping[Any, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        names: Mapping[Any, str],
        columns: Columns | None = None,
        sample: Sequence[Any] = (),
        one_hot: Iterable[str] | None = None,
    ) -> Layout | None:
        """Detect the roles of columns; None if there is no text column.

        Parameters
        ----------
        names : mapping of key to str
        columns : Columns, optional
            The columns that the user has named.
        sample : sequence of rows, optional
            Columns of 0 and 1, and the separator of labels, are detected in these rows.
        one_hot : iterable of str, optional
            The columns of 0 and 1, if they are already known.

        Raises
        ------
        InputError
            If a named column does not exist.
        """
        said = columns or Columns()
        given = {name: key for key, name in reversed(list(names.items()))}
        for argument, name in said.named:
            if name not in given:
                raise InputError(
                    f"`{argument}` is {name!r}, but there is no such column; the columns are "
                    f"{_listed(names.values())}.{_hint(name, given)}"
                )
        taken = {given[name] for _, name in said.named}
        best = _best_by_role(names, taken)
        text = tuple(given[name] for name in said.text)
        title = given[said.title] if said.title is not None else best.get("title")
        if not text and "text" in best:
            text = (best["text"],)
        if not text and title is not None and said.title is None:
            text, title = (title,), None
        if not text:
            return None
        if title in text:
            title = None
        labels = tuple(given[name] for name in said.labels)
        flags: tuple[Any, ...] = ()
        if len(labels) > 1:
            flags = _flags(labels, sample, names, one_hot)
            labels = tuple(key for key in labels if key not in flags)
        elif not labels and "labels" in best:
            labels = (best["labels"],)
        elif not labels:
            id_key = given[said.id] if said.id is not None else best.get("id")
            rest = [key for key in names if key not in (*text, title, id_key)]
            flags = _flags(rest, sample, names, one_hot)
            # A single column of 0 and 1 is not reliable evidence of labels.
            if len(flags) < 2 and one_hot is None:
                flags = ()
        separator = said.separator
        if separator is None:
            separator = guess_separator(_cell(row, key) for row in sample for key in labels)
        return cls(
            text,
            labels,
            flags,
            title,
            given[said.id] if said.id is not None else best.get("id"),
            separator,
            dict(names),
        )

    @property
    def ignored(self) -> list[str]:
        """The columns that are not used."""
        used = {*self.text, *self.labels, *self.one_hot, self.title, self.id}
        return [name for key, name in self.names.items() if key not in used and name]

    def described(self) -> str:
        """The detected columns in one line; empty if their names are identical to their roles."""
        roles = {
            "text": self.text,
            "title": () if self.title is None else (self.title,),
            "labels": self.labels,
            "id": () if self.id is None else (self.id,),
        }
        named = {what: [self.names.get(key, "") for key in keys] for what, keys in roles.items()}
        guessed = [what for what in named if named[what] and not _is_clear(what, named[what])]
        if not guessed and not self.one_hot:
            return ""
        parts = [
            f"{what} from {_listed(names)}"
            for what, names in named.items()
            if any(names) and (what != "id" or what in guessed)
        ]
        if self.one_hot:
            flags = f"labels from the 0/1 columns {_listed(map(self.names.get, self.one_hot))}"
            parts.append(flags)
        return ", ".join(parts)


def _is_clear(what: str, names: list[str]) -> bool:
    """Whether a column's name is identical to its role."""
    return [_plain(name) for name in names] == [what]


def _best_by_role(names: Mapping[Any, str], taken: set[Any]) -> dict[str, Any]:
    """The key with the most reliable name for each role."""
    best: dict[str, tuple[int, Any]] = {}
    for key, name in names.items():
        role, rank = _RANK.get(_plain(name), (None, 0))
        if role is not None and key not in taken and (role not in best or rank < best[role][0]):
            best[role] = rank, key
    return {role: key for role, (_, key) in best.items()}


def _flags(
    keys: Iterable[Any],
    sample: Sequence[Any],
    names: Mapping[Any, str],
    known: Iterable[str] | None,
) -> tuple[Any, ...]:
    """The columns that contain 0 and 1."""
    if known is not None:
        wanted = set(known)
        return tuple(key for key in keys if names[key] in wanted)
    flags = []
    for key in keys:
        values = {flag_in(_cell(row, key)) for row in sample}
        if None not in values and _has_values(sample, key):
            flags.append(key)
    return tuple(flags)


def _has_values(sample: Sequence[Any], key: Any) -> bool:
    """Whether a column of the sample has any value."""
    return any(str(_cell(row, key)).strip() not in ("", "None") for row in sample)


def _cell(row: Any, key: Any) -> Any:
    if isinstance(row, Mapping):
        return row.get(key)
    return row[key] if key < len(row) else None


def text_in(row: Any, layout: Layout) -> str:
    """The texts of a row, joined by blank lines."""
    if len(layout.text) == 1:
        value = _cell(row, layout.text[0])
        return "" if value is None else str(value)
    cells = (_cell(row, key) for key in layout.text)
    return "\n\n".join(str(cell) for cell in cells if cell is not None and str(cell).strip())


def labels_in(row: Any, layout: Layout) -> list[str]:
    """The labels of a row.

    Raises
    ------
    InputError
        If a cell does not contain labels.
    """
    labels: list[str] = []
    for key in layout.labels:
        labels += labels_in_cell(_cell(row, key), layout.separator)
    for key in layout.one_hot:
        flag = flag_in(_cell(row, key))
        if flag is None:
            raise InputError(
                f"expected 0 or 1 in the column {layout.names[key]!r}, found "
                f"{shorten_cell(_cell(row, key))}; name the label columns with `label_column`."
            )
        if flag:
            labels.append(layout.names[key])
    return labels


def _listed(names: Iterable[Any]) -> str:
    shown = [repr(str(name)) for name in names]
    return ", ".join(shown) if len(shown) <= 12 else ", ".join([*shown[:12], "..."])


def _hint(name: str, names: Iterable[str]) -> str:
    known = list(names)
    near = get_close_matches(name, known, n=1) or [
        other for other in known if other.casefold() == name.casefold()
    ]
    return f" Did you mean {near[0]!r}?" if near else ""
