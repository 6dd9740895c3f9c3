"""How precise answers are, and how many documents get one, at every threshold."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manylabel.metrics.judge import judge
from manylabel.plotting import finished, new_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CoverageCurve", "coverage_curve"]

#: Thresholds at which the curve is measured.
_POINTS = 200


@dataclass(frozen=True)
class CoverageCurve:
    """What label sets are like from the strictest threshold to the loosest.

    Attributes
    ----------
    thresholds : ndarray
        Falling.
    precision : ndarray
        The mean share of right labels in the sets that are not empty.
    coverage : ndarray
        The share of documents whose set is not empty.
    recall : ndarray
        The mean share of true labels that are given, over documents that have any.
    n_labels : ndarray
        Labels given per document.
    """

    thresholds: NDArray[np.float64]
    precision: NDArray[np.float64]
    coverage: NDArray[np.float64]
    recall: NDArray[np.float64]
    n_labels: NDArray[np.float64]

    def at_precision(self, level: float) -> dict[str, float] | None:
        """The loosest threshold with at least this precision here, and what else holds there.

        None if no threshold has it. This looks back at the documents at hand: what will hold of
        others, :class:`manylabel.thresholds.Promise` says.
        """
        places = np.flatnonzero(self.precision >= level)
        if not places.size:
            return None
        place = places[-1]
        return {
            "threshold": float(self.thresholds[place]),
            "precision": float(self.precision[place]),
            "coverage": float(self.coverage[place]),
            "recall": float(self.recall[place]),
            "labels": float(self.n_labels[place]),
        }

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw precision over the share of documents that get labels.

        Parameters
        ----------
        path : path, optional
            Also write the figure there; the ending tells the kind, such as ``.svg`` or ``.png``.
        """
        figure, axes = new_axes("share of documents with labels", "share of right labels")
        axes.plot(self.coverage, self.precision)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.02)
        axes.grid(alpha=0.3)
        return finished(figure, path)


def coverage_curve(Y_true: Any, scores: Any) -> CoverageCurve:
    """Measure label sets at every threshold from strict to loose.

    Parameters
    ----------
    Y_true : indicator matrix of shape (n_samples, n_labels)
    scores : sparse matrix of shape (n_samples, n_labels)

    Examples
    --------
    >>> found = coverage_curve([[1, 0], [1, 0]], [[0.9, 0.2], [0.3, 0.6]])
    >>> found.thresholds.tolist(), found.precision.tolist(), found.coverage.tolist()
    ([0.9, 0.6, 0.3, 0.2], [1.0, 0.5, 0.75, 0.5], [0.5, 1.0, 1.0, 1.0])
    """
    judged = judge(Y_true, scores)
    rows = np.repeat(np.arange(judged.n_rows), np.diff(judged.indptr))
    ranked = np.sort(judged.scores.astype(np.float64))[::-1]
    places = np.unique(np.geomspace(1, max(ranked.size, 1), _POINTS).astype(np.int64)) - 1
    cuts = np.unique(ranked[places[: ranked.size]])[::-1]
    has_labels = judged.n_true > 0
    found = []
    for cut in cuts:
        given = judged.scores >= cut
        n_given = np.bincount(rows[given], minlength=judged.n_rows)
        n_right = np.bincount(rows[given], judged.hits[given], judged.n_rows)
        some = n_given > 0
        shares = (n_right[has_labels] / judged.n_true[has_labels]).mean() if has_labels.any() else 0
        found.append(
            (
                (n_right[some] / n_given[some]).mean(),
                some.mean(),
                shares,
                n_given.mean(),
            )
        )
    measured = np.array(found, np.float64).reshape(-1, 4).T
    return CoverageCurve(cuts, *measured)
