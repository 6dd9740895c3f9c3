from __future__ import annotations

import naive.text as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from manylabel.exceptions import InputError, ParameterError
from manylabel.text import Weighting, make_weighting

SCHEMES = ["tfidf", "bm25", "binary", "share", None]


def count_matrices(n_columns: int = 4):
    shapes = st.tuples(st.integers(1, 6), st.just(n_columns))
    return hnp.arrays(np.int64, shapes, elements=st.sampled_from([0, 0, 0, 1, 1, 2, 5, 300]))


EXPECTED_FAILURES = {
    "check_n_features_in_after_fitting": "says how many columns, in manylabel's words",
    "check_positive_only_tag_during_fit": "says which value is negative, in manylabel's words",
    "check_complex_data": "complex values meet NumPy's warning, not an error",
    "check_dtype_object": "says what a matrix may hold, in manylabel's words",
    "check_estimators_empty_data_messages": "no documents yet is a fair start for partial_fit",
}


@parametrize_with_checks([Weighting()], expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([Weighting("bm25")], expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learns_own_checks_pass_for_bm25(estimator, check):
    check(estimator)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("scheme", SCHEMES)
@given(train=count_matrices(), rows=count_matrices())
def test_weights_are_those_of_the_formulas(scheme, normalize, train, rows):
    weights = Weighting(scheme, normalize=normalize).fit(train).transform(rows)
    expected = naive.weights(train.tolist(), rows.tolist(), scheme, normalize=normalize)
    np.testing.assert_allclose(weights.toarray(), expected, rtol=1e-12)
    assert weights.has_canonical_format


@pytest.mark.parametrize("sublinear", [True, False])
@given(train=count_matrices(), rows=count_matrices())
def test_tfidf_is_scikit_learns(sublinear, train, rows):
    ours = Weighting("tfidf", sublinear_tf=sublinear).fit(train).transform(rows)
    theirs = TfidfTransformer(sublinear_tf=sublinear).fit(sparse.csr_array(train))
    expected = theirs.transform(sparse.csr_array(rows))
    np.testing.assert_allclose(ours.toarray(), expected.toarray(), rtol=1e-12)


def test_tfidf_without_smoothing_is_scikit_learns():
    train = sparse.csr_array([[1, 0, 2], [1, 1, 0.0]])
    ours = Weighting("tfidf", smooth_idf=False).fit(train).transform(train)
    expected = TfidfTransformer(sublinear_tf=True, smooth_idf=False).fit_transform(train)
    np.testing.assert_allclose(ours.toarray(), expected.toarray())


def test_a_feature_that_no_document_has_gets_a_finite_weight_without_smoothing():
    weights = Weighting("tfidf", smooth_idf=False).fit([[1, 0], [1, 0]]).transform([[1, 1]])
    assert np.isfinite(weights.data).all()


@pytest.mark.parametrize("scheme", SCHEMES)
@given(first=count_matrices(), second=count_matrices(), rows=count_matrices())
def test_learning_in_two_parts_equals_learning_at_once(scheme, first, second, rows):
    parts = Weighting(scheme).partial_fit(first).partial_fit(second)
    whole = Weighting(scheme).fit(np.vstack([first, second]))
    np.testing.assert_allclose(
        parts.transform(rows).toarray(), whole.transform(rows).toarray(), rtol=1e-12
    )


def test_fit_forgets_what_was_fitted_before():
    weighting = Weighting().fit([[1, 1, 1]]).fit([[1, 0]])
    assert weighting.n_documents_ == 1
    assert weighting.document_counts_.tolist() == [1, 0]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_values_below_one_never_become_negative(scheme):
    weights = Weighting(scheme).fit_transform([[0.01, 1.0], [0.5, 3.0]])
    assert (weights.data > 0).all()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_weights_can_be_float32(scheme):
    counts = np.array([[3, 0, 1], [0, 0, 0], [1, 2, 9]])
    single = Weighting(scheme, dtype=np.float32).fit_transform(counts)
    double = Weighting(scheme).fit_transform(counts)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single.toarray(), double.toarray(), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_row_alone_has_the_weights_that_it_has_among_others(scheme, dtype):
    counts = np.random.default_rng(0).integers(0, 4, (12, 300))
    counts[3], counts[5, 1:] = 0, 0
    weighting = Weighting(scheme, dtype=dtype).fit(counts)
    together = weighting.transform(counts)
    for row in range(len(counts)):
        alone = weighting.transform(counts[[row]])
        assert alone.data.tolist() == together[[row]].data.tolist()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_callers_matrix_stays_as_it_was(scheme):
    counts = sparse.csr_array([[3.0, 0, 1], [1, 2, 9]])
    before = counts.copy()
    Weighting(scheme).fit_transform(counts)
    assert (counts != before).nnz == 0


def test_a_weighting_can_be_made_from_a_name_or_copied():
    assert make_weighting("bm25").scheme == "bm25"
    assert make_weighting(None, dtype=np.float32).dtype == np.float32
    fitted = Weighting("bm25", b=0.5).fit([[1]])
    copy = make_weighting(fitted)
    assert copy.b == 0.5
    assert not hasattr(copy, "idf_")
    assert clone(fitted).get_params() == fitted.get_params()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: make_weighting("tf"),
            "`weighting` must be 'tfidf', 'bm25', 'binary', 'share', 'raw', None or a Weighting; "
            "got 'tf'.",
        ),
        (
            lambda: Weighting("idf").fit([[1]]),
            "`scheme` must be 'tfidf', 'bm25', 'binary', 'share' or None; got 'idf'.",
        ),
        (
            lambda: Weighting(b=2).fit([[1]]),
            "`b` must be a number between 0 and 1; got 2.",
        ),
        (
            lambda: Weighting(k1=-1).fit([[1]]),
            "`k1` must be a number at least 0; got -1.",
        ),
        (
            lambda: Weighting(dtype=int).fit([[1]]),
            "`dtype` must be float32 or float64; got <class 'int'>.",
        ),
    ],
)
def test_a_bad_parameter_is_refused(make, message):
    with pytest.raises(ParameterError) as error:
        make()
    assert str(error.value) == message


def test_another_number_of_columns_is_refused():
    with pytest.raises(InputError, match="X has 3 columns, but 2 are expected"):
        Weighting().fit([[1, 0]]).transform([[1, 0, 1]])


def test_raw_rows_stay_as_they_are():
    counts = np.array([[3.0, 0.0, 4.0]])
    assert make_weighting("raw").fit_transform(counts).toarray().tolist() == counts.tolist()
    assert make_weighting(None).fit_transform(counts).toarray().tolist() == [[0.6, 0.0, 0.8]]
