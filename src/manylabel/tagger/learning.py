"""Documents that a tagger learns and forgets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from manylabel.corpus import Document
from manylabel.corpus.given import as_corpus
from manylabel.exceptions import InputError
from manylabel.store.traces import find_traces
from manylabel.tagger.changes import Change, Forget, documents_of
from manylabel.tagger.persistence import Persistent
from manylabel.tagger.training import check_distinct
from manylabel.validation import check_incomplete, check_texts

__all__ = ["Learning"]


class Learning(Persistent):
    """The part of a tagger with which it learns and forgets single documents."""

    def learn(
        self, texts: Any, labels: Any = None, ids: Any = None, *, incomplete: Any = False
    ) -> Change:
        """Learn more documents; the next call knows them.

        What is exact: documents, labels, the votes of neighbours and words (in an ensemble with
        words, once one in a thousand documents has changed) are as if the documents had been there
        when the model was fitted. ``not_updated`` names what is not: parts that only training
        changes, and the weights of words. The vocabulary, an ensemble's curves, and the threshold
        of "auto" always stay as `fit` made them. After ``compact(retrain=True)`` everything is
        exact.

        Parameters
        ----------
        texts : list of str, Corpus or path
        labels : list of lists of str
            New labels are welcome.
        ids : list of str, optional
            A document with an id that exists takes its place. By default numbers that are free.
        incomplete : bool or list of bool, default=False
            Whether the rest of the labels is left open: those that a document lacks are unknown,
            not wrong. Among neighbours and words such a document counts for the labels that it
            has, and for no others, neither for nor against; linear models and networks learn
            nothing from the open pairs; topics and trees learn from complete documents alone.
            Thresholds, curves and `drift` are judged by complete documents. This is kept with the
            document, and holds in later training. For lcif, its parts, and the ensemble.

        Returns
        -------
        Change
            What was learned, and which parts of the model are not updated.

        Examples
        --------
        >>> from manylabel import Tagger
        >>> tagger = Tagger("lcif").fit(["a cat", "a dog"], [["cats"], ["dogs"]])
        >>> _ = tagger.learn(["a cat and more"], [["cats"]], ids=["x1"], incomplete=True)
        >>> tagger.document("x1").incomplete
        True
        """
        corpus = as_corpus(texts, labels, ids)
        named = corpus.ids if ids is not None or corpus.has_ids else None
        check_distinct(named or [])
        check_texts(corpus.full_texts or [])
        are_open = check_incomplete(incomplete, len(corpus))
        with self._writing() as (state, write):
            if not state.model.can_learn:
                raise InputError(
                    f"{self.model_name} cannot learn single documents; fit it again with all of "
                    "them, or use a model such as lcif."
                )
            state.check_incomplete(are_open, self.model_name)
            documents = state.read_corpus(corpus)
            named = named or state.free_ids(len(corpus))
            replaced = [name for name in named if state.documents.find(name) is not None]
            known = state.n_labels
            flags = None if are_open is None else are_open.tolist()
            write(documents_of(corpus, named, documents.counts, flags), documents)
            return Change(
                learned=tuple(named),
                replaced=tuple(replaced),
                new_labels=tuple(state.labels.listed[known:]),
                not_updated=state.not_updated(self.model_name, bool(replaced)),
            )

    def forget(self, ids: str | Iterable[str], retrain: bool = False) -> Change:
        """Forget documents: none is found, shown or counted any more.

        What is exact without training: the votes of neighbours and words (in an ensemble with
        words, once one in a thousand documents has changed) are as if the documents had never been
        there, and a forgotten text is never shown. ``not_updated`` names what still bears traces:
        parts that only training changes, and the weights of words. So do the vocabulary, an
        ensemble's curves and the threshold of "auto". The text is on disk until `compact`;
        `traces` shows what is left.

        Parameters
        ----------
        ids : list of str
        retrain : bool, default=False
            Then train the model again from the texts that are left. It is equal, bit for bit, to
            one that never saw the forgotten ones, and the folder holds nothing of them.

        Returns
        -------
        Change
            What was forgotten, and which parts of the model are not updated.
        """
        wanted = list(dict.fromkeys([ids] if isinstance(ids, str) else ids))
        with self._writing() as (state, write):
            for name in wanted:
                state.number(name)
            if len(wanted) >= len(state.documents):
                raise InputError("at least one document must be left.")
            if retrain:
                state.check_trainable()
            write([Forget(name) for name in wanted])
            not_updated = state.not_updated(self.model_name, True)
        if retrain:
            self.compact(retrain=True)
        return Change(forgotten=tuple(wanted), not_updated=() if retrain else not_updated)

    def traces(self, documents: Iterable[Document]) -> list[str]:
        """What is left of forgotten documents in the folder, to see that nothing is.

        Looks for phrases of their texts in the bytes of every file, and for words in the
        vocabulary that no other text has. `compact` comes first: until then texts are on disk.

        Parameters
        ----------
        documents : list of Document
            As `document` gave them before they were forgotten.

        Returns
        -------
        list of str
            One for each file with a phrase, and for each word; empty if there is nothing.

        Examples
        --------
        >>> from manylabel import Tagger
        >>> from tempfile import TemporaryDirectory
        >>> texts = ["a cat sleeps", "the dog barks", "zebras of Zanzibar graze"]
        >>> labels = [["cats"], ["dogs"], ["zebras"]]
        >>> with TemporaryDirectory() as folder:
        ...     tagger = Tagger("lcif", parameters={"k": 2}).fit(texts, labels)
        ...     tagger.save(folder)
        ...     document = tagger.document("2")
        ...     _ = tagger.forget("2")
        ...     before = len(tagger.traces([document]))
        ...     tagger.compact()
        ...     before > 0, tagger.traces([document])
        (True, [])
        """
        written = [document.text for document in documents]
        with self._reading() as state:
            kept = [state.documents.text(number) for number in state.documents.kept().tolist()]
            remains = [] if self.path is None else find_traces(self.path, written, kept)
            if state.vectorizer is not None:
                words = state.words_of_none(written, kept)
                remains += [f'the vocabulary: "{word}"' for word in words]
        return remains
