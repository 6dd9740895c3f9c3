"""Unsupervised LDA."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks
from topics.topic_problems import INFERENCES

from manylabel.exceptions import ParameterError
from manylabel.topics import LDA


def two_halves():
    """Even documents are about the first ten words, odd ones about the others."""
    X = np.zeros((60, 20))
    X[::2, :10] = np.random.default_rng(0).integers(0, 4, (30, 10))
    X[1::2, 10:] = np.random.default_rng(1).integers(0, 4, (30, 10))
    return X


@pytest.mark.parametrize("inference", INFERENCES)
def test_topics_separate_what_never_mixes(inference):
    X = two_halves()
    model = LDA(2, inference=inference, burn_in=50).fit(X)
    mixtures = model.transform(X)
    np.testing.assert_allclose(mixtures.sum(axis=1), 1.0)
    groups = mixtures.argmax(axis=1)
    assert set(groups[::2]) != set(groups[1::2])
    assert mixtures.max(axis=1).min() > 0.9
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
    totals = [chain.counts.sum() for chain in model.chains_]
    np.testing.assert_allclose(totals, X.sum(), rtol=1e-5)


def test_the_best_chain_is_used_and_threads_do_not_matter():
    X = two_halves()
    one = LDA(3, chains=3, burn_in=20, n_jobs=1).fit(X)
    two = LDA(3, chains=3, burn_in=20, n_jobs=2).fit(X)
    np.testing.assert_array_equal(one.components_, two.components_)
    assert one.log_likelihood_ == max(chain.log_likelihoods[-1] for chain in one.chains_)


def test_samples_of_one_chain_are_averaged():
    X = two_halves()
    model = LDA(2, burn_in=10, samples=5, lag=2).fit(sparse.csr_array(X))
    assert model.chains_[0].counts.sum() == pytest.approx(X.sum())
    assert len(model.chains_[0].log_likelihoods) == 18


def test_bad_parameters_are_refused():
    with pytest.raises(ParameterError, match="`n_topics` must be a whole number"):
        LDA(0).fit([[1.0]])
    with pytest.raises(ParameterError, match="`gamma` must be a number above 0; got 0"):
        LDA(gamma=0.0).fit([[1.0]])


@parametrize_with_checks([LDA(3, inference="cvb0", burn_in=20)])
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([LDA(3, burn_in=20)])
def test_scikit_learn_accepts_the_sampler(estimator, check):
    check(estimator)
