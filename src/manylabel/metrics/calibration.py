"""Calibration: how close scores are to probabilities."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manylabel.exceptions import InputError
from manylabel.metrics.judge import judge
from manylabel.plotting import finished, new_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Calibration", "calibration", "calibration_of"]


@dataclass(frozen=True)
class Calibration:
    """Candidates in bins of their score: the mean score, and the share that is correct.

    Attributes
    ----------
    scores : ndarray
        The mean score in each bin that is not empty.
    right : ndarray
        The share of correct labels in it.
    n_pairs : ndarray
        The number of candidates in it.
    """

    scores: NDArray[np.float64]
    right: NDArray[np.float64]
    n_pairs: NDArray[np.int64]

    @property
    def error(self) -> float:
        """The expected calibration error: the mean over candidates of |score - share|."""
        total = max(int(self.n_pairs.sum()), 1)
        return float(self.n_pairs @ np.abs(self.scores - self.right) / total)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the reliability diagram: on the diagonal, scores are probabilities.

        Parameters
        ----------
        path : path, optional
            Also write the figure there; the suffix sets the format, such as ``.svg`` or ``.png``.
        """
        figure, axes = new_axes("probability", "share of correct labels")
        axes.plot([0, 1], [0, 1], color="#888888", linewidth=1, linestyle=(0, (4, 3)))
        axes.plot(self.scores, self.right, marker="o", label=f"error {self.error:.4f}")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.02)
        axes.legend(frameon=False, loc="upper left")
        return finished(figure, path)


def calibration(Y_true: Any, scores: Any, n_bins: int = 10) -> Calibration:
    """Compare scores with the share of labels that are correct.

    Parameters
    ----------
    Y_true : indicator matrix of shape (n_samples, n_labels)
    scores : sparse matrix of shape (n_samples, n_labels)
        Probabilities of candidates; labels that are not stored are not candidates.
    n_bins : int, default=10
        Bins of equal width.

    Examples
    --------
    >>> measured = calibration([[1, 0], [1, 0]], [[0.9, 0.2], [0.7, 0.4]])
    >>> measured.right.tolist(), round(measured.error, 2)
    ([0.0, 0.0, 1.0, 1.0], 0.25)
    """
    judged = judge(Y_true, scores)
    if judged.scores.size and (judged.scores.min() < 0 or judged.scores.max() > 1):
        raise InputError("scores must be probabilities between 0 and 1.")
    return calibration_of(judged.scores, judged.hits, n_bins)


def calibration_of(scores: NDArray[Any], hits: NDArray[Any], n_bins: int = 10) -> Calibration:
    """As `calibration`, for single pairs: their scores between 0 and 1, and which are correct."""
    values = scores.astype(np.float64)
    bins = np.minimum((values * n_bins).astype(int), n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    some = counts > 0
    return Calibration(
        np.bincount(bins, values, n_bins)[some] / counts[some],
        np.bincount(bins, hits, n_bins)[some] / counts[some],
        counts[some],
    )
