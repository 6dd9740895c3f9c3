"""What a fitted model answers, in the words of people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.corpus import Document
from manylabel.exceptions import InputError
from manylabel.predictions import keep_top
from manylabel.scoring import Documents
from manylabel.tagger.documents import KeptDocuments
from manylabel.tagger.explanations import LabelReasons
from manylabel.tagger.labels import LabelDescription, Labels, defining_words, together
from manylabel.tagger.reading import Reader
from manylabel.tagger.reasons import Words, label_reasons
from manylabel.tagger.suggestions import kept_entries
from manylabel.text import CountVectorizer
from manylabel.text.spans import feature_spans_of
from manylabel.vocabulary import LabelNames

if TYPE_CHECKING:
    from manylabel.base import MultiLabelClassifier
    from manylabel.evidence import Explanation
    from manylabel.thresholds import Promise

__all__ = ["Answers", "Choose"]

#: From a document and its scores to label columns, best first.
Choose = Callable[[Documents, sparse.csr_array], NDArray[np.int64]]

#: Documents by which a label is described, at most.
_DESCRIBED_BY = 200


class Answers(Reader):
    """A fitted model with its labels and documents, and what it says of texts and labels.

    Parameters
    ----------
    model : MultiLabelClassifier
        Fitted.
    labels : Labels
    documents : KeptDocuments
    vectorizer : CountVectorizer or None
        None if the model learned from features.
    feature_names : list of str
        Of such a model.
    document_counts : array of int
        Documents with each feature, when the model was fitted.
    views : mapping of str to CountVectorizer, optional
        Other features of texts that the model reads.
    """

    #: Documents that the model was trained with; their numbers come first. None in older folders.
    n_trained: int | None = None

    def __init__(
        self,
        model: MultiLabelClassifier,
        labels: Labels,
        documents: KeptDocuments,
        vectorizer: CountVectorizer | None,
        feature_names: list[str],
        document_counts: NDArray[np.int64],
        views: Mapping[str, CountVectorizer] | None = None,
    ) -> None:
        super().__init__(vectorizer, feature_names, views)
        self.model: Any = model
        self.labels, self.documents = labels, documents
        self.document_counts, self.n_counted = document_counts, len(documents)
        #: Labels that the model's threshold was fitted for.
        self.n_fitted_labels = len(labels)
        self.n_trained = len(documents)
        #: Columns of labels that may have lost their last document.
        self.emptied: set[int] = set()

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.labels)

    @property
    def reads_names(self) -> bool:
        """Whether the model looks for the names of labels in texts."""
        return isinstance(getattr(self.model, "vocabulary", None), LabelNames)

    def use_jobs(self, n_jobs: int) -> None:
        """Set the number of threads."""
        for estimator in (self.model, self.vectorizer, *self.views.values()):
            if estimator is not None and "n_jobs" in estimator.get_params(deep=False):
                estimator.set_params(n_jobs=n_jobs)

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
        is_withheld = vars(self).get("_withheld")
        if is_withheld is None:
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
            is_withheld = np.zeros(self.n_labels, np.bool_)
            is_withheld[list(columns)] = True
            self._withheld = is_withheld
        return is_withheld if is_withheld.any() else None

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
        explanations = []
        for row in range(len(documents)):
            document = documents[[row]]
            explanations += self.model.explain(document, labels=partial(choose, document))
        return explanations

    def in_words(self, text: str, found: Iterable[Explanation]) -> list[LabelReasons]:
        """Reasons by number become reasons in words."""
        words = {"": Words(text, {}, self.shown_words())}
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

    # Documents and labels

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
        names, listed = self.shown_words(), self.labels.listed
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


def _spread(numbers: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The numbers, or evenly chosen ones if there are more than ``most``."""
    if numbers.size <= most:
        return numbers
    return numbers[np.linspace(0, numbers.size - 1, most).astype(np.int64)]
