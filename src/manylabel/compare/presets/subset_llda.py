"""Papanikolaou and Tsoumakas (2017): tables 2 to 4, and their future work."""

from __future__ import annotations

from pathlib import Path

from manylabel.compare.plan import Highlight, Plan, Problem, Row
from manylabel.compare.presets.corpora import problem, published

__all__ = ["subset_llda", "trade_off"]

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


_RCUT = {"threshold": "top"}
_PAPER = "papanikolaou"
_MODELS = {
    "Prior-LDA": "prior-lda",
    "Dependency-LDA": "dependency-lda",
    "Subset LLDA": "subset-llda",
}
#: The root mean square length of raw rows. The FastXML program of its authors reads raw rows with
#: C = 1 and a bias of 1; `_program` rescales both to rows of unit length.
_LENGTHS = {"bibtex": 8.41, "delicious": 4.31}


def _program(corpus: str) -> Row:
    """Make a row for FastXML with the settings of its authors' program."""
    length = _LENGTHS[corpus]
    settings = {"weighting": None, "C": length, "bias": round(1 / length, 4)}
    return Row("FastXML, its program's settings", "fastxml", {**_RCUT, **settings})


def _rows(corpus: str) -> tuple[Row, ...]:
    return (
        Row("FastXML", "fastxml", _RCUT),
        _program(corpus),
        Row("PfastreXML", "pfastrexml", _RCUT),
        *(Row(title, model, preset=_PAPER) for title, model in _MODELS.items()),
        *(
            Row(f"{title}, CGS", model, {"inference": "cgs"}, preset=_PAPER)
            for title, model in _MODELS.items()
        ),
        Row("Subset LLDA, prior added", "subset-llda", {"combine": "posterior"}, preset=_PAPER),
        Row("Subset LLDA, our defaults", "subset-llda"),
        Row("Ensemble, our defaults", "ensemble", {**_RCUT, "random_state": 0}),
        Row(
            "Ensemble, thresholds for macro F1",
            "ensemble",
            {"threshold": "best:macro-f1:grouped", "random_state": 0},
        ),
    )


def subset_llda(data: Path) -> Plan:
    """Compare topic models with trees; every document gets the mean number of training labels."""
    return Plan(
        "Topic models and extreme classification (tables 2 to 4)",
        _problems(data),
        _rows("bibtex"),
        _METRICS,
        seeds=3,
        published=published((*_METRICS, "train-seconds", "predict-seconds"), _PUBLISHED),
        source="Papanikolaou and Tsoumakas (2017), tables 2 to 4",
        own_rows={"delicious": _rows("delicious")},
        z_tests="Subset LLDA",
        notes=(
            "Prior-LDA, Dependency-LDA and Subset LLDA have the paper's settings, read in the same "
            "way for all: the training prior 50/L with L the number of the document's labels, "
            "CGS_p, and labels ranked by counts alone. Rows marked CGS count the labels that were "
            "drawn. To add the prior back to the counts is our idea, not the paper's.",
            "Delicious without its unlabelled documents has the 12,910 and 3,181 documents of the "
            "paper's table 1.",
            "Every document gets as many labels as training documents have on average (rcut), "
            "except in the last row: its thresholds, one for each label, are those with the best "
            "macro F1 on held-out training documents, and labels of few documents share one.",
            "Macro F1 counts a label that is neither true nor predicted as 1, as the authors' "
            "program does.",
            "The ensembles ran once.",
            "The paper's times are from its own machine; compare them with each other.",
            "Mediamill, EUR-Lex and the paper's larger corpora are not available.",
        ),
        highlights=tuple(
            Highlight(corpus, _METRICS, "Subset LLDA", ("Subset LLDA",))
            for corpus in ("bibtex", "delicious")
        ),
    )


def trade_off(data: Path) -> Plan:
    """Measure quality against the number of samples, chains and trees: the paper's future work."""
    topics = [
        Row(f"Subset LLDA, {samples} samples", "subset-llda", {"samples": samples}, preset=_PAPER)
        for samples in (1, 5, 30, 100)
    ]
    topics += [
        Row(f"Subset LLDA, {chains} chains of 30", "subset-llda", {"chains": chains}, preset=_PAPER)
        for chains in (4, 10)
    ]
    trees = [
        Row(f"{title}, {n} trees", model, {**_RCUT, "n_trees": n})
        for title, model in (("FastXML", "fastxml"), ("PfastreXML", "pfastrexml"))
        for n in (5, 20, 50, 100)
    ]
    return Plan(
        "Quality against samples and trees (the paper's future work)",
        _problems(data)[:1],
        (*topics, *trees),
        _METRICS,
        source="Papanikolaou and Tsoumakas (2017), section 4.1",
        notes=(
            "The paper expects its method to gain much from more samples, and the trees from more "
            "trees, but does not measure it. One seed.",
        ),
    )


def _problems(data: Path) -> tuple[Problem, ...]:
    return problem(data, "bibtex"), problem(data, "delicious", only_labelled=True)
