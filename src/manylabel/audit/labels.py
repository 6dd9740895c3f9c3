"""Find labels that look the same, have two meanings, or cannot be learned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.predictions import is_stored, values_at

__all__ = ["SameLabels", "TwoMeanings", "Unlearned", "same_labels", "two_meanings", "unlearned"]

#: Labels with fewer documents than this are skipped.
_MIN_DOCUMENTS = 5
#: Labels with at least this likeness count as the same.
_MIN_LIKENESS = 0.5
#: A label is not learned if its documents get it with less than this mean probability.
_NOT_LEARNED = 0.05
#: A label is learned well enough for a comparison from this mean probability on.
_LEARNED = 0.2
#: Lower probabilities count as 0 where labels are compared: most are, and hardly change a mean.
_NOTICED = 0.01
#: To look for two meanings: minimum documents per label, maximum documents to look at per label,
#: and maximum labels.
_MIN_TO_SPLIT, _MAX_SAMPLE, _MAX_LABELS = 20, 100, 1_000
#: Minimum share of the smaller meaning, and minimum distance of the two.
_MIN_SHARE, _MIN_DISTANCE = 0.2, 0.35
#: Typical documents to name for each meaning.
_EXAMPLES = 3


class SameLabels(NamedTuple):
    """Two labels that cannot be told apart.

    Attributes
    ----------
    first, second : int
        The labels.
    likeness : float
        By how much the mean probability of each is higher on documents that have only the other
        than on documents with neither, divided by the same for its own documents: 1 if the two
        cannot be told apart.
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
        1 if documents of different groups have nothing in common, 0 if they are as similar as
        documents of the same group: 1 minus the normalised cut.
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
    given, itself = _on_own_documents(probabilities, Y)
    # Labels that are not learned cannot be compared.
    usable = (counts >= _MIN_DOCUMENTS) & (itself >= _LEARNED)
    noticed = (probabilities.data >= _NOTICED) & ~given
    others = _only(probabilities, noticed & usable[probabilities.indices])
    Y = _only(Y.astype(np.float64), usable[Y.indices])
    # The sum of each label's probabilities on the documents of each other label without it.
    on_others = sparse.csr_array(Y.T @ others)
    on_others.sort_indices()
    both = sparse.csr_array(Y.T @ Y)
    both.sort_indices()
    if not on_others.nnz:
        return []
    alone = counts.repeat(np.diff(on_others.indptr)) - values_at(both, on_others)
    first, second = on_others.tocoo().coords
    enough = alone >= _MIN_DOCUMENTS - 2
    first, second, alone = first[enough], second[enough], alone[enough]
    sums = on_others.data[enough]
    # A frequent label is somewhat probable on documents with neither: that is no likeness.
    neither = np.maximum(Y.shape[0] - counts[second] - alone, 1)
    total = np.bincount(others.indices, others.data, Y.shape[1])
    elsewhere = np.maximum(total[second] - sums, 0) / neither
    likeness = (sums / alone - elsewhere) / np.maximum(itself[second] - elsewhere, 1e-9)
    likeness = np.where(itself[second] > elsewhere, np.clip(likeness, 0, 1), 0)
    one_way = sparse.csr_array((likeness, (first, second)), shape=both.shape)
    pairs = sparse.coo_array(sparse.triu(one_way.minimum(one_way.T), k=1))
    order = np.argsort(-pairs.data, kind="stable")
    order = order[pairs.data[order] >= _MIN_LIKENESS][:top]
    a, b = (each[order] for each in pairs.coords)
    return [
        SameLabels(int(i), int(j), float(value), int(both[i, j]))
        for i, j, value in zip(a, b, pairs.data[order], strict=True)
    ]


