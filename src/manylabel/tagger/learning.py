"""Learn and forget single documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from manylabel.corpus import Document
from manylabel.corpus.conversion import as_corpus
from manylabel.exceptions import InputError
from manylabel.store.traces import find_traces
from manylabel.tagger.changes import Change, Forget, documents_of
from manylabel.tagger.compacting import Compacting
from manylabel.tagger.training import check_distinct
from manylabel.validation import check_incomplete, check_texts

__all__ = ["Learning"]


class Learning(Compacting):
    """The methods of a tagger that learn and forget documents without training."""

    def learn(
        self, texts: Any, labels: Any = None, ids: Any = None, *, incomplete: Any = False
    ) -> Change:
        """Learn more documents; they count from the next call on.

        Documents, labels, and the votes of neighbours and words are then exactly as if the
        documents had been there when the model was fitted. (An ensemble updates the votes of words
        once one in a thousand documents has changed.) ``not_updated`` names the parts that change
        only at the next training, such as the weights of words. The vocabulary, an ensemble's
        curves and the threshold of "auto" always stay as `fit` made them. After
        ``compact(retrain=True)`` everything is exact.

        Parameters
        ----------
        texts : list of str, Corpus or path
        labels : list of lists of str
            May include new labels, and labels by their names, as in `Tagger.fit`.
        ids : list of str, optional
            A document replaces the one with the same id. By default, unused numbers.
        incomplete : bool or list of bool, default=False
            Whether the labels that a document lacks are unknown, not wrong. Among neighbours and
            words, such a document counts for the labels that it has, and not against any other.
            Linear models and networks ignore the unknown pairs. Topics and trees ignore the whole
            document. Thresholds, curves and `drift` are computed from complete documents only.
            The flag is stored with the document and applies to later training. Only lcif, its
            parts and the ensemble support it.

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
                    f"{self.model_name} cannot learn single documents; fit it again with all "
                    "documents, or use a model such as lcif."
                )
            state.check_incomplete(are_open, self.model_name)
            corpus = state.labels.identified(corpus)
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
        """Forget documents: they are no longer found, shown or counted.

        Without training, the votes of neighbours and words are exactly as if the documents had
        never been there. (An ensemble updates the votes of words once one in a thousand documents
        has changed.) A forgotten text is never shown. Traces remain in the parts that
        ``not_updated`` names, such as the weights of words, in the vocabulary, in an ensemble's
        curves and in the threshold of "auto". The text stays on disk until `compact`; `traces`
        shows what is left.

        Parameters
        ----------
        ids : list of str
        retrain : bool, default=False
            Train the model again on the remaining texts. It is then equal, bit for bit, to a model
            that never saw the forgotten documents, and the folder contains nothing of them.

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
                raise InputError("cannot forget every document: at least one must be left.")
            if retrain:
                state.check_trainable()
            write([Forget(name) for name in wanted])
            not_updated = state.not_updated(self.model_name, True)
        if retrain:
            self.compact(retrain=True)
        return Change(forgotten=tuple(wanted), not_updated=() if retrain else not_updated)

    def traces(self, documents: Iterable[Document]) -> list[str]:
        """Look for traces of forgotten documents in the folder and the vocabulary.

        Searches the bytes of every file for phrases of their texts, and the vocabulary for words
        that no other text has. Call `compact` first: until then the texts are on disk.

        Parameters
        ----------
        documents : list of Document
            As returned by `document` before they were forgotten.

        Returns
        -------
        list of str
            One line per file with a phrase, and per word; empty if there are no traces.

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
                words = state.words_only_in(written, kept)
                remains += [f'the vocabulary: "{word}"' for word in words]
        return remains
