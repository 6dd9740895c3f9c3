"""scikit-learn's own checks of the labelled models."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from manylabel.topics import DependencyLDA, FlatLDA, PriorLDA, SubsetLLDA

EXPECTED_FAILURES = {
    "check_classifiers_multilabel_output_format_decision_function": "scores are sparse",
    "check_classifier_multioutput": "scores are sparse",
}
QUICK = {"train_burn_in": 5, "burn_in": 5, "samples": 5}


@parametrize_with_checks(
    [
        FlatLDA(),
        PriorLDA(),
        DependencyLDA(topic_burn_in=5),
        SubsetLLDA(),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [FlatLDA(inference="cgs", **QUICK), SubsetLLDA(inference="cgs_p", **QUICK)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_accepts_the_samplers(estimator, check):
    check(estimator)
