"""Why a label was given: every part's share of the log-odds, down to neighbours and words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from manylabel.ensemble.curves import frequency_group
from manylabel.evidence import Explanation, Reason
from manylabel.neighbors import Neighbors
from manylabel.neighbors.reasons import entries, lookup, shared_words

if TYPE_CHECKING:
    from manylabel.ensemble.ensemble import Ensemble

__all__ = ["explain"]


def explain(
    model: Ensemble,
    X: sparse.csr_array,
    row: int,
    labels: NDArray[np.int64] | None,
    top: int,
) -> list[Explanation]:
    """Explanations of a single document for the given labels, or for its best."""
    weighted = model.weighting_.transform(X)
    proposals, parts = model._parts(X)
    candidates = proposals.candidates.indices
    log_odds = model._log_odds(proposals.candidates, parts)
    if labels is None:
        best = np.lexsort((candidates, -log_odds))[:top]
        labels = candidates[best].astype(np.int64)
    neighbors = model.neighborhood_.search(weighted, 1)
    credit = None
    if model.topics_ is not None:
        votes = proposals.votes["neighbours"]
        credit = model.topics_.credit(X, proposals.candidates, votes)
    answer = []
    for label in labels.tolist():
        at = int(np.searchsorted(candidates, label))
        if at == candidates.size or candidates[at] != label:
            answer.append(Explanation(row, label, 0.0, (), 0.0))
            continue
        known = model.linear_.knows(np.array([label]))[0]
        combination = model.combination_ if known else model.lazy_combination_
        group = frequency_group(model.counts_[label])
        factor = float(combination.factors[group])
        slopes = {n: factor * c.slope(float(parts[n][at])) for n, c in combination.curves.items()}
        found: list[Reason | None] = [Reason("prior", float(combination.offsets[group]))]
        found.append(_neighbours(model, slopes, weighted, neighbors, label))
        if "words" in slopes:
            found.append(_words(model, slopes["words"], weighted, label))
        if "linear" in slopes:
            found.append(_linear(model, slopes["linear"], weighted, label))
        if "topics" in slopes and credit is not None:
            words = zip(X.indices.tolist(), credit[:, at].tolist(), strict=True)
            found.append(_part("topics", _word_reasons(words, slopes["topics"])))
        if "trees" in slopes:
            found.append(Reason("trees", slopes["trees"] * float(parts["trees"][at])))
        said = sorted((each for each in found if each is not None), key=lambda each: -each.share)
        score = float(log_odds[at])
        answer.append(Explanation(row, label, score, tuple(said), float(expit(score))))
    return answer


def _part(name: str, reasons: list[Reason]) -> Reason | None:
    """A part's share is the sum of its reasons'; they come greatest first."""
    if not reasons:
        return None
    ordered = tuple(sorted(reasons, key=lambda reason: -reason.share))
    return Reason(name, float(np.sum([reason.share for reason in ordered])), reasons=ordered)


def _neighbours(
    model: Ensemble,
    slopes: dict[str, float],
    weighted: sparse.csr_array,
    neighbors: Neighbors,
    label: int,
) -> Reason | None:
    """Each neighbour's votes, among all and among the nearest."""
    hood = model.neighborhood_
    numbers = neighbors.indices[0][neighbors.indices[0] >= 0]
    similarities = neighbors.similarities[0][: numbers.size].astype(np.float64)
    weights = similarities**hood.alpha
    shares = slopes.get("neighbours", 0.0) * weights / weights.sum()
    nearest = weights[: hood.near]
    shares[: hood.near] += slopes.get("nearest", 0.0) * nearest / nearest.sum()
    query = entries(weighted, 0)
    found = []
    for number, similarity, share in zip(numbers.tolist(), similarities, shares, strict=True):
        if lookup(hood.labels, number, label):
            words = shared_words(hood.index, query, number)
            found.append(Reason("neighbour", float(share), number, float(similarity), words))
    return _part("neighbours", found)


def _words(model: Ensemble, slope: float, weighted: sparse.csr_array, label: int) -> Reason | None:
    features = model.neighborhood_.features
    if features is None:
        return None
    columns, values = entries(weighted, 0)
    total = float(values.sum(dtype=np.float64))
    words = (
        (int(column), float(value) * lookup(features.plain, int(column), label) / total)
        for column, value in zip(columns, values, strict=True)
    )
    return _part("words", _word_reasons(words, slope))


def _linear(model: Ensemble, slope: float, weighted: sparse.csr_array, label: int) -> Reason | None:
    columns, values = entries(weighted, 0)
    coef = model.linear_.model.coef[:, [label]].toarray().ravel()
    words = zip(columns.tolist(), (values * coef[columns]).tolist(), strict=True)
    bias = Reason("bias", slope * float(model.linear_.model.intercept[label]))
    return _part("linear", [*_word_reasons(words, slope), bias])


def _word_reasons(words: Iterable[tuple[int, float]], slope: float) -> list[Reason]:
    """Words that say anything, with their shares."""
    return [Reason("word", slope * value, int(word)) for word, value in words if value]
