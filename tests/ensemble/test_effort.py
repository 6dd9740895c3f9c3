"""How much time training may take."""

import numpy as np
import pytest
from scipy import sparse

from manylabel import Ensemble, Tagger
from manylabel.corpus import load_catalogue
from manylabel.ensemble import fitting
from manylabel.exceptions import ParameterError
from manylabel.neighbors.source import NeighborSource


@pytest.fixture(scope="module")
def catalogue():
    return load_catalogue("train").vectorized()


def test_quick_fits_neighbours_and_one_linear_model(catalogue):
    report = Ensemble(effort="quick").fit(catalogue.X, catalogue.Y).report_
    assert set(report.alone) <= {"neighbours", "nearest", "words", "linear"}
    assert "linear" in report.alone


def test_scorers_that_are_named_are_fitted_with_any_effort(catalogue):
    names = ["neighbours", "topics"]
    report = Ensemble(effort="quick", scorers=names).fit(catalogue.X, catalogue.Y).report_
    assert list(report.alone) == names


@pytest.mark.parametrize(("effort", "n_folds"), [("normal", 1), ("best", 4)])
def test_best_leaves_out_fewer_documents_at_a_time(effort, n_folds, catalogue, monkeypatch):
    monkeypatch.setattr(fitting, "_MAX_ALL_HELD_OUT", 10)
    seen = []

    class Watched(Ensemble):
        def _propose_training(self, training, scorers):
            seen.append(training.n_folds)
            return super()._propose_training(training, scorers)

    Watched(effort=effort, scorers=["neighbours", "linear"]).fit(catalogue.X, catalogue.Y)
    assert seen == [n_folds]


@pytest.mark.parametrize(
    ("n_documents", "n_labels", "n_held_out", "n_folds"),
    [
        (6_000, 1_000, 6_000, 5),
        (6_001, 1_000, 1_200, 1),
        (3_000, 1_001, 3_000, 5),
        (3_001, 1_001, 2_000, 4),
        (9_000, 1_001, 2_000, 2),
        (20_000, 1_001, 4_000, 1),
        (90_000, 1_001, 6_000, 1),
    ],
)
def test_with_many_labels_fewer_documents_are_held_out(n_documents, n_labels, n_held_out, n_folds):
    folds = fitting.held_out_folds(n_documents, n_labels, 0)
    assert np.count_nonzero(folds >= 0) == n_held_out
    sizes = np.bincount(folds[folds >= 0])
    assert sizes.size == n_folds
    assert sizes.max() <= max(0.2 * n_documents, 1)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(4)
    topics = rng.integers(0, 12, 1_200)
    X = rng.poisson(0.05 + 0.6 * (np.arange(60) % 12 == topics[:, None]))
    Y = (np.arange(12) == topics[:, None]) | (rng.random((1_200, 12)) < 0.05)
    return sparse.csr_array(X.astype(float)), sparse.csr_array(Y.astype(np.int8))


SETTINGS = {"scorers": ["neighbours", "linear"], "sources": ["vectors"], "n_jobs": 1}


def test_very_many_documents_are_not_all_searched_for(problem, monkeypatch):
    asked = []

    class Watched(NeighborSource):
        def propose_training(self, *arguments):
            asked.append("all")
            return super().propose_training(*arguments)

    monkeypatch.setattr("manylabel.neighbors.scorers.NeighborSource", Watched)
    whole = Ensemble(**SETTINGS).fit(*problem)
    assert asked == ["all"]
    monkeypatch.setattr("manylabel.ensemble.ensemble._VERY_MANY", 1_000)
    monkeypatch.setattr(fitting, "_ASKED_PER_LABEL", 20)
    part = Ensemble(**SETTINGS).fit(*problem)
    assert asked == ["all"]
    assert part.report_.together["p@1"] == pytest.approx(whole.report_.together["p@1"], abs=0.05)


def test_with_very_many_documents_all_are_scored_if_asked(problem, monkeypatch):
    monkeypatch.setattr("manylabel.ensemble.ensemble._VERY_MANY", 1_000)
    found = Ensemble(**SETTINGS).fit_out_of_sample(*problem)
    assert found.pattern.shape == problem[1].shape


@pytest.mark.parametrize(
    ("effort", "hint"), [("qick", ", did you mean quick?"), ("more", ".")], ids=str
)
def test_an_unknown_effort_is_refused(effort, hint, catalogue):
    with pytest.raises(ParameterError) as refused:
        Ensemble(effort=effort).fit(catalogue.X, catalogue.Y)
    assert str(refused.value) == (f"`effort` must be quick, normal or best; got {effort!r}{hint}")


def test_a_tagger_passes_it_on():
    tagger = Tagger(effort="quick", language=None)
    assert tagger._new_estimator().effort == "quick"
    assert Tagger()._new_estimator().effort == "normal"
    assert Tagger(parameters={"effort": "best"})._new_estimator().effort == "best"


def test_other_models_have_none():
    with pytest.raises(
        ParameterError, match="`effort` is a parameter of the ensemble, not of lcif"
    ):
        Tagger("lcif", effort="quick")


def test_a_quick_training_of_very_many_documents_compares_each_with_some(catalogue, monkeypatch):
    at_once = Ensemble(effort="quick").fit(catalogue.X, catalogue.Y).report_
    monkeypatch.setattr("manylabel.ensemble.ensemble.GROUP", len(catalogue) // 4)
    seen, original = [], NeighborSource.propose_in_groups

    def watched(*arguments):
        seen.append(original(*arguments))
        return seen[-1]

    monkeypatch.setattr(NeighborSource, "propose_in_groups", watched)
    in_groups = Ensemble(effort="quick").fit(catalogue.X, catalogue.Y).report_
    assert [each.shape for each in seen] == [catalogue.Y.shape]
    assert in_groups.recall == at_once.recall
    assert in_groups.n_candidates == at_once.n_candidates
    assert in_groups.alone["neighbours"] == at_once.alone["neighbours"]
    assert in_groups.together["ndcg@5"] > at_once.together["ndcg@5"] - 0.03
