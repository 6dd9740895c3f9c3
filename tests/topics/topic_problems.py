"""Corpora for the tests of topic models."""

from __future__ import annotations

import numpy as np
from naive import topics as naive

from manylabel.topics import DependencyLDA, FlatLDA, PriorLDA, SubsetLLDA

MODELS = [FlatLDA, PriorLDA, DependencyLDA, SubsetLLDA]
INFERENCES = ["cgs", "cgs_p", "cvb0"]


def generated(seed=0, n_documents=300, n_words=40, n_labels=6, length=60):
    """A corpus drawn from the model itself: X, Y and the true phi."""
    return naive.generate(np.random.default_rng(seed), n_documents, n_words, n_labels, length)


def clear_cut():
    """Two groups of labels that never mix, each label with words of its own."""
    random = np.random.default_rng(3)
    X, Y = np.zeros((80, 24)), np.zeros((80, 8), int)
    for d in range(80):
        group = d % 2
        labels = 4 * group + random.choice(4, size=2, replace=False)
        Y[d, labels] = 1
        for label in labels:
            np.add.at(X[d], 3 * label + random.integers(3, size=10), 1)
    return X, Y
