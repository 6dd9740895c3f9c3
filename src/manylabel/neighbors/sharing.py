"""Try settings of the LCIF classifiers without searching again.

Neighbours are searched once, with the largest k, and feature similarities computed once; a setting
only combines them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.base import Grid
from manylabel.metrics import ndcg_at
from manylabel.neighbors.automatic import (
    AUTO,
    SETTINGS,
    Setting,
    choose_settings,
    documents_to_try,
    first_settings,
    values_of,
)
from manylabel.neighbors.features import FeatureSimilarity
from manylabel.neighbors.index import NeighborIndex
from manylabel.neighbors.source import NeighborSource
from manylabel.neighbors.strategies import Neighbors
from manylabel.neighbors.voting import VotingClassifier, combined
from manylabel.text.weighting import make_weighting

__all__ = ["SharedNeighbors"]


@dataclass(frozen=True)
class SharedNeighbors:
    """The work that all settings of k, alpha, beta and lambda share on one fold of the data.

    Parameters
    ----------
    model : VotingClassifier
        Supplies the parameters that a setting does not name.
    queries : csr_array
        Weighted rows of the documents to score.
    own : csr_array or None
        Their labels, if each is to be scored as if it were not in ``Y``.
    neighbors : Neighbors or None
        Their neighbours.
    features : FeatureSimilarity or None
    Y : csr_array
        The labels of the documents to learn from.
    incomplete : ndarray of bool, optional
        Which of the documents to learn from may have more labels.
    judge : SharedNeighbors, optional
        The same for some of the documents to learn from. It chooses what a setting leaves open.
    """

    model: VotingClassifier
    queries: sparse.csr_array
    own: sparse.csr_array | None
    neighbors: Neighbors | None
    features: FeatureSimilarity | None
    Y: sparse.csr_array
    incomplete: NDArray[np.bool_] | None = None
    judge: SharedNeighbors | None = None

    @classmethod
    def of(
        cls,
        model: VotingClassifier,
        X: sparse.csr_array,
        Y: sparse.csr_array,
        grid: Grid,
        held_out: sparse.csr_array | NDArray[np.int64],
    ) -> SharedNeighbors:
        """Search for the neighbours of held-out documents.

        Parameters
        ----------
        model : VotingClassifier
        X, Y : csr_array
            The documents to learn from.
        grid : mapping of str to sequence
            The values to try.
        held_out : csr_array or array of int
            The documents to score, or row numbers of X, each scored as if it were not in X.
        """
        leaves_out = isinstance(held_out, np.ndarray)
        weighting = make_weighting(model.weighting).fit(X)
        weighted = weighting.transform(X)
        queries = weighted[held_out] if leaves_out else weighting.transform(held_out)
        given = {name: (*grid.get(name, ()), getattr(model, name)) for name in SETTINGS}
        tried = {name: values_of(name, values) for name, values in given.items()}
        index = NeighborIndex(weighted) if max(tried["lam"]) > 0 else None
        features = neighbors = None
        if min(tried["lam"]) < 1:
            features = FeatureSimilarity(weighted, Y, model.labels_per_feature)
        largest = max(tried["k"])
        if index is not None:
            if leaves_out:
                neighbors = index.search_self(largest, rows=held_out, n_jobs=model.n_jobs)
            else:
                neighbors = index.search(queries, largest, n_jobs=model.n_jobs)
        own = Y[held_out] if leaves_out else None
        work = cls(model, queries, own, neighbors, features, Y)
        if not any(AUTO in values for values in given.values()):
            return work
        if leaves_out:
            return replace(work, judge=work._some())
        everyone = np.ones(X.shape[0], np.bool_)
        judge = cls.sampled(model, weighted, Y, index, features, largest, everyone)
        return replace(work, judge=judge)

    @classmethod
    def sampled(
        cls,
        model: VotingClassifier,
        rows: sparse.csr_array,
        Y: sparse.csr_array,
        index: NeighborIndex | None,
        features: FeatureSimilarity | None,
        largest: int,
        known: NDArray[np.bool_],
        incomplete: NDArray[np.bool_] | None = None,
    ) -> SharedNeighbors | None:
        """The work on a sample of the training documents, to choose settings; None if few.

        Parameters
        ----------
        model : VotingClassifier
        rows, Y : csr_array
            Weighted rows and labels of all training documents.
        index, features
            Made of the same rows; None if no setting needs them.
        largest : int
            The largest k to try.
        known : ndarray of bool
            The documents to sample from.
        incomplete : ndarray of bool, optional
        """
        numbers, neighbors = documents_to_try(known), None
        if not numbers.size:
            return None
        if index is not None:
            neighbors = index.search_self(largest, rows=numbers, n_jobs=model.n_jobs)
        return cls(model, rows[numbers], Y[numbers], neighbors, features, Y, incomplete)

    def _some(self) -> SharedNeighbors | None:
        """The same for a sample of documents that are left out; None if there are few."""
        numbers = documents_to_try(np.ones(self.queries.shape[0], np.bool_))
        if not numbers.size:
            return None
        assert self.own is not None
        neighbors = self.neighbors
        if neighbors is not None:
            indices, similarities = neighbors.indices[numbers], neighbors.similarities[numbers]
            neighbors = replace(neighbors, indices=indices, similarities=similarities)
        return replace(
            self, queries=self.queries[numbers], own=self.own[numbers], neighbors=neighbors
        )

    def choose(self, parameters: Mapping[str, Any]) -> Setting:
        """Parameters with the numbers that rank the labels of these documents best."""
        own = self.own
        return choose_settings(
            parameters, lambda setting: float(ndcg_at(own, self.scores(setting), 5))
        )

    def scores(self, setting: Mapping[str, Any]) -> sparse.csr_array:
        """Scores of the held-out documents, under a setting."""
        parameters = {name: setting.get(name, getattr(self.model, name)) for name in SETTINGS}
        if AUTO in parameters.values():
            judge = self.judge
            parameters = first_settings(parameters) if judge is None else judge.choose(parameters)
        neighbors, k, lam = self.neighbors, parameters["k"], parameters["lam"]
        if neighbors is not None:
            neighbors = replace(
                neighbors,
                indices=np.ascontiguousarray(neighbors.indices[:, :k]),
                similarities=np.ascontiguousarray(neighbors.similarities[:, :k]),
            )
        source = NeighborSource(
            None,
            self.Y,
            alpha=parameters["alpha"],
            weight=lam,
            features=self.features,
            beta=parameters["beta"],
            top_words=self.model.candidates,
            incomplete=self.incomplete,
        )
        candidates = source.vote(self.queries, neighbors, self.own, self.model.n_jobs)
        return candidates.scores(combined(candidates, lam))
