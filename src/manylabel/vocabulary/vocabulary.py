"""Vocabularies: names of labels, their relations and collections."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.strings import StringArray
from manylabel.vocabulary.label_names import ALTERNATIVE, HIDDEN, PREFERRED, LabelNames
from manylabel.wording import counted

__all__ = ["Concept", "Name", "Vocabulary", "bare"]

#: Maximum names that are cached.
_MAX_PREFERRED = 5_000


def bare(identifier: str) -> str:
    """An identifier without the angle brackets that some formats put around it.

    Examples
    --------
    >>> bare("<http://example.org/c1>"), bare("c1")
    ('http://example.org/c1', 'c1')
    """
    identifier = identifier.strip()
    if identifier.startswith("<") and identifier.endswith(">"):
        return identifier[1:-1]
    return identifier


@dataclass(frozen=True)
class Name:
    """A name of a label.

    Parameters
    ----------
    text : str
    kind : int
        PREFERRED, ALTERNATIVE or HIDDEN.
    language : str
        A short code such as "en"; empty if the file has none.
    """

    text: str
    kind: int = PREFERRED
    language: str = ""


@dataclass
class Concept:
    """A label as a vocabulary describes it.

    Parameters
    ----------
    identifier : str
    names : list of Name
    notation, description : str
    broader, related : list of str
        Identifiers of other labels.
    deprecated : bool
    collections : list of str
        Collections and schemes that the label belongs to.
    """

    identifier: str
    names: list[Name] = field(default_factory=list)
    notation: str = ""
    description: str = ""
    broader: list[str] = field(default_factory=list)
    related: list[str] = field(default_factory=list)
    deprecated: bool = False
    collections: list[str] = field(default_factory=list)


class Vocabulary(Mapping[str, Concept]):
    """Labels by identifier, with names in several languages and relations.

    The data are a few arrays: a million labels with one name each take 92 MB.

    Parameters
    ----------
    concepts : iterable of Concept
        Concepts with the same identifier are merged.

    Examples
    --------
    >>> cats = Concept("<c1>", [Name("cats", language="en"), Name("kissat", language="fi")])
    >>> vocabulary = Vocabulary([cats, Concept("c2", [Name("dogs")], broader=["c1"])])
    >>> len(vocabulary), vocabulary.name("c1", "fi"), vocabulary.narrower("c1")
    (2, 'kissat', ['c2'])
    """

    def __init__(self, concepts: Iterable[Concept] = ()) -> None:
        positions: dict[str, int] = {}
        notations: list[str] = []
        descriptions: list[str] = []
        gone: list[bool] = []
        texts: list[str] = []
        owners: list[int] = []
        kinds: list[int] = []
        spoken: list[int] = []
        languages: dict[str, int] = {}
        groups: dict[str, int] = {}
        pairs: dict[str, list[tuple[int, Any]]] = {"broader": [], "related": [], "members": []}
        for concept in concepts:
            identifier = bare(concept.identifier)
            position = positions.setdefault(identifier, len(positions))
            if position == len(notations):
                notations.append("")
                descriptions.append("")
                gone.append(False)
            notations[position] = concept.notation or notations[position]
            descriptions[position] = concept.description or descriptions[position]
            gone[position] = gone[position] or concept.deprecated
            for name in concept.names:
                if name.text.strip():
                    texts.append(name.text.strip())
                    owners.append(position)
                    kinds.append(name.kind)
                    code = name.language.lower()
                    spoken.append(languages.setdefault(code, len(languages)))
            pairs["broader"] += [(position, bare(other)) for other in concept.broader]
            pairs["related"] += [(position, bare(other)) for other in concept.related]
            for group in concept.collections:
                pairs["members"].append((groups.setdefault(bare(group), len(groups)), position))
        self.identifiers = StringArray(positions)
        self.notations, self.descriptions = StringArray(notations), StringArray(descriptions)
        self.deprecated = np.array(gone, np.bool_)
        self.names, self.languages = StringArray(texts), list(languages)
        self.name_labels = np.array(owners, np.int32)
        self.name_kinds = np.array(kinds, np.int8)
        self.name_languages = np.array(spoken, np.int16)
        self.collections = list(groups)
        self.members = _pairs(pairs["members"])
        for relation in ("broader", "related"):
            known = [(a, positions[b]) for a, b in pairs[relation] if b in positions]
            setattr(self, f"{relation}_pairs", _pairs(known))

    broader_pairs: NDArray[np.int32]
    related_pairs: NDArray[np.int32]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Vocabulary:
        """Read a file in any format that `manylabel.vocabulary.read` supports."""
        from manylabel.vocabulary.reading import read

        return read(path)

    # Labels

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {identifier: position for position, identifier in enumerate(self.identifiers)}

    def __len__(self) -> int:
        return len(self.identifiers)

    def __iter__(self) -> Iterator[str]:
        return iter(self.identifiers)

    def __contains__(self, label: object) -> bool:
        return isinstance(label, str) and bare(label) in self._positions

    def __getitem__(self, label: str) -> Concept:
        position = self._positions[bare(label)]
        return Concept(
            self.identifiers[position],
            list(self._names_of(position)),
            self.notations[position],
            self.descriptions[position],
            self._others(self.broader_pairs, position),
            self.related(label),
            bool(self.deprecated[position]),
            [self.collections[group] for group in self.members[self.members[:, 1] == position, 0]],
        )

    def __repr__(self) -> str:
        return f"<Vocabulary: {counted(len(self), 'label')}, {counted(len(self.names), 'name')}>"

    @cached_property
    def _name_order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Names sorted by label: their order, and where each label's names begin."""
        order = np.argsort(self.name_labels, kind="stable")
        return order, np.searchsorted(self.name_labels[order], np.arange(len(self) + 1))

    def _names_of(self, position: int) -> Iterator[Name]:
        order, pointers = self._name_order
        for at in order[pointers[position] : pointers[position + 1]].tolist():
            language = self.languages[self.name_languages[at]]
            yield Name(self.names[at], int(self.name_kinds[at]), language)

    def name(self, label: str, language: str | None = None) -> str:
        """The preferred name of a label in a language, or else in another."""
        position = self._positions.get(bare(label))
        if position is None:
            return label
        known = self._preferred.get((position, language))
        if known is None:
            if len(self._preferred) >= _MAX_PREFERRED:
                self._preferred.clear()
            known = self._preferred[position, language] = self._name(position, label, language)
        return known

    @cached_property
    def _preferred(self) -> dict[tuple[int, str | None], str]:
        """Names by label and language, which are asked for again and again."""
        return {}

    def _name(self, position: int, label: str, language: str | None) -> str:
        wanted = "" if language is None else language.lower()
        best, best_rank = label, (9, 9)
        for name in self._names_of(position):
            foreign = 0 if name.language == wanted else 1 if not name.language else 2
            if (rank := (foreign, name.kind)) < best_rank and name.kind != HIDDEN:
                best, best_rank = name.text, rank
        return best

    def notation(self, label: str) -> str:
        """The code of a label, such as a class number; empty if it has none."""
        return str(self.notations[self._positions[bare(label)]])

    def broader(self, label: str) -> list[str]:
        """Labels that are broader."""
        return self._others(self.broader_pairs, self._positions[bare(label)])

    def narrower(self, label: str) -> list[str]:
        """Labels that are narrower."""
        return self._others(self.broader_pairs[:, ::-1], self._positions[bare(label)])

    def related(self, label: str) -> list[str]:
        """Labels that are related, neither broader nor narrower."""
        position = self._positions[bare(label)]
        both = self._others(self.related_pairs, position)
        return list(dict.fromkeys(both + self._others(self.related_pairs[:, ::-1], position)))

    def _others(self, pairs: NDArray[np.int32], position: int) -> list[str]:
        return [self.identifiers[int(other)] for other in pairs[pairs[:, 0] == position, 1]]

    def in_collection(self, collection: str) -> list[str]:
        """The labels of a collection or scheme."""
        if bare(collection) not in self.collections:
            raise InputError(
                f"unknown collection {collection!r}; "
                f"the vocabulary has {', '.join(self.collections[:5]) or 'none'}."
            )
        group = self.collections.index(bare(collection))
        positions = self.members[self.members[:, 0] == group, 1]
        return [self.identifiers[int(position)] for position in positions]

    # For models

    @property
    def current(self) -> list[str]:
        """Identifiers of the labels that are not deprecated, in order."""
        gone = self.deprecated.tolist()
        return [one for one, is_gone in zip(self.identifiers, gone, strict=True) if not is_gone]

    def updated(self, other: Vocabulary) -> Vocabulary:
        """A vocabulary with the labels of both; the other one wins where both have a label."""
        mine = (self[label] for label in self if label not in other)
        return Vocabulary([*mine, *other.values()])

    def called(self, name: str) -> list[str]:
        """The labels that have this name in any language, ignoring case.

        Examples
        --------
        >>> Vocabulary([Concept("c1", [Name("Drones")])]).called("drones")
        ['c1']
        """
        wanted = name.casefold()
        positions = (i for i, known in enumerate(self.names.tolist()) if known.casefold() == wanted)
        return [self.identifiers[int(self.name_labels[i])] for i in positions]

    def named_once(self, names: Iterable[str], language: str | None = None) -> dict[str, str]:
        """The identifiers of labels that are given by their preferred name.

        Identifiers are left out, and so are names that several labels have. A name in the language
        wins over the same name in another, and equal case over different case. Deprecated labels
        do not count.

        Parameters
        ----------
        names : iterable of str
        language : str, optional
            The code of the language to prefer.

        Returns
        -------
        dict of str to str
            Name to identifier.

        Examples
        --------
        >>> bats = [Concept("c1", [Name("bats")]), Concept("c2", [Name("bats")])]
        >>> vocabulary = Vocabulary([*bats, Concept("c3", [Name("Drones")])])
        >>> vocabulary.named_once(["drones", "bats", "c1"])
        {'drones': 'c3'}
        """
        wanted: dict[str, list[str]] = {}
        for name in names:
            if name not in self:
                wanted.setdefault(name.strip().casefold(), []).append(name)
        if not wanted:
            return {}
        best: dict[str, tuple[tuple[bool, bool], set[int]]] = {}
        is_name = (self.name_kinds == PREFERRED) & ~self.deprecated[self.name_labels]
        for at in np.flatnonzero(is_name).tolist():
            text, position = self.names[at], int(self.name_labels[at])
            code = self.languages[self.name_languages[at]].partition("-")[0]
            is_foreign = language is not None and code not in ("", language.lower())
            for name in wanted.get(text.casefold(), ()):
                rank = (is_foreign, text != name.strip())
                known = best.get(name)
                if known is None or rank < known[0]:
                    best[name] = (rank, {position})
                elif rank == known[0]:
                    known[1].add(position)
        return {
            name: self.identifiers[next(iter(positions))]
            for name, (_, positions) in best.items()
            if len(positions) == 1
        }

    def check_labels(self, labels: Sequence[str]) -> None:
        """Refuse a vocabulary that describes no label of a corpus."""
        if not labels or any(label in self for label in labels):
            return
        for label in labels[:10]:
            identifiers = list(dict.fromkeys(self.called(label)))
            if identifiers:
                shown = " or ".join(map(repr, identifiers[:3]))
                raise InputError(
                    f"the documents have label names such as {label!r}, but the vocabulary uses "
                    f"identifiers; use {shown} instead of {label!r}."
                )
        theirs, ours = ", ".join(map(repr, labels[:3])), ", ".join(map(repr, self.identifiers[:3]))
        raise InputError(
            f"none of the documents' labels ({theirs}) is in the vocabulary ({ours}); give the "
            "vocabulary that the labels come from."
        )

    def label_names(
        self,
        labels: Sequence[str],
        language: str | None,
        short: str | None,
        moved: Mapping[str, int] | None = None,
        more: Iterable[tuple[str, int, int]] = (),
    ) -> LabelNames:
        """The names of the labels in the columns of a label matrix.

        Parameters
        ----------
        labels : sequence of str
            Identifiers by column; some may be unknown.
        language : str or None
            Full name of the language for stemming.
        short : str or None
            Its code; None for names in all languages.
        moved : mapping of str to int, optional
            Other labels of this vocabulary, whose names become alternative names of a column.
        more : iterable of (str, int, int)
            Further names, each with its column and kind.
        """
        columns = np.full(len(self), -1, np.int64)
        for column, label in enumerate(labels):
            position = self._positions.get(bare(label))
            if position is not None:
                columns[position] = column
        is_moved = np.zeros(len(self), np.bool_)
        for label, column in (moved or {}).items():
            position = self._positions.get(bare(label))
            if position is not None:
                columns[position], is_moved[position] = column, True
        spoken = np.ones(len(self.languages), np.bool_)
        if short is not None:
            wanted = {"", short.lower()}
            # "en-GB" counts as "en".
            spoken[:] = [code.partition("-")[0] in wanted for code in self.languages]
        kept = np.flatnonzero(
            (columns[self.name_labels] >= 0)
            & spoken[self.name_languages]
            & ~self.deprecated[self.name_labels]
        )
        kinds = self.name_kinds[kept].copy()
        kinds[is_moved[self.name_labels[kept]] & (kinds == PREFERRED)] = ALTERNATIVE
        others = list(more)
        texts = [name for name, _, _ in others]
        positions = np.array([column for _, column, _ in others], np.int64)
        sorts = np.array([kind for _, _, kind in others], np.int8)
        return LabelNames(
            [*self.names[kept], *texts],
            np.concatenate([columns[self.name_labels[kept]], positions]),
            np.concatenate([kinds, sorts]),
            len(labels),
            language,
            self._related_columns(columns, len(labels)),
        )

    def _related_columns(self, columns: NDArray[np.int64], n_labels: int) -> sparse.csr_array:
        pairs = columns[np.concatenate([self.broader_pairs, self.related_pairs])]
        pairs = pairs[(pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])]
        both = np.concatenate([pairs, pairs[:, ::-1]])
        ones = np.ones(len(both), np.int8)
        related = sparse.csr_array((ones, (both[:, 0], both[:, 1])), shape=(n_labels, n_labels))
        related.sum_duplicates()
        related.data[:] = 1
        return related


def _pairs(pairs: list[Any]) -> NDArray[np.int32]:
    """Pairs of label numbers as an array."""
    return np.array(pairs, np.int32).reshape(-1, 2)
