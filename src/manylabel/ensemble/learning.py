"""Which parts help, and how much, on documents that they had not seen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.ensemble.curves import Combination, Curve, fit_combination, log_loss
from manylabel.metrics import Calibration, evaluate, get_measure
from manylabel.predictions import values_at

__all__ = ["Evidence", "Learned", "choose_parts", "raise_measure"]

#: A part must lower the log-loss by this share to be kept.
_WORTH = 1e-3
#: Candidates on which parts are compared.
_SAMPLE = 60_000
#: Factors by which a part's curve is tried to be stretched.
_STRETCHES = (0.5, 0.7, 0.85, 1.15, 1.4, 2.0)
_ROUNDS = 2


@dataclass(frozen=True)
class Evidence:
    """Out-of-sample scores of candidates.

    Parameters
    ----------
    candidates : csr_array of shape (n_documents, n_labels)
    parts : dict of str to ndarray
        A score of each candidate.
    counts : ndarray
        The number of other training documents of each candidate's label.
    Y : csr_array of shape (n_documents, n_labels)
        The true labels.
    """

    candidates: sparse.csr_array
    parts: dict[str, NDArray[np.float64]]
    counts: NDArray[np.int64]
    Y: sparse.csr_array

    @property
    def rows(self) -> NDArray[np.int64]:
        """The document of each candidate."""
        return np.repeat(np.arange(self.candidates.shape[0]), np.diff(self.candidates.indptr))

    @property
    def truth(self) -> NDArray[np.bool_]:
        """Which candidates are right."""
        return values_at(self.Y, self.candidates) > 0

    def scores(self, values: NDArray[np.float64]) -> sparse.csr_array:
        """Values of the candidates as a matrix of scores."""
        pattern = self.candidates
        return sparse.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)

    def only(self, names: list[str]) -> dict[str, NDArray[np.float64]]:
        """The scores of some parts."""
        return {name: self.parts[name] for name in names}


@dataclass(frozen=True)
class Learned:
    """What an ensemble has found out about its parts, on documents they had not seen.

    Parameters
    ----------
    alone : dict of str to dict
        Measures of each part's ranking alone.
    together : dict
        Measures of the ensemble's.
    gain : dict of str to float
        By how much each part lowers the log-loss of the others, as a share.
    pull : dict of str to float
        How many log-odds each part sets true candidates apart from the others: its weight. 0 for
        parts that were dropped.
    recall : float
        The share of true labels among the candidates.
    n_candidates : float
        Candidates a document.
    calibration : Calibration
        How far probabilities come true; its ``plot`` draws the reliability diagram.
    n_documents : int
        Documents on which it was learned.
    """

    alone: dict[str, dict[str, float]]
    together: dict[str, float]
    gain: dict[str, float]
    pull: dict[str, float]
    recall: float
    n_candidates: float
    calibration: Calibration
    n_documents: int = 0

    def __str__(self) -> str:
        """A table for people."""
        measures = list(self.together)
        lines = [f"{'part':<12}{'weight':>8}{'gain':>8}" + "".join(f"{m:>9}" for m in measures)]
        for name, values in self.alone.items():
            found = "".join(f"{values[m]:>9.3f}" for m in measures)
            lines.append(f"{name:<12}{self.pull[name]:>8.2f}{self.gain[name]:>8.1%}{found}")
        found = "".join(f"{self.together[m]:>9.3f}" for m in measures)
        lines.append(f"{'together':<28}{found}")
        lines.append(
            f"{self.recall:.1%} of the true labels are among {self.n_candidates:.0f} candidates a "
            f"document; learned on {self.n_documents:,} documents. Probabilities are off by "
            f"{self.calibration.error:.4f} on average."
        )
        return "\n".join(lines)


def choose_parts(
    evidence: Evidence, truth: NDArray[np.bool_], protected: tuple[str, ...] = ()
) -> tuple[list[str], dict[str, float]]:
    """Names of the parts that help, and by how much each lowers the log-loss of the rest.

    Curves are learned on every other document and judged on the documents between.
    """
    rows = evidence.rows
    used = rows // 2 % max(1, -(-rows.size // _SAMPLE)) == 0
    learn, judge = used & (rows % 2 == 0), used & (rows % 2 == 1)

    def loss(names: list[str]) -> float:
        """Of some parts, out of sample."""
        given = {name: values[learn] for name, values in evidence.only(names).items()}
        found = fit_combination(given, evidence.counts[learn], truth[learn])
        asked = {name: values[judge] for name, values in evidence.only(names).items()}
        return log_loss(found(asked, evidence.counts[judge]), truth[judge])

    kept = list(evidence.parts)
    gain = dict.fromkeys(kept, 0.0)
    if not truth[learn].any() or not truth[judge].any() or len(kept) < 2:
        return kept, gain
    whole = loss(kept)
    without = {name: loss([other for other in kept if other != name]) for name in kept}
    gain = {name: 1 - whole / value for name, value in without.items()}
    # One at a time, the least useful first: two parts may stand in for each other.
    while len(kept) > 1:
        name = min((n for n in without), key=lambda n: without[n], default=None)
        if name is None or 1 - whole / without[name] >= _WORTH:
            break
        kept.remove(name)
        whole = without[name]
        without = {n: loss([o for o in kept if o != n]) for n in kept if n not in protected}
    return kept, gain


def raise_measure(
    evidence: Evidence, combination: Combination, measure: str, Y_train: sparse.csr_array
) -> Combination:
    """Stretch the parts' curves as long as that raises a measure of the ranking."""
    better = 1 if get_measure(measure).greater_is_better else -1

    def value(tried: Combination) -> float:
        scores = evidence.scores(tried(evidence.parts, evidence.counts))
        return better * evaluate(evidence.Y, scores, Y_train=Y_train, metrics=[measure])[measure]

    best = value(combination)
    for _ in range(_ROUNDS):
        for name in combination.curves:
            for factor in _STRETCHES:
                curve = combination.curves[name]
                stretched = Curve(curve.knots, curve.values * factor)
                tried = replace(combination, curves={**combination.curves, name: stretched})
                if (found := value(tried)) > best:
                    best, combination = found, tried
    return combination
