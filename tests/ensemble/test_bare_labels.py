"""Labels that no document has: only their names say anything about them."""

import pytest

from manylabel import Tagger
from manylabel.ensemble.ensemble import Ensemble
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
