"""What is known of training documents without them."""

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
        By scorer, a score of each of them.
    counts : ndarray
        The number of other training documents of each one's label.
    combination : Combination
        Makes log-odds of the scores.
    proposed : ndarray of bool
        Which of them are candidates, whether the document has them or not.
    """

    pattern: sparse.csr_array
    scores: dict[str, NDArray[np.float64]]
    counts: NDArray[np.int64]
    combination: Combination
    proposed: NDArray[np.bool_]

    @cached_property
    def log_odds(self) -> NDArray[np.float64]:
        """Of each entry of the pattern."""
        return self.combination(self.scores, self.counts)

    @property
    def probabilities(self) -> sparse.csr_array:
        """As a matrix of scores."""
        pattern = self.pattern
        return sparse.csr_array(
            (expit(self.log_odds), pattern.indices, pattern.indptr), shape=pattern.shape
        )

    def shares(self, entry: int) -> dict[str, float]:
        """What each scorer, and the label's frequency, add to the log-odds of an entry."""
        group = int(frequency_group(self.counts[[entry]])[0])
        return {"prior": float(self.combination.offsets[group])} | {
            name: self.combination.factor(name, group) * float(curve(self.scores[name][[entry]])[0])
            for name, curve in self.combination.curves.items()
        }
