"""Features are ranked by how uncertain their presence is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.utils.estimator_checks import parametrize_with_checks

from manylabel.exceptions import ParameterError
from manylabel.neighbors import EntropySelector


@given(hnp.arrays(np.int64, (7, 4), elements=st.integers(0, 2)))
def test_entropies_are_those_of_presence(X):
    expected = []
    for column in X.T:
        p = np.count_nonzero(column) / len(column)
        expected.append(sum(-q * math.log2(q) for q in (p, 1 - p) if q > 0))
    np.testing.assert_allclose(EntropySelector().fit(X).entropies_, expected)


@pytest.mark.parametrize(("keep", "kept"), [(1.0, 4), (0.5, 2), (3, 3), (0.01, 1), (9, 4)])
def test_a_share_or_a_number_of_features_is_kept(keep, kept):
    X = np.eye(4)[[0, 0, 1, 2, 3, 3]]
    assert EntropySelector(keep).fit_transform(X).shape == (6, kept)


@pytest.mark.parametrize("keep", [0, 0.0, 1.5, -1, True])
def test_a_wrong_number_is_refused(keep):
    with pytest.raises(ParameterError, match="`keep` must be a share above 0"):
        EntropySelector(keep).fit(np.eye(3))


@parametrize_with_checks([EntropySelector()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
