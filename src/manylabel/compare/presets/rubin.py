"""Rubin et al. (2012), figures 6, 7, 10 and 11."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manylabel.compare.plan import Claim, Highlight, Plan, Row
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


#: Prediction chains with 30 sweeps each instead of 120, so that there can be more of them.
_SHORT = {"burn_in": 20, "samples": 3, "lag": 5}
#: Fewer than the paper's 48 training chains and 60 prediction chains; the same for all models.
_YAHOO = {"train_chains": 4, "chains": 20, **_SHORT}
_EURLEX = {"train_chains": 1, "chains": 4, **_SHORT}
#: Chains of Dependency-LDA's topics; the paper has 10 chains of 500 sweeps.
_YAHOO_TOPICS = {"topic_chains": 10}
_EURLEX_TOPICS = {"topic_chains": 4, "topic_burn_in": 200}
#: Whole rankings, and no learned threshold: label sets are not compared.
_SVM = {"C": 1.0, "n_candidates": None, "prune": 0, "threshold": "top"}
_SHARES = {**_SVM, "weighting": "share"}
#: On thousands of labels, train each on the documents near its own and a sample of the others.
_NEAR = {"near": 20}


#: The titles of the paper's models.
_MODELS = ("Dependency-LDA", "Prior-LDA", "Flat-LDA", "Tuned SVM", "Vanilla SVM")


def _topic_models(
    preset: str, chains: Mapping[str, Any], topics: Mapping[str, Any]
) -> tuple[Row, ...]:
    return (
        Row("Dependency-LDA", "dependency-lda", {**chains, **topics}, preset=preset),
        Row("Prior-LDA", "prior-lda", chains, preset=preset),
        Row("Flat-LDA", "flat-lda", chains, preset=preset),
    )


def _svms(more: Mapping[str, Any]) -> tuple[Row, ...]:
    """Tuned and vanilla SVMs, on counts that sum to 1 and on tf-idf."""
    return tuple(
        Row(f"{title}{ending}", model, {**settings, **more})
        for ending, settings in (("", _SHARES), (", tf-idf", _SVM))
        for title, model in (("Tuned SVM", "tuned-svm"), ("Vanilla SVM", "svm"))
    )


def rubin(data: Path) -> Plan:
    """Compare five models by seven ranking and six binary measures, for documents and labels."""
    both = ("yahoo-arts", "yahoo-health")
    return Plan(
        "Topic models and SVMs, both pivots (figures 6, 7, 10 and 11)",
        (
            *(problem(data, name, n_train=1000, min_documents=100) for name in both),
            problem(data, "eurlex57k"),
        ),
        (
            *_topic_models("rubin-yahoo", _YAHOO, _YAHOO_TOPICS),
            *_svms({}),
            Row("Ensemble", "ensemble", {"threshold": "top"}),
        ),
        (*_DOCUMENT, *_LABEL),
        seeds=3,
        once=("eurlex57k",),
        own_rows={
            "eurlex57k": (
                Row("Subset LLDA, our defaults", "subset-llda"),
                *_topic_models("rubin-eurlex", _EURLEX, _EURLEX_TOPICS),
                # Tuning helps little on tf-idf rows, and takes long on thousands of labels.
                *(row for row in _svms(_NEAR) if row.title != "Tuned SVM, tf-idf"),
            )
        },
        rankings={"the paper's models": _MODELS},
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
        highlights=tuple(
            Highlight(
                name,
                ("average-precision", "label-average-precision"),
                "Dependency-LDA",
                ("Prior-LDA", "Flat-LDA", "Tuned SVM", "Tuned SVM, tf-idf"),
            )
            for name in both
        ),
        source="Rubin et al. (2012), section 6",
        notes=(
            "The paper has its values in figures only; what its text says about them is shown "
            "beside our counts.",
            "Yahoo: labels of at least 100 documents, random splits with 1,000 training documents, "
            "and the paper's settings with fewer chains: 4 of training instead of 48, and 20 of "
            "prediction with 30 sweeps each instead of 60 with 120; the 10 of label topics are the "
            "paper's. For 300 documents of Arts, Dependency-LDA with 20 chains had an average "
            "precision of 0.630 after 120 sweeps, 0.626 after 30, in a quarter of the time, and "
            "0.616 after 15.",
            "EURLEX57K is larger than the paper's EUR-Lex. It has the same settings, with 1 chain "
            "of training, 4 of prediction with 30 sweeps each for every model, and 4 of label "
            "topics with 200 sweeps instead of 10 with 500. SVMs are trained on each label's "
            "documents, the 20 nearest others of each, and a weighted sample of at least 6,000 of "
            "the rest. Tuning uses a quarter of the sample and 15 sweeps for each weight, and ends "
            "when a greater weight is unlikely to win. For 150 labels, vanilla SVMs on rows that "
            "sum to 1 had a label average precision of 0.480 on the development documents this "
            "way, and 0.494 if trained on all documents; for 60 labels with tf-idf rows it was "
            "0.609 and 0.612. Quick tuning was not compared with exact tuning.",
            "SVMs read counts that sum to 1 per document, as in the paper. Rows marked tf-idf read "
            "tf-idf rows of unit length, with far better results.",
            "The ensemble has default settings and takes no part in the average ranks.",
        ),
    )
