"""Find everything that looks wrong with the labels of documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.audit.labels import (
    SameLabels,
    TwoMeanings,
    Unlearned,
    same_labels,
    two_meanings,
    unlearned,
)
from manylabel.audit.pairs import SHARE, document_errors, pair_errors, unlisted_errors
from manylabel.ensemble import Ensemble, OutOfSample
from manylabel.estimators import clone
from manylabel.exceptions import ParameterError
from manylabel.neighbors import Neighbors
from manylabel.predictions import values_at
from manylabel.validation import check_labels, check_real, check_whole

__all__ = ["Audit", "Duplicates", "Witnesses", "audit"]

#: Documents with at least this similarity should have the same labels.
_DUPLICATE = 0.95
#: Similar documents to show as reasons, with the label and without it.
_WITNESSES = 3


class Duplicates(NamedTuple):
    """Two nearly identical documents with different labels.

    Attributes
    ----------
    first, second : int
    similarity : float
        The cosine of their weighted words.
    """

    first: int
    second: int
    similarity: float


class Witnesses(NamedTuple):
    """The most similar documents to one, with and without a label.

    Attributes
    ----------
    having, lacking : list of (int, float)
        Documents and their similarity, nearest first.
    """

    having: list[tuple[int, float]]
    lacking: list[tuple[int, float]]


@dataclass(frozen=True)
class Audit:
    """What looks wrong, by number; :class:`manylabel.tagger.AuditReport` has names and texts.

    Attributes
    ----------
    out : OutOfSample
        The probability of each pair, and the evidence for and against it.
    Y : csr_array of shape (n_documents, n_labels)
        The given labels.
    errors : ndarray
        For each entry of ``out.pattern``, the probability that it is wrong, or missing.
    unlisted : ndarray of shape (n_labels,)
        The probability that a label is missing where ``out.pattern`` has no entry.
    model : Ensemble
        The model, fitted to all documents.
    duplicates : list of Duplicates
    same : list of SameLabels
    two_meanings : list of TwoMeanings
    unlearned : list of Unlearned
    """

    out: OutOfSample
    Y: sparse.csr_array
    errors: NDArray[np.float32]
    unlisted: NDArray[np.float64]
    model: Ensemble = field(repr=False)
    duplicates: list[Duplicates] = field(default_factory=list)
    same: list[SameLabels] = field(default_factory=list)
    two_meanings: list[TwoMeanings] = field(default_factory=list)
    unlearned: list[Unlearned] = field(default_factory=list)

    @property
    def documents(self) -> NDArray[np.float64]:
        """How suspicious each document is: high if some of its labels are likely errors."""
        return document_errors(self.out.pattern, self.errors)

    def suspects(self, top: int) -> NDArray[np.int64]:
        """Entries of ``out.pattern``, the most suspicious first."""
        least = -np.inf
        if top < self.errors.size:
            least = np.partition(self.errors, self.errors.size - top)[self.errors.size - top]
        some = np.flatnonzero(self.errors >= least)
        return some[np.argsort(-self.errors[some], kind="stable")[:top]]

    def position(self, entry: int) -> tuple[int, int]:
        """The document and the label of an entry."""
        pattern = self.out.pattern
        row = int(np.searchsorted(pattern.indptr, entry, side="right")) - 1
        return row, int(pattern.indices[entry])

    def is_given(self, entries: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the documents of entries have their labels."""
        places = map(self.position, entries.tolist())
        return np.array([self.Y[place] > 0 for place in places], np.bool_)

    def witnesses(self, document: int, label: int) -> Witnesses:
        """The most similar other documents, with and without a label."""
        near = self.model.source_.search_self(np.array([document]))
        assert near is not None
        numbers = near.indices[0][near.indices[0] >= 0]
        having = values_at(self.Y[numbers], _column(label, numbers.size, self.Y.shape[1])) > 0
        listed = list(
            zip(numbers.tolist(), near.similarities[0][: numbers.size].tolist(), strict=True)
        )
        return Witnesses(
            [pair for pair, has in zip(listed, having, strict=True) if has][:_WITNESSES],
            [pair for pair, has in zip(listed, having, strict=True) if not has][:_WITNESSES],
        )


def audit(
    X: Any,
    Y: Any,
    model: Ensemble | None = None,
    *,
    share: float = SHARE,
    top: int = 50,
    incomplete: Any = None,
) -> Audit:
    """Find labels of documents that look wrong or missing, duplicates, and suspicious labels.

    Parameters
    ----------
    X : sparse matrix of shape (n_documents, n_features), or Documents
        Counts.
    Y : sparse matrix of shape (n_documents, n_labels)
        The given labels.
    model : Ensemble, optional
        With the settings to use; it is copied. By default an ensemble with its defaults.
    share : float, default=0.03
        The share of labels that you expect to be wrong, and to be missing. It decides how wrong
        and missing labels are ranked against each other; within each kind the order is the same.
    top : int, default=50
        Maximum duplicates and labels to report, of each kind.
    incomplete : array of bool, optional
        Documents that are known to lack labels: only those that they have are judged.

    Returns
    -------
    Audit

    Examples
    --------
    >>> from manylabel.corpus import load_catalogue
    >>> corpus = load_catalogue("train").vectorized()
    >>> result = audit(corpus.X, corpus.Y, Ensemble(scorers=["neighbours", "words"]))
    >>> row, label = result.position(int(result.suspects(1)[0]))
    >>> bool(0 < result.errors.max() < 1)
    True
    """
    if not 0 < check_real("share", share, 0) < 1:
        raise ParameterError(f"`share` must lie between 0 and 1, both excluded; got {share}.")
    check_whole("top", top, 1)
    labels = check_labels(Y)
    # Probabilities matter here, not the order of the first labels.
    ensemble = (Ensemble() if model is None else clone(model)).set_params(objective="likelihood")
    out = ensemble.fit_out_of_sample(X, labels, incomplete)
    errors, unlisted = pair_errors(out, labels, share), unlisted_errors(out, labels, share)
    probabilities, index = out.probabilities, ensemble.source_.index
    assert index is not None
    assert out.nearest is not None
    return Audit(
        out,
        labels,
        errors,
        unlisted,
        ensemble,
        _duplicates(out.nearest, labels, top),
        same_labels(probabilities, labels, top),
        two_meanings(index.rows(), labels, top),
        unlearned(probabilities, labels, top),
    )


def _duplicates(near: Neighbors, Y: sparse.csr_array, top: int) -> list[Duplicates]:
    """Pairs of nearly identical documents with different labels, most similar first.

    ``near`` has the most similar other document of each.
    """
    first = np.arange(near.indices.shape[0])
    second, similarity = near.indices[:, 0], near.similarities[:, 0]
    close = (second >= 0) & (similarity >= _DUPLICATE)
    first, second, similarity = first[close], second[close], similarity[close]
    differs = np.diff(sparse.csr_array(abs(Y[first] - Y[second])).indptr) if first.size else first
    pairs = {
        (min(a, b), max(a, b)): float(value)
        for a, b, value, n in zip(
            first.tolist(), second.tolist(), similarity.tolist(), differs.tolist(), strict=True
        )
        if n
    }
    ranked = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:top]
    return [Duplicates(a, b, value) for (a, b), value in ranked]


def _column(label: int, n_rows: int, n_labels: int) -> sparse.csr_array:
    """A pattern with one entry per row, at a label."""
    return sparse.csr_array(
        (np.ones(n_rows, np.int8), np.full(n_rows, label, np.int32), np.arange(n_rows + 1)),
        shape=(n_rows, n_labels),
    )
