"""Choose the weight of the loss that an SVM leaves to the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.linear.candidates import train_on_candidates
from manylabel.linear.training import Settings
from manylabel.metrics import ndcg_at
from manylabel.neighbors import NeighborIndex
from manylabel.neighbors.automatic import AUTO
from manylabel.neighbors.source import NeighborSource
from manylabel.scoring import Documents

__all__ = ["AUTO", "USUAL_C", "choose_c"]

#: What suits most texts, and what is tried instead.
USUAL_C = 1.0
_OTHERS = (0.1, 0.3, 3.0)
#: Fewer documents give a random choice; more change it little.
_MIN_DOCUMENTS, _MAX_DOCUMENTS = 50, 2_000
_FOLDS, _NEIGHBORS = 3, 50
#: Standard errors by which another value must be better than the usual one.
_MIN_ERRORS = 2


def choose_c(rows: sparse.csr_array, Y: sparse.csr_array, settings: Settings) -> float:
    """The ``C`` that ranks the labels of held-out documents best.

    Linear models are trained on the labels of neighbours in a sample of the documents, and judged
    by nDCG@5. The usual value is kept unless another is clearly better.

    Parameters
    ----------
    rows : csr_array of shape (n_samples, n_features)
        Weighted rows.
    Y : csr_array of shape (n_samples, n_labels)
    settings : Settings
        Their ``C`` is ignored.
    """
    n_rows = rows.shape[0]
    if n_rows < _MIN_DOCUMENTS:
        return USUAL_C
    order = np.random.default_rng([settings.seed, 5]).permutation(n_rows)
    sample = np.sort(order[:_MAX_DOCUMENTS])
    some, truth = rows[sample], Y[sample]
    itself = np.arange(sample.size)
    near = min(_NEIGHBORS, sample.size - 1)
    source = NeighborSource(NeighborIndex(some), truth, k=near)
    candidates = source.propose(Documents(some), itself, settings.n_jobs).pattern
    folds = (itself % _FOLDS).astype(np.int8)

    def quality(C: float) -> NDArray[np.float64]:
        tried = replace(settings, C=C, tuned=False, verbose=0)
        _, scores, _ = train_on_candidates(some, truth, candidates, tried, folds)
        return np.asarray(ndcg_at(truth, scores, 5, average=False))

    usual = quality(USUAL_C)
    best, highest = USUAL_C, 0.0
    for C in _OTHERS:
        gain = quality(C) - usual
        error = gain.std() / np.sqrt(gain.size)
        if gain.mean() > max(highest, _MIN_ERRORS * error):
            best, highest = C, float(gain.mean())
    return best
