"""The state of a fitted tagger, and how documents and edits of labels change it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.corpus import Corpus
from manylabel.exceptions import InputError
from manylabel.scoring import Documents
from manylabel.tagger.answers import Answers
from manylabel.tagger.changes import Changed, Edit, Learn
from manylabel.tagger.documents import SNIPPET, KeptDocuments, indicator
from manylabel.tagger.label_edits import LabelEdits, Record
from manylabel.tagger.labels import Labels
from manylabel.tagger.relabelling import edit_labels
from manylabel.text import CountVectorizer

if TYPE_CHECKING:
    from manylabel.base import MultiLabelClassifier

__all__ = ["TaggerState"]

#: Texts to count at a time when looking for words that are still in use.
_COUNTED_AT_A_TIME = 4_096


class TaggerState(Answers):
    """A fitted model with its vocabulary, labels and documents.

    Changes are collected here and passed on to the model all at once, before it is next used.

    Parameters
    ----------
    model : MultiLabelClassifier
        Fitted.
    labels : Labels
    documents : KeptDocuments
    vectorizer : CountVectorizer or None
        None if the model was trained on features.
    feature_names : sequence of str
        Names of those features.
    document_counts : array of int
        The number of documents with each feature when the model was fitted.
    keep_texts : bool
    views : mapping of str to CountVectorizer, optional
        Further features of texts that the model reads, by name.

    Attributes
    ----------
    marked : bool
        Whether the folder that this was loaded from must have a mark for its journal.
    """

    # Older model folders have no mark.
    marked = False
    #: Whether labels were sorted when the model was fitted; None before the first edit, when the
    #: order of the labels still shows it.
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
        super().__init__(
            model, labels, documents, vectorizer, feature_names, document_counts, views
        )
        self.keep_texts = keep_texts
        # The token identifies the journal of this state, which contains its entries up to the
        # sequence number.
        self.token, self.sequence = secrets.token_hex(8), 0
        self._clear_pending()

    def _clear_pending(self) -> None:
        """Drop the changes that the model has not caught up with."""
        self._learned: list[Documents] = []
        self._columns: list[list[int]] = []
        self._open: list[bool] = []
        self._gone: list[int] = []
        self._relabelled: set[int] = set()
        self._are_names_new = self._is_grown = False

    def apply(self, changes: Sequence[Changed], documents: Documents | None = None) -> None:
        """Apply changes to documents and labels, in the given order.

        Parameters
        ----------
        changes : sequence of Learn, Forget and Edit
            A learned document replaces the one with the same id.
        documents : Documents, optional
            The learned documents as features, if they were computed before.
        """
        learned = [change for change in changes if isinstance(change, Learn)]
        documents = self.read_changes(learned) if documents is None else documents
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
        """Apply an edit of labels."""
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
        """Adopt the edits of another state, after training again."""
        self.labels.edits = edits
        n_labels = self.n_labels
        for label in sorted(edits.added.difference(edits.gone)):
            self.labels.add(label)
        self._is_grown = self.n_labels > n_labels

    @property
    def is_behind(self) -> bool:
        """Whether there are changes that the model has not caught up with."""
        return bool(
            self._learned
            or self._gone
            or self._relabelled
            or self._is_grown
            or (self._are_names_new and self.reads_names)
        )

    def catch_up(self) -> None:
        """Pass collected changes on to the model."""
        if self._learned:
            documents = Documents.stacked(self._learned)
            # Models that cannot learn incomplete documents do not have the argument.
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
        self._clear_pending()

    def _texts_of(self, numbers: list[int]) -> dict[str, list[str]]:
        """Texts of documents, as an argument for a model that looks for names in them."""
        if not (self.reads_names and self.keep_texts):
            return {}
        return {"texts": [self.documents.text(number) for number in numbers]}

    def not_updated(self, model_name: str, forgetting: bool) -> tuple[str, ...]:
        """The parts of the model that changes reach only at the next training."""
        if forgetting and not self.model.can_forget:
            return (model_name,)
        return tuple(self.model.not_updated_)

    def not_updated_by_edit(self, model_name: str, record: Record) -> tuple[str, ...]:
        """The parts of the model that an edit of labels reaches only at the next training."""
        outdated: tuple[str, ...] = ()
        if record.documents:
            # The weights of words do not depend on labels.
            parts = self.not_updated(model_name, True)
            outdated = tuple(part for part in parts if part != "word weights")
        counts_names = self.reads_names and getattr(self.model, "scorers_", None) is not None
        are_new = record.action in ("merge", "delete", "add") or record.name is not None
        if counts_names and are_new:
            outdated = (*outdated, *({"names"} - set(outdated)))
        return outdated

    def compact(self) -> None:
        """Remove everything of forgotten documents that the model can do without."""
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
        documents, n_trained = self.documents, self.n_trained or 0
        self.documents = documents.compacted(self.n_labels, n_trained)
        if self.n_trained is not None:
            self.n_trained = int(np.sum(documents.kept() < n_trained))
        self._forget_words(gone)
        if self.model.keeps_rows:
            rows = self.model.X_
            self.document_counts = np.bincount(rows.indices, minlength=rows.shape[1])
            self.n_counted = rows.shape[0]

    def _forget_words(self, gone: list[str]) -> None:
        """Remove the words that only forgotten texts had from the vocabulary.

        If the model keeps no rows, this counts the words of all remaining texts.
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
                counts = self.vectorizer.transform([self.documents.text(n) for n in some])
                alone = np.setdiff1d(alone, np.unique(counts.indices))
        else:
            return
        self.vectorizer.forget_features(alone)

    def words_only_in(self, texts: list[str], kept: list[str]) -> list[str]:
        """Words of the vocabulary that occur in these texts, but in none of the kept ones."""
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
        """Refuse to train again if the documents were not kept."""
        if self.vectorizer is None and not self.model.keeps_rows:
            raise InputError("this model does not keep its documents; train again with all.")
        if self.vectorizer is not None and not self.keep_texts:
            raise InputError("the texts were not kept; train again with all documents.")

    def corpus(self) -> Corpus:
        """All documents as a corpus for training, without labels that no document has."""
        self.check_trainable()
        numbers = self.documents.kept()
        ids = [self.documents.id(number) for number in numbers.tolist()]
        Y = self.documents.label_matrix(self.n_labels)
        if self.vectorizer is None:
            # Keep all columns: the caller's own matrix defines the labels.
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
            # `fit` got sorted labels, so it would have got these sorted as well.
            order = sorted(range(len(names)), key=names.__getitem__)
            columns, names = columns[order], [names[position] for position in order]
        Y = sparse.csr_array(Y[:, columns])
        Y.sort_indices()
        texts = [self.documents.text(number) for number in numbers.tolist()]
        return Corpus(None, Y, ids=ids, label_names=names, texts=texts)

    def number(self, name: str) -> int:
        """The number of a document; an unknown id is an error."""
        number = self.documents.find(name)
        if number is None:
            raise InputError(f"no document has the id {name!r}.")
        return number

    def free_ids(self, n: int) -> list[str]:
        """Choose ids that no document has."""
        number = self.documents.n_numbers
        free: list[str] = []
        while len(free) < n:
            if self.documents.find(str(number)) is None:
                free.append(str(number))
            number += 1
        return free

    # Storing

    def _store_state(self) -> dict[str, Any]:
        known = {name: value for name, value in vars(self).items() if name not in _PENDING}
        return known | {"marked": True, "emptied": np.array(sorted(self.emptied), np.int64)}

    @classmethod
    def _from_store_state(cls, state: dict[str, Any]) -> TaggerState:
        restored = cls.__new__(cls)
        # Older models have no views.
        vars(restored).update({"views": {}} | state)
        restored.emptied = set(state["emptied"].tolist()) if "emptied" in state else set()
        restored._clear_pending()
        return restored


#: Attributes that are not stored: pending changes, and what is quickly computed again.
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
    "_feature_columns",
)
