"""The contract of every scorer, whatever happens to its ensemble."""

from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse

import manylabel
from manylabel import Ensemble
from manylabel.ensemble import SCORERS
from manylabel.ensemble.scorers import make_scorers
from manylabel.neighbors.scorers import NeighborVotes
from manylabel.scoring import Documents


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(11)
    Y = (rng.random((120, 7)) < 0.3).astype(np.int8)
    X = rng.poisson(0.1 + 2.0 * (Y @ (rng.random((7, 40)) < 0.25)))
    X = sparse.csr_array(X.astype(float))
    views = sorted({scorer.view for scorer in make_scorers("auto")} - {"rows"})
    others = {view: sparse.csr_array(rng.poisson(0.1 + 1.5 * X.toarray())) for view in views}
    others["dense"] = others["dense"].toarray() - 0.5
    return Documents(X, views=others), sparse.csr_array(Y)


@pytest.fixture(scope="module")
def trained(data, _every_scorer_is_kept):
    """Copies of an ensemble that was fitted once for each number of documents and threads.

    It keeps every scorer, whether it helps or not.
    """
    X, Y = data
    models = {}

    def copied(n, n_jobs):
        if (n, n_jobs) not in models:
            model = Ensemble(k=20, scorers=list(SCORERS), n_jobs=n_jobs)
            models[n, n_jobs] = model.fit(X[:n], Y[:n])
        return deepcopy(models[n, n_jobs])

    return copied


def as_fitted(trained, X, Y, n_jobs=1):
    return trained(100, n_jobs)


def with_more_documents(trained, X, Y, n_jobs=1):
    return trained(80, n_jobs).partial_fit(X[80:100], Y[80:100])


def with_a_new_label(trained, X, Y, n_jobs=1):
    wider = sparse.csr_array(sparse.hstack([Y[80:100], np.ones((20, 1), np.int8)], "csr"))
    return trained(80, n_jobs).partial_fit(X[80:100], wider)


def with_fewer_documents(trained, X, Y, n_jobs=1):
    return trained(100, n_jobs).remove([0, 50, 99])


def with_everything(trained, X, Y, n_jobs=1):
    model = with_a_new_label(trained, X, Y, n_jobs).remove([0, 50, 99])
    model.compact()
    return model


HISTORIES = [
    as_fitted,
    with_more_documents,
    with_a_new_label,
    with_fewer_documents,
    with_everything,
]


@pytest.fixture(scope="module", autouse=True)
def _every_scorer_is_kept():
    """Also those that do not help on so few documents."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "manylabel.ensemble.ensemble.choose_scorers",
            lambda held_out, protected: (list(held_out.scores), dict.fromkeys(held_out.scores, 0)),
        )
        yield


@pytest.fixture(scope="module", params=HISTORIES, ids=lambda history: history.__name__)
def lived(request, trained, data):
    return request.param(trained, *data)


@pytest.fixture(params=list(SCORERS))
def scorer(request, lived):
    return lived.scorers_[request.param]


@pytest.fixture
def asked(lived, data):
    """New documents, and their candidates."""
    return lived._candidates(data[0][100:], 1)


def test_it_has_a_name_and_a_title(scorer):
    assert SCORERS[scorer.name]
    assert scorer.title.strip()


def test_there_is_a_finite_score_for_every_candidate(scorer, asked):
    documents, candidates = asked
    scores = scorer.score(documents, candidates)
    assert scores.shape == (len(candidates),)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()


def test_a_document_is_scored_alone_as_among_others(scorer, asked):
    documents, candidates = asked
    scores = scorer.score(documents, candidates)
    pattern = candidates.pattern
    for row in range(5):
        alone = scorer.score(documents[[row]], candidates.take(np.array([row])))
        np.testing.assert_allclose(
            alone, scores[pattern.indptr[row] : pattern.indptr[row + 1]], rtol=1e-9, atol=1e-12
        )


def test_the_number_of_threads_changes_nothing(scorer, asked):
    np.testing.assert_array_equal(scorer.score(*asked, n_jobs=2), scorer.score(*asked, n_jobs=1))


def test_reasons_add_up_to_the_score(scorer, asked):
    documents, candidates = asked
    one = documents[[0]], candidates.take(np.array([0]))
    expected = scorer.score(*one)
    scores, reasons = scorer.explaining(*one)
    np.testing.assert_array_equal(scores, expected)
    for position, score in enumerate(scores):
        found = reasons(position)
        if found:
            shares = sum(reason.share for reason in found)
            assert shares == pytest.approx(score, rel=1e-5, abs=1e-7)


def test_no_label_has_a_score_that_no_longer_exists(lived, asked):
    _, candidates = asked
    assert candidates.pattern.shape[1] == lived.n_labels_


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_training_with_more_threads_changes_nothing(history, trained, data):
    one, two = (history(trained, *data, n).decision_function(data[0][100:]) for n in (1, 2))
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.data, two.data)


def test_saving_and_loading_changes_nothing(lived, data, tmp_path):
    manylabel.save(lived, tmp_path / "model")
    same = manylabel.load(tmp_path / "model")
    documents, candidates = lived._candidates(data[0][100:], 1)
    others = same._candidates(data[0][100:], 1)
    for name, scorer in lived.scorers_.items():
        np.testing.assert_array_equal(
            same.scorers_[name].score(*others), scorer.score(documents, candidates)
        )


def test_the_batch_is_the_same_as_one_by_one(lived, data):
    X, _ = data
    together = lived.decision_function(X[100:]).toarray()
    alone = np.vstack([lived.decision_function(X[[row]]).toarray() for row in range(100, 120)])
    np.testing.assert_allclose(alone, together, rtol=1e-9, atol=1e-12)


def test_only_neighbours_must_stay():
    assert NeighborVotes.is_needed
