"""The ensemble as its users meet it."""

from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.utils.estimator_checks import parametrize_with_checks

import manylabel
from manylabel import Ensemble
from manylabel.corpus import load_catalogue
from manylabel.ensemble.scorers import make_scorers
from manylabel.exceptions import InputError, ParameterError
from manylabel.metrics import evaluate
from manylabel.text import CountVectorizer


@pytest.fixture(scope="module")
def catalogue():
    vectorizer = CountVectorizer(stop_words="english")
    train = load_catalogue("train").vectorized(vectorizer)
    test = load_catalogue("test").vectorized(vectorizer, fit=False)
    return train, test.align_to(label_names=train.label_names)


@pytest.fixture(scope="module")
def model(catalogue):
    return Ensemble().fit(catalogue[0].X, catalogue[0].Y)


@pytest.fixture
def changing(model):
    """A model that a test may change."""
    return deepcopy(model)


def test_it_is_better_than_each_of_its_scorers_on_new_documents(model, catalogue):
    _, test = catalogue

    def ndcg(scores):
        return evaluate(test.Y, scores, metrics=["ndcg@5"])["ndcg@5"]

    documents, candidates = model._candidates(test.X, None)
    together = ndcg(model.decision_function(test.X))
    for scorer in model.scorers_.values():
        alone = candidates.scores(scorer.score(documents, candidates))
        assert together > ndcg(alone), scorer.name


def test_it_is_better_than_neighbours_alone_on_new_documents(model, catalogue):
    train, test = catalogue
    lcif = manylabel.LCIF().fit(train.X, train.Y)
    mine, theirs = (
        evaluate(test.Y, each.decision_function(test.X), metrics=["ndcg@5"])["ndcg@5"]
        for each in (model, lcif)
    )
    assert mine > theirs


def test_scores_are_probabilities_that_come_true(model, catalogue):
    _, test = catalogue
    scores = model.decision_function(test.X)
    assert scores.data.min() > 0
    assert scores.data.max() < 1
    expected, found = scores.sum(), scores.multiply(test.Y).count_nonzero()
    assert expected == pytest.approx(found, rel=0.15)


def test_the_same_at_any_number_of_threads(catalogue):
    train, test = catalogue
    names = [scorer.name for scorer in make_scorers("auto") if scorer.view == "rows"]
    X, Y = train.X[:100], train.Y[:100]
    one, two = (
        Ensemble(n_jobs=n, scorers=names).fit(X, Y).decision_function(test.X) for n in (1, 2)
    )
    assert (one != two).nnz == 0


def test_explanations_add_up_through_all_parts(model, catalogue):
    _, test = catalogue
    scores = model.decision_function(test.X[:5]).toarray()
    for row, found in enumerate(model.explain(test.X[:5], top=3)):
        for why in found:
            assert why.total == pytest.approx(why.score, abs=1e-6)
            assert expit(why.score) == pytest.approx(scores[row, why.label], abs=1e-9)
            assert why.probability == pytest.approx(scores[row, why.label])
            for part in why.reasons:
                if part.reasons:
                    assert sum(each.share for each in part.reasons) == pytest.approx(part.share)


def test_explanations_that_include_trees_add_up(catalogue, monkeypatch):
    train, test = catalogue
    monkeypatch.setattr(
        "manylabel.ensemble.ensemble.choose_scorers",
        lambda held_out, protected: (list(held_out.scores), dict.fromkeys(held_out.scores, 0)),
    )
    model = Ensemble(scorers=["neighbours", "trees"]).fit(train.X, train.Y)
    for why in model.explain(test.X[:1], top=3)[0]:
        assert "trees" in [part.kind for part in why.reasons]
        assert why.total == pytest.approx(why.score, abs=1e-6)


def test_a_label_that_is_no_candidate_has_no_reasons(catalogue):
    train, test = catalogue
    model = Ensemble(k=5, n_candidates=3, scorers=["neighbours", "linear"]).fit(train.X, train.Y)
    candidates = model.decision_function(test.X[:1]).indices
    other = int(np.setdiff1d(np.arange(train.n_labels), candidates)[0])
    why = model.explain(test.X[:1], labels=[other])[0][0]
    assert (why.score, why.reasons, why.probability) == (0.0, (), 0.0)


