"""Scores, reasons and descriptions from a fitted model, with names in place of numbers."""

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
from manylabel.tagger.descriptions import LabelDescription, defining_words, together
from manylabel.tagger.documents import KeptDocuments
from manylabel.tagger.explanations import LabelReasons
from manylabel.tagger.labels import Labels
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

#: Chooses the label columns of a document from its scores, best first.
Choose = Callable[[Documents, sparse.csr_array], NDArray[np.int64]]

#: Maximum documents to read for the description of a label.
_DESCRIBED_BY = 200


class Answers(Reader):
    """Answers questions about texts and labels with a fitted model, its labels and its documents.

    Parameters
    ----------
    model : MultiLabelClassifier
        Fitted.
    labels : Labels
    documents : KeptDocuments
    vectorizer : CountVectorizer or None
        None if the model was trained on features.
    feature_names : list of str
        Names of those features.
    document_counts : array of int
        The number of documents with each feature when the model was fitted.
    views : mapping of str to CountVectorizer, optional
        Further features of texts that the model reads, by name.
    """

    #: The number of training documents; they are numbered first. None in older model folders.
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
        #: The number of labels when the model's threshold was fitted.
        self.n_fitted_labels = len(labels)
        self.n_trained = len(documents)
        #: Columns of labels that may have lost their last document.
        self.emptied: set[int] = set()

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return len(self.labels)

    @property
    def reads_names(self) -> bool:
        """Whether the model looks for the names of labels in texts."""
        return isinstance(getattr(self.model, "vocabulary", None), LabelNames)

    def use_jobs(self, n_jobs: int) -> None:
        """Set the number of threads of the model and its vectorizers."""
        for estimator in (self.model, self.vectorizer, *self.views.values()):
            if estimator is not None and "n_jobs" in estimator.get_params(deep=False):
                estimator.set_params(n_jobs=n_jobs)

    def scores(self, documents: Documents, top: int | None = None) -> sparse.csr_array:
        """Score the candidates of each document."""
        withheld = self.withheld()
        wanted = top if withheld is None else None
        if self.vectorizer is None:
            scores = self.model.decision_function(documents, top=wanted)
        else:
            # Counts from our own vectorizer need no validation.
            scores = self.model.scores_of(documents, wanted)
        if withheld is None:
            return scores
        scores = kept_entries(scores, ~withheld[scores.indices])
        return scores if top is None else keep_top(scores, top)

    def withheld(self) -> NDArray[np.bool_] | None:
        """Which columns are never suggested or listed; None if all are offered.

        These are hidden labels, deleted ones, and labels without documents that neither the
        vocabulary nor an edit mentions.
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
        """Recompute on next use which labels are withheld."""
        vars(self).pop("_withheld", None)

    def offered(self) -> list[str]:
        """Every label that can be suggested."""
        withheld = self.withheld()
        if withheld is None:
            return list(self.labels.listed)
        return [self.labels.listed[column] for column in np.flatnonzero(~withheld).tolist()]

    def given(self, documents: Documents, scores: sparse.csr_array) -> sparse.csr_array:
        """The labels that the model's own threshold selects."""
        if scores.shape[1] == self.n_fitted_labels:
            return self.model.threshold_.apply(scores)
        return self.model.predict(documents)

    def promised(self, promise: Promise) -> Promise:
        """Fit a promise on held-out documents, once; refuse one that they do not support."""
        fitted: dict[str, Promise] = vars(self).setdefault("_promises", {})
        known = fitted.get(str(promise))
        if known is None:
            known = fitted[str(promise)] = self.model.promise(promise)
        if not known.is_kept_:
            raise InputError(
                f"{promise} cannot be promised: {self.model.held_out_[0].shape[0]:,} held-out "
                f"documents do not show that it is kept. {self._nearest_kept(promise)}Training "
                "with more documents may help."
            )
        return known

    def _nearest_kept(self, promise: Promise) -> str:
        """A sentence that proposes the nearest promise that is kept; empty if there is none."""
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
        """The numbers of the documents learned since the training and not forgotten.

        A training document that was changed and changed back is none of them.
        """
        kept = self.documents.kept()
        if self.n_trained is None:
            return kept[:0]
        since = kept[kept >= self.n_trained]
        return np.setdiff1d(since, self.documents.restored(self.n_trained), assume_unique=True)

    def known_to_training(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which documents parts of the model have seen in training, with other labels or texts."""
        if self.n_trained is None or not getattr(self.model, "frozen_parts_", ()):
            return np.zeros(numbers.size, np.bool_)
        return np.isin(numbers, self.documents.changed(self.n_trained))

    def check_incomplete(self, incomplete: NDArray[np.bool_] | None, model_name: str) -> None:
        """Refuse incomplete documents if the model would count their missing labels as wrong."""
        if incomplete is not None and not self.model.reads_incomplete:
            raise InputError(
                f"{model_name} cannot learn incomplete documents: it would count the labels that "
                "they lack as wrong. Use lcif or ensemble, or give all labels."
            )

    def reasons(self, documents: Documents, choose: Choose) -> list[list[Explanation]]:
        """Explain, for each document, the labels that ``choose`` selects from its scores."""
        explanations = []
        for row in range(len(documents)):
            document = documents[[row]]
            explanations += self.model.explain(document, labels=partial(choose, document))
        return explanations

    def in_words(self, text: str, found: Iterable[Explanation]) -> list[LabelReasons]:
        """Translate explanations by feature and document number into words and documents."""
        words = {"": Words(text, dict, self.shown_words())}
        if self.vectorizer is not None:
            by_view = {"": self.vectorizer} | self.views
            tables = [vectorizer.name_table for vectorizer in by_view.values()]
            # Found for all views at once, when the first word is read.
            spans = cache(partial(feature_spans_of, list(by_view.values()), text, tables))
            for place, (view, vectorizer) in enumerate(by_view.items()):
                names: Any = vectorizer.shown_names
                words[view] = Words(text, partial(_item, spans, place), names)
        reasons, document = [], cache(self._shown)
        for why in found:
            label = self.labels.listed[why.label]
            name = self.labels.name(label)
            reasons.append(label_reasons(why, label, name, words, document))
        return reasons

    def allowed(
        self, include: Iterable[str] | None, exclude: Iterable[str] | None
    ) -> NDArray[np.bool_]:
        """Which columns may be suggested, given the labels to include and to exclude."""
        allowed = np.full(self.n_labels, include is None)
        if include is not None:
            allowed[self.labels.columns(include, "include", collections=True)] = True
        if exclude is not None:
            allowed[self.labels.columns(exclude, "exclude", collections=True)] = False
        withheld = self.withheld()
        return allowed if withheld is None else allowed & ~withheld

    # Documents and labels

    def document(self, number: int) -> Document:
        """A document with as much of its text as was kept."""
        listed = self.labels.listed
        labels = [listed[column] for column in self.documents.labels(number)]
        return Document(
            self.documents.id(number),
            self.documents.text(number),
            labels,
            incomplete=self.documents.is_incomplete(number),
        )

    def _shown(self, number: int) -> Document | None:
        """The beginning of a document; None if it was forgotten and only the model still uses it.

        A text has a hundred neighbours, and most of their texts are not in the processor's cache.
        """
        documents, listed = self.documents, self.labels.listed
        if not documents.is_there(number):
            return None
        labels = [listed[column] for column in documents.labels(number)]
        return Document(documents.id(number), documents.snippet(number), labels)

    def describe(self, label: str, top: int) -> LabelDescription:
        """Describe a label by the words and the other labels of its documents."""
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
        """Feature counts of known documents; no rows if neither texts nor rows were kept."""
        if self.vectorizer is not None:
            return self.vectorizer.transform(map(self.documents.text, numbers.tolist()))
        if self.model.keeps_rows:
            return self.model.X_[numbers]
        return sparse.csr_array((0, self.document_counts.size))


def _item(make: Callable[[], list[Any]], place: int) -> Any:
    """One item of the list that a function returns."""
    return make()[place]


def _spread(numbers: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Choose at most ``most`` of the numbers, evenly spread."""
    if numbers.size <= most:
        return numbers
    return numbers[np.linspace(0, numbers.size - 1, most).astype(np.int64)]
