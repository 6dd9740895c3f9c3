"""Thresholds by trying everything."""

from __future__ import annotations

import math

from naive.measures import ranked


def above(scores, threshold, at_least_one):
    """Label sets at one threshold, or at one for each label (a list)."""
    sets = []
    for candidates in scores:
        cut = {
            label: threshold[label] if isinstance(threshold, list) else threshold
            for label in candidates
        }
        given = {label for label, score in candidates.items() if score >= cut[label]}
        allowed = {label: s for label, s in candidates.items() if cut[label] < math.inf}
        if at_least_one and allowed:
            given.add(ranked(allowed)[0])
        sets.append(given)
    return sets


def distinct_thresholds(scores):
    """One threshold for every way of cutting the scores, from the highest to the lowest."""
    values = sorted({s for row in scores for s in row.values()}, reverse=True)
    return [math.inf, *values]


def every_cut(scores, at_least_one):
    """The label sets at every threshold that makes a difference."""
    # Infinity would forbid a label altogether; any number above the scores will do.
    cuts = [1e9 if cut == math.inf else cut for cut in distinct_thresholds(scores)]
    return [above(scores, cut, at_least_one) for cut in cuts]


def top_documents(scores, label, count):
    """The best documents of a label."""
    column = {row: s[label] for row, s in enumerate(scores) if label in s}
    return set(ranked(column)[:count])


def losses(scores, truth, measure, threshold):
    """Of each document at a threshold: the share of labels missed, or of labels wrongly given."""
    found = []
    for given, true in zip(above(scores, threshold, False), truth, strict=True):
        if measure == "recall":
            found.append(1 - len(given & true) / len(true) if true else 0.0)
        else:
            found.append(len(given - true) / len(given) if given else 0.0)
    return found


def promised_recall(scores, truth, alpha):
    """The highest threshold at which conformal risk control bounds the share of labels missed."""
    some = [row for row, true in enumerate(truth) if true]
    n = len(some)
    for threshold in distinct_thresholds(scores):
        missed = losses(scores, truth, "recall", threshold)
        if (sum(missed[row] for row in some) + 1) / (n + 1) <= alpha + 1e-12:
            return above(scores, threshold, False)
    return None


def promised_fdr(scores, truth, alpha):
    """The label sets at the lowest threshold whose losses, worst so far, are low enough."""
    n = len(scores)
    worst, best = [0.0] * n, None
    for threshold in distinct_thresholds(scores):
        worst = list(map(max, worst, losses(scores, truth, "fdr", threshold)))
        if (sum(worst) + 1) / (n + 1) <= alpha + 1e-12:
            best = above(scores, threshold, False)
    return best
