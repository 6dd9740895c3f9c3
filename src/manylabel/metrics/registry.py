"""Every measure by name, and many of them at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manylabel.exceptions import InputError, ParameterError
from manylabel.metrics import cutoffs, full_ranking, propensity, ranking, sets
from manylabel.metrics.judge import Judged, Pivot, check_truth, judge_matrices, mean
from manylabel.predictions import canonical_scores
from manylabel.validation import check_labels, check_whole

__all__ = ["MEASURES", "Inputs", "Measure", "evaluate", "get_measure"]

_WORDS = {"scores": "scores", "labels": "Y_pred", "train": "Y_train"}


class Inputs:
    """The input of measures; what several measures share is computed once."""

    def __init__(self, Y_true: Any, scores: Any, Y_pred: Any, Y_train: Any) -> None:
        self.scores = None if scores is None else canonical_scores(scores)
        self.labels = None if Y_pred is None else check_labels(Y_pred, "Y_pred")
        for matrix, name in ((self.scores, "scores"), (self.labels, "Y_pred")):
            if matrix is not None:
                self.truth = check_truth(Y_true, matrix, name)
        if self.scores is None and self.labels is None:
            raise InputError("nothing to measure: pass scores, Y_pred or both.")
        self.train = (
            None
            if Y_train is None
            else check_labels(Y_train, "Y_train", n_columns=self.truth.shape[1])
        )
        self._rank_values: dict[str, NDArray[np.float64]] = {}
        self._judged: dict[str, Judged] = {}

    def has(self, needs: frozenset[str]) -> bool:
        """Whether everything a measure needs is given."""
        return all(getattr(self, name) is not None for name in needs)

    def judged(self, pivot: Pivot) -> Judged:
        """The judged rankings of documents or labels."""
        if pivot not in self._judged:
            self._judged[pivot] = judge_matrices(self.truth, self.scores, pivot, self.train)
        return self._judged[pivot]

    def rank_value(self, pivot: Pivot, name: str) -> float:
        """The mean of a measure of whole rankings."""
        if pivot not in self._rank_values:
            self._rank_values[pivot] = full_ranking.rank_values(self.judged(pivot))
        return mean(self._rank_values[pivot][:, full_ranking.FULL_MEASURES.index(name)])

    @cached_property
    def counts(self) -> sets.SetCounts:
        """Counts of correct, predicted and true labels, by label and by document."""
        return sets.count(self.truth, self.labels)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """One over each label's propensity, with the default A and B."""
        return 1.0 / propensity.propensities(self.train)


@dataclass(frozen=True)
class Measure:
    """A measure with a name.

    A name that ends in ``@k`` stands for a family: use :func:`get_measure` for ``p@5``.
    """

    name: str
    description: str
    #: Any of "scores", "labels" (predicted sets) and "train" (training labels).
    needs: frozenset[str]
    greater_is_better: bool
    function: Callable[..., float]
    k: int | None = None

    @property
    def is_share(self) -> bool:
        """Whether values lie between 0 and 1; the others are ranks."""
        return not self.name.endswith(("margin", "coverage-error"))

    @property
    def is_family(self) -> bool:
        """Whether the name needs a number in place of k."""
        return self.name.endswith("@k")

    @property
    def reads_top(self) -> bool:
        """Whether only the k best labels of each document count."""
        return self.k is not None and self.name.partition("@")[0] in ranking.TOP_MEASURES

    def at(self, k: int) -> Measure:
        """The member of a family for one k."""
        return replace(self, name=f"{self.name[:-1]}{k}", k=k)

    def by_document(self, judged: Judged) -> NDArray[np.float64]:
        """The value of each document; only for measures whose `reads_top` is true."""
        assert self.k is not None
        return ranking.TOP_MEASURES[self.name.partition("@")[0]](judged, self.k)

    def compute(self, inputs: Inputs) -> float:
        """Compute the value; an error names missing inputs."""
        if not inputs.has(self.needs):
            wanted = ", ".join(
                word
                for need, word in _WORDS.items()
                if need in self.needs and getattr(inputs, need) is None
            )
            raise InputError(f"{self.name} needs {wanted}.")
        return self.function(inputs) if self.k is None else self.function(inputs, self.k)


