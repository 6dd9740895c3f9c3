"""Why a label was given: the addends of an LCIF score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.evidence import Explanation, Reason
from manylabel.kernels.votes import Csr
from manylabel.neighbors.index import NeighborIndex, Neighbors
from manylabel.predictions import keep_top

if TYPE_CHECKING:
    from manylabel.neighbors.voting import VotingClassifier

__all__ = ["entries", "explain", "lookup", "shared_words"]


def explain(
    model: VotingClassifier,
    weighted: sparse.csr_array,
    neighbors: Neighbors | None,
    scores: sparse.csr_array,
    labels: NDArray[np.int64] | None,
    top: int,
) -> list[list[Explanation]]:
    """Explanations of each row for the given labels, or for its best."""
    best = keep_top(scores, top)
    answer = []
    for row in range(weighted.shape[0]):
        start, stop = scores.indptr[row], scores.indptr[row + 1]
        known = dict(zip(scores.indices[start:stop].tolist(), scores.data[start:stop], strict=True))
        if labels is None:
            chosen = best.indices[best.indptr[row] : best.indptr[row + 1]].tolist()
            chosen.sort(key=lambda label: (-known[label], label))
        else:
            chosen = labels.tolist()
        query = entries(weighted, row)
        near = _neighbor_weights(model, neighbors, row)
        answer.append(
            [
                Explanation(row, label, float(known[label]), _reasons(model, query, near, label))
                if label in known
                else Explanation(row, label, 0.0)
                for label in chosen
            ]
        )
    return answer


def entries(matrix: sparse.csr_array, row: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Columns and values of a row."""
    start, stop = matrix.indptr[row], matrix.indptr[row + 1]
    return matrix.indices[start:stop], matrix.data[start:stop]


def _neighbor_weights(
    model: VotingClassifier, neighbors: Neighbors | None, row: int
) -> list[tuple[int, float, float]]:
    """Number, similarity and share of all votes of each neighbour."""
    if neighbors is None:
        return []
    found = neighbors.indices[row] >= 0
    similarities = neighbors.similarities[row][found].astype(np.float64)
    weights = similarities**model.alpha
    shares = model.lam * weights / weights.sum() if weights.size else weights
    numbers = neighbors.indices[row][found]
    return list(zip(numbers.tolist(), similarities.tolist(), shares.tolist(), strict=True))


def _reasons(
    model: VotingClassifier,
    query: tuple[NDArray[np.int32], NDArray[np.float64]],
    near: list[tuple[int, float, float]],
    label: int,
) -> tuple[Reason, ...]:
    """The addends of one label's score, greatest first."""
    found = []
    for number, similarity, share in near:
        vote = lookup(model.votes_, number, label)
        if vote:
            words = shared_words(model.index_, query, number)
            found.append(Reason("neighbour", share * vote, number, similarity, words))
    if model.lam < 1 and query[1].size:
        total = float(query[1].sum())
        for feature, value in zip(*query, strict=True):
            similarity = lookup(model.features_.plain, int(feature), label)
            if similarity:
                share = (1 - model.lam) * float(value) * similarity**model.beta / total
                found.append(Reason("word", share, int(feature), similarity))
    return tuple(sorted(found, key=lambda reason: -reason.share))


def lookup(matrix: Csr, row: int, column: int) -> float:
    """One entry of a sparse matrix."""
    start, stop = matrix.ptr[row], matrix.ptr[row + 1]
    at = start + np.searchsorted(matrix.indices[start:stop], column)
    return float(matrix.data[at]) if at < stop and matrix.indices[at] == column else 0.0


def shared_words(
    index: NeighborIndex, query: tuple[NDArray[np.int32], NDArray[np.float64]], number: int
) -> tuple[Reason, ...]:
    """What each common feature adds to the similarity of the query and a neighbour."""
    rows = index.rows([number])
    features, values = query
    length = float(np.sqrt((values**2).sum()))
    common, mine, theirs = np.intersect1d(features, rows.indices, return_indices=True)
    shares = values[mine] / length * rows.data[theirs]
    order = np.argsort(-shares, kind="stable")
    return tuple(Reason("word", float(shares[i]), int(common[i])) for i in order)
