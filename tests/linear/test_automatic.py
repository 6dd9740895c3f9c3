"""The weight of the loss that `C="auto"` takes."""

import numpy as np
import pytest
from scipy import sparse

from manylabel.exceptions import ParameterError
from manylabel.linear import OneVsRestSVM, SubsetSVM


def noisy(n_rows=400, n_features=300, n_labels=8, wrong=0.3):
    """Labels of documents with one feature each, half of them left out, and as many by chance."""
    rng = np.random.default_rng(0)
    X = (rng.random((n_rows, n_features)) < 0.1).astype(float)
    Y = (X[:, :n_labels] > 0) & (rng.random((n_rows, n_labels)) < 0.5)
    Y |= rng.random((n_rows, n_labels)) < wrong
    return sparse.csr_array(X), sparse.csr_array(Y.astype(np.int8))


@pytest.mark.parametrize("model", [OneVsRestSVM(), SubsetSVM()])
def test_it_is_smaller_where_labels_are_noise(model):
    X, Y = noisy()
    assert model.fit(X, Y).C_ < 1
    fixed = type(model)(C=model.C_).fit(X, Y)
    assert abs(model.coef_ - fixed.coef_).max() == 0


def test_it_is_the_usual_one_where_nothing_is_clearly_better():
    X, Y = noisy(wrong=0.0)
    assert OneVsRestSVM().fit(X[:49], Y[:49]).C_ == 1
    assert OneVsRestSVM(C=2.5).fit(X, Y).C_ == 2.5


def test_other_words_are_refused():
    with pytest.raises(ParameterError, match="C"):
        OneVsRestSVM(C="best").fit(np.eye(2), np.eye(2))
