"""The samplers against exact posteriors on corpora small enough to enumerate."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from naive import topics as naive
from scipy import sparse

from manylabel.kernels import lda_active, lda_gibbs, lda_pairs, lda_topics, rng
from manylabel.topics.label_topics import LabelTopics, no_topic, one_topic
from manylabel.topics.sampling import Documents, Sampler
from manylabel.topics.schedule import Schedule
from manylabel.topics.training import _problem, train_phi
from manylabel.topics.word_labels import WordLabels, expected_tokens

DOCUMENTS = [[0, 0, 1], [1, 2], [0, 2]]
LABEL_SETS = [[0, 1], [1, 2], [0]]
ETA, ALPHA, BETA = 1.0, 0.1, 0.4
DRAWS = 40_000
#: No right sampler is as far from the posterior as this, in total variation.
FAR = 0.04


def as_matrices(documents, label_sets, n_words, n_labels):
    X, Y = np.zeros((len(documents), n_words)), np.zeros((len(documents), n_labels), int)
    for d, (words, labels) in enumerate(zip(documents, label_sets, strict=True)):
        np.add.at(X[d], words, 1)
        Y[d, labels] = 1
    return sparse.csr_array(X), sparse.csr_array(Y)


def total_variation(seen, posterior):
    n = sum(seen.values())
    states = set(seen) | set(posterior)
    return sum(abs(seen[state] / n - posterior.get(state, 0.0)) for state in states) / 2


def labelled_chain(eta, alpha, beta):
    """How often each state came in the real sampler."""
    X, Y = as_matrices(DOCUMENTS, LABEL_SETS, 3, 3)
    problem = _problem(X, Y, eta, alpha, beta)
    token_ptr = np.concatenate([[0], np.cumsum(X.data)]).astype(np.int64)
    state = np.empty(1, np.uint64)
    rng.start_stream(state, np.uint64(1), np.uint64(0))
    assigned = np.zeros(token_ptr[-1], np.int32)
    pair_n, label_n = np.zeros(problem.pair_labels.size), np.zeros(3)
    corpus = (
        problem.doc_ptr, token_ptr, np.ones(X.nnz), problem.label_ptr, problem.labels,
        problem.slot_ptr, problem.slots, assigned, pair_n, label_n,
    )  # fmt: skip
    lda_gibbs.assign_at_random(*corpus, state)
    own = [LABEL_SETS[d] for d, words in enumerate(DOCUMENTS) for _ in words]
    seen = Counter()
    for _ in range(DRAWS):
        lda_gibbs.sweep(*corpus, eta, alpha, beta, 3, state, False, pair_n, label_n)
        seen[tuple(labels[j] for labels, j in zip(own, assigned, strict=True))] += 1
        assert pair_n.sum() == label_n.sum() == token_ptr[-1]
    return seen


def test_labelled_training_draws_from_the_posterior():
    exact = naive.labelled_posterior(DOCUMENTS, LABEL_SETS, 3, ETA, ALPHA, BETA)
    assert total_variation(labelled_chain(ETA, ALPHA, BETA), exact) < FAR


def test_summed_conditionals_are_the_posterior_means_of_the_counts():
    exact = np.zeros((3, 3))
    posterior = naive.labelled_posterior(DOCUMENTS, LABEL_SETS, 3, ETA, ALPHA, BETA)
    words = [word for document in DOCUMENTS for word in document]
    for state, probability in posterior.items():
        np.add.at(exact, (words, list(state)), probability)
    X, Y = as_matrices(DOCUMENTS, LABEL_SETS, 3, 3)
    settings = {"inference": "cgs_p", "eta": ETA, "alpha_sum": 3 * ALPHA, "beta": BETA}
    trained = train_phi(X, Y, **settings, chains=1, samples=DRAWS, random_state=2)
    np.testing.assert_allclose(trained.word_labels.tokens, exact.sum(axis=0), atol=0.02)


def test_the_bound_on_the_distance_tells_wrong_samplers():
    exact = naive.labelled_posterior(DOCUMENTS, LABEL_SETS, 3, ETA, ALPHA, BETA)
    forgetful = naive.wrong_labelled_chain(
        DOCUMENTS, LABEL_SETS, 3, ETA, ALPHA, BETA, DRAWS // 10, 0
    )
    assert total_variation(forgetful, exact) > 2 * FAR
    assert total_variation(labelled_chain(ETA, ALPHA, 2 * BETA), exact) > FAR
    assert total_variation(labelled_chain(3 * ETA, ALPHA, BETA), exact) > FAR


def test_unlabelled_topics_are_drawn_from_the_posterior():
    documents, n_topics, gamma = [[0, 0, 1], [1, 2]], 2, 0.5
    exact = naive.labelled_posterior(documents, [[0, 1]] * 2, 3, 0.0, gamma, BETA)
    X, _ = as_matrices(documents, [[0], [0]], 3, 1)
    token_ptr = np.concatenate([[0], np.cumsum(X.data)]).astype(np.int64)
    state = np.empty(1, np.uint64)
    rng.start_stream(state, np.uint64(5), np.uint64(0))
    assigned = np.full(5, -1, np.int32)
    list_ptr, list_size = np.arange(0, 3 * n_topics + 1, n_topics), np.zeros(3, np.int64)
    lists, topic_n = (np.zeros(6, np.int32), np.zeros(6)), np.zeros(n_topics)
    seen = Counter()
    for _ in range(DRAWS):
        lda_topics.sweep(
            X.indptr.astype(np.int64), token_ptr, X.indices.astype(np.int32), np.ones(X.nnz),
            assigned, list_ptr, list_size, *lists, topic_n, gamma, BETA, 3, state, False,
            np.zeros((0, n_topics)),
        )  # fmt: skip
        seen[tuple(assigned.tolist())] += 1
        assert topic_n.sum() == 5
    assert total_variation(seen, exact) < FAR


def small_word_labels(smooth_share=1.0):
    """Four words and three labels, of which a word was seen with few: the smooth part matters."""
    counts = np.array([[8.0, 0, 1], [0, 5, 0], [1, 1, 1], [0, 0, 0]])
    full = WordLabels.from_counts(sparse.csr_array(counts), 0.5)
    return replace(full, smooth=full.smooth * smooth_share)


def not_laid_out(rows):
    """The same phi, but with no word's labels laid out: each is looked up."""
    nowhere = np.full(rows.dense_at.size, -1, np.int32)
    return rows._replace(dense_at=nowhere, dense=rows.dense[:0])


