"""FastXML by loops and dictionaries, from Prabhu & Varma (2014) and Jain et al. (2016)."""

from __future__ import annotations

import math


def ideal_dcg(n_labels):
    """The DCG if this many true labels come first."""
    return sum(1 / math.log(1 + position) for position in range(1, n_labels + 1))


def norm(labels, normalized):
    """What a document's DCG is divided by: the best possible one, or 1 in PfastreXML."""
    return ideal_dcg(len(labels)) if normalized else 1.0


def gain(labels, ranking, gains, normalized=True):
    """(n)DCG of a document's labels in a ranking (a list of labels, best first)."""
    if not labels:
        return 0.0
    dcg = sum(
        gains[label] / math.log(1 + position)
        for position, label in enumerate(ranking, start=1)
        if label in labels
    )
    return dcg / norm(labels, normalized)


def objective(label_sets, sides, rankings, gains, normalized=True):
    """What rankings and sides add to equation 4: minus the sum of (n)DCG."""
    pairs = zip(label_sets, sides, strict=True)
    return -sum(gain(labels, rankings[side], gains, normalized) for labels, side in pairs)


def best_ranking(label_sets, gains, normalized=True):
    """Equation 8: labels by their summed normalised gain, then by number."""
    totals = dict.fromkeys(range(len(gains)), 0.0)
    for labels in label_sets:
        for label in labels:
            totals[label] += gains[label] / norm(labels, normalized)
    return sorted(totals, key=lambda label: (-totals[label], label))


def best_rankings(label_sets, sides, gains, normalized=True):
    """The best ranking of side 0 and of side 1."""
    pairs = list(zip(label_sets, sides, strict=True))
    return [
        best_ranking([labels for labels, own in pairs if own == side], gains, normalized)
        for side in (0, 1)
    ]


def alternate(label_sets, sides, gains, normalized=True):
    """Section 4.1: rank the labels of each side, then let documents choose, until none moves."""
    present = sorted(set().union(*label_sets))
    while True:
        rankings = [
            [label for label in ranking if label in present]
            for ranking in best_rankings(label_sets, sides, gains, normalized)
        ]
        chosen = []
        for labels, side in zip(label_sets, sides, strict=True):
            own, other = (gain(labels, rankings[s], gains, normalized) for s in (side, 1 - side))
            chosen.append(1 - side if other > own + 1e-10 else side)
        if chosen == sides:
            return sides
        sides = chosen


def propensities(counts, n_documents, A, B):
    """Equation of the propensity model of Jain et al. (2016), section 4."""
    C = (math.log(n_documents) - 1) * (B + 1) ** A
    return [1 / (1 + C * math.exp(-A * math.log(count + B))) for count in counts]


def logistic_objective(X, sides, costs, weights):
    """The L1 norm and the costed log loss."""
    total = sum(abs(weight) for weight in weights)
    for row, side in zip(X, sides, strict=True):
        margin = sum(weight * value for weight, value in zip(weights, row, strict=True))
        total += costs[side] * math.log1p(math.exp(-margin if side else margin))
    return total


def leaf(row, root, children, bias, weights):
    """Walk down a tree; ``weights[node]`` maps features to weights."""
    node = root
    while children[node]:
        total = bias[node]
        for feature, weight in weights[node].items():
            total += weight * row[feature]
        node = children[node] + (total >= 0)
    return node


def leaf_shares(label_sets, gains):
    """Mean gain of each label over the documents of a leaf."""
    shares = {}
    for labels in label_sets:
        for label in labels:
            shares[label] = shares.get(label, 0.0) + gains[label] / len(label_sets)
    return shares


def unit(row):
    """A row brought to length 1; a row of zeros stays."""
    length = math.sqrt(sum(value**2 for value in row))
    return [value / length for value in row] if length else list(row)


def centroid(rows):
    """The mean of rows of length 1."""
    return [sum(values) / len(rows) for values in zip(*map(unit, rows), strict=True)]


def rerank(share, row, rows, alpha, gamma):
    """The score of a label by Jain et al. (2016), section 5: trees and tail classifier.

    ``share`` is the mean of the leaves, ``rows`` are the documents that have the label.
    """
    pairs = zip(unit(row), centroid(rows), strict=True)
    distance = sum((a - b) ** 2 for a, b in pairs)
    relevant = 1 / (1 + math.exp(gamma / 2 * distance))
    return alpha * math.log(share) + (1 - alpha) * math.log(relevant)
