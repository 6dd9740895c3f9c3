"""Text in, labels out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.corpus import Corpus, Document
from manylabel.corpus.chunks import TextFile
from manylabel.corpus.given import as_corpus, as_texts
from manylabel.exceptions import InputError, ParameterError
from manylabel.parallel import current_place
from manylabel.predictions import keep_top, values_at
from manylabel.progress import Clock
from manylabel.scoring import Documents
from manylabel.store.traces import find_traces
from manylabel.tagger.changes import Change, Forget, documents_of
from manylabel.tagger.editing import LabelEditing
from manylabel.tagger.estimator import Estimator, named_as_in_scikit_learn
from manylabel.tagger.explanations import TextExplanation
from manylabel.tagger.features import check_features, choose_features, has_words_only
from manylabel.tagger.label_edits import LabelEdits
from manylabel.tagger.labels import LabelDescription, LabelInfo, Labels, check_label_info
from manylabel.tagger.quality import Quality
from manylabel.tagger.state import TaggerState
from manylabel.tagger.suggestions import (
    SuggestionList,
    Suggestions,
    check_threshold,
    columns_by_rank,
    kept_entries,
    suggestions,
)
from manylabel.tagger.training import (
    AUTO,
    LANGUAGES,
    Naming,
    check_distinct,
    make_vectorizer,
    name_of,
    new_estimator,
    spoken,
    text_file,
    train,
    train_without_documents,
)
from manylabel.text import CountVectorizer
from manylabel.thresholds import Promise
from manylabel.validation import check_incomplete, check_texts, check_whole
from manylabel.vocabulary import Vocabulary
from manylabel.vocabulary import read as read_vocabulary
from manylabel.wording import counted

if TYPE_CHECKING:
    pass

__all__ = ["DEFAULT_MODEL", "Tagger"]

#: The model of a tagger for which none was named.
DEFAULT_MODEL = "ensemble"


class Tagger(Estimator, Quality, LabelEditing):
    """Learns from texts with labels, suggests labels for new texts, and says why.

    Parameters
    ----------
    model : str or estimator, default=DEFAULT_MODEL
        A name from ``manylabel.models.MODELS``, or an estimator of this package, which is copied.
    parameters : dict, optional
        The model's parameters.
    language : str or None, default="en"
        Of the texts: decides on stop words and stems. A code such as "fi", a full name, or None
        for neither. With "auto" `fit` detects which language most documents are in, among the 11
        that have stop words. Some languages, such as "uk", need the extra ``lemmas``.
    vectorizer : CountVectorizer or dict, optional
        How texts become words, if not by the language alone: a vectorizer, which is copied, or
        some of its parameters.
    features : {"auto", "words"}, default="auto"
        With "auto" an ensemble tries, on a sample of at least 2,000 documents, whether more weight
        for the first words of long texts, or character n-grams beside the words of short ones,
        ranks labels better; unless the vectorizer says otherwise.
    vocabulary : Vocabulary or path, optional
        What labels are called and how they are related; see `manylabel.vocabulary.read` for the
        formats. An ensemble finds names in texts, so that it suggests labels that no document has.
    effort : {"quick", "normal", "best"}, optional
        How much time an ensemble's training may take; "normal" by default. With "quick" other
        features are not tried either.
    keep_texts : bool, default=True
        Keep whole texts, to show neighbours; otherwise their first 300 characters.
    random_state : int, optional
        Of the models that have one.
    n_jobs : int, optional
        Threads; None is 1, -1 every core.
    verbose : int, default=0
        Show progress.

    Notes
    -----
    The words that a tagger knows are those of the texts that `fit` was given. Several threads may
    use one tagger.

    Examples
    --------
    >>> texts = ["a cat sleeps", "the dog barks", "a cat and a dog play"]
    >>> labels = [["cats"], ["dogs"], ["cats", "dogs"]]
    >>> tagger = Tagger("lcif", parameters={"k": 2}).fit(texts, labels)
    >>> tagger.suggest("my cat sleeps a lot", top=1).labels
    ['cats']
    >>> print(tagger.learn(["a bird sleeps"], [["birds"]], ids=["b1"]))
    Learned 1 document, 1 new label. Not updated until the next training: word weights.
    >>> tagger.explain("sleeps", label="birds")["birds"].neighbours[0].id
    'b1'
    """

    #: Of taggers that were saved before there was a choice.
    effort: str | None = None

    def __init__(
        self,
        model: Any = DEFAULT_MODEL,
        *,
        parameters: Mapping[str, Any] | None = None,
        language: str | None = "en",
        vectorizer: CountVectorizer | dict[str, Any] | None = None,
        features: str = "auto",
        vocabulary: Any = None,
        effort: str | None = None,
        keep_texts: bool = True,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.parameters = parameters
        self.language = language
        self.vectorizer = vectorizer
        self.features = features
        self.vocabulary = vocabulary
        self.effort = effort
        self.keep_texts = keep_texts
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        super().__init__()
        check_features(features)
        self._new_estimator()
        make_vectorizer(language, vectorizer, n_jobs, verbose)

    @named_as_in_scikit_learn
    def fit(
        self,
        texts: Any = None,
        labels: Any = None,
        ids: Any = None,
        label_info: Any = None,
        *,
        text: str | Sequence[str] | None = None,
        title: str | None = None,
        label_names: Sequence[str] | None = None,
        incomplete: Any = False,
        sample_weight: Any = None,
    ) -> Self:
        """Learn from texts and their labels; everything learned before is forgotten.

        Parameters
        ----------
        texts : list of str, series, data frame, Corpus or path, optional
            A corpus, or a file of one, brings its own labels and ids. So does a data frame: of
            pandas, Polars, Arrow or Hugging Face's datasets. With a vocabulary and no documents,
            labels whose names stand in a text are suggested; `learn` makes that better. Within
            `manylabel.distributed.use`, and with ``keep_texts=False``, the workers read and count
            a file of JSON Lines or TSV that is not compressed.
        labels : list of lists of str, indicator matrix, or names of columns
            The labels of each text; in a data frame, the column that holds them, or several
            columns of 0 and 1. By default the names of the columns tell.
        ids : list of str or name of a column, optional
            Distinct names of the documents; their numbers by default.
        label_info : mapping or path, optional
            What labels are called and mean: label to name, or to a mapping with ``name`` and
            ``description``; or a file, see `manylabel.tagger.read_label_info`.
        text : str or list of str, optional
            The columns of a data frame that hold the texts, which are put one under the other.
        title : str, optional
            The column of a data frame that holds the titles.
        label_names : list of str, optional
            Of the columns of an indicator matrix; their numbers by default.
        incomplete : bool or list of bool, default=False
            Whether labels that a document lacks are unknown, not wrong; see `learn`.
        sample_weight : None
            No model weighs documents; anything else is refused.

        Returns
        -------
        self
        """
        if sample_weight is not None:
            raise ParameterError(
                "`sample_weight` has no meaning here, since neighbours count alike; leave it out, "
                "or repeat documents to count them twice."
            )
        info = check_label_info(label_info)
        file = None
        place = current_place()
        read_there = place is not None and place.sees_files
        if not self.keep_texts and read_there and incomplete is False:
            file = text_file(texts, labels, ids)
        vocabulary = _as_vocabulary(self.vocabulary)
        documents = None
        if texts is not None or vocabulary is None:
            documents = file or as_corpus(
                texts, labels, ids, text=text, title=title, label_names=label_names
            )
        are_open = None
        if isinstance(documents, Corpus):
            are_open = check_incomplete(incomplete, len(documents))
        self._remember(self._trained(documents, info, vocabulary, incomplete=are_open))
        return self

    @overload
    def suggest(  # type: ignore[overload-overlap]  # a string is meant as one text
        self,
        texts: str,
        top: int | None = 5,
        threshold: float | str | None = None,
        include: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        explain: bool = False,
        *,
        text: str | Sequence[str] | None = None,
    ) -> Suggestions: ...
    @overload
    def suggest(
        self,
        texts: Any,
        top: int | None = 5,
        threshold: float | str | None = None,
        include: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        explain: bool = False,
        *,
        text: str | Sequence[str] | None = None,
    ) -> SuggestionList: ...
    def suggest(
        self,
        texts: Any,
        top: int | None = 5,
        threshold: float | str | None = None,
        include: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        explain: bool = False,
        *,
        text: str | Sequence[str] | None = None,
    ) -> Suggestions | SuggestionList:
        """Suggest labels.

        Parameters
        ----------
        texts : str, list of str, series, data frame or Corpus
        top : int or None, default=5
            Maximum labels per text; None for all candidates.
        threshold : float, "auto" or a promise, optional
            Only labels with at least this score; "auto" leaves it to the model, which has learned
            how many labels documents have. "precision:0.9", "recall:0.8" or "fdr:0.1" promise what
            share of labels will be right, or found; see `manylabel.thresholds.Promise`. A document
            may then get no label at all.
        include : list of str, optional
            Only these labels may be suggested. A collection or scheme of the vocabulary stands for
            its labels, here and in ``exclude``.
        exclude : list of str, optional
            These labels may not.
        explain : bool, default=False
            Add the reasons of the suggested labels, as ``why``: what `explain` gives for them.
        text : str or list of str, optional
            The columns of a data frame that hold the texts; by default their names tell.

        Returns
        -------
        Suggestions, or for several texts a SuggestionList of them
        """
        limit = check_threshold(threshold)
        if top is not None:
            check_whole("top", top, 1)
        is_corpus = isinstance(texts, Corpus)
        if not isinstance(texts, str):
            texts = as_texts(texts, text)
        is_plain = include is None and exclude is None and threshold is None
        with self._reading() as state:
            if explain:
                self._check_explains(state)
            documents, ids = state.read(texts)
            # The rows of a data frame without ids are numbered, not named.
            if isinstance(texts, Corpus) and not is_corpus and not texts.has_ids:
                ids = None
            if len(documents) == 0:
                return SuggestionList()

            def selected(documents: Documents, scores: sparse.csr_array) -> sparse.csr_array:
                if not is_plain or state.withheld() is not None:
                    kept = state.allowed(include, exclude)[scores.indices]
                    if isinstance(limit, Promise):
                        kept &= values_at(state.promised(limit).apply(scores), scores) > 0
                    elif limit is not None:
                        kept &= scores.data >= limit
                    elif threshold is not None:
                        kept &= values_at(state.given(documents, scores), scores) > 0
                    scores = kept_entries(scores, kept)
                return (
                    scores if top is None or (is_plain and not explain) else keep_top(scores, top)
                )

            if explain:
                scores, why = self._explained(state, texts, documents, selected)
            else:
                scores = state.scores(documents, top if is_plain else None)
                scores, why = scores if is_plain else selected(documents, scores), None
            found = SuggestionList(suggestions(scores, state.labels, ids, why))
        return found[0] if isinstance(texts, str) else found

    def _explained(
        self,
        state: TaggerState,
        texts: Any,
        documents: Documents,
        select: Callable[[Documents, sparse.csr_array], sparse.csr_array],
    ) -> tuple[sparse.csr_array, list[TextExplanation]]:
        """The selected scores of texts, and their reasons."""
        selected: list[sparse.csr_array] = []

        def choose(document: Documents, scores: sparse.csr_array) -> NDArray[np.int64]:
            selected.append(select(document, scores))
            return columns_by_rank(selected[-1])[0]

        reasons = state.reasons(documents, choose)
        written = _written(texts)
        return sparse.csr_array(sparse.vstack(selected, "csr")), [
            TextExplanation(text, state.in_words(text, why))
            for text, why in zip(written, reasons, strict=True)
        ]

    def explain(
        self, text: Any, label: str | Iterable[str] | None = None, top: int = 5
    ) -> TextExplanation:
        """Say why labels are suggested for a text, or why not.

        Parameters
        ----------
        text : str, or Corpus of one document
        label : str or list of str, optional
            The labels to explain; by default the ``top`` best.
        top : int, default=5

        Returns
        -------
        TextExplanation
            The parts of each label's score add up to it. A label that is no candidate has the
            score 0 and no reasons.
        """
        check_whole("top", top, 1)
        text = as_texts(text)
        with self._reading() as state:
            self._check_explains(state)
            documents, _ = state.read(text)
            if len(documents) != 1:
                raise InputError(f"one text can be explained at a time; got {len(documents)}.")
            if label is not None:
                columns: Any = state.labels.columns(label, "label")
                (found,) = state.model.explain(documents, labels=columns, top=top)
            elif state.withheld() is None:
                (found,) = state.model.explain(documents, top=top)
            else:
                (found,) = state.reasons(documents, partial(_best, state, top))
            (written,) = _written(text)
            return TextExplanation(written, state.in_words(written, found))

    def _check_explains(self, state: TaggerState) -> None:
        if not state.model.can_explain:
            raise InputError(f"{self.model_name} cannot explain its labels; lcif can.")

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
            found = [] if self.path is None else find_traces(self.path, written, kept)
            if state.vectorizer is not None:
                words = state.words_of_none(written, kept)
                found += [f'the vocabulary: "{word}"' for word in words]
        return found

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
        given = _as_vocabulary(vocabulary)
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

    @property
    def model_name(self) -> str:
        """The name of the model, or of its class."""
        return name_of(self.model)

    @property
    def gives_probabilities(self) -> bool:
        """Whether scores are probabilities."""
        return bool(self._latest().model.gives_probabilities)

    @property
    def text_language(self) -> str | None:
        """The language of the texts, as a code where it has one: named, or detected by `fit`."""
        if self.language != AUTO:
            return self.language
        full = self._latest().language
        return next((code for code, name in LANGUAGES.items() if name == full), full)

    @property
    def _is_ensemble(self) -> bool:
        return self.model_name.casefold() == "ensemble"

    @property
    def fit_seconds(self) -> dict[str, float]:
        """How long the last `fit` took: "features" and "vectorize", if there were texts, "train".

        Empty for a tagger that was loaded.
        """
        return dict(self._fit_seconds)

    @property
    def labels(self) -> list[str]:
        """Every label that can be suggested: not those that are hidden, or that nothing has."""
        state = self._latest()
        with self._lock.reading():
            return state.offered()

    @property
    def n_documents(self) -> int:
        """How many documents the tagger knows."""
        return len(self._latest().documents)

    def warm_up(self) -> None:
        """Load and compile now what the first questions and changes would wait for.

        A server calls this before it takes requests: the first change would otherwise compile
        while it keeps all readers out.
        """
        with self._reading() as state:
            if state.model.can_forget:
                _compile_changes()
        try:
            text = " ".join(self.labels[:20])
            self.suggest(text)
            self.explain(text, top=1)
        except InputError:
            pass  # models that read features, or cannot explain, say so when they are asked

    def document(self, id: str) -> Document:
        """A document that the tagger knows: its text, or what was kept of it, and its labels."""
        with self._reading() as state:
            return state.document(state.number(id))

    def label_info(self, label: str) -> LabelInfo:
        """What a label is called and means."""
        return self._latest().labels.info(label)

    def describe_label(self, label: str, top: int = 10) -> LabelDescription:
        """What a label stands for: the words of its documents, and labels that go with it.

        Parameters
        ----------
        label : str
        top : int, default=10
            How many words and labels.
        """
        check_whole("top", top, 1)
        with self._reading() as state:
            return state.describe(label, top)

    def __repr__(self) -> str:
        state = self._state
        if state is None:
            return f"<Tagger: {self.model_name}, not fitted>"
        return (
            f"<Tagger: {self.model_name}, {counted(len(state.documents), 'document')}, "
            f"{counted(state.n_labels, 'label')}>"
        )

    def _trained(
        self,
        documents: Corpus | TextFile | None,
        info: dict[str, LabelInfo],
        vocabulary: Vocabulary | None = None,
        edits: LabelEdits | None = None,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> TaggerState:
        language = spoken(self.language, documents, vocabulary)
        vectorizer = make_vectorizer(language, self.vectorizer, self.n_jobs, self.verbose)
        choose = None
        estimator = self._new_estimator()
        is_free = self.features == "auto" and getattr(estimator, "effort", "quick") != "quick"
        if is_free and has_words_only(vectorizer):
            choose = partial(choose_features, n_jobs=self.n_jobs, verbose=self.verbose)
        clock = Clock()
        naming = None
        if vocabulary is not None:
            naming = Naming(vocabulary, language, edits or LabelEdits())
        if documents is None:
            assert naming is not None
            state = train_without_documents(
                vectorizer, info, self.keep_texts, clock, naming, self.n_jobs
            )
            self._fit_seconds = clock.seconds
            return state
        state = train(
            documents,
            estimator,
            vectorizer,
            choose,
            info,
            self.keep_texts,
            clock,
            naming,
            with_views=choose is not None,
            incomplete=incomplete,
        )
        self._fit_seconds = clock.seconds
        return state

    def _retrained(self, state: TaggerState) -> TaggerState:
        documents = state.corpus() if len(state.documents) else None
        known = state.labels
        incomplete = state.documents.incomplete()
        found = self._trained(documents, known.infos, known.vocabulary, known.edits, incomplete)
        found.take_edits(known.edits)
        return found

    def _new_estimator(self) -> Any:
        """The model, not fitted, with the tagger's settings where it has them."""
        return new_estimator(
            self.model,
            dict(self.parameters or {}),
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            effort=self.effort,
            verbose=self.verbose,
        )


