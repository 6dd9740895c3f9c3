"""A report on the scorers of an ensemble."""

from __future__ import annotations

from dataclasses import dataclass

from manylabel.metrics import Calibration
from manylabel.wording import counted

__all__ = ["Report"]


@dataclass(frozen=True)
class Report:
    """How much each scorer of an ensemble helps on documents that it has not seen.

    Parameters
    ----------
    alone : dict of str to dict
        Measures of each scorer's own ranking.
    together : dict
        Measures of the ensemble's ranking.
    gain : dict of str to float
        The share by which each scorer lowers the log-loss of the others.
    pull : dict of str to float
        The weight of each scorer: the mean log-odds that it adds to true candidates, minus those
        that it adds to others. 0 for scorers that were dropped.
    recall : float
        The share of true labels that are among the candidates.
    n_candidates : float
        Candidates per document.
    calibration : Calibration
        How well probabilities are calibrated; its ``plot`` draws the reliability diagram.
    n_documents : int
        Held-out documents.
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
        """The report as a table."""
        measures = list(self.together)
        lines = [f"{'scorer':<12}{'weight':>8}{'gain':>8}" + "".join(f"{m:>9}" for m in measures)]
        for name, values in self.alone.items():
            cells = "".join(f"{values[m]:>9.3f}" for m in measures)
            lines.append(f"{name:<12}{self.pull[name]:>8.2f}{self.gain[name]:>8.1%}{cells}")
        cells = "".join(f"{self.together[m]:>9.3f}" for m in measures)
        lines.append(f"{'together':<28}{cells}")
        lines.append(
            f"{self.recall:.1%} of the true labels are among {self.n_candidates:.0f} candidates "
            f"per document; learned on {counted(self.n_documents, 'document')}. Probabilities are "
            f"off by {self.calibration.error:.4f} on average."
        )
        return "\n".join(lines)
