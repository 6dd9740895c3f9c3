"""The vocabulary of a tagger: what its labels are called, in which language."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from manylabel.exceptions import InputError, ParameterError
from manylabel.tagger.label_edits import LabelEdits
from manylabel.tagger.labels import Labels
from manylabel.tagger.languages import AUTO, LANGUAGES, STEMMED, full_name
from manylabel.tagger.persistence import Persistent
from manylabel.tagger.state import TaggerState
from manylabel.vocabulary import LabelNames, Vocabulary
from manylabel.vocabulary import read as read_vocabulary
from manylabel.vocabulary.vocabulary import bare

__all__ = ["NamedLabels", "Naming", "as_vocabulary"]

#: Of a vocabulary whose labels are as they came.
_NO_EDITS = LabelEdits()


class Naming(NamedTuple):
    """A vocabulary, and in which language it is read.

    Parameters
    ----------
    vocabulary : Vocabulary
    language : str or None
        Of the texts, short or in full, or None for all.
    edits : LabelEdits, optional
        What people changed about labels.
    """

    vocabulary: Vocabulary
    language: str | None
    edits: LabelEdits = _NO_EDITS

    @property
    def full(self) -> str | None:
        """The language by its full name."""
        return full_name(self.language)

    @property
    def code(self) -> str | None:
        """The language by its code."""
        known = (LANGUAGES | STEMMED).items()
        return next((code for code, full in known if full == self.full), self.language)

    def all_labels(self, labels: Sequence[str]) -> list[str]:
        """Labels, and after them those that only the vocabulary has."""
        edits = self.edits
        known = {bare(label) for label in (*labels, *edits.gone, *edits.concepts.values())}
        named = [label for label in self.vocabulary.current if label not in known]
        # Labels that people added, or gave another identifier, have names, too.
        also = {*edits.added, *edits.concepts}.difference(labels, named, edits.gone)
        return [*labels, *named, *sorted(also)]

    def label_names(self, labels: Sequence[str]) -> LabelNames:
        """The names of columns."""
        return self.edits.label_names(self.vocabulary, labels, self.full, self.code)


class NamedLabels(Persistent):
    """The part of a tagger that has a vocabulary."""

    language: str | None
    vocabulary: Any

    def set_vocabulary(self, vocabulary: Any, update: bool = False) -> None:
        """Replace the vocabulary without training again; a saved tagger's folder is changed, too.

        Names are shown and, by a model that was trained with a vocabulary, found in texts from now
        on. New labels can be suggested at once; those that are gone keep their documents.

        Parameters
        ----------
        vocabulary : Vocabulary or path
        update : bool, default=False
            Keep what is known of labels that the new one does not have.
        """
        given = as_vocabulary(vocabulary)
        if given is None:
            raise InputError("`vocabulary` is missing: give a Vocabulary or the path of a file.")

        def change(state: TaggerState) -> TaggerState:
            state.catch_up()
            known = state.labels.vocabulary
            whole = given
            if update and known is not None:
                whole = known.updated(given)
            language = state.language if self.language == AUTO else self.language
            naming = Naming(whole, language, state.labels.edits)
            listed = state.labels.listed
            whole.check_labels(listed)
            if state.reads_names:
                listed = naming.all_labels(listed)
                state.model.set_vocabulary(naming.label_names(listed))
            infos = {} if known is None else state.labels.infos
            state.labels = Labels(listed, infos, whole, naming.code, state.labels.edits)
            state.forget_withheld()
            self.vocabulary = whole
            return state

        if self._folder is not None:
            self._fold(change)
            return
        with self._lock.writing():
            self._state = change(self._fitted())

    def vocabulary_figures(self) -> dict[str, Any]:
        """How many labels and names there are, in which languages, and whether texts are searched.

        Returns
        -------
        dict
            ``labels``, ``without_documents``, ``names``, ``languages`` (codes, separated by commas)
            and ``found_in_texts``.
        """
        with self._reading() as state:
            known = state.labels.vocabulary
            seen = np.unique(state.documents.label_matrix(state.n_labels).indices).size
            return {
                "labels": state.n_labels,
                "without_documents": state.n_labels - int(seen),
                "names": 0 if known is None else len(known.names),
                "languages": "" if known is None else ", ".join(filter(None, known.languages)),
                "found_in_texts": state.reads_names,
            }


def as_vocabulary(given: Any) -> Vocabulary | None:
    """What `Tagger` takes as ``vocabulary``."""
    if given is None or isinstance(given, Vocabulary):
        return given
    if isinstance(given, str | os.PathLike):
        return read_vocabulary(given)
    raise ParameterError(
        f"`vocabulary` must be a Vocabulary or the path of a file; got {type(given).__name__}."
    )
