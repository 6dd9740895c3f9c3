"""Turn texts and corpora into the features that a model reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.corpus import Corpus
from manylabel.corpus.vocabulary import align
from manylabel.exceptions import InputError
from manylabel.scoring import Documents
from manylabel.tagger.changes import Learn
from manylabel.tagger.documents import widened
from manylabel.text import CountVectorizer
from manylabel.text.single import SingleTexts
from manylabel.validation import check_texts
from manylabel.wording import counted

__all__ = ["Reader", "small"]

#: Up to this many texts are counted one by one, with words that are looked up once.
_MAX_ONE_BY_ONE = 64


class Reader:
    """Counts the words of texts, or takes the features of a corpus.

    Parameters
    ----------
    vectorizer : CountVectorizer or None
        None if the model was trained on features.
    feature_names : list of str
        Names of those features.
    views : mapping of str to CountVectorizer, optional
        Further features of texts that the model reads, by name.
    """

    def __init__(
        self,
        vectorizer: CountVectorizer | None,
        feature_names: list[str],
        views: Mapping[str, CountVectorizer] | None = None,
    ) -> None:
        self.vectorizer, self.feature_names = vectorizer, feature_names
        self.views = dict(views or {})

    def read(self, texts: Any) -> tuple[Documents, list[str] | None]:
        """Read one text, several or a corpus; returns the documents and, for a corpus, its ids."""
        if isinstance(texts, Corpus):
            return self.read_corpus(texts), texts.ids
        listed = check_texts([texts] if isinstance(texts, str) else texts)
        if self.vectorizer is None:
            raise InputError("this tagger was trained on features, not on texts; give it a Corpus.")
        return self._read_texts(listed), None

    @property
    def language(self) -> str | None:
        """The full name of the language that words are stemmed in; None without stemming."""
        language: str | None = getattr(self.vectorizer, "stemming", None)
        return language

    def read_corpus(self, corpus: Corpus) -> Documents:
        """Read a corpus in the model's own features."""
        if self.vectorizer is not None:
            texts = corpus.full_texts
            if texts is None:
                raise InputError("this tagger was trained on texts; the corpus has only features.")
            return self._read_texts(texts)
        if corpus.X is None:
            raise InputError("this tagger was trained on features; the corpus has only texts.")
        if corpus.has_feature_names:
            return Documents(align(corpus.X, corpus.feature_names, self._columns_by_name()))
        known, there = len(self.feature_names), corpus.n_features
        if there > known or (there < known and corpus.sized):
            raise InputError(
                f"the corpus has {counted(there, 'feature')}, but the tagger was trained on "
                f"{known:,}; give one with the same features."
            )
        return Documents(widened(corpus.X, known))

    def _columns_by_name(self) -> dict[str, int]:
        """The column of each feature, made once: there may be a hundred thousand."""
        known: dict[str, int] | None = vars(self).get("_feature_columns")
        if known is None or len(known) != len(self.feature_names):
            known = {name: column for column, name in enumerate(self.feature_names)}
            self._feature_columns = known
        return known

    def _read_texts(self, texts: list[str]) -> Documents:
        assert self.vectorizer is not None
        if 0 < len(texts) <= _MAX_ONE_BY_ONE and (single := self._singly()) is not None:
            counts, *others = single.count(texts)
            documents = Documents(counts, texts=texts, views=_as_views(self.views, others))
            documents.trusted = True
            return documents
        views = _views(self.views, texts) if self.views else None
        return Documents(self.vectorizer.transform(texts), texts=texts, views=views)

    def _singly(self) -> SingleTexts | None:
        """A counter of a few texts for all vectorizers at once; None if they are too different."""
        assert self.vectorizer is not None
        vectorizers = [self.vectorizer, *self.views.values()]
        known: SingleTexts | None = vars(self).get("_single_texts")
        if known is None or not known.is_for(vectorizers):
            known = SingleTexts(vectorizers) if SingleTexts.can_read(vectorizers) else None
            self._single_texts = known
        return known

    def read_changes(self, learned: list[Learn]) -> Documents:
        """Read documents from a journal."""
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

    def shown_words(self) -> Any:
        """The name to show for each feature."""
        return self.feature_names if self.vectorizer is None else self.vectorizer.shown_names


def _views(views: Mapping[str, CountVectorizer], texts: list[str]) -> dict[str, sparse.csr_array]:
    """Count texts in each view with fitted vectorizers."""
    return _as_views(views, [vectorizer.transform(texts) for vectorizer in views.values()])


def _as_views(
    names: Iterable[str], counts: Iterable[sparse.csr_array]
) -> dict[str, sparse.csr_array]:
    """Name counts after their views."""
    return {name: small(counted) for name, counted in zip(names, counts, strict=True)}


def small(counts: sparse.csr_array) -> sparse.csr_array:
    """Convert counts to single precision, which halves their memory."""
    counts.data = counts.data.astype(np.float32)
    return counts
