"""Why a label was given: reasons whose shares add up to its score."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

__all__ = ["Explanation", "Reason"]


@dataclass(frozen=True)
class Reason:
    """One addend of a score.

    Parameters
    ----------
    kind : str
        What the reason is: ``"neighbour"``, ``"word"``, ``"prior"``, ``"bias"`` or the name of a
        part of a combined model.
    share : float
        What it adds to the score.
    index : int, optional
        The training document of a neighbour, the feature of a word.
    similarity : float, optional
        Of a neighbour to the document.
    reasons : tuple of Reason
        Reasons for this reason; for a neighbour, the words it shares with the document, whose
        shares add up to its similarity; for a part of a combined model, its own reasons, whose
        shares add up to this share.
    """

    kind: str
    share: float
    index: int | None = None
    similarity: float | None = None
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """The reasons for one label of one document, greatest share first.

    Parameters
    ----------
    row : int
        The document, by its row in the matrix that was explained.
    label : int
        The label, by its column.
    score : float
        As :meth:`decision_function` gives it, unless there is a ``probability``.
    reasons : tuple of Reason
        Their shares sum to the score.
    probability : float, optional
        What the score means, where :meth:`decision_function` gives probabilities.

    Examples
    --------
    >>> why = Explanation(0, 3, 0.5, (Reason("neighbour", 0.3, 7), Reason("neighbour", 0.2, 2)))
    >>> round(why.total, 6)
    0.5
    """

    row: int
    label: int
    score: float
    reasons: tuple[Reason, ...] = field(default=())
    probability: float | None = None

    @property
    def total(self) -> float:
        """The sum of the shares."""
        return math.fsum(reason.share for reason in self.reasons)
