"""Try settings of the LCIF classifiers without searching again.

Neighbours are searched once, with the largest k, and feature similarities computed once; a setting
only combines them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.base import Grid
from manylabel.neighbors.features import FeatureSimilarity
from manylabel.neighbors.index import NeighborIndex
from manylabel.neighbors.source import NeighborSource
from manylabel.neighbors.strategies import Neighbors
from manylabel.neighbors.voting import VotingClassifier, combined
from manylabel.text.weighting import make_weighting

__all__ = ["SharedNeighbors"]


class SharedNeighbors:
    """The work that all settings of k, alpha, beta and lambda share on one fold of the data.

    Parameters
    ----------
    model : VotingClassifier
        Supplies the parameters that a setting does not name.
    X, Y : csr_array
        The documents to learn from.
    grid : mapping of str to sequence
        The values to try.
    held_out : csr_array or array of int
        The documents to score, or row numbers of X, each scored as if it were not in X.
    """

    def __init__(
        self,
        model: VotingClassifier,
        X: sparse.csr_array,
        Y: sparse.csr_array,
        grid: Grid,
        held_out: sparse.csr_array | NDArray[np.int64],
    ) -> None:
        self.model, self.Y = model, Y
        leaves_out = isinstance(held_out, np.ndarray)
        weighting = make_weighting(model.weighting).fit(X)
        weighted = weighting.transform(X)
        queries = weighted[held_out] if leaves_out else weighting.transform(held_out)
        self.queries, self.own = queries, Y[held_out] if leaves_out else None
        lambdas = grid.get("lam", (model.lam,))
        self.neighbors: Neighbors | None = None
        if max(lambdas) > 0:
            index, largest = NeighborIndex(weighted), max(grid.get("k", (model.k,)))
            if leaves_out:
                self.neighbors = index.search_self(largest, rows=held_out, n_jobs=model.n_jobs)
            else:
                self.neighbors = index.search(queries, largest, n_jobs=model.n_jobs)
        self.features: FeatureSimilarity | None = None
        if min(lambdas) < 1:
            self.features = FeatureSimilarity(weighted, Y, model.labels_per_feature)

    def scores(self, setting: Mapping[str, Any]) -> sparse.csr_array:
        """Scores of the held-out documents, under a setting."""

        def parameter(name: str) -> Any:
            return setting.get(name, getattr(self.model, name))

        neighbors = self.neighbors
        if neighbors is not None:
            k = parameter("k")
            neighbors = replace(
                neighbors,
                indices=np.ascontiguousarray(neighbors.indices[:, :k]),
                similarities=np.ascontiguousarray(neighbors.similarities[:, :k]),
            )
        lam = parameter("lam")
        source = NeighborSource(
            None,
            self.Y,
            alpha=parameter("alpha"),
            weight=lam,
            features=self.features,
            beta=parameter("beta"),
            top_words=self.model.candidates,
        )
        candidates = source.vote(self.queries, neighbors, self.own, self.model.n_jobs)
        return candidates.scores(combined(candidates, lam))
