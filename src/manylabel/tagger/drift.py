"""Whether probabilities still hold for the documents that people gave since the training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manylabel.metrics.calibration import Calibration, calibration_of
from manylabel.predictions import values_at

__all__ = ["Drift", "drift_of"]

#: Pairs of lower probability are left out: there are very many, and they are not shown.
_LEAST = 0.1
#: Standard errors by which promise and outcome must differ to be more than chance.
_SIGNIFICANT = 3.0
#: New documents beside the old ones after which training again pays in any case.
_MANY = 0.2


@dataclass(frozen=True)
class Drift:
    """What a model promised of documents that it had not seen, and what people accepted.

    Attributes
    ----------
    n_documents, n_trained : int
        Documents learned since the training, and those of the training that are left.
    promised : float
        The mean probability of the labels that were suggested with at least 0.1.
    accepted : float
        The share of them that people gave.
    z : float
        How many standard errors the two are apart; documents are independent, labels are not.
    calibration : Calibration
        The same by probability.

    Examples
    --------
    >>> scores = sparse.csr_array([[0.9, 0.5], [0.9, 0.0]])
    >>> drift = drift_of(scores, sparse.csr_array([[1, 0], [1, 0]]), 8)
    >>> round(drift.promised, 3), round(drift.accepted, 3), drift.advice
    (0.767, 0.667, 'Training again pays: 2 documents came to 8.')
    """

    n_documents: int
    n_trained: int
    promised: float
    accepted: float
    z: float
    calibration: Calibration

    @property
    def is_significant(self) -> bool:
        """Whether promise and outcome differ by more than chance."""
        return abs(self.z) > _SIGNIFICANT

    @property
    def should_retrain(self) -> bool:
        """Whether to train again."""
        return self.is_significant or self.n_documents >= _MANY * max(self.n_trained, 1)

    @property
    def advice(self) -> str:
        """What to do, in a sentence."""
        if not self.n_documents:
            return "No document was learned since the training."
        if self.is_significant:
            more = "less" if self.accepted < self.promised else "more"
            return f"Train again: people accept {more} than the model promises."
        if self.should_retrain:
            came = f"{self.n_documents:,} document{'' if self.n_documents == 1 else 's'} came"
            return f"Training again pays: {came} to {self.n_trained:,}."
        return "The probabilities hold; there is no need to train again."


def drift_of(scores: sparse.csr_array, truth: sparse.csr_array, n_trained: int) -> Drift:
    """Compare probabilities of documents with the labels that people gave them."""
    rows = np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))
    shown = scores.data >= _LEAST
    right = values_at(truth, scores) > 0
    promised, accepted = scores.data[shown], right[shown].astype(np.float64)
    differences = np.bincount(rows[shown], accepted - promised, scores.shape[0])
    error = differences.std() * np.sqrt(scores.shape[0])
    return Drift(
        scores.shape[0],
        n_trained,
        float(promised.mean()) if promised.size else 0.0,
        float(accepted.mean()) if accepted.size else 0.0,
        float(differences.sum() / error) if error > 0 else 0.0,
        calibration_of(promised, accepted),
    )
