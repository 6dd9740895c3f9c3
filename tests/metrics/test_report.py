"""Measures by name, and many at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from metrics.problems import indicator, problems

from manylabel import metrics, thresholds
from manylabel.exceptions import InputError, ParameterError
from manylabel.metrics import MEASURES, evaluate, get_measure
from manylabel.thresholds.best import SWEEPS

PROMISED = [
    *("p@1", "p@3", "p@5", "rp@5", "ndcg@5", "psp@1", "recall@5"),
    *("micro-f1", "macro-f1", "example-f1", "accuracy", "hamming-loss"),
    *("average-precision", "ranking-loss"),
]


@given(problem=problems())
def test_the_report_repeats_what_the_functions_say(problem):
    Y, S, Y_train = problem.Y, problem.S, problem.Y_train
    P = indicator(problem.predicted, problem.n_labels)
    report = evaluate(Y, S, P, Y_train=Y_train, ks=(1, 3, 5))
    propensity = metrics.propensities(Y_train)
    expected = {
        "p@3": metrics.precision_at(Y, S, 3),
        "rp@5": metrics.r_precision_at(Y, S, 5),
        "ndcg@5": metrics.ndcg_at(Y, S, 5),
        "recall@5": metrics.recall_at(Y, S, 5),
        "coverage@1": metrics.coverage_at(Y, S, 1),
        "psp@1": metrics.psp_at(Y, S, propensity, 1),
        "psndcg@3": metrics.psndcg_at(Y, S, propensity, 3),
        "micro-f1": metrics.f1(Y, P, "micro"),
        "macro-f1": metrics.f1(Y, P, "macro"),
        "macro-f1-one": metrics.f1(Y, P, "macro", absent="one"),
        "macro-f1-skip": metrics.f1(Y, P, "macro", absent="skip"),
        "example-precision": metrics.precision(Y, P, "example"),
        "macro-recall": metrics.recall(Y, P, "macro"),
        "accuracy": metrics.accuracy(Y, P),
        "hamming-loss": metrics.hamming_loss(Y, P),
        "subset-accuracy": metrics.subset_accuracy(Y, P),
        "auc-pr": metrics.auc_pr(Y, S),
        "ranking-loss": metrics.ranking_loss(Y, S),
        "label-average-precision": metrics.average_precision(Y, S, pivot="label", Y_train=Y_train),
        "micro-f1@proportional": metrics.f1_at_cutoff(Y, S, "proportional", Y_train=Y_train),
        "label-macro-f1@break-even": metrics.f1_at_cutoff(
            Y, S, "break-even", "macro", pivot="label", Y_train=Y_train
        ),
    }
    assert {name: report[name] for name in expected} == pytest.approx(expected, nan_ok=True)


def test_everything_promised_is_reported():
    Y = np.eye(3)
    report = evaluate(Y, Y, Y, Y_train=Y)
    assert set(PROMISED) <= set(report)
    assert all(type(value) is float for value in report.values())


def test_a_perfect_answer_is_perfect_by_every_measure():
    Y = np.eye(4)
    report = evaluate(Y, Y + 0.0, Y, Y_train=Y, ks=[1])
    for name, value in report.items():
        if get_measure(name).greater_is_better:
            assert value == pytest.approx(1.0), name
        else:
            assert value == pytest.approx(1.0 if name.endswith("coverage-error") else 0.0), name


def test_only_what_the_inputs_allow_is_reported():
    Y = np.eye(3)
    from_scores = evaluate(Y, scores=Y)
    assert "p@1" in from_scores
    assert not {"psp@1", "micro-f1", "micro-f1@proportional"} & set(from_scores)
    from_sets = evaluate(Y, Y_pred=Y)
    assert "micro-f1" in from_sets
    assert "p@1" not in from_sets


def test_asked_for_names_come_in_the_order_asked_for():
    names = ["micro-f1", "p@7", "auc-roc"]
    assert list(evaluate(np.eye(3), np.eye(3), np.eye(3), metrics=names)) == names


def test_a_missing_input_is_named():
    with pytest.raises(InputError, match=r"psp@1 needs scores, Y_train\."):
        evaluate([[1, 0]], Y_pred=[[1, 0]], metrics=["psp@1"])
    with pytest.raises(InputError, match="pass scores, Y_pred or both"):
        evaluate([[1, 0]])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("micro-f2", r"unknown measure 'micro-f2'; did you mean micro-f1, macro-f1\?"),
        ("pps@3", r"unknown measure 'pps@3'; did you mean psp@3"),
        ("p@k", r"p@k needs a number in place of k, such as p@5\."),
        ("p@0", "unknown measure 'p@0'"),
        ("nonsense", "there are p@k, "),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name, message):
    with pytest.raises(ParameterError, match=message):
        get_measure(name)


def test_every_measure_says_what_it_is():
    for name, measure in MEASURES.items():
        assert measure.name == name
        assert measure.description
        assert measure.needs <= {"scores", "labels", "train"}
        assert measure.needs


def test_a_threshold_can_be_chosen_by_every_set_measure():
    names = {name for name, measure in MEASURES.items() if measure.needs == {"labels"}}
    assert names == set(SWEEPS)
    for name in names:
        assert isinstance(thresholds.make_threshold(f"best:{name}"), thresholds.Best)
