"""Text in, labels out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Self, overload

from scipy import sparse

from manylabel.corpus import Corpus, Document
from manylabel.corpus.parts import TextFile
from manylabel.corpus.vocabulary import union
from manylabel.exceptions import InputError, ParameterError
from manylabel.models import make_model
from manylabel.parallel import current_place
from manylabel.predictions import keep_top, values_at
from manylabel.progress import Clock
from manylabel.tagger import selecting
from manylabel.tagger.changes import Change
from manylabel.tagger.counting import check_distinct, count_corpus, count_file
from manylabel.tagger.describing import LabelDescription
from manylabel.tagger.documents import widened
from manylabel.tagger.entries import Forget, documents_of
from manylabel.tagger.explanations import TextExplanation, label_reasons
from manylabel.tagger.features import check_features, choose_features, has_words_only
from manylabel.tagger.inputs import as_corpus, check_texts, make_vectorizer, text_file
from manylabel.tagger.labels import LabelInfo, check_label_info
from manylabel.tagger.memory import Memory
from manylabel.tagger.persistence import Persistent
from manylabel.tagger.suggestions import Suggestions
from manylabel.text import CountVectorizer
from manylabel.validation import check_whole

__all__ = ["DEFAULT_MODEL", "Tagger"]

#: The model of a tagger for which none was named.
DEFAULT_MODEL = "ensemble"


class Tagger(Persistent):
    """Learns from texts with labels, suggests labels for new texts, and says why.

    Parameters
    ----------
    model : str or estimator, default=DEFAULT_MODEL
        A name from ``manylabel.models.MODELS``, or an estimator of this package, which is copied.
    parameters : dict, optional
        The model's parameters.
    language : str or None, default="en"
        Of the texts: decides on stop words and stems. None for neither.
    vectorizer : CountVectorizer or dict, optional
        How texts become words, if not by the language alone: a vectorizer, which is copied, or
        some of its parameters.
    features : {"auto", "words"}, default="auto"
        With "auto" an ensemble tries, on a sample of at least 2,000 documents, whether more weight
        for the first words of long texts, or parts of words beside the words of short ones, ranks
        labels better; unless the vectorizer says otherwise.
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
    1 document learnt, 1 new label. As they were: word weights.
    >>> tagger.explain("sleeps", label="birds")["birds"].neighbours[0].id
    'b1'
    """

    def __init__(
        self,
        model: Any = DEFAULT_MODEL,
        *,
        parameters: Mapping[str, Any] | None = None,
        language: str | None = "en",
        vectorizer: CountVectorizer | dict[str, Any] | None = None,
        features: str = "auto",
        keep_texts: bool = True,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.parameters = dict(parameters or {})
        self.language = language
        self.vectorizer = vectorizer
        self.features = features
        self.keep_texts = keep_texts
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        super().__init__()
        check_features(features)
        self._new_estimator()
        make_vectorizer(language, vectorizer, n_jobs, verbose)

    def fit(self, texts: Any, labels: Any = None, ids: Any = None, label_info: Any = None) -> Self:
        """Learn from texts and their labels; whatever was learnt before is forgotten.

        Parameters
        ----------
        texts : list of str, Corpus or path
            A corpus, or a file of one, brings its own labels and ids. Within
            `manylabel.distributed.use`, and with ``keep_texts=False``, the workers read and count
            a file of JSON Lines or TSV that is not compressed.
        labels : list of lists of str
            The labels of each text.
        ids : list of str, optional
            Distinct names of the documents; their numbers by default.
        label_info : mapping or path, optional
            What labels are called and mean: label to name, or to a mapping with ``name`` and
            ``description``; or a file, see `manylabel.tagger.read_label_info`.

        Returns
        -------
        self
        """
        info = check_label_info(label_info)
        file = None
        if not self.keep_texts and current_place() is not None:
            file = text_file(texts, labels, ids)
        self._remember(self._trained(file or as_corpus(texts, labels, ids), info))
        return self

    @overload
    def suggest(  # type: ignore[overload-overlap]  # a string is meant as one text
        self,
        texts: str,
        top: int | None = 5,
        threshold: float | str | None = None,
        include: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
    ) -> Suggestions: ...
    @overload
    def suggest(
        self,
        texts: Iterable[str] | Corpus,
        top: int | None = 5,
        threshold: float | str | None = None,
        include: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
    ) -> list[Suggestions]: ...
    def suggest(
        self,
        texts: str | Iterable[str] | Corpus,
        top: int | None = 5,
        threshold: float | str | None = None,
        include: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
    ) -> Suggestions | list[Suggestions]:
        """Suggest labels.

        Parameters
        ----------
        texts : str, list of str or Corpus
        top : int or None, default=5
            At most so many labels a text; None for all candidates.
        threshold : float or "auto", optional
            Only labels with at least this score; "auto" leaves it to the model, which has learnt
            how many labels documents have.
        include : list of str, optional
            Only these labels may be suggested.
        exclude : list of str, optional
            These labels may not.

        Returns
        -------
        Suggestions, or for several texts a list of them
        """
        limit = selecting.check_threshold(threshold)
        if top is not None:
            check_whole("top", top, 1)
        with self._reading() as memory:
            counts, ids = _counted(memory, texts)
            if counts.shape[0] == 0:
                return []
            model = memory.learner.estimator
            if include is None and exclude is None and threshold is None:
                scores = model.decision_function(counts, top=top)
            else:
                allowed = memory.allowed(include, exclude)
                scores = model.decision_function(counts)
                kept = allowed[scores.indices]
                if limit is not None:
                    kept &= scores.data >= limit
                elif threshold is not None:
                    kept &= values_at(memory.learner.given(counts, scores), scores) > 0
                scores = selecting.kept_entries(scores, kept)
                scores = scores if top is None else keep_top(scores, top)
            found = list(selecting.suggestions(scores, memory.labels, ids))
        return found[0] if isinstance(texts, str) else found

    def explain(
        self, text: str | Corpus, label: str | Iterable[str] | None = None, top: int = 5
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
        with self._reading() as memory:
            model, labels = memory.learner.estimator, memory.labels
            if not hasattr(model, "explain"):
                raise InputError(f"{self.model_name} cannot explain its labels; lcif can.")
            counts, _ = _counted(memory, text)
            if counts.shape[0] != 1:
                raise InputError(f"one text can be explained at a time; got {counts.shape[0]}.")
            columns = None if label is None else labels.columns(label, "label")
            found = model.explain(counts, labels=columns, top=top)[0]
            written = text if isinstance(text, str) else (text.texts or [""])[0]
            words = memory.words(written)
            reasons = []
            for why in found:
                name = labels.listed[why.label]
                reasons.append(label_reasons(why, name, labels.name(name), words, memory.document))
        return TextExplanation(written, reasons)

    def learn(self, texts: Any, labels: Any = None, ids: Any = None) -> Change:
        """Learn more documents; the next call knows them.

        Parameters
        ----------
        texts : list of str, Corpus or path
        labels : list of lists of str
            New labels are welcome.
        ids : list of str, optional
            A document with an id that exists takes its place. By default numbers that are free.

        Returns
        -------
        Change
            What was learnt, and which parts of the model stay as they were.
        """
        corpus = as_corpus(texts, labels, ids)
        named = corpus.ids if ids is not None or corpus.has_ids else None
        check_distinct(named or [])
        check_texts(corpus.texts or [])
        with self._writing() as (memory, write):
            if not memory.learner.can_learn:
                raise InputError(
                    f"{self.model_name} cannot learn single documents; fit it again with all of "
                    "them, or use a model such as lcif."
                )
            counts = memory.counts(corpus)
            named = named or memory.free_ids(len(corpus))
            replaced = [name for name in named if memory.documents.find(name) is not None]
            known = memory.n_labels
            write(documents_of(corpus, named, counts), counts)
            return Change(
                learnt=tuple(named),
                replaced=tuple(replaced),
                new_labels=tuple(memory.labels.listed[known:]),
                not_updated=memory.learner.not_updated(self.model_name, bool(replaced)),
            )

    def forget(self, ids: str | Iterable[str]) -> Change:
        """Forget documents, as if they had never been seen.

        Parameters
        ----------
        ids : list of str

        Returns
        -------
        Change
            What was forgotten, and which parts of the model still know it.
        """
        wanted = list(dict.fromkeys([ids] if isinstance(ids, str) else ids))
        with self._writing() as (memory, write):
            for name in wanted:
                memory.number(name)
            if len(wanted) >= len(memory.documents):
                raise InputError("at least one document must be left.")
            write([Forget(name) for name in wanted])
            return Change(
                forgotten=tuple(wanted),
                not_updated=memory.learner.not_updated(self.model_name, True),
            )

    def evaluate(
        self, texts: Any, labels: Any = None, metrics: Iterable[str] | None = None
    ) -> dict[str, float]:
        """Measure suggestions against the labels that people gave.

        Parameters
        ----------
        texts : list of str, Corpus or path
        labels : list of lists of str
            Labels that the tagger does not know count as missed.
        metrics : list of str, optional
            Names from ``manylabel.metrics.MEASURES``; by default all.

        Returns
        -------
        dict of str to float
        """
        from manylabel.metrics import evaluate

        corpus = as_corpus(texts, labels)
        with self._reading() as memory:
            counts = memory.counts(corpus)
            scores = memory.learner.estimator.decision_function(counts)
            given = memory.learner.given(counts, scores)
            names = union([memory.labels.listed, corpus.label_names])
            train = memory.documents.label_matrix(len(names))
        return evaluate(
            corpus.align_to(names).Y,
            widened(scores, len(names)),
            widened(given, len(names)),
            Y_train=train,
            metrics=metrics,
        )

    @property
    def model_name(self) -> str:
        """The name of the model, or of its class."""
        return self.model if isinstance(self.model, str) else type(self.model).__name__

    @property
    def gives_probabilities(self) -> bool:
        """Whether scores are probabilities."""
        return bool(self._latest().learner.estimator.gives_probabilities)

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
        """Every label that can be suggested."""
        return list(self._latest().labels.listed)

    @property
    def n_documents(self) -> int:
        """How many documents the tagger knows."""
        return len(self._latest().documents)

    def warm_up(self) -> None:
        """Load and compile now what the first questions and changes would wait for.

        A server calls this before it lets anybody in: the first change would otherwise compile
        while it keeps everybody out.
        """
        with self._reading() as memory:
            memory.learner.warm_up()
        try:
            text = " ".join(self.labels[:20])
            self.suggest(text)
            self.explain(text, top=1)
        except InputError:
            pass  # models that read features, or cannot explain, say so when they are asked

    def document(self, id: str) -> Document:
        """A document that the tagger knows: its text, or what was kept of it, and its labels."""
        with self._reading() as memory:
            return memory.document(memory.number(id))

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
        with self._reading() as memory:
            return memory.describe(label, top)

    def __repr__(self) -> str:
        memory = self._memory
        if memory is None:
            return f"<Tagger: {self.model_name}, not fitted>"
        return (
            f"<Tagger: {self.model_name}, {len(memory.documents):,} documents, "
            f"{memory.n_labels:,} labels>"
        )

    def _trained(self, documents: Corpus | TextFile, info: dict[str, LabelInfo]) -> Memory:
        vectorizer = make_vectorizer(self.language, self.vectorizer, self.n_jobs, self.verbose)
        estimator, clock = self._new_estimator(), Clock()
        choose = None
        if self.features == "auto" and self._is_ensemble and has_words_only(vectorizer):
            choose = partial(choose_features, n_jobs=self.n_jobs, verbose=self.verbose)
        if isinstance(documents, TextFile):
            counted = count_file(documents, vectorizer, choose, clock)
        else:
            counted = count_corpus(documents, vectorizer, choose, clock)
        memory = Memory.of_documents(counted, estimator, info, self.keep_texts, clock)
        self._fit_seconds = clock.seconds
        return memory

    def _retrained(self, memory: Memory) -> Memory:
        return self._trained(memory.corpus(), memory.labels.infos)

    def _new_estimator(self) -> Any:
        """The model, not fitted, with the tagger's settings where it has them."""
        from sklearn.base import clone

        settings: dict[str, Any] = {"n_jobs": self.n_jobs, "random_state": self.random_state}
        if isinstance(self.model, str):
            estimator = make_model(self.model, self.parameters)
            # One document must not cost a look at all the others.
            settings |= {"update_weights": False, "verbose": self.verbose}
        elif hasattr(self.model, "decision_function") and hasattr(self.model, "get_params"):
            estimator = clone(self.model).set_params(**self.parameters)
        else:
            raise ParameterError(
                f"`model` must be the name of a model or an estimator; got {self.model!r}."
            )
        known = estimator.get_params(deep=False)
        return estimator.set_params(
            **{
                name: value
                for name, value in settings.items()
                if name in known and name not in self.parameters and value is not None
            }
        )


def _counted(memory: Memory, texts: Any) -> tuple[sparse.csr_array, list[str] | None]:
    """Counts of one text, of several or of a corpus, and ids where there are some."""
    if isinstance(texts, Corpus):
        return memory.counts(texts), texts.ids
    return memory.counts_of_texts([texts] if isinstance(texts, str) else texts), None
