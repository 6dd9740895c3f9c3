"""Where candidates come from: the power of votes, and whether words propose, tried on a sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.ensemble.neighborhood import Neighborhood, recall
from manylabel.metrics import evaluate

__all__ = ["SMALL", "fit_neighborhood"]

#: A corpus of so few non-zeros is small.
SMALL = 500_000
#: Documents on which powers and sources are tried.
_TRIED = 2_000
_POWERS = (1.0, 2.0, 4.0, 8.0)
#: Words propose labels if that raises the nDCG or the recall of candidates by so much.
_WORTH_WORDS = 0.01
#: In a large corpus they are not tried if so many true labels are candidates without them.
_ENOUGH = 0.9
_PROPOSING = {"neighbours", "words"}


def fit_neighborhood(
    rows: sparse.csr_array,
    shared_rows: sparse.csr_array,
    Y: sparse.csr_array,
    held: NDArray[np.int64],
    *,
    k: int,
    near: int,
    alpha: float | str,
    n_candidates: int,
    words: bool | str,
    n_jobs: int | None,
) -> Neighborhood:
    """The neighbourhood of weighted rows; what is "auto" suits a sample of the held-out ones.

    ``shared_rows`` are the rows without words that no other row has.
    """
    power = 2.0 if alpha == "auto" else float(alpha)
    hood = Neighborhood(rows, Y, k=k, near=near, alpha=power, n_candidates=n_candidates)
    sample = held[np.linspace(0, held.size - 1, min(_TRIED, held.size)).astype(np.int64)]
    found = hood.index.search_self(k, rows=sample, n_jobs=n_jobs)

    def worth() -> NDArray[np.float64]:
        """The quality of the first labels by votes, and the recall of all."""
        tried = hood.proposals(shared_rows[sample], found, Y[sample], n_jobs=n_jobs)
        votes = tried.candidates.astype(np.float64)
        votes.data = sum(
            tried.votes[name].astype(np.float64) for name in _PROPOSING & set(tried.votes)
        )
        ndcg = evaluate(Y[sample], votes, metrics=["ndcg@5"])["ndcg@5"]
        return np.array([ndcg, recall(tried.candidates, Y[sample])])

    if alpha == "auto":
        values = {}
        for hood.alpha in _POWERS:
            values[hood.alpha] = worth()[0]
        hood.alpha = max(values, key=lambda power: values[power])
    before = worth()
    worth_trying = rows.nnz <= SMALL or before[1] < _ENOUGH
    if words is True or (words == "auto" and worth_trying):
        hood.learn_words(rows)
        if words == "auto" and (worth() < before + _WORTH_WORDS).all():
            hood.features = None
    return hood
