"""Documents, and their features as views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.scoring.word_sums import WordSums
from manylabel.text.weighting import Weighting

__all__ = ["Documents", "lengths"]

#: Attributes that are derived from the others, and not stored.
_DERIVED = ("cache", "rows", "lengths", "trusted", "numbers")


class Documents:
    """Documents in the form that sources and scorers read.

    Every classifier reads the counts. A classifier whose scorers read other views accepts
    ``Documents`` wherever it accepts a matrix.

    Parameters
    ----------
    counts : csr_array of shape (n_documents, n_features)
        Counts or other non-negative features.
    texts : sequence of str, optional
        The texts of the documents.
    fields : mapping of str to sequence of str, optional
        Parts of the texts by name, such as ``"title"``.
    views : mapping of str to matrix, optional
        Other features by name, sparse, dense or :class:`WordSums`, one row per document.
    weighting : Weighting, optional
        Turns counts into :attr:`rows`; fitted.

    Attributes
    ----------
    trusted : bool
        Whether all matrices are our own and known to be canonical, so that none need be checked.
    numbers : ndarray of int64, optional
        If these are training documents: their numbers, in the order in which they were added. They
        are scored as if they were not among the training documents.

    Examples
    --------
    >>> documents = Documents(sparse.csr_array([[1, 0], [2, 1]]), texts=["a", "a a b"])
    >>> len(documents), documents[1:].texts
    (2, ['a a b'])
    """

    def __init__(
        self,
        counts: sparse.csr_array,
        *,
        texts: Sequence[str] | None = None,
        fields: Mapping[str, Sequence[str]] | None = None,
        views: Mapping[str, Any] | None = None,
        weighting: Weighting | None = None,
    ) -> None:
        self.counts = counts
        self.texts = texts
        self.fields = dict(fields or {})
        self.views = dict(views or {})
        self.weighting = weighting
        self.trusted = False
        self.numbers: NDArray[np.int64] | None = None
        #: Intermediate results that sources and scorers share.
        self.cache: dict[str, Any] = {}
        n_documents = counts.shape[0]
        lengths = {"texts": n_documents if texts is None else len(texts)}
        lengths |= {f"field {name!r}": len(values) for name, values in self.fields.items()}
        lengths |= {f"view {name!r}": view.shape[0] for name, view in self.views.items()}
        for name, length in lengths.items():
            if length != n_documents:
                raise InputError(
                    f"the {name} must have a row for each of the {n_documents} documents; "
                    f"got {length}."
                )
        for name, view in self.views.items():
            if isinstance(view, WordSums) and view.rows.shape[1] != counts.shape[1]:
                raise InputError(
                    f"the view {name!r} must be a sum over the {counts.shape[1]} columns of the "
                    f"counts; its rows have {view.rows.shape[1]}."
                )

    @classmethod
    def of(cls, X: Any) -> Documents:
        """Documents unchanged, or made from a matrix."""
        return X if isinstance(X, cls) else cls(X)

    def __len__(self) -> int:
        return self.counts.shape[0]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of documents and features."""
        return self.counts.shape

    @cached_property
    def rows(self) -> sparse.csr_array:
        """Weighted counts; the counts themselves if there is no weighting."""
        return self.counts if self.weighting is None else self.weighting.weigh(self.counts)

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """The sum of each document's counts: its number of words."""
        return lengths(self.counts)

    def view(self, name: str) -> Any:
        """Features by name: ``"counts"``, ``"rows"`` or one of :attr:`views`."""
        if name in ("counts", "rows"):
            return getattr(self, name)
        if name not in self.views:
            known = ", ".join(["counts", "rows", *self.views])
            raise InputError(f"the documents have no view {name!r}; they have {known}.")
        return self.views[name]

    def has_view(self, name: str) -> bool:
        """Whether there is a view with this name."""
        return name in ("counts", "rows") or name in self.views

    def weighted(self, weighting: Weighting) -> Documents:
        """The same documents with another weighting of :attr:`rows`."""
        same = Documents(
            self.counts,
            texts=self.texts,
            fields=self.fields,
            views=self.views,
            weighting=weighting,
        )
        same.cache, same.trusted, same.numbers = self.cache, self.trusted, self.numbers
        return same

    def replaced(self, counts: sparse.csr_array, rows: sparse.csr_array | None = None) -> Documents:
        """The same documents with other counts and, if given, the rows that belong to them."""
        same = Documents(
            counts,
            texts=self.texts,
            fields=self.fields,
            views=self.views,
            weighting=self.weighting,
        )
        same.cache, same.numbers = self.cache, self.numbers
        if rows is not None:
            same.rows = rows
        return same

    @classmethod
    def stacked(cls, parts: Sequence[Documents]) -> Documents:
        """Concatenate documents.

        Examples
        --------
        >>> one = Documents(sparse.csr_array([[1, 0]]), texts=["a"])
        >>> Documents.stacked([one, one]).texts
        ['a', 'a']
        """
        first = parts[0]
        if len(parts) == 1:
            return first
        return cls(
            sparse.csr_array(sparse.vstack([part.counts for part in parts], "csr")),
            texts=None if first.texts is None else _chained(part.texts for part in parts),
            fields={name: _chained(part.fields[name] for part in parts) for name in first.fields},
            views={
                name: _stacked_views([part.views[name] for part in parts]) for name in first.views
            },
            weighting=first.weighting,
        )

    def __getitem__(self, rows: Any) -> Documents:
        """Some of the documents: a slice, or an array of their numbers."""
        some = Documents(
            self.counts[rows],
            texts=None if self.texts is None else _items(self.texts, rows),
            fields={name: _items(values, rows) for name, values in self.fields.items()},
            views={name: view[rows] for name, view in self.views.items()},
            weighting=self.weighting,
        )
        if "rows" in vars(self):
            some.rows = self.rows[rows]
        if self.numbers is not None:
            some.numbers = self.numbers[rows]
        return some

    def _store_state(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _DERIVED}

    @classmethod
    def _from_store_state(cls, state: dict[str, Any]) -> Documents:
        documents = cls.__new__(cls)
        vars(documents).update(state, cache={}, trusted=False, numbers=None)
        return documents


def lengths(counts: sparse.csr_array) -> NDArray[np.float64]:
    """The sum of each row."""
    if counts.shape[0] == 1 and counts.dtype == np.float64 and counts.data.size:
        # As SciPy does it, without its checks, which take longer than all the rest.
        return np.add.reduceat(counts.data, [0])
    return np.asarray(counts.sum(axis=1, dtype=np.float64)).ravel()


def _chained(values: Iterable[Any]) -> list[str]:
    """Concatenate sequences."""
    return list(chain.from_iterable(values))


def _stacked_views(views: Sequence[Any]) -> Any:
    """Stack rows vertically, sparse or dense."""
    if isinstance(views[0], WordSums):
        return WordSums.stacked(list(views))
    if sparse.issparse(views[0]):
        return sparse.csr_array(sparse.vstack(views, "csr"))
    return np.concatenate(views)


def _items(values: Sequence[str], rows: Any) -> Sequence[str]:
    """Some items of a sequence."""
    if isinstance(rows, slice):
        return values[rows]
    numbers = np.arange(len(values))[np.asarray(rows)]
    return [values[number] for number in numbers.tolist()]
