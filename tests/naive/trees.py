"""FastXML by loops and dictionaries, from Prabhu & Varma (2014) and Jain et al. (2016)."""

from __future__ import annotations

import math


def ideal_dcg(n_labels):
    """The DCG of so many labels in the first places."""
    return sum(1 / math.log(1 + place) for place in range(1, n_labels + 1))


def ndcg(labels, ranking, gains):
    """nDCG of a document's labels in a ranking (a list of labels, best first)."""
    if not labels:
        return 0.0
    dcg = sum(
        gains[label] / math.log(1 + place)
        for place, label in enumerate(ranking, start=1)
        if label in labels
    )
    return dcg / ideal_dcg(len(labels))


def objective(label_sets, sides, rankings, gains):
    """What rankings and sides add to equation 4: minus the sum of nDCG."""
    pairs = zip(label_sets, sides, strict=True)
    return -sum(ndcg(labels, rankings[side], gains) for labels, side in pairs)


def best_ranking(label_sets, gains):
    """Equation 8: labels by their summed normalised gain, then by number."""
    totals = dict.fromkeys(range(len(gains)), 0.0)
    for labels in label_sets:
        for label in labels:
            totals[label] += gains[label] / ideal_dcg(len(labels))
    return sorted(totals, key=lambda label: (-totals[label], label))


def best_rankings(label_sets, sides, gains):
    """The best ranking of side 0 and of side 1."""
    pairs = list(zip(label_sets, sides, strict=True))
    return [
        best_ranking([labels for labels, own in pairs if own == side], gains) for side in (0, 1)
    ]


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


def log_closeness(row, centroid, gamma):
    """The logarithm of the tail classifier of Jain et al. at a unit row."""
    distance = sum((a - b) ** 2 for a, b in zip(row, centroid, strict=True))
    return -math.log1p(math.exp(gamma / 2 * distance))
