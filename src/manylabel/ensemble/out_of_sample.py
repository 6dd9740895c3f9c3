"""Scores of training documents by models that have not seen them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.ensemble.curves import Combination, frequency_group
from manylabel.kernels.logistic import expit

__all__ = ["OutOfSample"]


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
    """

    pattern: sparse.csr_array
    scores: dict[str, NDArray[np.float64]]
    counts: NDArray[np.int64]
    combination: Combination
    proposed: NDArray[np.bool_]

    @cached_property
    def _sums(self) -> NDArray[np.float64]:
        """What all scorers say about each entry."""
        return self.combination(self.scores, self.counts)

    @cached_property
    def _competition(self) -> NDArray[np.float64]:
        """By how much the candidates of each document lower the log-odds of its labels."""
        # Other labels were added because the document has them, which must not tell anything.
        rivals = np.where(self.proposed, self._sums, -np.inf)
        return self.combination.competition(rivals, self.pattern.indptr)

    @cached_property
    def log_odds(self) -> NDArray[np.float64]:
        """Log-odds of each entry of the pattern."""
        return self._sums - np.repeat(self._competition, np.diff(self.pattern.indptr))

    @property
    def probabilities(self) -> sparse.csr_array:
        """Probabilities as a sparse matrix."""
        pattern = self.pattern
        return sparse.csr_array(
            (expit(self.log_odds), pattern.indices, pattern.indptr), shape=pattern.shape
        )

    def shares(self, entry: int) -> dict[str, float]:
        """What each scorer, the label's frequency and its rivals add to an entry's log-odds."""
        group = int(frequency_group(self.counts[[entry]])[0])
        row = int(np.searchsorted(self.pattern.indptr, entry, side="right")) - 1
        shares = {
            "prior": float(self.combination.offsets[group]),
            "rivals": -float(self._competition[row]),
        }
        return shares | {
            name: self.combination.factor(name, group) * float(curve(self.scores[name][[entry]])[0])
            for name, curve in self.combination.curves.items()
        }
