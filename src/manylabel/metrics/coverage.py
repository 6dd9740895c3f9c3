"""Precision, and the share of documents that get labels, at every threshold."""

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
    """Measures of label sets from the strictest threshold to the loosest.

    Attributes
    ----------
    thresholds : ndarray
        Descending.
    precision : ndarray
        The mean share of correct labels in the sets that are not empty.
    coverage : ndarray
        The share of documents whose set is not empty.
    recall : ndarray
        The mean share of true labels that are predicted, over documents that have any.
    n_labels : ndarray
        Predicted labels per document.
    """

    thresholds: NDArray[np.float64]
    precision: NDArray[np.float64]
    coverage: NDArray[np.float64]
    recall: NDArray[np.float64]
    n_labels: NDArray[np.float64]

    def at_precision(self, level: float) -> dict[str, float] | None:
        """The loosest threshold with at least this precision, with the other measures there.

        None if no threshold has it. This describes the measured documents only; for new documents,
        use :class:`manylabel.thresholds.Promise`.
        """
        positions = np.flatnonzero(self.precision >= level)
        if not positions.size:
            return None
        position = positions[-1]
        return {
            "threshold": float(self.thresholds[position]),
            "precision": float(self.precision[position]),
            "coverage": float(self.coverage[position]),
            "recall": float(self.recall[position]),
            "labels": float(self.n_labels[position]),
        }

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw precision over the share of documents that get labels.

        Parameters
        ----------
        path : path, optional
            Also write the figure there; the suffix sets the format, such as ``.svg`` or ``.png``.
        """
        figure, axes = new_axes("share of documents with labels", "share of correct labels")
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
    >>> curve = coverage_curve([[1, 0], [1, 0]], [[0.9, 0.2], [0.3, 0.6]])
    >>> curve.thresholds.tolist(), curve.precision.tolist(), curve.coverage.tolist()
    ([0.9, 0.6, 0.3, 0.2], [1.0, 0.5, 0.75, 0.5], [0.5, 1.0, 1.0, 1.0])
    """
    judged = judge(Y_true, scores)
    rows = np.repeat(np.arange(judged.n_rows), np.diff(judged.indptr))
    ranked = np.sort(judged.scores.astype(np.float64))[::-1]
    positions = np.unique(np.geomspace(1, max(ranked.size, 1), _POINTS).astype(np.int64)) - 1
    cuts = np.unique(ranked[positions[: ranked.size]])[::-1]
    has_labels = judged.n_true > 0
    points = []
    for cut in cuts:
        given = judged.scores >= cut
        n_given = np.bincount(rows[given], minlength=judged.n_rows)
        n_right = np.bincount(rows[given], judged.hits[given], judged.n_rows)
        some = n_given > 0
        shares = (n_right[has_labels] / judged.n_true[has_labels]).mean() if has_labels.any() else 0
        points.append(
            (
                (n_right[some] / n_given[some]).mean(),
                some.mean(),
                shares,
                n_given.mean(),
            )
        )
    measured = np.array(points, np.float64).reshape(-1, 4).T
    return CoverageCurve(cuts, *measured)
