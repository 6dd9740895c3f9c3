"""The tagger: texts in, labels out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.corpus import Corpus, Document
from manylabel.corpus.chunks import TextFile
from manylabel.corpus.conversion import as_corpus
from manylabel.exceptions import InputError, ParameterError
from manylabel.progress import Clock
from manylabel.tagger.descriptions import LabelDescription
from manylabel.tagger.editing import LabelEditing
from manylabel.tagger.estimator import Estimator, named_as_in_scikit_learn
from manylabel.tagger.features import check_features, choose_features, has_words_only
from manylabel.tagger.label_edits import LabelEdits
from manylabel.tagger.labels import LabelInfo, check_label_info
from manylabel.tagger.languages import AUTO, LANGUAGES, make_vectorizer, text_language
from manylabel.tagger.learning import Learning
from manylabel.tagger.naming import NamedLabels, Naming, as_vocabulary
from manylabel.tagger.quality import Quality
from manylabel.tagger.state import TaggerState
from manylabel.tagger.suggesting import Suggesting
from manylabel.tagger.training import (
    name_of,
    new_estimator,
    text_file,
    train,
    train_without_documents,
)
from manylabel.text import CountVectorizer
from manylabel.validation import check_incomplete, check_whole
from manylabel.vocabulary import Vocabulary
from manylabel.wording import counted

__all__ = ["DEFAULT_MODEL", "Tagger"]

#: The default model of a tagger.
DEFAULT_MODEL = "ensemble"

#: Number of texts after which all tables have been made, and the length of a long one.
_WARMING, _LONG = 20, 70_000


class Tagger(Estimator, Suggesting, Quality, Learning, LabelEditing, NamedLabels):
    """Learns from texts with labels, suggests labels for new texts, and says why.

    Parameters
    ----------
    model : str or estimator, default=DEFAULT_MODEL
        A name from ``manylabel.models.MODELS``, or an estimator of this package, which is copied.
    parameters : dict, optional
        The model's parameters.
    language : str or None, default="en"
        The language of the texts, which decides on stop words and stems: a code such as "fi", a
        full name, or None for neither. With "auto", `fit` detects the language of most documents
        among the 11 that have stop words. Some languages, such as "uk", need the extra ``lemmas``.
    vectorizer : CountVectorizer or dict, optional
        How to count words: a vectorizer, which is copied, or some of its parameters. By default
        the language decides.
    features : {"auto", "words"}, default="auto"
        With "auto", an ensemble with at least 2,000 documents tries on a sample whether more
        features rank labels better: more weight for the first words of long texts, character
        n-grams beside the words of short ones. It does not if the vectorizer already has such
        features.
    vocabulary : Vocabulary or path, optional
        Names and relations of labels; see `manylabel.vocabulary.read` for the formats. An ensemble
        looks for the names in texts, so it can suggest labels that no document has.
    effort : str, optional
        How much time an ensemble may spend on training: "quick", "normal" (the default) or "best".
        With "quick", other features are not tried.
    keep_texts : bool, default=True
        Keep whole texts, to show neighbours and to train again; otherwise only their first 300
        characters.
    random_state : int, optional
        The random state of models that have one.
    n_jobs : int, optional
        Threads; None means 1, -1 all cores.
    verbose : int, default=0
        Show progress.

    Notes
    -----
    A tagger knows the words of the texts that it was fitted to; `learn` adds none. Several threads
    may use one tagger.

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

    #: The default for taggers that were saved without this parameter.
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
        """Train on texts and their labels; everything learned before is forgotten.

        Parameters
        ----------
        texts : list of str, series, data frame, Corpus or path, optional
            A corpus, the file of a corpus, and a data frame (pandas, Polars, Arrow, Hugging Face
            datasets) contain labels and ids. With a vocabulary, texts are optional: the tagger then
            suggests labels whose names occur in a text, and `learn` improves it. Within
            `manylabel.distributed.use`, the workers read and count files of JSON Lines, TSV and
            CSV.
        labels : list of lists of str, indicator matrix, or names of columns
            The labels of each text; for a data frame, the column that contains them, or several
            columns of 0 and 1. By default detected by the names of the columns. With a vocabulary,
            a label may be given by its preferred name if no other label has that name.
        ids : list of str or name of a column, optional
            Distinct ids of the documents; by default their numbers.
        label_info : mapping or path, optional
            Names and descriptions of labels: label to name, or to a mapping with ``name`` and
            ``description``; or a file, see `manylabel.tagger.read_label_info`.
        text : str or list of str, optional
            The columns of a data frame that contain the texts; several are joined by line breaks.
        title : str, optional
            The column of a data frame that contains the titles.
        label_names : list of str, optional
            Names of the columns of an indicator matrix; by default their numbers.
        incomplete : bool or list of bool, default=False
            Whether the labels that a document lacks are unknown, not wrong; see `learn`.
        sample_weight : None
            Not supported: all documents of a tagger have the same weight.

        Returns
        -------
        self
        """
        if sample_weight is not None:
            raise ParameterError(
                "a tagger does not support `sample_weight`, because `learn` and `forget` would "
                "lose it. Leave it out, repeat documents, or use OneVsRestSVM or SubsetSVM in a "
                "pipeline."
            )
        self.check_parameters()
        info = check_label_info(label_info)
        file = text_file(texts, labels, ids) if incomplete is False else None
        vocabulary = None if self.vocabulary is None else as_vocabulary(self.vocabulary)
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

    def check_parameters(self) -> None:
        """Refuse parameters of the model that `fit` would refuse, before documents are read.

        Examples
        --------
        >>> Tagger("lcif", parameters={"k": 0}).check_parameters()
        Traceback (most recent call last):
        manylabel.exceptions.ParameterError: `k` must be a whole number of at least 1; got 0.
        """
        self._new_estimator().check_parameters()

    @property
    def model_name(self) -> str:
        """The name of the model, or of its class if it was given as an estimator."""
        return name_of(self.model)

    @property
    def gives_probabilities(self) -> bool:
        """Whether scores are probabilities."""
        return bool(self._latest().model.gives_probabilities)

    @property
    def text_language(self) -> str | None:
        """The language of the texts, given or detected by `fit`; as a code if it has one."""
        if self.language != AUTO:
            return self.language
        full = self._latest().language
        return next((code for code, name in LANGUAGES.items() if name == full), full)

    @property
    def _is_ensemble(self) -> bool:
        return self.model_name.casefold() == "ensemble"

    @property
    def fit_seconds(self) -> dict[str, float]:
        """Seconds per phase of the last `fit`: "features" and "vectorize" (for texts) and "train".

        Empty for a loaded tagger.
        """
        return dict(self._fit_seconds)

    @property
    def labels(self) -> list[str]:
        """Every label that can be suggested; hidden and unused ones are left out."""
        state = self._latest()
        with self._lock.reading():
            return state.offered()

    @property
    def n_documents(self) -> int:
        """The number of documents that the tagger knows."""
        return len(self._latest().documents)

    def warm_up(self) -> None:
        """Load and compile now what the first calls would otherwise wait for.

        A server calls this before it accepts requests: otherwise the first change would compile
        kernels while it holds the write lock.
        """
        with self._reading() as state:
            if state.model.can_forget:
                _compile_changes()
        try:
            text = " ".join(self.labels[:20])
            # Some tables are made only after several texts, so that a single one does not wait.
            for _ in range(_WARMING):
                self.suggest(text)
            # After as many characters, words are found in another way.
            self.suggest(f"{text} " * (_LONG // (len(text) + 1) + 1))
            self.explain(text, top=1)
        except InputError:
            pass  # models that read features, or cannot explain, raise the same error when used

    def document(self, id: str) -> Document:
        """A known document: its labels, and its text or as much of it as was kept."""
        with self._reading() as state:
            return state.document(state.number(id))

    def label_info(self, label: str) -> LabelInfo:
        """The name and the description of a label."""
        return self._latest().labels.info(label)

    def describe_label(self, label: str, top: int = 10) -> LabelDescription:
        """Describe a label by the words of its documents and the labels that occur with it.

        Parameters
        ----------
        label : str
        top : int, default=10
            The number of words and of labels.
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
        language = text_language(self.language, documents, vocabulary)
        vectorizer = make_vectorizer(language, self.vectorizer, self.n_jobs, self.verbose)
        choose = None
        estimator = self._new_estimator()
        may_choose = self.features == "auto" and getattr(estimator, "effort", "quick") != "quick"
        if may_choose and has_words_only(vectorizer):
            choose = partial(choose_features, n_jobs=self.n_jobs, verbose=self.verbose)
        clock = Clock()
        naming = None
        if vocabulary is not None:
            naming = Naming(vocabulary, language, edits or LabelEdits(), reads_names=edits is None)
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
        trained = self._trained(documents, known.infos, known.vocabulary, known.edits, incomplete)
        trained.take_edits(known.edits)
        return trained

    def _new_estimator(self) -> Any:
        """Make the model, not fitted, with the tagger's settings where it has such parameters."""
        return new_estimator(
            self.model,
            dict(self.parameters or {}),
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            effort=self.effort,
            verbose=self.verbose,
        )


def _compile_changes() -> None:
    """Compile the kernels that change an index, by changing a small one."""
    from manylabel.neighbors import NeighborIndex

    for dtype in (np.float32, np.float64):
        rows = sparse.csr_array(np.eye(3, dtype=dtype))
        index = NeighborIndex(rows)
        index.add(rows[:1])
        index.remove([0])
        index.search(rows, 1)
