"""The labels of a tagger: their columns, names and descriptions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manylabel.exceptions import InputError
from manylabel.tagger.label_edits import LabelEdits
from manylabel.vocabulary.vocabulary import bare
from manylabel.wording import counted

if TYPE_CHECKING:
    from manylabel.corpus import Corpus
    from manylabel.vocabulary import LabelNames, Vocabulary

__all__ = ["LabelInfo", "Labels", "check_label_info", "read_label_info"]

#: Maximum labels to compare an unknown label with, to propose a similar one.
_COMPARED = 1000


@dataclass(frozen=True)
class LabelInfo:
    """The name and the description of a label.

    Parameters
    ----------
    label : str
        As it appears in documents; may be a code.
    name : str
        The name to show; the label itself if it has none.
    description : str
    """

    label: str
    name: str
    description: str = ""


class Labels:
    """Labels by column and by name; new labels get new columns at the end.

    Parameters
    ----------
    labels : sequence of str
        In the order of the columns.
    info : mapping of str to LabelInfo
        May include labels that no document has.
    vocabulary : Vocabulary, optional
        Describes labels that are not in ``info``.
    language : str, optional
        The language of the names to show, as a code.
    edits : LabelEdits, optional
    """

    def __init__(
        self,
        labels: Sequence[str],
        info: Mapping[str, LabelInfo],
        vocabulary: Vocabulary | None = None,
        language: str | None = None,
        edits: LabelEdits | None = None,
    ) -> None:
        self.edits = LabelEdits() if edits is None else edits
        self.listed = list(labels)
        self.infos = dict(info)
        self.vocabulary, self.language = vocabulary, language
        self._columns_by_label = {label: column for column, label in enumerate(self.listed)}

    def __len__(self) -> int:
        return len(self.listed)

    def __contains__(self, label: str) -> bool:
        return label in self._columns_by_label and label not in self.edits.gone

    def add(self, label: str) -> int:
        """Return the column of a label, adding one if needed; a deleted label comes back."""
        self.edits.gone.pop(label, None)
        column = self._columns_by_label.setdefault(label, len(self.listed))
        if column == len(self.listed):
            self.listed.append(label)
        return column

    def has_column(self, label: str) -> bool:
        """Whether a label has a column, even if it was deleted."""
        return label in self._columns_by_label

    def label_names(self, language: str | None) -> LabelNames:
        """The names to look for in texts; ``language`` is a full name, such as "english"."""
        assert self.vocabulary is not None
        return self.edits.label_names(self.vocabulary, self.listed, language, self.language)

    def column(self, label: str) -> int:
        """The column of a label, even of a deleted one."""
        return self._columns_by_label[label]

    def columns(
        self, wanted: str | Iterable[str], where: str | None, collections: bool = False
    ) -> NDArray[np.int64]:
        """Look up the columns of labels; an unknown label is an error.

        Parameters
        ----------
        wanted : str or iterable of str
        where : str or None
            The argument that they come from, for the error.
        collections : bool
            Whether a collection or scheme of the vocabulary stands for its labels.
        """
        names = [wanted] if isinstance(wanted, str) else list(wanted)
        columns: list[int] = []
        for name in names:
            label = name if name in self else self._bracketed(str(name))
            if label is not None and label in self:
                columns.append(self._columns_by_label[label])
            elif collections and self._is_collection(name):
                columns += self._members(name)
            else:
                near = self._with_name(str(name))
                near = near or get_close_matches(str(name), self._similar_to(str(name)), n=1)
                hint = f"; did you mean {near[0]!r}?" if near else "."
                n_groups = len(self.vocabulary.collections) if self.vocabulary is not None else 0
                of = f", {counted(n_groups, 'collection')}" if collections and n_groups else ""
                scope = "" if where is None else f" in `{where}`"
                raise InputError(
                    f"unknown label {name!r}{scope} ({counted(len(self), 'label')}{of} known){hint}"
                )
        return np.array(columns, np.int64)

    def _with_name(self, name: str) -> list[str]:
        """The first label with this name, for labels that are codes; empty if there is none."""
        named = {info.name.casefold(): label for label, info in reversed(self.infos.items())}
        label = named.get(name.casefold())
        if label is None and self.vocabulary is not None:
            label = next(iter(self.vocabulary.called(name)), None)
        return [label] if label is not None and label in self else []

    def named(self, names: Iterable[str]) -> dict[str, str]:
        """The known labels that unknown ones mean.

        They are names in the vocabulary, or identifiers with or without angle brackets.
        """
        unknown = [name for name in names if name not in self._columns_by_label]
        named = {name: label for name in unknown if (label := self._bracketed(name)) is not None}
        unknown = [name for name in unknown if name not in named]
        if self.vocabulary is None or not unknown:
            return named
        labels = self._by_concept()
        for name, concept in self.vocabulary.named_once(unknown, self.language).items():
            label = labels.get(concept, concept)
            named[name] = self.edits.successor(label) or label
        return named

    def _bracketed(self, name: str) -> str | None:
        """The label that differs from an unknown one in angle brackets; None if there is none."""
        other = bare(name)
        other = f"<{name}>" if other == name else other
        return other if other in self._columns_by_label else None

    def identified(self, corpus: Corpus) -> Corpus:
        """A corpus with labels instead of their names, and angle brackets as labels have them."""
        named = self.named(corpus.label_names)
        return corpus.rename_labels(named) if named else corpus

    def _is_collection(self, name: Any) -> bool:
        known = self.vocabulary
        return known is not None and isinstance(name, str) and bare(name) in known.collections

    def _members(self, collection: str) -> list[int]:
        """The columns of a collection's labels."""
        assert self.vocabulary is not None
        plain = self._by_concept()
        members = self.vocabulary.in_collection(collection)
        labels = (self.edits.successor(plain.get(member, member)) for member in members)
        return [
            self._columns_by_label[label] for label in labels if label in self._columns_by_label
        ]

    def _by_concept(self) -> dict[str, str]:
        """Labels by their identifiers in the vocabulary."""
        plain = {bare(label): label for label in self._columns_by_label}
        return plain | {bare(concept): label for label, concept in self.edits.concepts.items()}

    def rename(self, label: str, to: str) -> None:
        """Rename the label of a column; a deleted label with the new name swaps columns with it."""
        if label in self._columns_by_label:
            column, other = self._columns_by_label.pop(label), self._columns_by_label.get(to)
            self.listed[column], self._columns_by_label[to] = to, column
            if other is not None:
                self.listed[other], self._columns_by_label[label] = label, other
        info = self.infos.pop(label, None) or self.infos.pop(bare(label), None)
        if info is not None:
            name = to if info.name == info.label else info.name
            self.infos[to] = LabelInfo(to, name, info.description)

    def is_known(self, label: str) -> bool:
        """Whether an edit, ``info`` or the vocabulary mentions a label."""
        if label in self.edits.added or label in self.edits.concepts:
            return True
        if label in self.edits.gone:
            return False
        return self._given(label) is not None or (
            self.vocabulary is not None and label in self.vocabulary
        )

    def _given(self, label: str) -> LabelInfo | None:
        """The entry of a label in ``info``, with or without angle brackets around URIs."""
        return self.infos.get(label) or self.infos.get(bare(label))

    def _concept(self, label: str) -> str | None:
        """The identifier of a label in the vocabulary; None if it has none."""
        concept = self.edits.concepts.get(label, label)
        return concept if self.vocabulary is not None and concept in self.vocabulary else None

    def notation(self, label: str) -> str:
        """The code of a label in the vocabulary; empty if it has none."""
        known, concept = self.vocabulary, self._concept(label)
        return "" if known is None or concept is None else known.notation(concept)

    def _similar_to(self, name: str) -> list[str]:
        """Labels that the user may have meant; of many, those that share a half with the name.

        A one-character typo leaves one half intact. If too many labels share a half, as codes
        often do, none is proposed.
        """
        if len(self) <= _COMPARED:
            return self.listed
        start, end = name[: len(name) // 2], name[len(name) // 2 :]
        sharing = (
            label
            for label in self.listed
            if abs(len(label) - len(name)) <= 2 and (label.startswith(start) or label.endswith(end))
        )
        similar = list(islice(sharing, _COMPARED + 1))
        return similar if len(similar) <= _COMPARED else []

    def info(self, label: str) -> LabelInfo:
        """The name and description of a label, whether or not it has documents."""
        known = self._given(label)
        if label in self.edits.gone:
            self.columns(label, "label")
        if known is not None:
            return LabelInfo(label, self.name(label), known.description)
        concept = self._concept(label)
        if concept is not None:
            assert self.vocabulary is not None
            return LabelInfo(label, self.name(label), self.vocabulary[concept].description)
        if label not in self:
            self.columns(label, "label")
        return LabelInfo(label, self.name(label))

    def name(self, label: str) -> str:
        """The name of a label; the label itself if it has none."""
        if label in self.edits.names:
            return self.edits.names[label]
        known = self._given(label)
        if known is not None:
            return label if known.name == known.label else known.name
        concept = self._concept(label)
        if concept is None:
            return label
        assert self.vocabulary is not None
        preferred = self.vocabulary.name(concept, self.language)
        return label if preferred == concept else preferred

    def _store_state(self) -> dict[str, Any]:
        """Store as lists of strings."""
        infos = self.infos.values()
        return {
            "labels": self.listed,
            "informed": [info.label for info in infos],
            "names": [info.name for info in infos],
            "descriptions": [info.description for info in infos],
            "vocabulary": self.vocabulary,
            "language": self.language,
            # Without edits, older versions can read the model.
            **({"edits": self.edits} if self.edits.version else {}),
        }

    @classmethod
    def _from_store_state(cls, state: dict[str, Any]) -> Labels:
        rows = zip(state["informed"], state["names"], state["descriptions"], strict=True)
        infos = {row[0]: LabelInfo(*row) for row in rows}
        return cls(
            state["labels"],
            infos,
            state.get("vocabulary"),
            state.get("language"),
            state.get("edits"),
        )


def check_label_info(given: Any) -> dict[str, LabelInfo]:
    """Check the argument ``label_info`` of `Tagger.fit`: a mapping, or the path of a file."""
    if given is None:
        return {}
    if isinstance(given, str | os.PathLike):
        return read_label_info(given)
    if not isinstance(given, Mapping):
        raise InputError(
            "`label_info` must be a mapping of labels to names, or the path of a file; "
            f"got {type(given).__name__}."
        )
    return {str(label): _label_info(str(label), value) for label, value in given.items()}


def read_label_info(path: str | os.PathLike[str]) -> dict[str, LabelInfo]:
    r"""Read the names and descriptions of labels.

    Parameters
    ----------
    path : path
        In any format that `manylabel.vocabulary.read` knows, plain or compressed: for example
        tab-separated label, name and (optional) description, or JSON Lines with ``"id"``,
        ``"name"`` and ``"description"``. A label without a name is its own name.

    Returns
    -------
    dict of str to LabelInfo
        By label; angle brackets around URIs are removed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "labels.tsv")
    ...     _ = path.write_text("c1\tcats\tSmall carnivores.")
    ...     read_label_info(path)["c1"].name
    'cats'
    """
    from manylabel.vocabulary import read

    known = read(path, names_optional=True)
    rows = zip(known.identifiers, known.descriptions, known.notations, strict=True)
    return {
        label: LabelInfo(label, known.name(label), description or notation)
        for label, description, notation in rows
    }


def _label_info(label: str, value: Any) -> LabelInfo:
    """Make a LabelInfo from a name, or from a mapping with a name and a description."""
    if isinstance(value, LabelInfo):
        return value
    if isinstance(value, str):
        return LabelInfo(label, value)
    if isinstance(value, Mapping):
        name, description = value.get("name") or label, value.get("description") or ""
        return LabelInfo(label, str(name), str(description))
    raise InputError(
        f"`label_info` of {label!r} must be a name, or a mapping with 'name' and 'description'; "
        f"got {value!r}."
    )
