"""What a fitted tagger knows: its model, and what people call the numbers that it works with."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.corpus import Corpus, Document
from manylabel.exceptions import InputError
from manylabel.predictions import keep_top
from manylabel.scoring import Documents
from manylabel.tagger.changes import Changed, Edit, Learn
from manylabel.tagger.documents import SNIPPET, KeptDocuments, indicator, widened
from manylabel.tagger.explanations import LabelReasons, Words, label_reasons
from manylabel.tagger.features import as_views, read_views
from manylabel.tagger.label_edits import LabelEdits, Record
from manylabel.tagger.labels import LabelDescription, Labels, defining_words, together
from manylabel.tagger.relabelling import edit_labels
from manylabel.tagger.suggestions import kept_entries
from manylabel.text import CountVectorizer
from manylabel.text.single import SingleTexts
from manylabel.text.spans import feature_spans_of
from manylabel.validation import check_texts
from manylabel.vocabulary import LabelNames
from manylabel.wording import counted

if TYPE_CHECKING:
    from manylabel.base import MultiLabelClassifier
    from manylabel.evidence import Explanation
    from manylabel.thresholds import Promise

__all__ = ["Choose", "TaggerState"]

#: From a document and its scores to label columns, best first.
Choose = Callable[[Documents, sparse.csr_array], NDArray[np.int64]]

#: Documents by which a label is described, at most.
_DESCRIBED_BY = 200
#: Texts whose words are counted at a time, when words are looked for.
_COUNTED_AT_A_TIME = 4_096


class TaggerState:
    """A fitted model with its vocabulary, labels and documents.

    Documents that come and go are collected here, and the model is told of them all at once when
    it is next asked for something.

    Parameters
    ----------
    model : MultiLabelClassifier
        Fitted.
    labels : Labels
    documents : KeptDocuments
    vectorizer : CountVectorizer or None
        None if the model learned from features.
    feature_names : sequence of str
        Of such a model.
    document_counts : array of int
        Documents with each feature, when the model was fitted.
    keep_texts : bool
    views : mapping of str to CountVectorizer, optional
        Other features of texts that the model reads.

    Attributes
    ----------
    marked : bool
        Whether the folder that this comes from must have a mark of its journal.
    """

    # Older folders have none.
    marked = False
    #: Documents that the model was trained with; their numbers come first. None in older folders.
    n_trained: int | None = None
    #: Whether labels were in alphabetical order when the model was fitted; None if they still tell.
    was_sorted: bool | None = None

    def __init__(
        self,
        model: MultiLabelClassifier,
        labels: Labels,
        documents: KeptDocuments,
        vectorizer: CountVectorizer | None,
        feature_names: list[str],
        document_counts: NDArray[np.int64],
        keep_texts: bool,
        views: Mapping[str, CountVectorizer] | None = None,
    ) -> None:
        self.model: Any = model
        self.labels, self.documents = labels, documents
        self.vectorizer, self.feature_names = vectorizer, feature_names
        self.document_counts, self.n_counted = document_counts, len(documents)
        self.keep_texts = keep_texts
        self.views = dict(views or {})
        #: Labels that the model's threshold was fitted for.
        self.n_fitted_labels = len(labels)
        self.n_trained = len(documents)
        #: Columns of labels that may have lost their last document.
        self.emptied: set[int] = set()
        # The token tells a journal that belongs to this state from others; entries up to the number
        # are part of it.
        self.token, self.sequence = secrets.token_hex(8), 0
        self._forget_pending()

    def _forget_pending(self) -> None:
        """Nothing waits for the model."""
        self._learned: list[Documents] = []
        self._columns: list[list[int]] = []
        self._open: list[bool] = []
        self._gone: list[int] = []
        self._relabelled: set[int] = set()
        self._are_names_new = self._is_grown = False

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.labels)

    def use_jobs(self, n_jobs: int) -> None:
        """Set the number of threads."""
        for estimator in (self.model, self.vectorizer, *self.views.values()):
            if estimator is not None and "n_jobs" in estimator.get_params(deep=False):
                estimator.set_params(n_jobs=n_jobs)

    # Texts and corpora as the model sees them

    def read(self, texts: Any) -> tuple[Documents, list[str] | None]:
        """One text, several or a corpus, and ids where there are some."""
        if isinstance(texts, Corpus):
            return self.read_corpus(texts), texts.ids
        listed = check_texts([texts] if isinstance(texts, str) else texts)
        if self.vectorizer is None:
            raise InputError("this tagger learned from features, not texts: give it a Corpus.")
        return self._read_texts(listed), None

    @property
    def reads_names(self) -> bool:
        """Whether the model looks for the names of labels in texts."""
        return isinstance(getattr(self.model, "vocabulary", None), LabelNames)

    @property
    def language(self) -> str | None:
        """The language of the texts by its full name, as far as words are stemmed."""
        found: str | None = getattr(self.vectorizer, "stemming", None)
        return found

    def read_corpus(self, corpus: Corpus) -> Documents:
        """The documents of a corpus, counted in the model's own features."""
        if self.vectorizer is not None:
            texts = corpus.full_texts
            if texts is None:
                raise InputError("this tagger learned from texts; the corpus has only features.")
            return self._read_texts(texts)
        if corpus.X is None:
            raise InputError("this tagger learned from features; the corpus has only texts.")
        if corpus.has_feature_names:
            return Documents(corpus.align_to(feature_names=self.feature_names).X)
        known, there = len(self.feature_names), corpus.n_features
        if there > known or (there < known and corpus.sized):
            raise InputError(
                f"the corpus has {counted(there, 'feature')}, but the tagger learned from {known}; "
                "give one with the same features."
            )
        return Documents(widened(corpus.X, known))

    def _read_texts(self, texts: list[str]) -> Documents:
        assert self.vectorizer is not None
        if len(texts) == 1 and (single := self._singly()) is not None:
            counts, *others = single.count(texts[0])
            documents = Documents(counts, texts=texts, views=as_views(self.views, others))
            documents.trusted = True
            return documents
        views = read_views(self.views, texts) if self.views else None
        return Documents(self.vectorizer.transform(texts), texts=texts, views=views)

    def _singly(self) -> SingleTexts | None:
        """What counts one text for all vectorizers at once, where that can be done."""
        assert self.vectorizer is not None
        vectorizers = [self.vectorizer, *self.views.values()]
        known: SingleTexts | None = vars(self).get("_single_texts")
        if known is None or not known.is_for(vectorizers):
            known = SingleTexts(vectorizers) if SingleTexts.can_read(vectorizers) else None
            self._single_texts = known
        return known

    def _read_changes(self, learned: list[Learn]) -> Documents:
        """Documents from a journal."""
        if self.vectorizer is not None:
            return self._read_texts([change.text for change in learned])
        rows = [change.features or [] for change in learned]
        flat = [entry for row in rows for entry in row]
        ptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        counts = sparse.csr_array(
            (
                np.array([value for _, value in flat], np.float64),
                np.array([column for column, _ in flat], np.int32),
                ptr,
            ),
            shape=(len(rows), len(self.feature_names)),
        )
        return Documents(counts)

    # Answers of the model

    def scores(self, documents: Documents, top: int | None = None) -> sparse.csr_array:
        """The scores of candidates."""
        withheld = self.withheld()
        wanted = top if withheld is None else None
        if self.vectorizer is None:
            scores = self.model.decision_function(documents, top=wanted)
        else:
            # Our own counts need no check.
            scores = self.model.scores_of(documents, wanted)
        if withheld is None:
            return scores
        scores = kept_entries(scores, ~withheld[scores.indices])
        return scores if top is None else keep_top(scores, top)

    def withheld(self) -> NDArray[np.bool_] | None:
        """The columns that are never suggested or listed; None if there are none.

        Labels that people hid, those that are gone, and ghosts: labels without any document that
        nothing else knows of.
        """
        found = vars(self).get("_withheld")
        if found is None:
            edits, listed = self.labels.edits, self.labels.listed
            columns = {
                self.labels.column(label)
                for label in (*edits.hidden, *edits.gone)
                if self.labels.has_column(label)
            }
            if self.vectorizer is not None:
                late = range(self.n_fitted_labels, self.n_labels)
                columns |= {
                    column
                    for column in self.emptied.union(late)
                    if not self.documents.count(column) and not self.labels.is_known(listed[column])
                }
            found = np.zeros(self.n_labels, np.bool_)
            found[list(columns)] = True
            self._withheld = found
        return found if found.any() else None

    def forget_withheld(self) -> None:
        """Find out again which labels are withheld."""
        vars(self).pop("_withheld", None)

    def offered(self) -> list[str]:
        """Every label that can be suggested."""
        withheld = self.withheld()
        if withheld is None:
            return list(self.labels.listed)
        return [self.labels.listed[column] for column in np.flatnonzero(~withheld).tolist()]

    def given(self, documents: Documents, scores: sparse.csr_array) -> sparse.csr_array:
        """The labels that the model's own threshold gives."""
        if scores.shape[1] == self.n_fitted_labels:
            return self.model.threshold_.apply(scores)
        return self.model.predict(documents)

    def promised(self, promise: Promise) -> Promise:
        """A promise, fitted once on documents that the model had not seen; it must be kept."""
        fitted: dict[str, Promise] = vars(self).setdefault("_promises", {})
        known = fitted.get(str(promise))
        if known is None:
            known = fitted[str(promise)] = self.model.promise(promise)
        if not known.is_kept_:
            raise InputError(
                f"{promise} cannot be promised: {self.model.held_out_[0].shape[0]:,} held-out "
                f"documents do not show that it is kept. {self._promisable(promise)}Training with "
                "more documents may help."
            )
        return known

    def _promisable(self, promise: Promise) -> str:
        """A sentence with the nearest promise that is kept, or nothing."""
        levels = [round(level, 2) for level in np.arange(0.05, 1, 0.05)]
        if promise.measure == "fdr":
            nearest = [level for level in levels if level > promise.level]
        else:
            nearest = [level for level in reversed(levels) if level < promise.level]
        for level in nearest:
            tried = type(promise)(promise.measure, level, promise.grouped)
            if self.model.promise(tried).is_kept_:
                return f"Ask for {tried}. "
        return ""

    def learned_since(self) -> NDArray[np.int64]:
        """The numbers of documents that came after the training and are there."""
        kept = self.documents.kept()
        return kept[kept >= self.n_trained] if self.n_trained is not None else kept[:0]

    def check_incomplete(self, incomplete: NDArray[np.bool_] | None, model_name: str) -> None:
        """Refuse incomplete documents for a model that would count missing labels as wrong."""
        if incomplete is not None and not self.model.reads_incomplete:
            raise InputError(
                f"{model_name} cannot leave labels open: it would count those that an incomplete "
                "document lacks as wrong. Use lcif or ensemble, or give all labels."
            )

    def reasons(self, documents: Documents, choose: Choose) -> list[list[Explanation]]:
        """Why each document has the labels that are chosen once its scores are known."""
        found = []
        for row in range(len(documents)):
            document = documents[[row]]
            found += self.model.explain(document, labels=partial(choose, document))
        return found

    def in_words(self, text: str, found: Iterable[Explanation]) -> list[LabelReasons]:
        """Reasons by number become reasons in words."""
        words = {"": Words(text, {}, self._shown_words())}
        if self.vectorizer is not None:
            vectorizers = {"": self.vectorizer} | self.views
            found_at = feature_spans_of(list(vectorizers.values()), text)
            for (view, vectorizer), spans in zip(vectorizers.items(), found_at, strict=True):
                names: Any = vectorizer.display_names_
                words[view] = Words(text, spans, names)
        reasons, document = [], cache(self._document_there)
        for why in found:
            label = self.labels.listed[why.label]
            name = self.labels.name(label)
            reasons.append(label_reasons(why, label, name, words, document))
        return reasons

    def allowed(
        self, include: Iterable[str] | None, exclude: Iterable[str] | None
    ) -> NDArray[np.bool_]:
        """Which columns may be suggested."""
        allowed = np.full(self.n_labels, include is None)
        if include is not None:
            allowed[self.labels.columns(include, "include", collections=True)] = True
        if exclude is not None:
            allowed[self.labels.columns(exclude, "exclude", collections=True)] = False
        withheld = self.withheld()
        return allowed if withheld is None else allowed & ~withheld

    # Documents that come and go

    def apply(self, changes: Sequence[Changed], documents: Documents | None = None) -> None:
        """Learn and forget documents and edit labels, in this order.

        Parameters
        ----------
        changes : sequence of Learn, Forget and Edit
            A learned document with an id that exists takes its place.
        documents : Documents, optional
            Those that are learned, as the model sees them.
        """
        learned = [change for change in changes if isinstance(change, Learn)]
        documents = self._read_changes(learned) if documents is None else documents
        self.forget_withheld()
        for change in changes:
            if isinstance(change, Edit):
                self._edit(change)
                continue
            self.labels.edits.forget_document(change.id)
            number = self.documents.find(change.id)
            if number is not None:
                self.documents.remove(number)
                self._gone.append(number)
                self.emptied.update(self.documents.labels(number))
            if isinstance(change, Learn):
                columns = [self.labels.add(label) for label in change.labels]
                text = change.text if self.keep_texts else change.text[:SNIPPET]
                self.documents.add(change.id, text, columns, change.incomplete)
                self._columns.append(columns)
                self._open.append(change.incomplete)
        if learned:
            self._learned.append(documents)

    def _edit(self, edit: Edit) -> None:
        """Edit labels."""
        if self.was_sorted is None:
            fitted = self.labels.listed[: self.n_fitted_labels]
            self.was_sorted = fitted == sorted(fitted)
        n_labels = self.n_labels
        last = self.labels.edits.history[-1:] if edit.action == "undo" else []
        self._relabelled.update(edit_labels(edit, self.labels, self.documents))
        for label in (
            edit.to,
            *edit.labels,
            *(one for old in last for one in (old.to, *old.labels)),
        ):
            if label is not None and self.labels.has_column(label):
                self.emptied.add(self.labels.column(label))
        self._is_grown |= self.n_labels > n_labels
        self._are_names_new |= edit.action not in ("hide", "show")

    def take_edits(self, edits: LabelEdits) -> None:
        """Keep what people changed about labels, after the documents were learned again."""
        self.labels.edits = edits
        n_labels = self.n_labels
        for label in sorted(edits.added.difference(edits.gone)):
            self.labels.add(label)
        self._is_grown = self.n_labels > n_labels

    @property
    def is_behind(self) -> bool:
        """Whether there are changes that the model does not know of."""
        return bool(
            self._learned
            or self._gone
            or self._relabelled
            or self._is_grown
            or (self._are_names_new and self.reads_names)
        )

    def catch_up(self) -> None:
        """Tell the model of what was learned and forgotten."""
        if self._learned:
            documents = Documents.stacked(self._learned)
            # Models that cannot leave labels open do not know the word.
            more = {"incomplete": np.array(self._open)} if any(self._open) else {}
            self.model.partial_fit(documents, indicator(self._columns, self.n_labels), **more)
        if self.model.can_forget and (self._relabelled or self._is_grown):
            numbers = sorted(filter(self.documents.is_there, self._relabelled))
            Y = indicator(map(self.documents.labels, numbers), self.n_labels)
            self.model.relabel(numbers, Y, **self._texts_of(numbers))
        if self._gone and self.model.can_forget:
            self.model.remove(np.array(self._gone, np.int64), **self._texts_of(self._gone))
        if self._are_names_new and self.reads_names:
            self.model.set_vocabulary(self.labels.label_names(self.model.vocabulary.language))
        self._forget_pending()

    def _texts_of(self, numbers: list[int]) -> dict[str, list[str]]:
        """What a model that reads names is told of documents that it knows."""
        if not (self.reads_names and self.keep_texts):
            return {}
        return {"texts": [self.documents.text(number) for number in numbers]}

    def not_updated(self, model_name: str, forgetting: bool) -> tuple[str, ...]:
        """What changes do not reach before the model is trained again."""
        if forgetting and not self.model.can_forget:
            return (model_name,)
        return tuple(self.model.not_updated_)

    def not_updated_by_edit(self, model_name: str, record: Record) -> tuple[str, ...]:
        """What an edit of labels does not reach before the model is trained again."""
        found: tuple[str, ...] = ()
        if record.documents:
            # Words weigh the same, whatever labels their documents have.
            parts = self.not_updated(model_name, True)
            found = tuple(part for part in parts if part != "word weights")
        counts_names = self.reads_names and getattr(self.model, "scorers_", None) is not None
        are_new = record.action in ("merge", "delete", "add") or record.name is not None
        if counts_names and are_new:
            found = (*found, *({"names"} - set(found)))
        return found

    def compact(self) -> None:
        """Let nothing remain of forgotten documents that the model can do without."""
        self.catch_up()
        if not self.documents.is_changed:
            return
        gone = list(self.documents.removed_texts())
        if not self.model.can_compact:
            # The model may know its documents by their numbers, so these stay.
            self.documents = self.documents.without_removed_texts(self.n_labels)
            self._forget_words(gone)
            return
        self.model.compact()
        if self.n_trained is not None:
            self.n_trained = int(np.sum(self.documents.kept() < self.n_trained))
        self.documents = self.documents.compacted(self.n_labels)
        self._forget_words(gone)
        if self.model.keeps_rows:
            rows = self.model.X_
            self.document_counts = np.bincount(rows.indices, minlength=rows.shape[1])
            self.n_counted = rows.shape[0]

    def _forget_words(self, gone: list[str]) -> None:
        """Take words out of the vocabulary that only forgotten texts had.

        Where the model keeps no rows this counts the words of all texts that are left.
        """
        if self.vectorizer is None or not gone:
            return
        alone = np.unique(self.vectorizer.transform(gone).indices)
        if self.model.keeps_rows:
            alone = np.setdiff1d(alone, np.unique(self.model.X_.indices))
        elif self.keep_texts:
            numbers = self.documents.kept()
            for start in range(0, numbers.size, _COUNTED_AT_A_TIME):
                some = numbers[start : start + _COUNTED_AT_A_TIME].tolist()
                found = self.vectorizer.transform([self.documents.text(n) for n in some])
                alone = np.setdiff1d(alone, np.unique(found.indices))
        else:
            return
        self.vectorizer.forget_features(alone)

    def words_of_none(self, texts: list[str], kept: list[str]) -> list[str]:
        """Words in the vocabulary that these texts have, and none that is kept."""
        assert self.vectorizer is not None
        alone = np.unique(self.vectorizer.transform(texts).indices)
        if self.keep_texts:
            alone = np.setdiff1d(alone, np.unique(self.vectorizer.transform(kept).indices))
        elif self.model.keeps_rows:
            alone = np.setdiff1d(alone, np.unique(self.model.X_.indices))
        else:
            return []
        names = self.vectorizer.get_feature_names_out()
        return [str(name) for name in names[alone]]

    def check_trainable(self) -> None:
        """Refuse to train again without the documents."""
        if self.vectorizer is None and not self.model.keeps_rows:
            raise InputError("this model does not keep its documents: call fit again.")
        if self.vectorizer is not None and not self.keep_texts:
            raise InputError("texts were not kept (`keep_texts=False`): call fit again with them.")

    def corpus(self) -> Corpus:
        """Every document, to train a model with; labels that none has any more are left out."""
        self.check_trainable()
        numbers = self.documents.kept()
        ids = [self.documents.id(number) for number in numbers.tolist()]
        Y = self.documents.label_matrix(self.n_labels)
        if self.vectorizer is None:
            # Labels are columns of a matrix that somebody else made.
            return Corpus(
                self.model.X_[numbers],
                Y,
                ids=ids,
                label_names=self.labels.listed,
                feature_names=self.feature_names,
            )
        columns = np.unique(Y.indices)
        names = [self.labels.listed[column] for column in columns.tolist()]
        fitted = self.labels.listed[: self.n_fitted_labels]
        if self.was_sorted or (self.was_sorted is None and fitted == sorted(fitted)):
            # So `fit` has them, and new labels would have been among the others.
            order = sorted(range(len(names)), key=names.__getitem__)
            columns, names = columns[order], [names[place] for place in order]
        Y = sparse.csr_array(Y[:, columns])
        Y.sort_indices()
        texts = [self.documents.text(number) for number in numbers.tolist()]
        return Corpus(None, Y, ids=ids, label_names=names, texts=texts)

    def number(self, name: str) -> int:
        """The number of a document that must be there."""
        number = self.documents.find(name)
        if number is None:
            raise InputError(f"no document has the id {name!r}.")
        return number

    def free_ids(self, n: int) -> list[str]:
        """Names that no document has."""
        number = self.documents.n_numbers
        free: list[str] = []
        while len(free) < n:
            if self.documents.find(str(number)) is None:
                free.append(str(number))
            number += 1
        return free

    # Documents and labels for people

    def document(self, number: int) -> Document:
        """A document, as far as it is remembered."""
        labels = [self.labels.listed[column] for column in self.documents.labels(number)]
        return Document(
            self.documents.id(number),
            self.documents.text(number),
            labels,
            incomplete=self.documents.is_incomplete(number),
        )

    def _document_there(self, number: int) -> Document | None:
        """A document, unless it was forgotten by all but the model."""
        return self.document(number) if self.documents.is_there(number) else None

    def describe(self, label: str, top: int) -> LabelDescription:
        """What a label stands for, as its documents show it."""
        column = int(self.labels.columns(label, "label")[0])
        info = self.labels.info(label)
        labels = self.documents.label_matrix(self.n_labels)
        rows = np.repeat(np.arange(labels.shape[0]), np.diff(labels.indptr))
        numbers = self.documents.kept()[rows[labels.indices == column]]
        counts = self._training_counts(_spread(numbers, _DESCRIBED_BY))
        words = defining_words(counts, self.document_counts, self.n_counted, top)
        names, listed = self._shown_words(), self.labels.listed
        return LabelDescription(
            label,
            info.name,
            info.description,
            int(numbers.size),
            [(str(names[feature]), weight) for feature, weight in words],
            [(listed[other], count) for other, count in together(labels, column, top)],
        )

    def _training_counts(self, numbers: NDArray[np.int64]) -> sparse.csr_array:
        """Counts of known documents, as far as they are remembered."""
        if self.vectorizer is not None:
            return self.vectorizer.transform(map(self.documents.text, numbers.tolist()))
        if self.model.keeps_rows:
            return self.model.X_[numbers]
        return sparse.csr_array((0, self.document_counts.size))

    def _shown_words(self) -> Any:
        """What to call each feature."""
        return self.feature_names if self.vectorizer is None else self.vectorizer.display_names_

    # Storing

    def _store_state(self) -> dict[str, Any]:
        known = {name: value for name, value in vars(self).items() if name not in _PENDING}
        return known | {"marked": True, "emptied": np.array(sorted(self.emptied), np.int64)}

    @classmethod
    def _from_store_state(cls, state: dict[str, Any]) -> TaggerState:
        found = cls.__new__(cls)
        # Models of before there were views have none.
        vars(found).update({"views": {}} | state)
        found.emptied = set(state["emptied"].tolist()) if "emptied" in state else set()
        found._forget_pending()
        return found


#: What waits for the model, and what is quickly found again: neither is stored.
_PENDING = (
    "_learned",
    "_columns",
    "_open",
    "_gone",
    "_relabelled",
    "_is_grown",
    "_are_names_new",
    "_promises",
    "_withheld",
    "_single_texts",
)


def _spread(numbers: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The numbers, or evenly chosen ones if there are more than ``most``."""
    if numbers.size <= most:
        return numbers
    return numbers[np.linspace(0, numbers.size - 1, most).astype(np.int64)]
