"""F1 at cut-offs by rank."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from metrics.problems import problems
from naive import measures as naive

from manylabel import metrics
from manylabel.exceptions import InputError, ParameterError


def items_of(problem, pivot):
    """True and scored items of each ranking that is measured, with the proportional cut-off."""
    if pivot == "document":
        median = math.ceil(np.median([len(t) for t in problem.train]))
        return [
            (true, candidates, median)
            for true, candidates in zip(problem.truth, problem.scores, strict=True)
        ]
    truth = naive.transposed_sets(problem.truth, problem.n_labels)
    scores = naive.transposed_scores(problem.scores, problem.n_labels)
    train = naive.transposed_sets(problem.train, problem.n_labels)
    n_documents, n_train = len(problem.truth), len(problem.train)
    return [
        (true, candidates, math.ceil(round(len(seen) * n_documents / n_train, 9)))
        for true, candidates, seen in zip(truth, scores, train, strict=True)
        if true and seen
    ]


@pytest.mark.parametrize("pivot", ["document", "label"])
@pytest.mark.parametrize("cutoff", ["proportional", "calibrated", "break-even"])
@given(problem=problems())
def test_agrees_with_its_definition(cutoff, pivot, problem):
    pairs = []
    for true, candidates, proportional in items_of(problem, pivot):
        n = {
            "proportional": proportional,
            "calibrated": len(true),
            "break-even": naive.best_f1_prefix(true, candidates),
        }[cutoff]
        pairs.append((true, set(naive.ranked(candidates)[:n])))
    given_args = (problem.Y, problem.S, cutoff)
    micro, macro = (
        metrics.f1_at_cutoff(*given_args, average, pivot=pivot, Y_train=problem.Y_train)
        for average in ("micro", "macro")
    )
    if not pairs:
        assert math.isnan(macro)
        return
    true_sets, given_sets = zip(*pairs, strict=True)
    assert micro == pytest.approx(naive.micro_f1(true_sets, given_sets))
    assert macro == pytest.approx(naive.set_measure(true_sets, given_sets, "f1", "zero"))


@given(problem=problems())
def test_no_cut_has_a_higher_macro_f1_than_break_even(problem):
    best = metrics.f1_at_cutoff(problem.Y, problem.S, "break-even", "macro")
    assert best >= metrics.f1_at_cutoff(problem.Y, problem.S, "calibrated", "macro") - 1e-12


def test_proportional_needs_training_labels():
    with pytest.raises(InputError, match="needs training labels: pass Y_train"):
        metrics.f1_at_cutoff([[1, 0]], [[1, 0]], "proportional")


def test_unknown_choices_are_refused():
    with pytest.raises(ParameterError, match="`cutoff` must be 'proportional', 'calibrated' or"):
        metrics.f1_at_cutoff([[1, 0]], [[1, 0]], "median")
    with pytest.raises(ParameterError, match="`average` must be 'micro' or 'macro'"):
        metrics.f1_at_cutoff([[1, 0]], [[1, 0]], "calibrated", "example")
