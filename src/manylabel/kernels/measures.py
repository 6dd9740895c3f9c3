"""Loops of the measures: rankings and hits in, one number per row out."""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel


@kernel
def membership(indptr, indices, true_indptr, true_indices):
    """Mark the entries of one sorted sparse matrix that are also in another."""
    hits = np.zeros(indices.size, np.uint8)
    for row in range(indptr.size - 1):
        at, end = true_indptr[row], true_indptr[row + 1]
        for entry in range(indptr[row], indptr[row + 1]):
            while at < end and true_indices[at] < indices[entry]:
                at += 1
            if at < end and true_indices[at] == indices[entry]:
                hits[entry] = 1
    return hits


@kernel
def head(indptr, values, k):
    """The first ``k`` values of each row as a dense array, padded with zeros."""
    top = np.zeros((indptr.size - 1, k), values.dtype)
    for row in range(indptr.size - 1):
        start = indptr[row]
        for place in range(min(k, indptr[row + 1] - start)):
            top[row, place] = values[start + place]
    return top


@kernel
def best_f1_cut(indptr, scores, hits, n_true, whole_ties):
    """The length of the shortest prefix with the highest F1 of each ranked row; 0 without hits.

    With ``whole_ties``, a prefix may not end between equal scores.
    """
    cuts = np.zeros(indptr.size - 1, np.int64)
    for row in range(indptr.size - 1):
        start, stop = indptr[row], indptr[row + 1]
        right = 0
        best = 0.0
        for entry in range(start, stop):
            right += hits[entry]
            if whole_ties and entry + 1 < stop and scores[entry + 1] == scores[entry]:
                continue
            length = entry + 1 - start
            f1 = 2.0 * right / (length + n_true[row])
            if f1 > best:
                best = f1
                cuts[row] = length
    return cuts


@kernel
def full_ranking(indptr, scores, hits, n_true, n_items):
    """Eight measures of each row's full ranking, one per column, in this order.

    Area under ROC, area under precision-recall, average precision, one-error, is-error, margin,
    ranking loss, coverage. Items that are not stored form one last group of equal scores.
    """
    values = np.zeros((indptr.size - 1, 8))
    for row in range(indptr.size - 1):
        start, stop = indptr[row], indptr[row + 1]
        n_right = n_true[row]
        n_wrong = n_items - n_right
        if n_right == 0 or n_wrong == 0:
            values[row, :3] = 1.0
            values[row, 7] = n_right
            continue
        ordered = area = precision_sum = misordered = 0.0
        right = wrong = coverage = best_wrong = 0
        entry = start
        while right + wrong < n_items:
            if entry < stop:
                score = scores[entry]
                group_right = group_wrong = 0
                while entry < stop and scores[entry] == score:
                    group_right += hits[entry]
                    group_wrong += 1 - hits[entry]
                    entry += 1
            else:
                group_right = n_right - right
                group_wrong = n_wrong - wrong
            if group_wrong and best_wrong == 0:
                best_wrong = right + wrong + 1
            if group_right:
                coverage = right + wrong + group_right + group_wrong
                precision_sum += group_right * (right + group_right) / coverage
                ordered += group_right * (n_wrong - wrong - 0.5 * group_wrong)
                misordered += group_right * (wrong + 0.5 * group_wrong)
                if right == 0:
                    # Davis & Goadrich: constant up to the first point with a true positive.
                    area += group_right * group_right / coverage
                else:
                    # Within a group, false positives grow in proportion to true ones.
                    slope = group_wrong / group_right
                    before = right / (right + wrong)
                    for x in range(1, group_right + 1):
                        after = (right + x) / (right + x + wrong + slope * x)
                        area += 0.5 * (before + after)
                        before = after
            right += group_right
            wrong += group_wrong
        values[row, 0] = ordered / (n_right * n_wrong)
        values[row, 1] = area / n_right
        values[row, 2] = precision_sum / n_right
        values[row, 3] = 0.0 if start < stop and hits[start] else 1.0
        values[row, 4] = 1.0 if coverage > best_wrong else 0.0
        values[row, 5] = max(0, coverage - best_wrong)
        values[row, 6] = misordered / (n_right * n_wrong)
        values[row, 7] = coverage
    return values
