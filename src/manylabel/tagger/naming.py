"""The vocabulary of a tagger: names of labels, in the language of the texts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from manylabel.corpus import Corpus
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

#: The edits of an unedited vocabulary.
_NO_EDITS = LabelEdits()


class Naming(NamedTuple):
    """A vocabulary, the language of its names, and edits of labels.

    Parameters
    ----------
    vocabulary : Vocabulary
    language : str or None
        The language of the texts, as a code or in full; None for names in all languages.
    edits : LabelEdits, optional
    reads_names : bool, default=False
        Whether documents may have names of labels instead of their identifiers.
    """

    vocabulary: Vocabulary
    language: str | None
    edits: LabelEdits = _NO_EDITS
    reads_names: bool = False

    @property
    def full(self) -> str | None:
        """The full name of the language."""
        return full_name(self.language)

    @property
    def code(self) -> str | None:
        """The code of the language."""
        known = (LANGUAGES | STEMMED).items()
        return next((code for code, full in known if full == self.full), self.language)

    def identified(self, corpus: Corpus) -> Corpus:
        """A corpus with one identifier for each label.

        Preferred names that only one label has become identifiers. Of an identifier with and
        without angle brackets, the first remains.
        """
        written: dict[str, str] = {}
        for label in corpus.label_names:
            written.setdefault(bare(label), label)
        named = {label: bare(label) for label in corpus.label_names}
        if self.reads_names:
            named |= self.vocabulary.named_once(corpus.label_names, self.code)
        changed = {
            name: label for name, to in named.items() if (label := written.get(to, to)) != name
        }
        return corpus.rename_labels(changed) if changed else corpus

    def all_labels(self, labels: Sequence[str]) -> list[str]:
        """Append the labels that only the vocabulary or an edit has."""
        edits = self.edits
        known = {bare(label) for label in (*labels, *edits.gone, *edits.concepts.values())}
        named = [label for label in self.vocabulary.current if label not in known]
        # Added and renamed labels have names, too.
        also = {*edits.added, *edits.concepts}.difference(labels, named, edits.gone)
        return [*labels, *named, *sorted(also)]

    def label_names(self, labels: Sequence[str]) -> LabelNames:
        """The names of labels, column by column."""
        return self.edits.label_names(self.vocabulary, labels, self.full, self.code)


class NamedLabels(Persistent):
    """The methods of a tagger that concern its vocabulary."""

    language: str | None
    vocabulary: Any

    def set_vocabulary(self, vocabulary: Any, update: bool = False) -> None:
        """Replace or update the vocabulary without training, also in the folder of a saved tagger.

        The new names are shown at once. A model that was trained with a vocabulary also looks for
        them in texts, so that it suggests new labels at once. Labels that the new vocabulary lacks
        keep their documents.

        Parameters
        ----------
        vocabulary : Vocabulary or path
        update : bool, default=False
            Keep the old entries of labels that the new vocabulary lacks.
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

        self._change(change)

    def labels_named(self, names: Iterable[str]) -> dict[str, str]:
        """Look up the labels of preferred names in the vocabulary, as `fit` and `learn` do.

        Parameters
        ----------
        names : iterable of str

        Returns
        -------
        dict of str to str
            Name to label, without labels of the tagger and names that several labels have; also
            identifiers that differ from a label in angle brackets.

        Examples
        --------
        >>> from manylabel import Tagger
        >>> from manylabel.vocabulary import Concept, Name, Vocabulary
        >>> vocabulary = Vocabulary([Concept("c1", [Name("cats")]), Concept("c2", [Name("dogs")])])
        >>> tagger = Tagger(vocabulary=vocabulary).fit(["a cat purrs"], [["cats"]])
        >>> tagger.document("0").labels, tagger.labels_named(["cats", "birds"])
        (['c1'], {'cats': 'c1'})
        """
        with self._reading() as state:
            return state.labels.named(names)

    def notations(self, labels: Iterable[str]) -> list[str]:
        """The codes of labels in the vocabulary, such as class numbers; empty for labels without.

        Parameters
        ----------
        labels : iterable of str
        """
        with self._reading() as state:
            return [state.labels.notation(label) for label in labels]

    @property
    def vocabulary_languages(self) -> list[str]:
        """The codes of the languages that the vocabulary has names in."""
        with self._reading() as state:
            known = state.labels.vocabulary
            return [] if known is None else [code for code in known.languages if code]

    def vocabulary_figures(self) -> dict[str, Any]:
        """Count labels and names, and say whether names are looked for in texts.

        Returns
        -------
        dict
            ``labels``, ``without_documents``, ``names``, ``languages`` (comma-separated codes) and
            ``found_in_texts``.
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
    """Check the parameter ``vocabulary`` of `Tagger`, and read a file."""
    if given is None or isinstance(given, Vocabulary):
        return given
    if isinstance(given, str | os.PathLike):
        return read_vocabulary(given)
    raise ParameterError(
        f"`vocabulary` must be a Vocabulary or the path of a file; got {type(given).__name__}."
    )
