"""scikit-learn's own checks of estimators."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from manylabel.linear import OneVsRestSVM, SubsetSVM
from manylabel.text import Weighting

SPARSE_SCORES = {
    "check_classifier_multioutput": "scores of many labels are sparse",
    "check_classifiers_multilabel_output_format_decision_function": "scores are sparse",
}
UNIT_ROWS = {
    f"check_classifiers_train{case}": "clouds of points that differ in length, not in direction"
    for case in ("", "(readonly_memmap=True)", "(readonly_memmap=True,X_dtype=float32)")
}
UNTIL_TOL = {
    f"check_sample_weight_equivalence_on_{kind}_data": "is solved up to `tol`"
    for kind in ("dense", "sparse")
}
RAW = Weighting(None, normalize=False)


def expected_failures(estimator):
    common = SPARSE_SCORES | UNTIL_TOL
    return common if estimator.weighting is RAW else common | UNIT_ROWS


@parametrize_with_checks(
    [OneVsRestSVM(), SubsetSVM()],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [OneVsRestSVM(weighting=RAW), SubsetSVM(weighting=RAW)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_accepts_raw_rows(estimator, check):
    check(estimator)
