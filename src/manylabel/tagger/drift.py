"""Whether probabilities still hold for the documents learned since the training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manylabel.metrics.calibration import Calibration, calibration_of
from manylabel.predictions import values_at
from manylabel.wording import counted

__all__ = ["Drift", "drift_of"]

#: Pairs with a lower probability are ignored: there are very many, and users do not see them.
_MIN_PROBABILITY = 0.1
#: Standard errors between promise and outcome that count as more than chance.
_SIGNIFICANT = 3.0
#: Ratio of new to old documents from which training again pays in any case.
_MAX_NEW_RATIO = 0.2


@dataclass(frozen=True)
class Drift:
    """Compares a model's probabilities for unseen documents with the labels that people gave.

    Attributes
    ----------
    n_documents, n_trained : int
        Documents learned since the training, and training documents that are still there.
    promised : float
        The mean probability of the labels that have at least 0.1.
    accepted : float
        The share of those labels that people gave.
    z : float
        The difference in standard errors: of the documents, or of labels that follow the
        probabilities, whichever is greater. Documents count as independent, labels of a document
        do not.
    calibration : Calibration
        The same comparison, by probability.
    n_changed : int
        Training documents that were changed since. They are not compared: the model has seen them.

    Examples
    --------
    >>> scores = sparse.csr_array([[0.9, 0.5], [0.9, 0.0]])
    >>> drift = drift_of(scores, sparse.csr_array([[1, 0], [1, 0]]), 8)
    >>> round(drift.promised, 3), round(drift.accepted, 3), drift.advice
    (0.767, 0.667, 'Train again: 2 new documents since training on 8.')
    """

    n_documents: int
    n_trained: int
    promised: float
    accepted: float
    z: float
    calibration: Calibration
    n_changed: int = 0

    @property
    def is_significant(self) -> bool:
        """Whether the two differ by more than chance."""
        return abs(self.z) > _SIGNIFICANT

    @property
    def should_retrain(self) -> bool:
        """Whether training again is worth it."""
        n_new = self.n_documents + self.n_changed
        return self.is_significant or n_new >= _MAX_NEW_RATIO * max(self.n_trained, 1)

    @property
    def advice(self) -> str:
        """A sentence that says what to do."""
        if not self.n_documents + self.n_changed:
            return "No documents learned since the training."
        if self.is_significant:
            more = "less" if self.accepted < self.promised else "more"
            return f"Train again: people accept {more} than the model promises."
        if self.should_retrain:
            new = [counted(self.n_documents, "new document")] if self.n_documents else []
            new += [counted(self.n_changed, "changed document")] if self.n_changed else []
            return f"Train again: {' and '.join(new)} since training on {self.n_trained:,}."
        if not self.n_documents:
            changed = counted(self.n_changed, "training document")
            return (
                f"Cannot say whether to train again: only {changed} changed, which the model has "
                "seen, and nothing new was learned."
            )
        return "The probabilities hold; there is no need to train again."


def drift_of(
    scores: sparse.csr_array, truth: sparse.csr_array, n_trained: int, n_changed: int = 0
) -> Drift:
    """Compare the probabilities of documents with the labels that people gave them."""
    rows = np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))
    shown = scores.data >= _MIN_PROBABILITY
    right = values_at(truth, scores) > 0
    promised, accepted = scores.data[shown], right[shown].astype(np.float64)
    differences = np.bincount(rows[shown], accepted - promised, scores.shape[0])
    # A few documents that differ alike would show hardly any spread.
    by_chance = np.sqrt((promised * (1 - promised)).sum())
    error = max(differences.std() * np.sqrt(scores.shape[0]), by_chance)
    return Drift(
        scores.shape[0],
        n_trained,
        float(promised.mean()) if promised.size else 0.0,
        float(accepted.mean()) if accepted.size else 0.0,
        float(differences.sum() / error) if error > 0 else 0.0,
        calibration_of(promised, accepted),
        n_changed,
    )
