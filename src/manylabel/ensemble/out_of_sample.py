"""Scores of training documents by models that have not seen them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.ensemble.curves import Combination, frequency_group
from manylabel.kernels.logistic import expit
from manylabel.neighbors.strategies import Neighbors
from manylabel.validation import trusted_csr

__all__ = ["OutOfSample", "rounds"]

#: Documents at a time, so that no more than a few arrays have as many numbers as there are pairs.
_ROUND = 16_384


def rounds(ptr: NDArray[Any]) -> Iterator[tuple[slice, slice]]:
    """Consecutive documents, and their entries in a matrix with these row pointers.

    Examples
    --------
    >>> list(rounds(np.array([0, 3, 5])))
    [(slice(0, 2, None), slice(0, 5, None))]
    """
    for start in range(0, ptr.size - 1, _ROUND):
        stop = min(start + _ROUND, ptr.size - 1)
        yield slice(start, stop), slice(int(ptr[start]), int(ptr[stop]))


@dataclass(frozen=True)
class OutOfSample:
    """Scores of labels of training documents, by models that have not seen the document.

    Parameters
    ----------
    pattern : csr_array of shape (n_documents, n_labels), int8
        Ones at the candidates of each document and at the labels that it has.
    scores : dict of str to ndarray
        By scorer, a score for each entry of the pattern.
    counts : ndarray
        For each entry, the number of other training documents that have the label.
    combination : Combination
        Turns scores into log-odds.
    proposed : ndarray of bool
        Which entries are candidates, whether the document has the label or not.
    nearest : Neighbors, optional
        The most similar other document of each.
    """

    pattern: sparse.csr_array
    scores: dict[str, NDArray[np.float64]]
    counts: NDArray[np.int64]
    combination: Combination
    proposed: NDArray[np.bool_]
    nearest: Neighbors | None = None

    @cached_property
    def _judged(self) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """The log-odds of each entry, and by how much the rivals of each document lower them."""
        ptr = self.pattern.indptr
        log_odds, competition = np.empty(self.counts.size, np.float32), np.empty(ptr.size - 1)
        for rows, entries in rounds(ptr):
            scores = {name: self.scores[name][entries] for name in self.combination.curves}
            sums = self.combination(scores, self.counts[entries])
            # Other labels were added because the document has them, which must not tell anything.
            rivals = np.where(self.proposed[entries], sums, -np.inf)
            own = ptr[rows.start : rows.stop + 1] - entries.start
            competition[rows] = self.combination.competition(rivals, own)
            log_odds[entries] = sums - np.repeat(competition[rows], np.diff(own))
        return log_odds, competition

    @property
    def log_odds(self) -> NDArray[np.float32]:
        """Log-odds of each entry of the pattern."""
        return self._judged[0]

    @property
    def probabilities(self) -> sparse.csr_array:
        """Probabilities as a sparse matrix."""
        pattern, found = self.pattern, np.empty(self.counts.size, np.float32)
        for _, entries in rounds(pattern.indptr):
            found[entries] = expit(self.log_odds[entries])
        return trusted_csr(found, pattern.indices, pattern.indptr, pattern.shape)

    def shares(self, entry: int) -> dict[str, float]:
        """What each scorer, the label's frequency and its rivals add to an entry's log-odds."""
        group = int(frequency_group(self.counts[[entry]])[0])
        row = int(np.searchsorted(self.pattern.indptr, entry, side="right")) - 1
        shares = {
            "prior": float(self.combination.offsets[group]),
            "rivals": -float(self._judged[1][row]),
        }
        return shares | {
            name: self.combination.factor(name, group) * float(curve(self.scores[name][[entry]])[0])
            for name, curve in self.combination.curves.items()
        }
