"""Loops of the thresholds: from ranked scores to cuts, and from cuts to label sets."""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel


@kernel
def reaches(indptr, indices, scores, thresholds, at_least_one):
    """Mark the entries that reach their label's threshold (one for all, or one for each label).

    With ``at_least_one``, the best entry of each row is marked too, except labels with an infinite
    threshold.
    """
    given = np.zeros(scores.size, np.bool_)
    shared = thresholds.size == 1
    for row in range(indptr.size - 1):
        best = -1
        for entry in range(indptr[row], indptr[row + 1]):
            threshold = thresholds[0] if shared else thresholds[indices[entry]]
            given[entry] = scores[entry] >= threshold
            if threshold < np.inf and (best < 0 or scores[entry] > scores[best]):
                best = entry
        if at_least_one and best >= 0:
            given[best] = True
    return given


@kernel
def between(ranked, start, stop, count):
    """A threshold that keeps the first ``count`` of the descending scores ``start`` to ``stop``."""
    if count == 0:
        return np.nextafter(np.float64(ranked[start]), np.inf)
    last = np.float64(ranked[start + count - 1])
    if start + count == stop:
        return last
    following = np.float64(ranked[start + count])
    middle = following + 0.5 * (last - following)
    return middle if following < middle <= last else last


@kernel
def cuts_between(indptr, ranked, counts):
    """The threshold that keeps the first ``counts`` entries of each non-empty row."""
    thresholds = np.zeros(indptr.size - 1)
    for row in range(indptr.size - 1):
        if indptr[row] < indptr[row + 1]:
            thresholds[row] = between(ranked, indptr[row], indptr[row + 1], counts[row])
    return thresholds


@kernel
def nearest_counts(indptr, ranked, targets):
    """The number of entries of each row nearest its target that does not split equal scores.

    If two are equally near, the smaller.
    """
    counts = np.zeros(indptr.size - 1, np.int64)
    for row in range(indptr.size - 1):
        start, stop = indptr[row], indptr[row + 1]
        gap = abs(targets[row])
        for entry in range(start, stop):
            if entry + 1 < stop and ranked[entry + 1] == ranked[entry]:
                continue
            count = entry + 1 - start
            if abs(count - targets[row]) >= gap:
                break
            gap = abs(count - targets[row])
            counts[row] = count
    return counts


@kernel
def _set_value(kind, right, given, true, absent):
    """Value of a group: 0 F1, 1 Jaccard, 2 precision, 3 recall, 4 same set, 5 minus errors."""
    if given + true == 0:
        return absent
    if kind == 0:
        return 2.0 * right / (given + true)
    if kind == 1:
        return right / (given + true - right)
    if kind == 2:
        return right / given if given else 0.0
    if kind == 3:
        return right / true if true else 0.0
    if kind == 4:
        return 1.0 if right == given == true else 0.0
    return 2.0 * right - given - true


@kernel
def sweep(ranked, groups, hits, right, given, true, kind, absent, skip_absent):
    """How many of the descending entries to assign for the highest mean value over the groups.

    ``right``, ``given`` and ``true`` count each group's labels before the first entry is assigned;
    the first two are changed. With ``skip_absent``, groups without any label are left out of the
    mean. Equal scores are assigned together; if means are equal, the fewest entries win.
    """
    total = 0.0
    present = 0
    for group in range(true.size):
        total += _set_value(kind, right[group], given[group], true[group], absent)
        present += given[group] + true[group] > 0
    scale = max(present, 1) if skip_absent else true.size
    best_count = 0
    best_mean = total / scale
    for entry in range(ranked.size):
        group = groups[entry]
        total -= _set_value(kind, right[group], given[group], true[group], absent)
        present += given[group] + true[group] == 0
        given[group] += 1
        right[group] += hits[entry]
        total += _set_value(kind, right[group], given[group], true[group], absent)
        if entry + 1 < ranked.size and ranked[entry + 1] == ranked[entry]:
            continue
        scale = max(present, 1) if skip_absent else true.size
        # The running total has rounding errors; a real gain is far larger than this.
        if total / scale > best_mean + 1e-12:
            best_mean = total / scale
            best_count = entry + 1
    return best_count


@kernel
def rises_of_worst_share(indptr, scores, hits):
    """How much each ranked entry raises the maximum share of wrong labels in its row so far.

    Equal scores of a row are assigned together, so only the last of them can raise it.
    """
    rises = np.zeros(scores.size)
    for row in range(indptr.size - 1):
        start, stop = indptr[row], indptr[row + 1]
        wrong = 0
        worst = 0.0
        for entry in range(start, stop):
            wrong += hits[entry] == 0
            if entry + 1 < stop and scores[entry + 1] == scores[entry]:
                continue
            share = wrong / (entry + 1 - start)
            if share > worst:
                rises[entry] = share - worst
                worst = share
    return rises
