"""A corpus: documents with their labels, and the names of labels and features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.corpus import splitting, vocabulary
from manylabel.exceptions import InputError
from manylabel.strings import StringArray
from manylabel.validation import check_labels, check_matrix, check_same_rows
from manylabel.wording import counted

if TYPE_CHECKING:
    from manylabel.corpus.statistics import Statistics

__all__ = ["Corpus"]


class Corpus:
    """Documents with their labels, as matrices, as texts, or both.

    Parameters
    ----------
    X : sparse or dense matrix of shape (n_documents, n_features), optional
        Counts or values, stored as a canonical ``csr_array`` of float64. None for texts that are
        not vectorised yet.
    Y : sparse or dense indicator matrix of shape (n_documents, n_labels)
        Stored as a canonical ``csr_array`` of int8 ones.
    ids : sequence of str, optional
        The documents' names; row numbers by default.
    feature_names, label_names : sequence of str, optional
        Distinct names of the columns; column numbers by default. Blanks around a label's name are
        removed.
    texts, titles : sequence of str, optional
        One per document.
    sized : bool, default=True
        False if the number of features is unknown, as in svmlight: there may be further columns,
        all zero.

    Attributes
    ----------
    X, Y, ids, feature_names, label_names, texts, titles, sized
        As above, names and texts as lists.

    Examples
    --------
    >>> corpus = Corpus([[1, 0], [0, 2], [1, 1]], [[1], [0], [1]], label_names=["cats"])
    >>> corpus
    <Corpus: 3 documents, 2 features, 1 label, 0.67 labels per document>
    >>> corpus[1:].ids
    ['1', '2']
    """

    def __init__(
        self,
        X: Any,
        Y: Any,
        *,
        ids: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        texts: Sequence[str] | None = None,
        titles: Sequence[str] | None = None,
        sized: bool = True,
    ) -> None:
        self.sized = sized
        self.Y: sparse.csr_array = check_labels(Y)
        self.X: sparse.csr_array | None = None
        if X is not None:
            self.X = check_matrix(X, non_negative=False)
            check_same_rows(self.X, self.Y)
        elif texts is None:
            raise InputError("a corpus needs `X`, `texts` or both; got neither.")
        elif feature_names is not None:
            raise InputError("`feature_names` needs `X`, which is not given.")
        self._ids = _strings("ids", ids if ids is None else list(map(str, ids)), len(self))
        self.texts = _strings("texts", texts, len(self))
        self.titles = _strings("titles", titles, len(self))
        self._feature_names = vocabulary.check_names(
            "feature_names", feature_names, self.n_features
        )
        self._label_names = vocabulary.check_names(
            "label_names", label_names, self.n_labels, strip=True
        )

    @classmethod
    def from_texts(
        cls,
        texts: Sequence[str],
        labels: Iterable[Iterable[str]],
        ids: Sequence[str] | None = None,
        *,
        titles: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> Corpus:
        """Make a corpus of texts without features.

        Parameters
        ----------
        texts : sequence of str
        labels : iterable of iterables of str
            The names of each document's labels, with or without blanks around them; repeated names
            count once.
        ids, titles : sequence of str, optional
        label_names : sequence of str, optional
            The vocabulary; by default the names that occur, sorted.

        Examples
        --------
        >>> Corpus.from_texts(["a cat", "a dog"], [["pets", "cats"], ["pets"]]).label_names
        ['cats', 'pets']
        """
        Y, names = vocabulary.indicator(labels, label_names)
        if Y.shape[0] != len(texts):
            raise InputError(
                f"`texts` and `labels` must have the same length; got {len(texts)} and "
                f"{Y.shape[0]}."
            )
        return cls(None, Y, ids=ids, label_names=names, texts=texts, titles=titles)

    def __len__(self) -> int:
        return self.Y.shape[0]

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return self.Y.shape[0]

    @property
    def n_features(self) -> int:
        """The number of features; 0 before vectorising."""
        return 0 if self.X is None else self.X.shape[1]

    @property
    def n_labels(self) -> int:
        """The number of labels, with or without documents."""
        return self.Y.shape[1]

    # Default names are created on access: a header may declare a billion columns.
    @property
    def ids(self) -> list[str]:
        """The documents' names."""
        return _numbers(len(self)) if self._ids is None else self._ids

    @property
    def feature_names(self) -> list[str]:
        """The features' names."""
        return _numbers(self.n_features) if self._feature_names is None else self._feature_names

    @property
    def label_names(self) -> list[str]:
        """The labels' names."""
        return _numbers(self.n_labels) if self._label_names is None else self._label_names

    @property
    def has_ids(self) -> bool:
        """Whether the documents have names other than their row numbers."""
        return self._ids is not None and self._ids != _numbers(len(self))

    @property
    def full_texts(self) -> list[str] | None:
        """The texts, each below its title unless it starts with the title."""
        if self.texts is None or self.titles is None:
            return self.texts
        return [titled(*both) for both in zip(self.titles, self.texts, strict=True)]

    @property
    def has_feature_names(self) -> bool:
        """Whether the features have names other than their column numbers."""
        return self._feature_names is not None and self.feature_names != _numbers(self.n_features)

    @property
    def has_label_names(self) -> bool:
        """Whether the labels have names other than their column numbers."""
        return self._label_names is not None and self.label_names != _numbers(self.n_labels)

    def label_lists(self) -> Iterator[list[str]]:
        """The names of each document's labels, in column order."""
        names, indices = self.label_names, self.Y.indices.tolist()
        bounds = self.Y.indptr.tolist()
        for start, stop in pairwise(bounds):
            yield [names[label] for label in indices[start:stop]]

    def __getitem__(self, rows: Any) -> Corpus:
        """The documents at ``rows``: a slice, integers, a mask, or one integer."""
        try:
            chosen = np.atleast_1d(np.arange(len(self))[rows])
        except IndexError as error:
            raise InputError(f"invalid row selection ({error}).") from None
        if chosen.ndim != 1:
            raise InputError(f"a row selection must have 1 dimension; got {chosen.ndim}.")
        return self._replaced(
            X=None if self.X is None else self.X[chosen],
            Y=self.Y[chosen],
            # Row numbers become names, so that documents of a subset can be traced back.
            ids=_pick(self.ids, chosen),
            texts=_pick(self.texts, chosen),
            titles=_pick(self.titles, chosen),
        )

    def select_labels(self, labels: Any) -> Corpus:
        """The same documents with only some labels, by name or column, in the given order.

        Examples
        --------
        >>> corpus = Corpus.from_texts(["a", "b"], [["x", "y"], ["z"]])
        >>> corpus.select_labels(["z", "x"]).Y.toarray().tolist()
        [[0, 1], [1, 0]]
        """
        chosen = labels
        if not isinstance(labels, slice):
            chosen = list(labels)
            if any(isinstance(label, str) for label in chosen):
                chosen = vocabulary.positions("labels", chosen, self.label_names)
            chosen = np.asarray(chosen) if len(chosen) else np.empty(0, np.int64)
        try:
            columns = np.arange(self.n_labels)[chosen]
        except IndexError as error:
            raise InputError(f"invalid label selection ({error}).") from None
        return self._replaced(Y=self.Y[:, columns], label_names=_pick(self.label_names, columns))

    def rename_labels(self, new_names: Mapping[str, str]) -> Corpus:
        """The same documents with other names for some labels; equal names become one label.

        Examples
        --------
        >>> corpus = Corpus.from_texts(["a", "b"], [["cats", "cat"], ["dogs"]])
        >>> renamed = corpus.rename_labels({"cat": "cats"})
        >>> renamed.label_names, renamed.Y.toarray().tolist()
        (['cats', 'dogs'], [[1, 0], [0, 1]])
        """
        renamed = [new_names.get(name, name) for name in self.label_names]
        names = sorted(set(renamed))
        Y = vocabulary.align(self.Y, renamed, names)
        Y.sum_duplicates()
        Y.data[:] = 1
        return self._replaced(Y=Y, label_names=names)

    def align_to(
        self,
        label_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> Corpus:
        """The same documents with the columns of another vocabulary.

        Names that this corpus lacks become empty columns; its other columns are dropped.

        Examples
        --------
        >>> corpus = Corpus.from_texts(["a"], [["x", "y"]])
        >>> corpus.align_to(["w", "y"]).Y.toarray().tolist()
        [[0, 1]]
        """
        changes: dict[str, Any] = {}
        if label_names is not None:
            changes["Y"] = vocabulary.align(self.Y, self.label_names, label_names)
            changes["label_names"] = label_names
        if feature_names is not None:
            if self.X is None:
                raise InputError("this corpus has no features to align; vectorise it first.")
            changes["X"] = vocabulary.align(self.X, self.feature_names, feature_names)
            changes["feature_names"] = feature_names
        return self._replaced(**changes)

    def join(self, *others: Corpus) -> Corpus:
        """Concatenate this corpus and others, on the union of their vocabularies.

        Columns are matched by name; new names follow in order of appearance. Ids are kept if all
        are distinct; otherwise rows are numbered. Features, texts and titles are kept if every
        corpus has them.

        Examples
        --------
        >>> a, b = Corpus.from_texts(["a"], [["x"]]), Corpus.from_texts(["b"], [["y"]])
        >>> a.join(b).Y.toarray().tolist()
        [[1, 0], [0, 1]]
        """
        corpora = [self, *others]
        with_features = all(one.X is not None for one in corpora)
        if not with_features and any(one.texts is None for one in corpora):
            raise InputError(
                "corpora can be joined only if all have features or all have texts; vectorise "
                "them first."
            )
        labels = vocabulary.union([one.label_names for one in corpora])
        features = (
            vocabulary.union([one.feature_names for one in corpora]) if with_features else None
        )
        ids = [name for one in corpora for name in one.ids]
        aligned = [one.align_to(labels, features) for one in corpora]
        return Corpus(
            sparse.vstack([one.X for one in aligned], format="csr") if with_features else None,
            sparse.vstack([one.Y for one in aligned], format="csr"),
            ids=ids if len(set(ids)) == len(ids) else None,
            feature_names=features,
            label_names=labels,
            texts=_concatenated([one.texts for one in corpora]),
            titles=_concatenated([one.titles for one in corpora]),
        )

    def split(
        self, test_size: float = 0.25, random_state: Any = None, *, stratified: bool = False
    ) -> tuple[Corpus, Corpus]:
        """Split into a training and a test corpus; documents keep their order.

        Parameters
        ----------
        test_size : float
            The share of documents in the second corpus, between 0 and 1.
        random_state : int, RandomState or None
        stratified : bool
            Keep each label's share in both, rare labels first (iterative stratification,
            Sechidis et al. 2011). The sizes may then differ slightly from ``test_size``.

        Examples
        --------
        >>> corpus = Corpus(np.eye(8), np.eye(8))
        >>> train, test = corpus.split(0.25, random_state=0)
        >>> len(train), len(test)
        (6, 2)
        """
        in_test = splitting.split(self.Y, test_size, random_state, stratified)
        return self[~in_test], self[in_test]

    def folds(
        self, n: int = 5, random_state: Any = None, *, stratified: bool = False
    ) -> Iterator[tuple[Corpus, Corpus]]:
        """Pairs (train, test) for ``n``-fold cross-validation; each document is tested once.

        Examples
        --------
        >>> corpus = Corpus(np.eye(8), np.eye(8))
        >>> [len(test) for train, test in corpus.folds(3, random_state=0)]
        [3, 3, 2]
        """
        fold_of = splitting.folds(self.Y, n, random_state, stratified)
        return ((self[fold_of != fold], self[fold_of == fold]) for fold in range(n))

    def vectorized(self, vectorizer: Any = None, *, fit: bool = True) -> Corpus:
        """The same documents with counts of their words as features.

        Parameters
        ----------
        vectorizer : object, optional
            With ``fit_transform``, ``transform`` and ``get_feature_names_out``, as scikit-learn's;
            by default a new `manylabel.text.CountVectorizer`.
        fit : bool
            False uses the vocabulary of a fitted ``vectorizer``, for test documents.
        """
        if self.texts is None:
            raise InputError("this corpus has no texts to vectorise; give one with texts.")
        if vectorizer is None:
            if not fit:
                raise InputError("`fit=False` needs a fitted `vectorizer`; got None.")
            from manylabel.text import CountVectorizer

            vectorizer = CountVectorizer()
        X = vectorizer.fit_transform(self.texts) if fit else vectorizer.transform(self.texts)
        return self._replaced(X=X, feature_names=list(vectorizer.get_feature_names_out()))

    def statistics(self) -> Statistics:
        """Compute the statistics that the papers report; see `manylabel.corpus.statistics`."""
        from manylabel.corpus.statistics import statistics

        return statistics(self)

    def _replaced(self, **changes: Any) -> Corpus:
        """A copy with some attributes changed."""
        attributes = {
            "X": self.X,
            "Y": self.Y,
            "ids": self._ids,
            "feature_names": self._feature_names,
            "label_names": self._label_names,
            "texts": self.texts,
            "titles": self.titles,
            "sized": self.sized,
        }
        return Corpus(**(attributes | changes))

    def __repr__(self) -> str:
        features = "texts" if self.X is None else counted(self.n_features, "feature")
        cardinality = self.Y.nnz / max(len(self), 1)
        return (
            f"<Corpus: {counted(len(self), 'document')}, {features}, "
            f"{counted(self.n_labels, 'label')}, {cardinality:.2f} labels per document>"
        )


def _strings(name: str, values: Sequence[str] | None, expected: int) -> list[str] | None:
    """Check a list of strings, one per document."""
    if values is None:
        return None
    if isinstance(values, str):
        raise InputError(f"`{name}` must be a list of strings, one per document; got a string.")
    # Strings in a file stay there, and read like a list.
    listed: Any = values if isinstance(values, StringArray) else list(values)
    if len(listed) != expected:
        raise InputError(
            f"`{name}` must have one entry for each of {counted(expected, 'document')}; "
            f"got {len(listed)}."
        )
    if isinstance(listed, list):
        for row, value in enumerate(listed):
            if not isinstance(value, str):
                raise InputError(f"`{name}` must be strings; document {row} has {value!r}.")
    return listed


def _numbers(n: int) -> list[str]:
    return list(map(str, range(n)))


def _pick(values: list[str] | None, rows: NDArray[np.int64]) -> list[str] | None:
    return None if values is None else [values[row] for row in rows.tolist()]


def _concatenated(lists: list[list[str] | None]) -> list[str] | None:
    """Concatenate lists; None if any is missing."""
    if any(values is None for values in lists):
        return None
    return [value for values in lists if values is not None for value in values]


def titled(title: str | None, text: str) -> str:
    r"""A text below its title, unless it starts with the title.

    Examples
    --------
    >>> titled("Ice", "The ship is caught."), titled("Ice", "Ice is cold.")
    ('Ice\nThe ship is caught.', 'Ice is cold.')
    """
    if not title or text.startswith(title):
        return text
    return f"{title}\n{text}" if text else title
