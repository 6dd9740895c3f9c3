"""Extreme classification: its measures, and label trees of other libraries."""

from __future__ import annotations

from pathlib import Path

from manylabel.compare.plan import Highlight, Plan, Row
from manylabel.compare.presets.corpora import problem
from manylabel.neighbors.grids import FEATURES, INSTANCES, LAMBDAS

__all__ = ["xmc"]

_METRICS = tuple(f"{family}@{k}" for family in ("p", "ndcg", "psp") for k in (1, 3, 5))


def xmc(data: Path) -> Plan:
    """Compare our models with Parabel, Bonsai and XR-Linear by P@k, nDCG@k and PSP@k."""
    trees = (
        Row("Parabel (omikuji)", "omikuji:parabel", needs="omikuji"),
        Row("Bonsai (omikuji)", "omikuji:bonsai", needs="omikuji"),
        Row("XR-Linear (libpecos)", "pecos:xr-linear", needs="pecos"),
    )
    # Label sets are not compared here, so thresholds need not be learned.
    top, tuned = {"threshold": "top-5"}, ("ndcg@5",)
    neighbors = {**top, "k": 50, "alpha": 2.0}
    both = {**neighbors, "beta": 1.0, "lam": 0.8, "labels_per_feature": 100}
    rows = (
        Row("Instance kNN, tuned", "instance-knn", neighbors, tuned_for=tuned, grid=INSTANCES),
        Row("LCIF, tuned", "lcif", both, tuned_for=tuned, grid=INSTANCES | FEATURES | LAMBDAS),
        Row("Subset SVM", "subset-svm", top),
        Row("Ensemble", "ensemble", top),
        *trees,
    )
    titles = (
        Row("Instance kNN, tuned", "instance-knn", neighbors, tuned_for=tuned, grid=INSTANCES),
        Row("Subset SVM", "subset-svm", {**top, "n_neighbors": 100}),
        Row("Ensemble", "ensemble", top),
        *trees,
    )
    return Plan(
        "Extreme classification",
        (problem(data, "eurlex57k"), problem(data, "yso-finna-en")),
        rows,
        _METRICS,
        measured=(*_METRICS, "rp@5", "recall@100"),
        top=100,
        published={
            ("eurlex57k", "BERT-base, published"): {"p@5": 0.687, "rp@5": 0.796, "ndcg@5": 0.823}
        },
        source="Chalkidis et al. (2019)",
        own_rows={"yso-finna-en": titles},
        highlights=(
            *(
                Highlight(
                    name, ("p@1", "p@3", "p@5"), "Ensemble", tuple(row.title for row in trees)
                )
                for name in ("eurlex57k", "yso-finna-en")
            ),
            Highlight(
                "eurlex57k", ("p@5", "rp@5", "ndcg@5"), "Ensemble", ("BERT-base, published",)
            ),
        ),
        notes=(
            "Every model reads tf-idf rows of the same words. Tuned models are tuned for nDCG@5 by "
            "leave-one-out on 2,000 training documents; training time includes this.",
            "XR-Linear may run in a separate environment, as it did for the results in the "
            "documentation; the memory shown is then not that of XR-Linear.",
            "Label sets of YSO-Finna are incomplete, which understates every model's precision.",
        ),
    )
