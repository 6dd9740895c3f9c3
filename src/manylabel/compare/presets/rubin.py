"""Rubin et al. (2012), figures 6, 7, 10 and 11."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from manylabel.compare.plan import Claim, Plan, Row
from manylabel.compare.presets.corpora import problem

__all__ = ["rubin"]

_RANKING = (
    "auc-roc", "auc-pr", "average-precision", "one-error", "is-error", "margin", "ranking-loss"
)  # fmt: skip
_BINARY = tuple(
    f"{average}-f1@{cut}"
    for average in ("micro", "macro")
    for cut in ("proportional", "calibrated", "break-even")
)
_DOCUMENT = (*_RANKING, *_BINARY)
_LABEL = tuple(f"label-{name}" for name in _DOCUMENT)


def _rows(preset: str, changes: dict[str, Any]) -> tuple[Row, ...]:
    whole = {"n_candidates": None, "prune": 0}
    return (
        Row("Dependency-LDA", "dependency-lda", changes, preset=preset),
        Row("Prior-LDA", "prior-lda", changes, preset=preset),
        Row("Flat-LDA", "flat-lda", changes, preset=preset),
        Row("Tuned SVM", "tuned-svm", whole),
        Row("Vanilla SVM", "svm", whole),
    )


def rubin(data: Path) -> Plan:
    """Five models by seven ranking and six binary measures, for documents and for labels."""
    yahoo, eurlex = _rows("rubin-yahoo", {"train_chains": 8, "chains": 10}), _rows(
        "rubin-eurlex", {"train_chains": 1, "chains": 2}
    )  # fmt: skip
    both = ("yahoo-arts", "yahoo-health")
    return Plan(
        "Topic models and SVMs, both pivots (figures 6, 7, 10 and 11)",
        (
            *(problem(data, name, n_train=1000, min_documents=100) for name in both),
            problem(data, "eurlex57k"),
        ),
        yahoo,
        (*_DOCUMENT, *_LABEL),
        seeds=5,
        once=("eurlex57k",),
        own_rows={"eurlex57k": eurlex},
        claims=(
            Claim("Dependency-LDA", "Prior-LDA", _DOCUMENT, dict.fromkeys(both, "13 of 13")),
            Claim("Dependency-LDA", "Flat-LDA", _DOCUMENT, dict.fromkeys(both, "13 of 13")),
            Claim("Prior-LDA", "Flat-LDA", _DOCUMENT, {"yahoo-arts": "13 of 13"}),
            Claim("Tuned SVM", "Vanilla SVM", _DOCUMENT, dict.fromkeys(both, "convincingly")),
            Claim("Dependency-LDA", "Prior-LDA", _LABEL, dict.fromkeys(both, "nearly all")),
            Claim("Dependency-LDA", "Flat-LDA", _LABEL, dict.fromkeys(both, "nearly all")),
            Claim("Tuned SVM", "Vanilla SVM", _LABEL, dict.fromkeys(both, "consistently")),
            Claim("Dependency-LDA", "Tuned SVM", _BINARY, {"yahoo-health": "5 of 6"}),
        ),
        source="Rubin et al. (2012), section 6",
        notes=(
            "The paper's values are in pictures only; what its text says of them stands beside "
            "our counts.",
            "Yahoo: labels of at least 100 documents, 1,000 training documents of random splits, "
            "the paper's settings with 8 chains of training instead of 48 and 10 of prediction "
            "instead of 60.",
            "EURLEX57K is a larger relative of the paper's EUR-Lex: its settings, with 1 chain of "
            "training and 2 of prediction.",
            "SVMs read tf-idf rows of unit length instead of counts that sum to 1.",
        ),
    )
