"""Measures written from their definitions, with sets and dictionaries.

``truth`` is a list of sets of labels, ``scores`` a list of dictionaries from label to score.
"""

from __future__ import annotations

import itertools
import math


def ranked(candidates):
    """Candidates best first, lower index first among equals."""
    return sorted(candidates, key=lambda item: (-candidates[item], item))


def average(values):
    return sum(values) / len(values) if values else math.nan


def precision_at(truth, scores, k):
    return average([len(set(ranked(s)[:k]) & t) / k for t, s in zip(truth, scores, strict=True)])


def recall_at(truth, scores, k):
    return average(
        [len(set(ranked(s)[:k]) & t) / len(t) for t, s in zip(truth, scores, strict=True) if t]
    )


def r_precision_at(truth, scores, k):
    return average(
        [
            len(set(ranked(s)[:k]) & t) / min(k, len(t))
            for t, s in zip(truth, scores, strict=True)
            if t
        ]
    )


def dcg(gains):
    return sum(gain / math.log2(position + 2) for position, gain in enumerate(gains))


def ndcg_at(truth, scores, k):
    values = []
    for t, s in zip(truth, scores, strict=True):
        ideal = dcg([1] * min(k, len(t)))
        values.append(dcg([label in t for label in ranked(s)[:k]]) / ideal if t else 0.0)
    return average(values)


def coverage_at(truth, scores, k):
    occurring = set().union(*truth)
    found = set()
    for t, s in zip(truth, scores, strict=True):
        found |= set(ranked(s)[:k]) & t
    return len(found) / len(occurring) if occurring else math.nan


def inverse_propensity(train, n_labels, A, B):
    n = len(train)
    C = max(0.0, (math.log(n) - 1) * (B + 1) ** A)
    frequency = [sum(label in t for t in train) for label in range(n_labels)]
    return [1 + C * (f + B) ** -A for f in frequency]


def psp_at(truth, scores, weight, k):
    got = best = 0.0
    for t, s in zip(truth, scores, strict=True):
        got += sum(weight[label] for label in ranked(s)[:k] if label in t)
        best += sum(sorted((weight[label] for label in t), reverse=True)[:k])
    return got / best if best else math.nan


def psndcg_at(truth, scores, weight, k):
    got = best = 0.0
    for t, s in zip(truth, scores, strict=True):
        if not t:
            continue
        ideal = dcg([1] * min(k, len(t)))
        got += dcg([weight[label] * (label in t) for label in ranked(s)[:k]]) / ideal
        best += dcg(sorted((weight[label] for label in t), reverse=True)[:k]) / ideal
    return got / best if best else math.nan


def set_counts(true, given):
    return len(true & given), len(given), len(true)


def f1_from_counts(right, given, true):
    return 2 * right / (given + true) if given + true else 0.0


def transposed_sets(sets, n_labels):
    return [
        {row for row, labels in enumerate(sets) if label in labels} for label in range(n_labels)
    ]


def transposed_scores(scores, n_labels):
    return [
        {row: s[label] for row, s in enumerate(scores) if label in s} for label in range(n_labels)
    ]


def shares(right, given, true):
    """Precision, recall, F1 and Jaccard index of one item, or None if it is absent."""
    if given + true == 0:
        return None
    precision = right / given if given else 0.0
    recall = right / true if true else 0.0
    return precision, recall, 2 * right / (given + true), right / (given + true - right)


SHARES = {"precision": 0, "recall": 1, "f1": 2, "jaccard": 3}


def set_measure(true_sets, given_sets, name, absent):
    """Mean over items of precision, recall, F1 or the Jaccard index."""
    values = []
    for true, given in zip(true_sets, given_sets, strict=True):
        share = shares(*set_counts(true, given))
        if share is not None:
            values.append(share[SHARES[name]])
        elif absent != "skip":
            values.append(1.0 if absent == "one" else 0.0)
    return average(values)


def micro_f1(true_sets, given_sets):
    counts = [set_counts(t, g) for t, g in zip(true_sets, given_sets, strict=True)]
    return f1_from_counts(*(sum(column) for column in zip(*counts, strict=True)))


def filled(candidates, n_items):
    """A score for every item; those without one are equal and below all others."""
    return [candidates.get(item, -math.inf) for item in range(n_items)]


def full_ranking(true, candidates, n_items):
    """Every measure of one whole ranking, by comparing all pairs; None if there are no pairs."""
    score = filled(candidates, n_items)
    right = sorted(true)
    wrong = [item for item in range(n_items) if item not in true]
    if not right or not wrong:
        return None
    pairs = [(r, w) for r in right for w in wrong]
    worst_rank = {r: sum(s >= score[r] for s in score) for r in right}
    best_wrong = min(1 + sum(s > score[w] for s in score) for w in wrong)
    first = ranked(candidates)[:1]
    return {
        "auc-roc": average(
            [(score[r] > score[w]) + 0.5 * (score[r] == score[w]) for r, w in pairs]
        ),
        "auc-pr": auc_pr(score, true),
        "average-precision": average(
            [sum(score[o] >= score[r] for o in right) / worst_rank[r] for r in right]
        ),
        "one-error": 0.0 if first and first[0] in true else 1.0,
        "is-error": float(any(score[r] <= score[w] for r, w in pairs)),
        "margin": max(0, max(worst_rank.values()) - best_wrong),
        "ranking-loss": average(
            [(score[r] < score[w]) + 0.5 * (score[r] == score[w]) for r, w in pairs]
        ),
        "coverage-error": max(worst_rank.values()),
    }


def auc_pr(score, true):
    """Davis and Goadrich: a point for each true positive, straight lines between the points.

    Points without a true positive are dropped; from recall 0 to the first that is left precision is
    that of this point.
    """
    points = []
    for cut in sorted(set(score), reverse=True):
        above = [item for item, s in enumerate(score) if s >= cut]
        tp = sum(item in true for item in above)
        if tp:
            points.append((tp, len(above) - tp))
    tp, fp = points[0]
    area = tp * tp / (tp + fp)
    for (tp_a, fp_a), (tp_b, fp_b) in itertools.pairwise(points):
        precisions = []
        for x in range(tp_b - tp_a + 1):
            fp = fp_a + (fp_b - fp_a) * x / (tp_b - tp_a) if x else fp_a
            precisions.append((tp_a + x) / (tp_a + x + fp))
        area += sum((p + q) / 2 for p, q in itertools.pairwise(precisions))
    return area / len(true)


def best_f1_prefix(true, candidates):
    """The shortest prefix of a ranking with the highest F1."""
    order = ranked(candidates)
    cuts = range(len(order) + 1)
    return max(cuts, key=lambda n: (f1_from_counts(*set_counts(true, set(order[:n]))), -n))