def get_measure(name: str) -> Measure:
    """Find a measure by name.

    Parameters
    ----------
    name : str
        A key of ``MEASURES``, with a number in place of a final k.

    Examples
    --------
    >>> get_measure("p@5").description
    'precision among the k best labels'
    >>> get_measure("ranking-loss").greater_is_better
    False
    """
    if name in MEASURES and not MEASURES[name].is_family:
        return MEASURES[name]
    number = re.fullmatch(r"(.+@)([1-9]\d*)", str(name))
    if number and number[1] + "k" in MEASURES:
        return MEASURES[number[1] + "k"].at(int(number[2]))
    if name in MEASURES:
        raise ParameterError(f"{name} needs a number in place of k, such as {name[:-1]}5.")
    k = number[2] if number else "5"
    known = [m.at(int(k)).name if m.is_family else m.name for m in MEASURES.values()]
    near = get_close_matches(str(name), known, n=3, cutoff=0.75)
    raise ParameterError(
        f"unknown measure {name!r}; "
        + (f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(MEASURES)}.")
    )


def _top_entries() -> list[Measure]:
    """Measures of the k best labels."""
    descriptions = {
        "p": "precision among the k best labels",
        "recall": "share of a document's true labels among its k best",
        "rp": "R-precision: hits among the k best over the possible maximum",
        "ndcg": "normalised discounted cumulative gain of the k best labels",
    }

    def by_document(family: str) -> Callable[[Inputs, int], float]:
        values = ranking.TOP_MEASURES[family]
        return lambda inputs, k: mean(values(inputs.judged("document"), k))

    scores, train = frozenset({"scores"}), frozenset({"scores", "train"})
    return [
        *(
            Measure(f"{family}@k", text, scores, True, by_document(family))
            for family, text in descriptions.items()
        ),
        Measure(
            "coverage@k",
            "share of the true labels that are a hit for some document",
            scores,
            True,
            lambda inputs, k: ranking.coverage_of(inputs.judged("document"), k),
        ),
        Measure(
            "psp@k",
            "propensity-scored precision among the k best labels",
            train,
            True,
            lambda inputs, k: propensity.psp_of(
                inputs.judged("document"), inputs.truth, inputs.weights, k
            ),
        ),
        Measure(
            "psndcg@k",
            "propensity-scored nDCG of the k best labels",
            train,
            True,
            lambda inputs, k: propensity.psndcg_of(
                inputs.judged("document"), inputs.truth, inputs.weights, k
            ),
        ),
    ]


def _set_entries() -> list[Measure]:
    """Measures of label sets."""
    labels = frozenset({"labels"})
    over = {
        "micro": "over all document-label pairs",
        "macro": "averaged over labels, an absent label counting as 0",
        "example": "averaged over documents",
    }

    def averaged(average: str, name: str, absent: str = "zero") -> Callable[[Inputs], float]:
        return lambda inputs: mean(
            getattr(inputs.counts.averaged_over(average), name)(absent)  # type: ignore[arg-type]
        )

    return [
        *(
            Measure(
                f"{average}-{name}",
                f"{'F1' if name == 'f1' else name} {text}",
                labels,
                True,
                averaged(average, name),
            )
            for average, text in over.items()
            for name in ("f1", "precision", "recall")
        ),
        Measure(
            "macro-f1-one",
            "F1 averaged over labels, an absent label counting as 1 as in Mulan",
            labels,
            True,
            averaged("macro", "f1", "one"),
        ),
        Measure(
            "macro-f1-skip",
            "F1 averaged over labels, absent labels left out",
            labels,
            True,
            averaged("macro", "f1", "skip"),
        ),
        Measure(
            "accuracy",
            "Jaccard index of true and predicted sets, averaged over documents",
            labels,
            True,
            averaged("example", "jaccard"),
        ),
        Measure(
            "hamming-loss",
            "share of document-label pairs that are wrong",
            labels,
            False,
            lambda inputs: sets.hamming_of(inputs.counts),
        ),
        Measure(
            "subset-accuracy",
            "share of documents whose predicted set is exactly the true one",
            labels,
            True,
            lambda inputs: sets.subset_accuracy_of(inputs.counts),
        ),
    ]


