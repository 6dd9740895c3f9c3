"""Iterative stratification of multi-label data (Sechidis, Tsoumakas and Vlahavas 2011)."""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel


@kernel
def _before(counts, a, b):
    """Whether label a comes before label b: fewer remaining documents, then lower index."""
    return counts[a] < counts[b] or (counts[a] == counts[b] and a < b)


@kernel
def _sift_up(heap, place, counts, at):
    label = heap[at]
    while at > 0:
        parent = (at - 1) // 2
        if not _before(counts, label, heap[parent]):
            break
        heap[at] = heap[parent]
        place[heap[at]] = at
        at = parent
    heap[at] = label
    place[label] = at


@kernel
def _sift_down(heap, place, counts, at, size):
    label = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _before(counts, heap[child + 1], heap[child]):
            child += 1
        if not _before(counts, heap[child], label):
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at] = label
    place[label] = at


@kernel
def _neediest(wanted_label, wanted, preferred):
    """The fold that needs the label most, then documents; ties go on from the preferred one."""
    n_folds = wanted.size
    best = preferred
    for step in range(1, n_folds):
        fold = (preferred + step) % n_folds
        if wanted_label[fold] > wanted_label[best] or (
            wanted_label[fold] == wanted_label[best] and wanted[fold] > wanted[best]
        ):
            best = fold
    return best


@kernel
def stratify(indptr, labels, label_indptr, label_documents, shares, preferred):
    """Assign a fold to each document, starting with the documents of the rarest label."""
    n_documents, n_labels, n_folds = indptr.size - 1, label_indptr.size - 1, shares.size
    wanted = n_documents * shares
    left = np.empty(n_labels, np.int64)
    wanted_labels = np.empty((n_labels, n_folds))
    heap = np.empty(n_labels, np.int64)
    place = np.full(n_labels, -1, np.int64)
    size = 0
    for label in range(n_labels):
        left[label] = label_indptr[label + 1] - label_indptr[label]
        for fold in range(n_folds):
            wanted_labels[label, fold] = left[label] * shares[fold]
        if left[label] > 0:
            heap[size] = label
            place[label] = size
            size += 1
    for at in range(size // 2 - 1, -1, -1):
        _sift_down(heap, place, left, at, size)

    folds = np.full(n_documents, -1, np.int64)
    while size > 0:
        rarest = heap[0]
        for at in range(label_indptr[rarest], label_indptr[rarest + 1]):
            document = label_documents[at]
            if folds[document] >= 0:
                continue
            fold = _neediest(wanted_labels[rarest], wanted, preferred[document])
            folds[document] = fold
            wanted[fold] -= 1
            for entry in range(indptr[document], indptr[document + 1]):
                label = labels[entry]
                wanted_labels[label, fold] -= 1
                left[label] -= 1
                if place[label] > 0:
                    _sift_up(heap, place, left, place[label])
        # All documents of the rarest label have a fold now, and perhaps those of other labels.
        while size > 0 and left[heap[0]] == 0:
            place[heap[0]] = -1
            size -= 1
            if size > 0:
                heap[0] = heap[size]
                _sift_down(heap, place, left, 0, size)

    for document in range(n_documents):
        if folds[document] < 0:
            fold = _neediest(wanted, wanted, preferred[document])
            folds[document] = fold
            wanted[fold] -= 1
    return folds
