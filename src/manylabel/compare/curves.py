"""Curves of a model's scores: precision against recall, and how far scores are probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from manylabel.metrics.calibration import calibration_of
from manylabel.metrics.judge import Judged

__all__ = ["calibration", "precision_recall"]


def precision_recall(judged: Judged, n_points: int = 120) -> dict[str, list[float]]:
    """The curve over all document-label pairs, each with its own score.

    Pairs that are no candidates are never given, so the curve ends where candidates end.
    """
    order = np.argsort(-judged.scores, kind="stable")
    scores, right = judged.scores[order], np.cumsum(judged.hits[order], dtype=np.float64)
    total = judged.n_true.sum()
    if not scores.size or not total:
        return {"recall": [], "precision": []}
    # Equal scores are given together: only their last pair is a point.
    ends = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))
    recall, precision = right[ends] / total, right[ends] / (ends + 1)
    # Evenly spread over recall; the first and the last point always stay.
    wanted = np.searchsorted(recall, np.linspace(0, recall[-1], n_points))
    kept = np.unique(np.concatenate([[0], wanted.clip(0, ends.size - 1), [ends.size - 1]]))
    return {"recall": recall[kept].tolist(), "precision": precision[kept].tolist()}


def calibration(judged: Judged, n_bins: int = 10) -> dict[str, Any] | None:
    """Mean score and share of right labels in bins of the score, and the expected error.

    None where scores lie outside 0 and 1, and so are no probabilities.
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
