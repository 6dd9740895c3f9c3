"""Measures of rankings and of label sets, sparse throughout.

Ranking measures take true labels and scores: a stored score is a candidate, and everything else is
tied below the candidates. Set measures take true and predicted labels. ``MEASURES`` lists all by
name and :func:`evaluate` computes many at once.
"""

from manylabel.metrics.calibration import Calibration, calibration
from manylabel.metrics.coverage import CoverageCurve, coverage_curve
from manylabel.metrics.cutoffs import f1_at_cutoff
from manylabel.metrics.frequency import (
    FrequencyBin,
    FrequencyComparison,
    PairedTest,
    by_frequency,
    compare_by_frequency,
    paired_test,
)
from manylabel.metrics.full_ranking import (
    auc_pr,
    auc_roc,
    average_precision,
    coverage_error,
    is_error,
    margin,
    one_error,
    ranking_loss,
)
from manylabel.metrics.propensity import propensities, psndcg_at, psp_at
from manylabel.metrics.ranking import (
    coverage_at,
    ndcg_at,
    precision_at,
    r_precision_at,
    recall_at,
)
from manylabel.metrics.registry import MEASURES, Measure, evaluate, get_measure
from manylabel.metrics.sets import (
    accuracy,
    f1,
    hamming_loss,
    precision,
    recall,
    subset_accuracy,
)

__all__ = [
    "MEASURES",
    "Calibration",
    "CoverageCurve",
    "FrequencyBin",
    "FrequencyComparison",
    "Measure",
    "PairedTest",
    "accuracy",
    "auc_pr",
    "auc_roc",
    "average_precision",
    "by_frequency",
    "calibration",
    "compare_by_frequency",
    "coverage_at",
    "coverage_curve",
    "coverage_error",
    "evaluate",
    "f1",
    "f1_at_cutoff",
    "get_measure",
    "hamming_loss",
    "is_error",
    "margin",
    "ndcg_at",
    "one_error",
    "paired_test",
    "precision",
    "precision_at",
    "propensities",
    "psndcg_at",
    "psp_at",
    "r_precision_at",
    "ranking_loss",
    "recall",
    "recall_at",
    "subset_accuracy",
]
