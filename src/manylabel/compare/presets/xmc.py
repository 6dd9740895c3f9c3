"""The measures of extreme classification, beside label trees of other libraries."""

from __future__ import annotations

from pathlib import Path

from manylabel.compare.plan import Plan, Row
from manylabel.compare.presets.corpora import problem

__all__ = ["xmc"]

_METRICS = tuple(f"{family}@{k}" for family in ("p", "ndcg", "psp") for k in (1, 3, 5))


def xmc(data: Path) -> Plan:
    """P@k, nDCG@k and PSP@k of our models, Parabel, Bonsai and XR-Linear."""
    trees = (
        Row("Parabel (omikuji)", "omikuji:parabel", needs="omikuji"),
        Row("Bonsai (omikuji)", "omikuji:bonsai", needs="omikuji"),
        Row("XR-Linear (libpecos)", "pecos:xr-linear", needs="pecos"),
    )
    rows = (
        Row("Instance kNN", "instance-knn"),
        Row("LCIF", "lcif", {"labels_per_feature": 100}),
        Row("Subset SVM", "subset-svm"),
        Row("Ensemble", "ensemble", needs="manylabel.ensemble"),
        Row("FastXML", "fastxml"),
        Row("PfastreXML", "pfastrexml"),
        *trees,
    )
    titles = (
        Row("Instance kNN", "instance-knn", {"k": 100}),
        Row("Subset SVM", "subset-svm", {"n_neighbors": 100}),
        Row("Ensemble", "ensemble", needs="manylabel.ensemble"),
        *trees,
    )
    return Plan(
        "Extreme classification",
        (problem(data, "eurlex57k"), problem(data, "yso-finna-en")),
        rows,
        _METRICS,
        measured=(*_METRICS, "rp@5", "recall@100", "micro-f1"),
        top=100,
        published={
            ("eurlex57k", "BERT-base, published"): {"p@5": 0.687, "rp@5": 0.796, "ndcg@5": 0.823}
        },
        source="Chalkidis et al. (2019)",
        own_rows={"yso-finna-en": titles},
        notes=(
            "Every model reads tf-idf rows of the same words.",
            "Label sets of YSO-Finna are incomplete, which understates every model's precision.",
        ),
    )