def _as_vocabulary(given: Any) -> Vocabulary | None:
    """What `Tagger` takes as ``vocabulary``."""
    if given is None or isinstance(given, Vocabulary):
        return given
    if isinstance(given, str | os.PathLike):
        return read_vocabulary(given)
    raise ParameterError(
        f"`vocabulary` must be a Vocabulary or the path of a file; got {type(given).__name__}."
    )


def _best(
    state: TaggerState, top: int, _: Documents, scores: sparse.csr_array
) -> NDArray[np.int64]:
    """The columns of a document's best labels, of those that may be suggested."""
    kept = kept_entries(scores, state.allowed(None, None)[scores.indices])
    return columns_by_rank(keep_top(kept, top))[0]


def _written(texts: Any) -> list[str]:
    """The texts themselves; empty ones for a corpus that has none."""
    if isinstance(texts, Corpus):
        return texts.full_texts or [""] * len(texts)
    return [texts] if isinstance(texts, str) else list(texts)


def _compile_changes() -> None:
    """Compile what changes of an index need, by changing a small one."""
    from manylabel.neighbors import NeighborIndex

    for dtype in (np.float32, np.float64):
        rows = sparse.csr_array(np.eye(3, dtype=dtype))
        index = NeighborIndex(rows)
        index.add(rows[:1])
        index.remove([0])
        index.search(rows, 1)
