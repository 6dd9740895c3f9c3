"""The shared training of phi."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import topics as naive
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from topics.topic_problems import INFERENCES, generated

from manylabel.exceptions import InputError, ParameterError
from manylabel.topics import LDA, FlatLDA, PriorLDA, Schedule, train_phi
from manylabel.topics.schedule import sweep_progress, warn_if_rising
from manylabel.topics.training import _one_chain, _problem, _sample, split_tokens
from manylabel.topics.word_labels import WordLabels


@st.composite
def corpora(draw):
    """Small counts and labels with empty rows, unused words and unused labels."""
    n, v, c = draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    X = draw(st.lists(st.lists(st.integers(0, 3), min_size=v, max_size=v), min_size=n, max_size=n))
    Y = draw(st.lists(st.lists(st.integers(0, 1), min_size=c, max_size=c), min_size=n, max_size=n))
    return np.array(X, float), np.array(Y)


@pytest.mark.parametrize("inference", INFERENCES)
@given(corpus=corpora())
def test_counts_sum_to_the_tokens_of_labelled_documents(inference, corpus):
    X, Y = corpus
    trained = train_phi(X, Y, inference=inference, burn_in=3, samples=2, random_state=0)
    phi = trained.word_labels
    assert phi.tokens.sum() == pytest.approx(X[Y.any(axis=1)].sum(), rel=1e-5)
    np.testing.assert_allclose(phi.toarray().sum(axis=0), 1.0, rtol=1e-5)


@given(corpus=corpora())
def test_cvb0_follows_its_equations(corpus):
    X, Y = corpus
    trained = train_phi(X, Y, inference="cvb0", eta=2.0, alpha_sum=Y.shape[1], burn_in=1, beta=0.1)
    expected = naive.cvb0_labelled(X, Y, 2.0, 1.0, 0.1, sweeps=1)
    phi = (expected + 0.1) / (expected.sum(axis=0) + 0.1 * X.shape[1])
    np.testing.assert_allclose(trained.word_labels.toarray(), phi, rtol=1e-4)


@pytest.mark.parametrize("inference", INFERENCES)
def test_with_one_label_per_document_phi_is_that_of_naive_bayes(inference):
    random = np.random.default_rng(0)
    X, classes = random.integers(0, 4, (30, 10)), random.integers(0, 3, 30)
    Y = np.eye(3, dtype=int)[classes]
    phi = train_phi(X, Y, inference=inference, beta=0.5).word_labels.toarray()
    counts = (X.T @ Y).astype(float)
    np.testing.assert_allclose(phi, (counts + 0.5) / (counts.sum(axis=0) + 5.0), rtol=1e-6)


@pytest.mark.parametrize("inference", INFERENCES)
def test_phi_is_recovered_from_documents_of_the_model(inference):
    X, Y, true_phi = generated()
    phi = train_phi(X, Y, inference=inference, burn_in=30, random_state=0).word_labels.toarray()
    assert np.abs(phi - true_phi).sum(axis=0).max() / 2 < 0.08


def test_the_result_does_not_depend_on_the_number_of_threads():
    X, Y, _ = generated(n_documents=60)
    settings = {"chains": 3, "burn_in": 5, "random_state": 4}
    one, two = (train_phi(X, Y, n_jobs=n, **settings) for n in (1, 2))
    np.testing.assert_array_equal(one.word_labels.phi, two.word_labels.phi)
    other = train_phi(X, Y, chains=3, burn_in=5, random_state=5)
    assert not np.array_equal(one.word_labels.phi, other.word_labels.phi)


def test_weights_that_are_no_counts_are_split_into_tokens():
    X, Y, true_phi = generated()
    half = train_phi(X / 2, Y, inference="cgs", burn_in=30, random_state=0).word_labels
    assert half.tokens.sum() == pytest.approx(X.sum() / 2)
    assert np.abs(half.toarray() - true_phi).sum(axis=0).max() / 2 < 0.08


def test_log_likelihood_rises_and_settles():
    X, Y, _ = generated()
    history = train_phi(X, Y, burn_in=30, random_state=0).log_likelihoods
    assert len(history) == 30
    assert history[0] < history[-1] < 0


def test_weights_that_are_no_counts_have_a_log_likelihood_a_token_too():
    X, Y, _ = generated()
    whole, half = (train_phi(x, Y, burn_in=20).log_likelihoods[-1] for x in (X, X / 2))
    assert half == pytest.approx(whole, abs=0.05)


def test_phi_is_the_mean_over_chains_that_are_independent():
    X, Y, _ = generated(n_documents=30)
    problem = _problem(sparse.csr_array(X), sparse.csr_array(Y), 50.0, 0.0, 0.01)
    schedule, tokens = Schedule(3, 4, 2, 3), split_tokens(problem.values)
    with sweep_progress("", False, 1, 1.0) as progress:
        chains = [_one_chain(problem, *tokens, schedule, False, 7, c, c + 1) for c in range(3)]
    phis = [pair_phi for (pair_phi, _, _), _ in chains]
    assert not np.array_equal(phis[0], phis[1])
    assert [len(history) for _, history in chains] == [7] * 3
    word_labels, _ = _sample(problem, schedule, "cgs", 7, 2, progress)
    np.testing.assert_allclose(word_labels.phi, np.mean(phis, axis=0))


def test_a_training_that_was_too_short_is_warned_of():
    X, _, _ = generated()
    with pytest.warns(ConvergenceWarning, match="training of topics has not converged"):
        LDA(20, inference="cvb0", burn_in=10).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LDA(20, inference="cvb0", burn_in=100).fit(X)


def test_a_history_that_still_rises_is_warned_of():
    with pytest.warns(ConvergenceWarning, match="training of phi has not converged"):
        warn_if_rising([-10 + 0.1 * i for i in range(50)], "The training of phi")


def test_phi_is_stored_for_pairs_that_occur_only():
    X, Y = sparse.eye_array(1000, format="csr"), sparse.eye_array(1000, format="csr")
    phi = train_phi(X, Y.astype(np.int8), burn_in=1).word_labels
    assert phi.phi.size == 1000
    assert phi.of_label(3).argmax() == 3


def test_counts_can_be_added_for_new_labels():
    first, second = np.array([[2.0], [0], [1]]), np.array([[1.0, 0], [1, 0], [0, 4]])
    one = WordLabels.from_counts(sparse.csr_array(first), 0.5)
    both = one.with_counts(sparse.csr_array(second))
    counts = np.hstack([first, np.zeros((3, 1))]) + second
    np.testing.assert_allclose(both.toarray(), (counts + 0.5) / (counts.sum(axis=0) + 1.5))


def test_training_is_shared():
    X, Y, _ = generated(n_documents=50)
    flat = FlatLDA().fit(X, Y)
    prior = PriorLDA(training=flat.training_).fit(X, Y)
    assert prior.word_labels_ is flat.word_labels_
    with pytest.raises(
        InputError, match="`training` has 40 words and 6 labels, but the data have 39"
    ):
        PriorLDA(training=flat.training_).fit(X[:, 1:], Y)


def test_a_schedule_counts_its_sweeps():
    schedule = Schedule(chains=1, burn_in=50, samples=3, lag=5)
    assert schedule.sweeps == 60
    assert [sweep for sweep in range(1, 61) if schedule.is_sample(sweep)] == [50, 55, 60]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"inference": "gibbs"}, "`inference` must be 'cgs', 'cgs_p' or 'cvb0'; got 'gibbs'"),
        ({"beta": 0.0}, "`beta` must be a number above 0; got 0"),
        ({"eta": 0.0}, "`eta` and `alpha_sum` must not both be 0 in training"),
        ({"chains": 0}, "`chains` must be a whole number of at least 1; got 0"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        train_phi([[1.0]], [[1]], **parameters)


def test_progress_is_shown_when_asked_for(capfd):
    X, Y, _ = generated(n_documents=20)
    train_phi(X, Y, burn_in=3, verbose=1)
    assert re.search(
        r"\d+(\.\d+)? M tokens/s, log-likelihood -\d\.\d+ per token", capfd.readouterr().err
    )
    train_phi(X, Y, burn_in=3)
    assert capfd.readouterr().err == ""
