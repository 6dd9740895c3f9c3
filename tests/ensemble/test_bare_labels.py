"""Labels that no document has: only their names say anything about them."""

import numpy as np
import pytest
from scipy import sparse

from manylabel import Tagger
from manylabel.ensemble.choosing import HeldOut, judge_unused_labels
from manylabel.ensemble.curves import Combination, Curve
from manylabel.ensemble.ensemble import Ensemble
from manylabel.scoring import Candidates
from manylabel.vocabulary import Concept, Name, Vocabulary

NAMES = ["drones", "birds", "aircraft", "lighthouses"]
TEXTS = ["A drone films the harbour", "Gulls and other birds nest", "The aircraft landed at noon"]
QUESTION = "A walk to the lighthouses and the birds"


@pytest.fixture
def tagger():
    vocabulary = Vocabulary([Concept(name, [Name(name)]) for name in NAMES])
    labels = [[name] for name in NAMES[:3]]
    return Tagger(vocabulary=vocabulary, random_state=0).fit(TEXTS * 6, labels * 6)


def parts_of(tagger, label):
    (why,) = tagger.explain(QUESTION, label=label)
    assert why.total == pytest.approx(why.score)
    (score,) = [found.score for found in tagger.suggest(QUESTION) if found.label == label]
    assert why.probability == pytest.approx(score)
    return {part.kind for part in why.parts}


def test_neighbours_do_not_lower_the_score_of_a_label_without_documents(tagger):
    assert "names" in parts_of(tagger, "lighthouses")
    assert parts_of(tagger, "lighthouses") <= {"prior", "names"}


def test_the_first_document_of_a_label_brings_in_neighbours(tagger):
    tagger.learn(["Birds nest in lighthouses"], [["lighthouses"]])
    assert "neighbours" in parts_of(tagger, "lighthouses")


def test_models_from_before_judge_such_labels_as_new_ones(tagger):
    model = tagger._latest().model
    assert isinstance(model, Ensemble)
    del model.bare_combination_
    assert "names" in parts_of(tagger, "lighthouses")


def with_offsets(nothing, one):
    """Curves that say nothing, with log-odds of labels with no document and with one."""
    curve = Curve(np.array([0.0, 1.0]), np.array([0.0, 0.0]))
    return Combination({"names": curve}, np.array([nothing, one, *np.zeros(5)]))


@pytest.mark.parametrize(("are_right", "expected"), [(True, 2.0), (False, 0.5)])
def test_labels_without_documents_are_judged_like_others_unless_these_suffer(are_right, expected):
    n_rows = 40
    known = np.tile([True, False], n_rows)
    pattern = sparse.csr_array(np.ones((n_rows, 2), np.int8))
    Y = sparse.csr_array(np.tile([[not are_right, are_right]], (n_rows, 1)).astype(np.int8))
    scores, counts = {"names": np.zeros(2 * n_rows)}, np.where(known, 10, 0)
    held_out = HeldOut(Candidates(pattern, {}, None), scores, counts, Y, known)
    log_odds = np.full(2 * n_rows, 0.7)
    chosen = judge_unused_labels(held_out, with_offsets(0.0, 2.0), log_odds, "p@1", Y)
    assert chosen.offsets[0] == pytest.approx(expected)


def test_a_share_lies_between_labels_without_and_with_a_document():
    bare = with_offsets(-4.0, -2.0)
    assert bare.like_one_document(0.25).offsets[0] == pytest.approx(-3.5)
    assert bare.like_one_document(0).offsets.tolist() == bare.offsets.tolist()
