"""Find labels that look the same, have two meanings, or cannot be learned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["SameLabels", "TwoMeanings", "Unlearned", "same_labels", "two_meanings", "unlearned"]

#: Labels with fewer documents than this are skipped.
_MIN_DOCUMENTS = 5
#: Labels with at least this likeness count as the same.
_MIN_LIKENESS = 0.5
#: A label is not learned if its documents get it with less than this mean probability.
_NOT_LEARNED = 0.05
#: A label is learned well enough for a comparison from this mean probability on.
_LEARNED = 0.2
#: To look for two meanings: minimum documents per label, maximum documents to look at per label,
#: and maximum labels.
_MIN_TO_SPLIT, _MAX_SAMPLE, _MAX_LABELS = 20, 100, 1_000
_ROUNDS = 8
#: Minimum share of the smaller meaning, and minimum distance of the two.
_MIN_SHARE, _MIN_DISTANCE = 0.2, 0.25


class SameLabels(NamedTuple):
    """Two labels that cannot be told apart.

    Attributes
    ----------
    first, second : int
        The labels.
    likeness : float
        The mean probability of each on documents that have only the other, divided by that on its
        own documents: 1 if the two cannot be told apart.
    together : int
        Documents that have both.
    """

    first: int
    second: int
    likeness: float
    together: int


class TwoMeanings(NamedTuple):
    """A label whose documents fall into two groups.

    Attributes
    ----------
    label : int
    apart : float
        How much more similar documents are to their own group than to the other, as a difference
        of cosines.
    share : float
        The smaller group's share of the documents.
    examples : tuple of two tuples of int
        The most typical documents of each group.
    """

    label: int
    apart: float
    share: float
    examples: tuple[tuple[int, ...], tuple[int, ...]]


class Unlearned(NamedTuple):
    """A label that other documents do not predict.

    Attributes
    ----------
    label : int
    n_documents : int
    probability : float
        The mean out-of-sample probability of the label on its own documents.
    """

    label: int
    n_documents: int
    probability: float


def same_labels(probabilities: sparse.csr_array, Y: sparse.csr_array, top: int) -> list[SameLabels]:
    """Pairs of labels that cannot be told apart, most alike first.

    Examples
    --------
    >>> Y = sparse.csr_array(np.repeat(np.eye(2, dtype=np.int8), 6, axis=0))
    >>> P = sparse.csr_array(np.full((12, 2), 0.5))
    >>> same_labels(P, Y, 5)
    [SameLabels(first=0, second=1, likeness=1.0, together=0)]
    """
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    own = sparse.csr_array(probabilities.multiply(Y))
    itself = np.bincount(own.indices, own.data, Y.shape[1]) / np.maximum(counts, 1)
    others = sparse.csr_array(probabilities - own)
    others.eliminate_zeros()
    Y = Y.astype(np.float64)
    # The sum of each label's probabilities on the documents of each other label without it.
    on_others = sparse.coo_array(sparse.csr_array(Y.T @ others))
    both = sparse.csr_array(Y.T @ Y)
    first, second = on_others.coords
    alone = counts[first] - np.asarray(both[first, second]).ravel()
    # Labels that are not learned cannot be compared.
    usable = (counts >= _MIN_DOCUMENTS) & (itself >= _LEARNED)
    enough = usable[first] & usable[second] & (alone >= _MIN_DOCUMENTS - 2)
    first, second, alone = first[enough], second[enough], alone[enough]
    likeness = on_others.data[enough] / alone / np.maximum(itself[second], 1e-9)
    one_way = sparse.csr_array((np.minimum(likeness, 1.0), (first, second)), shape=both.shape)
    pairs = sparse.coo_array(sparse.triu(one_way.minimum(one_way.T), k=1))
    order = np.argsort(-pairs.data, kind="stable")
    order = order[pairs.data[order] >= _MIN_LIKENESS][:top]
    a, b = (each[order] for each in pairs.coords)
    return [
        SameLabels(int(i), int(j), float(value), int(both[i, j]))
        for i, j, value in zip(a, b, pairs.data[order], strict=True)
    ]


def unlearned(probabilities: sparse.csr_array, Y: sparse.csr_array, top: int) -> list[Unlearned]:
    """Labels that are not predicted on their own documents, most frequent first.

    Examples
    --------
    >>> Y = sparse.csr_array(np.ones((6, 1), np.int8))
    >>> unlearned(sparse.csr_array(np.full((6, 1), 0.01)), Y, 5)
    [Unlearned(label=0, n_documents=6, probability=0.01)]
    """
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    own = sparse.csr_array(probabilities.multiply(Y))
    itself = np.bincount(own.indices, own.data, Y.shape[1]) / np.maximum(counts, 1)
    labels = np.flatnonzero((counts >= _MIN_DOCUMENTS) & (itself < _NOT_LEARNED))
    labels = labels[np.argsort(-counts[labels], kind="stable")][:top]
    return [Unlearned(int(label), int(counts[label]), float(itself[label])) for label in labels]


def two_meanings(
    rows: sparse.csr_array, Y: sparse.csr_array, top: int, seed: int = 0
) -> list[TwoMeanings]:
    """Frequent labels whose documents fall into two groups that have little in common.

    The groups are those of spherical 2-means on the weighted rows.
    """
    columns = sparse.csc_array(Y)
    counts = np.diff(columns.indptr)
    labels = np.flatnonzero(counts >= _MIN_TO_SPLIT)
    labels = labels[np.argsort(-counts[labels], kind="stable")][:_MAX_LABELS]
    meanings = []
    for label in labels.tolist():
        documents = columns.indices[columns.indptr[label] : columns.indptr[label + 1]]
        if documents.size > _MAX_SAMPLE:
            rng = np.random.default_rng([seed, label])
            documents = np.sort(rng.choice(documents, _MAX_SAMPLE, replace=False))
        split = _split(sparse.csr_array(rows[documents], dtype=np.float64))
        if split is None:
            continue
        nearer, second = split
        share = min(second.mean(), 1 - second.mean())
        apart = float(np.abs(nearer).mean())
        if share >= _MIN_SHARE and apart >= _MIN_DISTANCE:
            examples = tuple(
                tuple(documents[np.argsort(side * nearer, kind="stable")[:3]].tolist())
                for side in (-1, 1)
            )
            meanings.append(
                TwoMeanings(label, apart, float(share), examples)  # type: ignore[arg-type]
            )
    return sorted(meanings, key=lambda meaning: -meaning.apart)[:top]


def _split(
    X: sparse.csr_array,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]] | None:
    """How much nearer each row is to the first of two centroids, and which are in the second."""
    used, columns = np.unique(X.indices, return_inverse=True)
    if used.size == 0:
        return None
    X = sparse.csr_array((X.data, columns, X.indptr), shape=(X.shape[0], used.size))
    whole = _unit(np.asarray(X.sum(axis=0)).ravel())
    # Start with the row least similar to the rest, and the one least similar to that.
    first = int(np.argmin(X @ whole))
    start = _unit(X[[first]].toarray().ravel())
    second = int(np.argmin(X @ start))
    centroids = np.stack([start, _unit(X[[second]].toarray().ravel())])
    belongs = np.zeros(X.shape[0], bool)
    for _ in range(_ROUNDS):
        near = X @ centroids.T
        moved = near[:, 1] > near[:, 0]
        if moved.all() or not moved.any():
            return None
        if (moved == belongs).all():
            break
        belongs = moved
        centroids = np.stack(
            [_unit(X[np.flatnonzero(side)].sum(axis=0)) for side in (~moved, moved)]
        )
    near = X @ centroids.T
    return near[:, 0] - near[:, 1], near[:, 1] > near[:, 0]


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """The vector scaled to length 1; a vector of zeros does not change."""
    vector = np.asarray(vector, np.float64).ravel()
    length = np.sqrt((vector**2).sum())
    return vector / length if length else vector