def _on_own_documents(
    probabilities: sparse.csr_array, Y: sparse.csr_array
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which entries are given labels, and the mean probability of each label where it is given."""
    given = is_stored(Y, probabilities)
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    sums = np.bincount(probabilities.indices[given], probabilities.data[given], Y.shape[1])
    return given, sums / np.maximum(counts, 1)


def _only(matrix: sparse.csr_array, kept: NDArray[np.bool_]) -> sparse.csr_array:
    """Some of the entries; the shape stays."""
    ends = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr]
    return sparse.csr_array(
        (matrix.data[kept], matrix.indices[kept], ends.astype(matrix.indptr.dtype)),
        shape=matrix.shape,
    )


def unlearned(probabilities: sparse.csr_array, Y: sparse.csr_array, top: int) -> list[Unlearned]:
    """Labels that are not predicted on their own documents, most frequent first.

    Examples
    --------
    >>> Y = sparse.csr_array(np.ones((6, 1), np.int8))
    >>> unlearned(sparse.csr_array(np.full((6, 1), 0.01)), Y, 5)
    [Unlearned(label=0, n_documents=6, probability=0.01)]
    """
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    _, itself = _on_own_documents(probabilities, Y)
    labels = np.flatnonzero((counts >= _MIN_DOCUMENTS) & (itself < _NOT_LEARNED))
    labels = labels[np.argsort(-counts[labels], kind="stable")][:top]
    return [Unlearned(int(label), int(counts[label]), float(itself[label])) for label in labels]


def two_meanings(
    rows: sparse.csr_array, Y: sparse.csr_array, top: int, seed: int = 0
) -> list[TwoMeanings]:
    """Frequent labels whose documents fall into two groups that have little in common.

    The groups are those of the second eigenvector of the documents' cosines, cut where the
    normalised cut is smallest (Shi and Malik 2000).
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
        X = sparse.csr_array(rows[documents], dtype=np.float64)
        similar = np.maximum((X @ X.T).toarray(), 0)
        np.fill_diagonal(similar, 0)
        groups, cut = split(similar)
        if groups is not None and 1 - cut >= _MIN_DISTANCE:
            share = groups[1].size / (groups[0].size + groups[1].size)
            examples = tuple(
                tuple(documents[_typical(similar, *both)].tolist())
                for both in (groups, groups[::-1])
            )
            meanings.append(
                TwoMeanings(label, 1 - cut, share, examples)  # type: ignore[arg-type]
            )
    return sorted(meanings, key=lambda meaning: -meaning.apart)[:top]


def split(
    similar: NDArray[np.float64],
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]] | None, float]:
    r"""Split documents into two groups, the larger first, and give the normalised cut.

    The cut is :math:`c / d_A + c / d_B`, where c sums the similarities between the groups and d
    those of a group's documents to all: 0 if nothing connects them, about 1 if chance made them.
    Documents that are similar to no other belong to neither group.
    """
    linked = np.flatnonzero(similar.any(axis=1))
    n, least = linked.size, max(int(np.ceil(_MIN_SHARE * linked.size)), 2)
    if n < 2 * least:
        return None, 1.0
    similar = similar[np.ix_(linked, linked)]
    degrees = similar.sum(axis=1)
    roots = np.sqrt(degrees)
    _, vectors = np.linalg.eigh(similar / np.outer(roots, roots))
    order = np.argsort(vectors[:, -2] / roots, kind="stable")
    degrees = degrees[order]
    sums = similar[np.ix_(order, order)].cumsum(axis=0).cumsum(axis=1)
    first = np.cumsum(degrees)
    # What the first k documents share with the others, for each k.
    between = first - np.diagonal(sums)
    sizes = np.arange(least, n - least + 1)
    cuts = (between / first + between / (first[-1] - first).clip(1e-12))[sizes - 1]
    best = int(np.argmin(cuts))
    groups = linked[order[: sizes[best]]], linked[order[sizes[best] :]]
    larger, smaller = sorted(groups, key=lambda group: (-group.size, group.min()))
    return (larger, smaller), float(cuts[best])


def _typical(
    similar: NDArray[np.float64], own: NDArray[np.int64], other: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The documents of a group that are nearest to it and furthest from the other."""
    nearer = similar[np.ix_(own, own)].mean(axis=1) - similar[np.ix_(own, other)].mean(axis=1)
    return own[np.argsort(-nearer, kind="stable")[:_EXAMPLES]]
