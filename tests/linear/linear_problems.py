"""Small problems that the tests of the linear classifiers share."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def make_problem(n_rows=120, n_features=40, n_labels=12, seed=0):
    """Counts and labels that depend on them; the last label has no document, row 0 no word."""
    random = np.random.default_rng(seed)
    counts = random.poisson(0.3, (n_rows, n_features)).astype(float)
    counts[0] = 0
    scores = counts @ random.normal(size=(n_features, n_labels))
    scores += 0.3 * random.normal(size=scores.shape)
    Y = (scores > np.quantile(scores, 0.85, axis=0)).astype(np.int8)
    Y[:, -1] = 0
    return sparse.csr_array(counts), sparse.csr_array(Y)
