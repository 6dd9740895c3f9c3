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
