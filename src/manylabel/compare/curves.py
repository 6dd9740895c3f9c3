"""Curves of a model's scores: precision against recall, and calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from manylabel.metrics.calibration import calibration_of
from manylabel.metrics.judge import Judged

__all__ = ["calibration", "precision_recall"]


def precision_recall(judged: Judged, n_points: int = 120) -> dict[str, list[float]]:
    """Precision and recall over all document-label pairs, as the threshold falls.

    Pairs that are not candidates are never predicted, so the curve ends with the candidates.
    """
    order = np.argsort(-judged.scores, kind="stable")
    scores, right = judged.scores[order], np.cumsum(judged.hits[order], dtype=np.float64)
    total = judged.n_true.sum()
    if not scores.size or not total:
        return {"recall": [], "precision": []}
    # Pairs with equal scores are predicted together: only the last one is a point.
    ends = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))
    recall, precision = right[ends] / total, right[ends] / (ends + 1)
    # Choose points evenly spread over recall, including the first and the last.
    wanted = np.searchsorted(recall, np.linspace(0, recall[-1], n_points))
    kept = np.unique(np.concatenate([[0], wanted.clip(0, ends.size - 1), [ends.size - 1]]))
    return {"recall": recall[kept].tolist(), "precision": precision[kept].tolist()}


def calibration(judged: Judged, n_bins: int = 10) -> dict[str, Any] | None:
    """Mean score and share of right labels per bin of scores, and the expected error.

    None if scores are not between 0 and 1, and thus not probabilities.
    """
    scores, hits = judged.scores, judged.hits
    if not scores.size or scores.min() < 0 or scores.max() > 1:
        return None
    bins = calibration_of(scores, hits, n_bins)
    return {
        "score": bins.scores.tolist(),
        "right": bins.right.tolist(),
        "pairs": bins.n_pairs.tolist(),
        "expected-error": bins.error,
    }