WORDS = [0, 1, 3]
PHI = small_word_labels().toarray()
TOPICS = LabelTopics(sparse.csr_array(np.array([[3.0, 0, 2], [0, 4.0, 0]])), 0.3)
ETA_TEST, ALPHA_TEST, GAMMA = 2.0, 0.1, 0.4


#: How a draw finds a label: among all, or by parts, with or without dense rows of words.
WAYS = ["all labels", "laid out", "looked up"]


def sampled_tokens(
    topics, inference="cgs", label_tokens=None, smooth_share=1.0, eta=ETA_TEST, way="all labels"
):
    """Mean tokens by word and label in our sampler."""
    word_labels = small_word_labels(smooth_share)
    X = sparse.csr_array(np.bincount(WORDS, minlength=4)[None, :].astype(float))
    sampler = Sampler(
        not_laid_out(word_labels.rows) if way == "looked up" else word_labels.rows,
        [topics.rows(word_labels)],
        GAMMA,
        inference,
        Schedule(4, 100, DRAWS // 4, 1),
        seed=7,
        label_tokens=label_tokens,
        few=3 if way == "all labels" else 0,
    )
    documents = Documents.of(X, np.array([eta]), np.array([ALPHA_TEST]))
    found = sampler.run(documents, 0, 1, np.arange(3))
    np.testing.assert_allclose(found.credit.sum(axis=0), found.counts[0])
    np.testing.assert_allclose(found.credit.sum(axis=1), np.ones(3))
    return found.credit


#: No right sampler's mean is as far from the exact one as this.
OFF = 0.015


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("inference", ["cgs", "cgs_p"])
def test_flat_lda_draws_from_the_dense_posterior(inference, way):
    exact = naive.expected_tokens(WORDS, PHI, [ALPHA_TEST] * 3)
    assert np.abs(sampled_tokens(no_topic(3), inference, way=way) - exact).max() < OFF


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("inference", ["cgs", "cgs_p"])
def test_prior_lda_draws_from_the_dense_posterior(inference, way):
    topics = one_topic(sparse.csr_array([[1, 0, 1], [1, 1, 0]]), 0.5)
    exact = naive.expected_tokens(WORDS, PHI, ETA_TEST * topics.toarray()[0] + ALPHA_TEST)
    assert np.abs(sampled_tokens(topics, inference, way=way) - exact).max() < OFF


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("inference", ["cgs", "cgs_p"])
def test_fast_inference_has_the_stationary_state_of_its_equations(inference, way):
    exact = naive.fast_inference(WORDS, PHI, TOPICS.toarray(), ETA_TEST, ALPHA_TEST, GAMMA)
    assert np.abs(sampled_tokens(TOPICS, inference, way=way) - exact).max() < OFF


@pytest.mark.parametrize("inference", ["cgs", "cgs_p"])
def test_the_proper_sampler_draws_from_the_posterior_with_label_tokens(inference):
    exact = naive.expected_tokens_with_label_tokens(
        WORDS, PHI, TOPICS.toarray(), ETA_TEST, ALPHA_TEST, GAMMA, n_label_tokens=2
    )
    ours = sampled_tokens(TOPICS, inference, label_tokens=2)
    assert np.abs(ours - exact).max() < OFF
    assert np.abs(sampled_tokens(TOPICS, label_tokens=1) - exact).max() > OFF


def test_the_bound_on_the_mean_tells_wrong_samplers():
    flat = naive.expected_tokens(WORDS, PHI, [ALPHA_TEST] * 3)
    exact = naive.fast_inference(WORDS, PHI, TOPICS.toarray(), ETA_TEST, ALPHA_TEST, GAMMA)
    for way in WAYS[:2]:
        wrong = sampled_tokens(no_topic(3), smooth_share=0.5, way=way)
        assert np.abs(wrong - flat).max() > OFF
        wrong = sampled_tokens(TOPICS, eta=1.5 * ETA_TEST, way=way)
        assert np.abs(wrong - exact).max() > OFF


@pytest.mark.parametrize("in_row", [1, 20, 150])
@pytest.mark.parametrize("in_document", [1, 7, 120])
@pytest.mark.parametrize("laid_out", [True, False])
def test_the_labels_in_use_have_the_mass_of_the_dense_formula(in_row, in_document, laid_out):
    random = np.random.default_rng(0)
    counts = np.zeros((2, 200))
    counts[0, random.choice(200, in_row, replace=False)] = random.integers(1, 9, in_row)
    counts[1] = 1.0
    word_labels = WordLabels.from_counts(sparse.csr_array(counts), 0.3)
    rows = word_labels.rows if laid_out else not_laid_out(word_labels.rows)
    used, parts = lda_active.nothing_used(200), lda_active.no_parts(200)
    held = random.choice(200, in_document, replace=False)
    for label in [*held, *held[:3], 5]:
        lda_active.add(used, rows, label, 1.0)
    lda_active.take(used, 5, 1.0)
    expected = np.zeros(200)
    np.add.at(expected, [*held, *held[:3]], word_labels.toarray()[0, [*held, *held[:3]]])
    total = lda_active.gather(rows, 0, used, parts)
    ours = np.zeros(200)
    ours[used.labels[: used.size[0]]] = parts[: used.size[0]]
    np.testing.assert_allclose(ours, expected, rtol=1e-6)
    assert total == pytest.approx(expected.sum(), rel=1e-6)


@pytest.mark.parametrize("laid_out", [True, False])
def test_masses_stay_right_while_tokens_of_a_word_come_and_go(laid_out):
    random = np.random.default_rng(1)
    counts = random.poisson(0.5, (1, 60)).astype(float)
    word_labels = WordLabels.from_counts(sparse.csr_array(counts), 0.3)
    rows = word_labels.rows if laid_out else not_laid_out(word_labels.rows)
    phi, held = word_labels.toarray()[0], np.zeros(60)
    used, parts = lda_active.nothing_used(60), lda_active.no_parts(60)
    total = lda_active.gather(rows, 0, used, parts)
    for label in random.integers(60, size=500):
        if held[label] and random.random() < 0.6:
            total = lda_active.take_part(used, parts, total, label, 0.5)
            held[label] -= 0.5
        else:
            total = lda_active.add_part(rows, 0, used, parts, total, label, 0.5)
            held[label] += 0.5
        size = used.size[0]
        assert size == np.count_nonzero(held)
        assert total == pytest.approx(phi @ held, rel=1e-6)
        np.testing.assert_allclose(parts[:size], (phi * held)[used.labels[:size]], rtol=1e-6)
        targets = total * (np.arange(50) + 0.5) / 50
        ends = np.cumsum(parts[:size])
        if size:
            expected = used.labels[np.searchsorted(ends, targets, side="right").clip(max=size - 1)]
            assert [lda_active.pick_used(used, parts, target) for target in targets] == list(
                expected
            )


def test_a_guide_leads_to_the_place_that_a_search_finds():
    random = np.random.default_rng(2)
    sizes = [1, 0, 2, 40, 300]
    weights = random.random(sum(sizes)) ** 8 * (random.random(sum(sizes)) < 0.7)
    weights[0] = 0.0
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    sums = lda_pairs.row_sums(ptr, weights)
    guides = lda_pairs.row_guides(ptr, sums)
    for low, high in itertools.pairwise(ptr):
        if high > low:
            masses = [0.0, *(random.random(200) * sums[high - 1]), sums[high - 1]]
            found = [lda_pairs.pick_guided(sums, guides, low, high, mass) for mass in masses]
            assert found == [lda_pairs.pick(sums, low, high, mass) for mass in masses]


@pytest.mark.parametrize("inference", ["cgs", "cgs_p"])
def test_candidates_are_drawn_from_the_posterior(inference):
    prior = np.array([0.7, 0.2])
    exact = naive.expected_tokens(WORDS, PHI[:, [0, 2]], prior)
    X = sparse.csr_array(np.bincount(WORDS, minlength=4)[None, :].astype(float))
    priors = sparse.csr_array((prior, [0, 2], [0, 2]), shape=(1, 3))
    credit = np.zeros((3, 2))
    tokens = expected_tokens(
        small_word_labels(),
        X,
        priors,
        inference=inference,
        schedule=Schedule(4, 100, DRAWS // 4, 1),
        wanted=np.arange(2, dtype=np.int32),
        credit=credit,
    )
    assert np.abs(credit - exact).max() < OFF
    np.testing.assert_allclose(tokens.data, credit.sum(axis=0))


@pytest.mark.parametrize("laid_out", [True, False])
@pytest.mark.parametrize("topics", [TOPICS, one_topic(sparse.csr_array([[1, 0, 1]]), 0.5)])
def test_cvb0_over_all_labels_follows_its_equations(topics, laid_out):
    word_labels = small_word_labels()
    x = np.array([3.0, 1.0, 0.5, 2.0])
    settings = (topics.toarray(), ETA_TEST, ALPHA_TEST, GAMMA)
    seen = word_labels.by_label.toarray()
    tokens, prior, mixture = naive.cvb0_all_labels(x, seen, word_labels.smooth, *settings, sweeps=3)
    sampler = Sampler(
        word_labels.rows if laid_out else not_laid_out(word_labels.rows),
        [topics.rows(word_labels)],
        GAMMA,
        "cvb0",
        Schedule(1, 3, 1, 1),
        seed=0,
    )
    documents = Documents.of(
        sparse.csr_array(x[None, :]), np.array([ETA_TEST]), np.array([ALPHA_TEST])
    )
    found = sampler.run(documents, 0, 1, np.arange(3))
    np.testing.assert_allclose(found.credit, tokens, rtol=1e-5)
    np.testing.assert_allclose(found.counts[0], tokens.sum(axis=0), rtol=1e-5)
    np.testing.assert_allclose(found.priors[0], prior, rtol=1e-5)
    np.testing.assert_allclose(found.mixtures[0], mixture, rtol=1e-5)
