"""Papanikolaou and Tsoumakas (2017), tables 2 to 4."""

from __future__ import annotations

from pathlib import Path

from manylabel.compare.plan import Highlight, Plan, Row
from manylabel.compare.presets.corpora import problem, published

__all__ = ["subset_llda"]

_METRICS = ("micro-f1", "macro-f1-one", "p@1", "p@5")
#: Micro-F, Macro-F, P@1, P@5, seconds to train and to predict.
_PUBLISHED: dict[str, dict[str, tuple[float, ...]]] = {
    "bibtex": {
        "FastXML": (0.382, 0.273, 0.645, 0.286, 3, 1),
        "PfastreXML": (0.397, 0.288, 0.565, 0.254, 3, 1),
        "Prior-LDA": (0.363, 0.257, 0.551, 0.238, 29, 73),
        "Dependency-LDA": (0.314, 0.204, 0.501, 0.215, 32, 64),
        "Subset LLDA": (0.384, 0.292, 0.579, 0.243, 29, 22),
    },
    "delicious": {
        "FastXML": (0.347, 0.153, 0.705, 0.596, 6, 3),
        "PfastreXML": (0.322, 0.165, 0.546, 0.482, 7, 5),
        "Prior-LDA": (0.255, 0.100, 0.488, 0.391, 133, 177),
        "Dependency-LDA": (0.273, 0.090, 0.526, 0.416, 77, 183),
        "Subset LLDA": (0.304, 0.136, 0.525, 0.427, 77, 15),
    },
}


def subset_llda(data: Path) -> Plan:
    """Topic models beside trees, each document with as many labels as training documents have."""
    rcut = {"threshold": "top"}
    return Plan(
        "Topic models and extreme classification (tables 2 to 4)",
        (problem(data, "bibtex"), problem(data, "delicious")),
        (
            Row("FastXML", "fastxml", rcut),
            Row("PfastreXML", "pfastrexml", rcut),
            Row("Prior-LDA", "prior-lda", preset="papanikolaou"),
            Row("Dependency-LDA", "dependency-lda", preset="papanikolaou"),
            Row("Subset LLDA", "subset-llda", preset="papanikolaou"),
            Row("Subset LLDA, our defaults", "subset-llda"),
            Row("Ensemble, our defaults", "ensemble", {**rcut, "random_state": 0}),
        ),
        _METRICS,
        seeds=5,
        published=published((*_METRICS, "train-seconds", "predict-seconds"), _PUBLISHED),
        source="Papanikolaou and Tsoumakas (2017), tables 2 to 4",
        notes=(
            "Every document gets as many labels as training documents have on average (rcut).",
            "Macro F1 counts a label that is neither true nor predicted as 1, as the authors' "
            "program does.",
            "The ensemble ran once.",
            "The paper's times are from its own machine; compare them with each other.",
            "Mediamill, EUR-Lex and the paper's larger corpora are not among the data here.",
        ),
        highlights=tuple(
            Highlight(corpus, _METRICS, "Subset LLDA", ("Subset LLDA",))
            for corpus in ("bibtex", "delicious")
        ),
    )
