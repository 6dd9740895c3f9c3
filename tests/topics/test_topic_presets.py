"""The papers' settings, and ours."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from topics.topic_problems import MODELS, clear_cut

from manylabel.exceptions import ParameterError
from manylabel.topics import PRESETS, DependencyLDA, FlatLDA, PriorLDA, SubsetLLDA

# Rubin et al., table 6, with its swapped rows corrected.
RUBIN = {
    ("rubin-nyt", FlatLDA): {"alpha_sum": 180},
    ("rubin-eurlex", FlatLDA): {"alpha_sum": 180},
    ("rubin-yahoo", FlatLDA): {"alpha_sum": 100},
    ("rubin-rcv1", FlatLDA): {"alpha_sum": 101},
    ("rubin-eurlex", PriorLDA): {"label_beta": 1, "eta": 150, "alpha_sum": 30},
    ("rubin-yahoo", PriorLDA): {"label_beta": 10, "eta": 70, "alpha_sum": 30},
    ("rubin-rcv1", PriorLDA): {"label_beta": 100, "eta": 100, "alpha_sum": 1},
    ("rubin-eurlex", DependencyLDA): {"n_topics": 200, "gamma_sum": 10, "label_beta": 0.01},
    ("rubin-yahoo", DependencyLDA): {"n_topics": 20, "gamma_sum": 1, "eta": 100, "alpha_sum": 1},
    ("rubin-rcv1", DependencyLDA): {"n_topics": 100, "gamma_sum": 10, "label_beta": 1},
}
TRAINING = {"train_eta": 50, "train_alpha_sum": 0, "beta": 0.01}
CHAINS = {"train_chains": 48, "train_burn_in": 100, "train_samples": 1}
CHAINS |= {"chains": 60, "burn_in": 50, "samples": 15, "lag": 5}


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_parameters_of_their_models(name):
    for model in MODELS:
        if model.__name__ in PRESETS[name]:
            made = model.from_preset(name, random_state=3)
            assert made.random_state == 3
            assert clone(made).get_params() == made.get_params()


@pytest.mark.parametrize(("name", "model"), RUBIN, ids=str)
def test_presets_have_rubins_numbers(name, model):
    made = model.from_preset(name).get_params()
    expected = {**RUBIN[name, model], **TRAINING, **CHAINS, "inference": "cgs", "combine": "scaled"}
    assert {key: made[key] for key in expected} == expected


@pytest.mark.parametrize("model", MODELS)
def test_presets_have_papanikolaous_numbers(model):
    made = model.from_preset("papanikolaou")
    assert (made.train_eta, made.train_alpha_sum) == (50, 0)
    assert (made.alpha_sum, made.beta, made.combine) == (30, 0.01, "counts")
    assert (made.chains, made.burn_in, made._schedule().sweeps) == (1, 50, 195)
    if model is not FlatLDA:
        assert made.eta == 50
    if model is SubsetLLDA:
        assert (made.n_neighbors, made.power, made.weighting) == (10, 0.0, "tfidf")


def test_a_preset_that_a_model_does_not_have_is_refused():
    with pytest.raises(ParameterError, match="the presets of SubsetLLDA are 'papanikolaou'"):
        SubsetLLDA.from_preset("rubin-nyt")


@pytest.mark.parametrize("model", MODELS)
def test_rubins_last_heuristic_is_on_for_rubins_models(model):
    assert model().combine == ("posterior" if model is SubsetLLDA else "scaled")


def test_priors_follow_the_length_of_the_document_and_the_number_of_labels():
    X, Y = clear_cut()
    model = PriorLDA().fit(X, Y)
    etas, alphas = model._prior_weights(sparse.csr_array([[4.0, 0], [40, 0]]))
    np.testing.assert_allclose(etas[1] / etas[0], 10.0)
    np.testing.assert_allclose(alphas, [0.4 / 8, 4 / 8])
