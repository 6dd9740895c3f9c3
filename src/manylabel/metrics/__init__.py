"""Measures of rankings and of label sets, sparse throughout.

Ranking measures take true labels and scores, of which a stored entry is a candidate and everything
else is tied below the candidates; set measures take true and predicted labels.
"""

from manylabel.metrics.cutoffs import f1_at_cutoff
from manylabel.metrics.ranking import (
    coverage_at,
    ndcg_at,
    precision_at,
    r_precision_at,
    recall_at,
)
from manylabel.metrics.sets import (
    accuracy,
    f1,
    hamming_loss,
    precision,
    recall,
    subset_accuracy,
)

__all__ = [
    "accuracy",
    "coverage_at",
    "f1",
    "f1_at_cutoff",
    "hamming_loss",
    "ndcg_at",
    "precision",
    "precision_at",
    "r_precision_at",
    "recall",
    "recall_at",
    "subset_accuracy",
]
