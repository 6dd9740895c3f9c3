"""Everything that a fitted tagger knows."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.corpus import Corpus, Document
from manylabel.exceptions import InputError
from manylabel.progress import Clock
from manylabel.tagger.counting import Counted
from manylabel.tagger.describing import LabelDescription, defining_words, together
from manylabel.tagger.documents import SNIPPET, Documents, widened
from manylabel.tagger.entries import Forget, Learn
from manylabel.tagger.explanations import Words
from manylabel.tagger.inputs import check_texts
from manylabel.tagger.labels import LabelInfo, Labels
from manylabel.tagger.learner import Learner
from manylabel.text import CountVectorizer, feature_spans

__all__ = ["Memory"]

#: A label is described by at most so many of its documents.
_DESCRIBED_BY = 200


class Memory:
    """A fitted model, and what people call the numbers that it works with.

    Parameters
    ----------
    learner : Learner
    labels : Labels
    documents : Documents
    vectorizer : CountVectorizer or None
        None if the model learnt from features.
    feature_names : sequence of str
        Of such a model.
    document_counts : array of int
        Documents with each feature, when the model was fitted.
    n_counted : int
        Documents in all, then.
    keep_texts : bool
    """

    def __init__(
        self,
        learner: Learner,
        labels: Labels,
        documents: Documents,
        vectorizer: CountVectorizer | None,
        feature_names: list[str],
        document_counts: NDArray[np.int64],
        n_counted: int,
        keep_texts: bool,
    ) -> None:
        self.learner, self.labels, self.documents = learner, labels, documents
        self.vectorizer, self.feature_names = vectorizer, feature_names
        self.document_counts, self.n_counted = document_counts, n_counted
        self.keep_texts = keep_texts
        # The token tells a journal that is this memory's from others; entries up to the number
        # are part of it.
        self.token, self.sequence = secrets.token_hex(8), 0

    @classmethod
    def of_documents(
        cls,
        counted: Counted,
        estimator: Any,
        label_info: dict[str, LabelInfo],
        keep_texts: bool,
        clock: Clock,
    ) -> Memory:
        """Fit the model."""
        corpus, counts, vectorizer = counted
        estimator.fit(counts, corpus.Y)
        clock.lap("train")
        return cls(
            Learner(estimator, corpus.n_labels),
            Labels(corpus.label_names, label_info),
            Documents(corpus.ids, _shortened(corpus, keep_texts), corpus.Y),
            vectorizer,
            corpus.feature_names if vectorizer is None else [],
            np.bincount(counts.indices, minlength=counts.shape[1]),
            len(corpus),
            keep_texts,
        )

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.labels)

    def use_jobs(self, n_jobs: int) -> None:
        """Use so many threads."""
        if hasattr(self.learner.estimator, "n_jobs"):
            self.learner.estimator.set_params(n_jobs=n_jobs)
        if self.vectorizer is not None:
            self.vectorizer.set_params(n_jobs=n_jobs)

    def counts_of_texts(self, texts: Iterable[str]) -> sparse.csr_array:
        """Counts of texts that are not empty."""
        listed = check_texts(texts)
        if self.vectorizer is None:
            raise InputError("this tagger learnt from features, not texts: give it a Corpus.")
        return self.vectorizer.transform(listed)

    def counts(self, corpus: Corpus) -> sparse.csr_array:
        """Counts of a corpus in the model's own features."""
        if self.vectorizer is not None:
            if corpus.texts is None:
                raise InputError("this tagger learnt from texts; the corpus has only features.")
            return self.vectorizer.transform(corpus.texts)
        if corpus.X is None:
            raise InputError("this tagger learnt from features; the corpus has only texts.")
        if corpus.has_feature_names:
            return corpus.align_to(feature_names=self.feature_names).X
        known, there = len(self.feature_names), corpus.n_features
        if there > known or (there < known and corpus.sized):
            raise InputError(
                f"the corpus has {there} features, but the tagger learnt from {known}; give one "
                "with the same features."
            )
        return widened(corpus.X, known)

    def apply(
        self, changes: Sequence[Learn | Forget], counts: sparse.csr_array | None = None
    ) -> None:
        """Learn and forget documents, in this order.

        Parameters
        ----------
        changes : sequence of Learn and Forget
            A document with an id that exists takes its place.
        counts : csr_array, optional
            A row for each document that is learnt.
        """
        learnt = [change for change in changes if isinstance(change, Learn)]
        counts = self._counts_of(learnt) if counts is None else counts
        columns = []
        for change in changes:
            number = self.documents.find(change.id)
            if number is not None:
                self.documents.remove(number)
                self.learner.remove(number)
            if isinstance(change, Learn):
                columns.append([self.labels.add(label) for label in change.labels])
                text = change.text if self.keep_texts else change.text[:SNIPPET]
                self.documents.add(change.id, text, columns[-1])
        if learnt:
            self.learner.add(counts, columns)

    def _counts_of(self, learnt: list[Learn]) -> sparse.csr_array:
        """Counts of documents from a journal."""
        if self.vectorizer is not None:
            return self.vectorizer.transform([change.text for change in learnt])
        rows = [change.features or [] for change in learnt]
        flat = [entry for row in rows for entry in row]
        ptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        return sparse.csr_array(
            (
                np.array([value for _, value in flat], np.float64),
                np.array([column for column, _ in flat], np.int32),
                ptr,
            ),
            shape=(len(rows), len(self.feature_names)),
        )

    def corpus(self) -> Corpus:
        """Every document, to train a model with."""
        numbers = self.documents.kept().tolist()
        labels = self.documents.label_matrix(self.n_labels)
        names = self.labels.listed
        ids = [self.documents.id(number) for number in numbers]
        if self.vectorizer is None:
            rows = self.learner.rows(self.documents.kept())
            if rows is None:
                raise InputError("this model does not keep its documents: call fit again.")
            return Corpus(
                rows, labels, ids=ids, label_names=names, feature_names=self.feature_names
            )
        if not self.keep_texts:
            raise InputError("texts were not kept (`keep_texts=False`): call fit again with them.")
        texts = [self.documents.text(number) for number in numbers]
        return Corpus(None, labels, ids=ids, label_names=names, texts=texts)

    def compact(self) -> None:
        """Train anew what can be from its own memory."""
        self.catch_up()
        if self.documents.is_changed and self.learner.rebuild():
            rows = self.learner.rows(None)
            self.documents = self.documents.compacted(self.n_labels)
            if rows is not None:
                self.document_counts = np.bincount(rows.indices, minlength=rows.shape[1])
                self.n_counted = rows.shape[0]

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

    def catch_up(self) -> None:
        """Tell the model of what was learnt and forgotten."""
        self.learner.catch_up(self.n_labels)

    def document(self, number: int) -> Document:
        """A document, as far as it is remembered."""
        labels = [self.labels.listed[column] for column in self.documents.labels(number)]
        return Document(self.documents.id(number), self.documents.text(number), labels)

    def words(self, text: str) -> Words:
        """The words of a text."""
        spans = {} if self.vectorizer is None else feature_spans(self.vectorizer, text)
        return Words(text, spans, self._shown_words())

    def allowed(
        self, include: Iterable[str] | None, exclude: Iterable[str] | None
    ) -> NDArray[np.bool_]:
        """Which columns may be suggested."""
        allowed = np.full(self.n_labels, include is None)
        if include is not None:
            allowed[self.labels.columns(include, "include")] = True
        if exclude is not None:
            allowed[self.labels.columns(exclude, "exclude")] = False
        return allowed

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
        rows = self.learner.rows(numbers)
        return sparse.csr_array((0, self.document_counts.size)) if rows is None else rows

    def _shown_words(self) -> Any:
        """What to call each feature."""
        return self.feature_names if self.vectorizer is None else self.vectorizer.display_names_


def _shortened(corpus: Corpus, keep_texts: bool) -> list[str]:
    """What is kept of texts."""
    if corpus.texts is None:
        return [""] * len(corpus)
    return corpus.texts if keep_texts else [text[:SNIPPET] for text in corpus.texts]


def _spread(numbers: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most so many of the numbers, evenly chosen."""
    if numbers.size <= most:
        return numbers
    return numbers[np.linspace(0, numbers.size - 1, most).astype(np.int64)]
