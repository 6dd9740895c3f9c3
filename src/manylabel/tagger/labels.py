"""The labels of a tagger: their places, their names, and what they stand for."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.rendering import as_text, html_table
from manylabel.wording import counted

if TYPE_CHECKING:
    from rich.console import Group

    from manylabel.vocabulary import Vocabulary

__all__ = [
    "LabelDescription",
    "LabelInfo",
    "Labels",
    "check_label_info",
    "defining_words",
    "read_label_info",
    "together",
]

#: Labels that one which does not exist is compared with, sign by sign.
_COMPARED = 1000


@dataclass(frozen=True)
class LabelInfo:
    """What people call a label, and what it means.

    Parameters
    ----------
    label : str
        As it stands in the documents; perhaps a code.
    name : str
        For people; the label itself where nobody gave it a name.
    description : str
    """

    label: str
    name: str
    description: str = ""


class Labels:
    """Labels by column and by name; new ones come after the others.

    Parameters
    ----------
    labels : sequence of str
        In the order of the columns.
    info : mapping of str to LabelInfo
        May have labels that no document has.
    vocabulary : Vocabulary, optional
        What is known of labels that ``info`` does not have.
    language : str, optional
        In which the vocabulary's names are shown, as a short code.
    """

    def __init__(
        self,
        labels: Sequence[str],
        info: Mapping[str, LabelInfo],
        vocabulary: Vocabulary | None = None,
        language: str | None = None,
    ) -> None:
        self.listed = list(labels)
        self.infos = dict(info)
        self.vocabulary, self.language = vocabulary, language
        self._place = {label: column for column, label in enumerate(self.listed)}

    def __len__(self) -> int:
        return len(self.listed)

    def __contains__(self, label: str) -> bool:
        return label in self._place

    def add(self, label: str) -> int:
        """The column of a label, a new one if need be."""
        column = self._place.setdefault(label, len(self.listed))
        if column == len(self.listed):
            self.listed.append(label)
        return column

    def columns(self, wanted: str | Iterable[str], where: str) -> NDArray[np.int64]:
        """The columns of labels that must be known; ``where`` they were given is for the error."""
        names = [wanted] if isinstance(wanted, str) else list(wanted)
        for name in names:
            if name not in self._place:
                near = get_close_matches(str(name), self._alike(str(name)), n=1)
                hint = f"; did you mean {near[0]!r}?" if near else "."
                raise InputError(
                    f"`{where}` holds the unknown label {name!r} "
                    f"({counted(len(self), 'label')} known){hint}"
                )
        return np.array([self._place[name] for name in names], np.int64)

    def _alike(self, name: str) -> list[str]:
        """Labels that may be the one that somebody meant; of many, those that share a half with it.

        Whoever mistypes one sign leaves a half as it is. Codes of which too many are alike are no
        help.
        """
        if len(self) <= _COMPARED:
            return self.listed
        start, end = name[: len(name) // 2], name[len(name) // 2 :]
        alike = (
            label
            for label in self.listed
            if abs(len(label) - len(name)) <= 2 and (label.startswith(start) or label.endswith(end))
        )
        found = list(islice(alike, _COMPARED + 1))
        return found if len(found) <= _COMPARED else []

    def info(self, label: str) -> LabelInfo:
        """What is known of a label, with documents or without."""
        known = self.infos.get(label)
        if known is not None:
            return known
        vocabulary = self.vocabulary
        if vocabulary is not None and label in vocabulary:
            description = vocabulary[label].description
            return LabelInfo(label, vocabulary.name(label, self.language), description)
        if label not in self._place:
            self.columns(label, "label")
        return LabelInfo(label, label)

    def name(self, label: str) -> str:
        """What people call a label."""
        known = self.infos.get(label)
        if known is not None:
            return known.name
        return label if self.vocabulary is None else self.vocabulary.name(label, self.language)

    def _store_state(self) -> dict[str, Any]:
        """Lists of strings."""
        infos = self.infos.values()
        return {
            "labels": self.listed,
            "informed": [info.label for info in infos],
            "names": [info.name for info in infos],
            "descriptions": [info.description for info in infos],
            "vocabulary": self.vocabulary,
            "language": self.language,
        }

    @classmethod
    def _from_store_state(cls, state: dict[str, Any]) -> Labels:
        rows = zip(state["informed"], state["names"], state["descriptions"], strict=True)
        infos = {row[0]: LabelInfo(*row) for row in rows}
        return cls(state["labels"], infos, state.get("vocabulary"), state.get("language"))


def check_label_info(given: Any) -> dict[str, LabelInfo]:
    """What `Tagger.fit` takes as ``label_info``: a mapping, or the path of a file."""
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
        Plain or compressed: a table of label, name and, if there is one, description between
        tabs; or JSON Lines with ``"id"``, ``"name"`` and ``"description"``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "labels.tsv")
    ...     _ = path.write_text("c1\tcats\tSmall carnivores.")
    ...     read_label_info(path)["c1"].name
    'cats'
    """
    from manylabel.corpus.files import open_source

    found: dict[str, LabelInfo] = {}
    with open_source(path) as source:
        for number, line in source.lines():
            if line.lstrip().startswith("{"):
                try:
                    entry = json.loads(line)
                    label = str(entry["id"])
                except (ValueError, KeyError):
                    raise source.error(
                        'expected a JSON object with "id" and "name".', number
                    ) from None
                found[label] = _label_info(label, entry)
            elif line.strip():
                label, _, rest = line.partition("\t")
                name, _, description = rest.partition("\t")
                found[label] = LabelInfo(label, name or label, description)
    return found