def test_a_learned_document_is_known_at_once(changing, catalogue):
    _, test = catalogue
    row, label = test.X[[0]], np.zeros((1, changing.n_labels_ + 1), np.int8)
    label[0, -1] = 1
    changing.partial_fit(row, sparse.csr_array(label))
    scores = changing.decision_function(row)
    assert changing.n_labels_ - 1 in scores.indices
    why = changing.explain(row, labels=[changing.n_labels_ - 1])[0][0]
    assert why.total == pytest.approx(why.score, abs=1e-6)
    assert any(each.kind == "neighbours" for each in why.reasons)
    # One document proves little: not even its own text is certain to have the label, and a text
    # that shares a word with it is unlikely to.
    assert 0.5 < why.probability < 0.9
    shared = np.argsort(-row.data)[:1]
    other = test.X[[1]].tolil()
    other[0, row.indices[shared[0]]] = 1
    found = changing.decision_function(sparse.csr_array(other))
    assert found[0, changing.n_labels_ - 1] < 0.5


def test_a_forgotten_document_is_no_neighbour_any_more(changing, catalogue):
    train, _ = catalogue
    changing.remove([7])
    numbers = [
        each.index
        for why in changing.explain(train.X[[7]], top=50)[0]
        for part in why.reasons
        if part.kind == "neighbours"
        for each in part.reasons
    ]
    assert numbers
    assert 7 not in numbers
    with pytest.raises(InputError, match="not been removed"):
        changing.remove([7])


def test_it_says_which_parts_do_not_follow(model):
    assert set(model.frozen_parts_) <= {"linear", "topics", "trees"}
    assert "topics" in model.frozen_parts_


def test_parts_that_are_switched_off_are_not_used(catalogue):
    train, test = catalogue
    model = Ensemble(scorers=["neighbours", "linear"]).fit(train.X, train.Y)
    assert set(model.combination_.curves) <= {"neighbours", "linear"}
    assert model.decision_function(test.X).nnz


def test_curves_can_be_stretched_for_a_measure(catalogue, model):
    train, _ = catalogue
    stretched = Ensemble(objective="p@1").fit(train.X, train.Y)
    assert stretched.report_.together["p@1"] >= model.report_.together["p@1"]
    found = stretched.report_.calibration
    assert found.scores @ found.n_pairs == pytest.approx(found.right @ found.n_pairs, rel=0.02)


def test_the_report_prints_as_a_table(model):
    lines = str(model.report_).splitlines()
    assert lines[0].split()[:3] == ["scorer", "weight", "gain"]
    assert lines[-2].startswith("together")
    assert "of the true labels are among" in lines[-1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "`k`"),
        ({"alpha": -1}, "`alpha`"),
        ({"objective": "niceness"}, "niceness"),
        ({"n_candidates": 0}, "`n_candidates`"),
        ({"scorers": ["neighbors"]}, "did you mean neighbours"),
        ({"scorers": "linear"}, "'auto' or a list of names"),
        ({"scorers": []}, "at least one scorer"),
    ],
)
def test_parameters_are_checked(catalogue, parameters, message):
    train, _ = catalogue
    with pytest.raises(ParameterError, match=message):
        Ensemble(**parameters).fit(train.X, train.Y)


EXCEPTIONS = {
    "check_classifier_multioutput": "scores of many labels are sparse",
    "check_classifiers_multilabel_output_format_decision_function": "scores are sparse",
    "check_classifiers_train": "wants 83 % of points in a plane right that were trained on; by "
    "directions alone, which is all that cosines see, 82 % can be had",
}


@parametrize_with_checks(
    [Ensemble(effort="quick")], expected_failed_checks=lambda estimator: EXCEPTIONS
)
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([Ensemble()], expected_failed_checks=lambda estimator: EXCEPTIONS)
def test_scikit_learn_agrees_with_all_parts(estimator, check):
    check(estimator)