def _full_ranking_entries() -> list[Measure]:
    """Measures of whole rankings, of labels and of documents."""
    descriptions = {
        "auc-roc": "area under the ROC curve",
        "auc-pr": "area under the precision-recall curve",
        "average-precision": "mean precision at the ranks of the true items",
        "one-error": "share of rankings whose first item is wrong",
        "is-error": "share of rankings that are not perfect",
        "margin": "ranks from the best false item down to the worst true one",
        "ranking-loss": "share of true-false pairs in the wrong order, ties count half "
        "(1 - AUC ROC)",
        "coverage-error": "rank of the last true item",
    }

    def whole(pivot: Pivot, name: str) -> Callable[[Inputs], float]:
        return lambda inputs: inputs.rank_value(pivot, name)

    return [
        Measure(
            prefix + name,
            f"{descriptions[name]}, {view}",
            frozenset({"scores"}),
            name in ("auc-roc", "auc-pr", "average-precision"),
            whole(pivot, name),
        )
        for pivot, prefix, view in _VIEWS
        for name in full_ranking.FULL_MEASURES
    ]


def _cutoff_entries() -> list[Measure]:
    """F1 of rankings cut by rank."""
    texts = {
        "proportional": "at the number of items expected from the training labels",
        "calibrated": "at the true number of items",
        "break-even": "at the number of items that is best for each ranking",
    }

    def cut(pivot: Pivot, average: str, cutoff: str) -> Callable[[Inputs], float]:
        return lambda inputs: cutoffs.f1_of(
            cutoffs.cut_counts(inputs.judged(pivot), cutoff, pivot, inputs.train), average
        )

    return [
        Measure(
            f"{prefix}{average}-f1@{cutoff}",
            f"{average} F1 {text}, {view}",
            frozenset({"scores", "train"} if cutoff == "proportional" else {"scores"}),
            True,
            cut(pivot, average, cutoff),
        )
        for pivot, prefix, view in _VIEWS
        for cutoff, text in texts.items()
        for average in ("micro", "macro")
    ]


#: Pivot, prefix of the names, words for the description.
_VIEWS: list[tuple[Pivot, str, str]] = [
    ("document", "", "labels ranked for each document"),
    ("label", "label-", "documents ranked for each label"),
]

#: Name -> measure, in the order of reports; names that end in @k stand for any k.
MEASURES: dict[str, Measure] = {
    measure.name: measure
    for entries in (_top_entries, _set_entries, _full_ranking_entries, _cutoff_entries)
    for measure in entries()
}


def evaluate(
    Y_true: Any,
    scores: Any = None,
    Y_pred: Any = None,
    *,
    Y_train: Any = None,
    metrics: Iterable[str] | None = None,
    ks: Iterable[int] = (1, 3, 5),
) -> dict[str, float]:
    """Measure a model's predictions; rankings are sorted once for all measures.

    Parameters
    ----------
    Y_true : sparse or dense indicator matrix of shape (n_documents, n_labels)
    scores : sparse or dense matrix of shape (n_documents, n_labels), optional
        A stored entry is a candidate label.
    Y_pred : indicator matrix of shape (n_documents, n_labels), optional
    Y_train : indicator matrix of shape (n_train, n_labels), optional
        Needed by propensity-scored measures and proportional cut-offs. Label-pivoted measures
        then leave out labels without a training document.
    metrics : iterable of str, optional
        Names from ``MEASURES``. By default all that the given matrices allow.
    ks : iterable of int
        The values of k for the ``@k`` families, by default.

    Returns
    -------
    dict of str to float
        Name to value, in the order of ``metrics``. A value is NaN if nothing can be measured.

    Examples
    --------
    >>> evaluate([[1, 0, 1]], [[0.9, 0.5, 0.1]], metrics=["p@1", "ranking-loss"])
    {'p@1': 1.0, 'ranking-loss': 0.5}
    """
    inputs = Inputs(Y_true, scores, Y_pred, Y_train)
    if metrics is not None:
        chosen = [get_measure(name) for name in metrics]
    else:
        ks = [check_whole("ks", k, 1) for k in ks]
        possible = [measure for measure in MEASURES.values() if inputs.has(measure.needs)]
        chosen = [
            member
            for measure in possible
            for member in ([measure.at(k) for k in ks] if measure.is_family else [measure])
        ]
    return {measure.name: measure.compute(inputs) for measure in chosen}