def _label_info(label: str, value: Any) -> LabelInfo:
    """From a name, or a mapping with a name and a description."""
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


@dataclass(frozen=True)
class LabelDescription:
    """A label in words.

    Parameters
    ----------
    label, name, description : str
    documents : int
        How many have it.
    words : list of (str, float)
        The words that tell its documents from others, the clearest first.
    together : list of (str, int)
        Labels that stand in the same documents, and in how many.
    """

    label: str
    name: str
    description: str
    documents: int
    words: list[tuple[str, float]]
    together: list[tuple[str, int]]

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        title = Text.assemble((self.name, "bold green"), f"  {counted(self.documents, 'document')}")
        lines = [title]
        if self.description:
            lines.append(Text(self.description))
        lines.append(Text("words: " + ", ".join(word for word, _ in self.words)))
        with_it = ", ".join(f"{label} ({count:,})" for label, count in self.together)
        lines.append(Text(f"together with: {with_it}"))
        return Group(*lines)

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        rows = [
            ("label", self.label),
            ("name", self.name),
            ("description", self.description),
            ("documents", f"{self.documents:,}"),
            ("words", ", ".join(word for word, _ in self.words)),
            ("together with", ", ".join(f"{label} ({n:,})" for label, n in self.together)),
        ]
        return html_table(("", ""), rows)


def defining_words(
    counts: sparse.csr_array,
    document_counts: NDArray[np.int64],
    n_documents: int,
    top: int,
) -> list[tuple[int, float]]:
    r"""Features that are more common in some documents than in all.

    A feature weighs :math:`p \ln(p / q)`: its addend to the divergence of its share ``p`` of these
    documents from its share ``q`` of all.
    """
    here = np.bincount(counts.indices, minlength=counts.shape[1]) / max(counts.shape[0], 1)
    everywhere = np.maximum(document_counts, 1) / max(n_documents, 1)
    weights = np.zeros(here.size)
    seen = here > 0
    weights[seen] = here[seen] * np.log(here[seen] / everywhere[seen])
    best = np.argsort(-weights, kind="stable")[:top]
    return [(int(feature), float(weights[feature])) for feature in best if weights[feature] > 0]


def together(labels: sparse.csr_array, column: int, top: int) -> list[tuple[int, int]]:
    """The columns that most often stand in the same rows as a column, and how often."""
    rows = np.repeat(np.arange(labels.shape[0]), np.diff(labels.indptr))
    having = np.zeros(labels.shape[0], np.bool_)
    having[rows[labels.indices == column]] = True
    counts = np.bincount(labels.indices[having[rows]], minlength=labels.shape[1])
    counts[column] = 0
    best = np.argsort(-counts, kind="stable")[:top]
    return [(int(other), int(counts[other])) for other in best if counts[other]]
