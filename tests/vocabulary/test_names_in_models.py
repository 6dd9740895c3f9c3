"""Names of labels as evidence of a tagger."""

import numpy as np
import pytest

from manylabel import Tagger
from manylabel.exceptions import InputError
from manylabel.vocabulary import Concept, Name, Vocabulary
from manylabel.vocabulary.clues import find_labels
from manylabel.vocabulary.label_names import LabelNames

THINGS = ["cat", "dog", "ship", "law", "tree", "river", "engine", "poem", "bank", "glacier"]
TEXTS = [
    f"{verb} the {one} and the {other}."
    for verb in ("Describe", "Study", "Forget")
    for one in THINGS[:8]
    for other in THINGS[:8]
    if one < other
]
LABELS = [[f"l-{thing}" for thing in THINGS if thing in text] for text in TEXTS]
VOCABULARY = Vocabulary(
    [Concept(f"l-{thing}", [Name(f"{thing}s")]) for thing in THINGS]
    + [Concept("l-drone", [Name("drones"), Name("unmanned aircraft", 1)])]
)


@pytest.fixture(scope="module")
def tagger():
    return Tagger(vocabulary=VOCABULARY, random_state=0).fit(TEXTS, LABELS)


def test_a_label_without_any_document_is_suggested(tagger):
    found = tagger.suggest("An unmanned aircraft flies over a glacier.", top=None)
    assert {"l-drone", "l-glacier"} <= set(found.labels)
    assert {"l-drone", "l-glacier"} <= set(tagger.labels)
    assert all(0 < score < 1 for score in (one.score for one in found))


def test_reasons_say_which_name_stands_where_and_add_up(tagger):
    text = "An unmanned aircraft. A cat."
    why = tagger.explain(text, label="l-drone")["l-drone"]
    assert why.total == pytest.approx(why.score)
    part = next(part for part in why.parts if part.kind == "names")
    assert part.sentence == "Its name *unmanned aircraft* is in the first sentence."
    (word,) = [word for word in why.words if word.word == "unmanned aircraft"]
    assert word.spans == [(3, 20)]
    assert word.share == pytest.approx(part.share)


def test_clues_add_up_to_the_score_of_a_name(tagger):
    state = tagger._latest()
    documents, _ = state.read("A cat and a drone.")
    documents, candidates = state.model._candidates(documents, 1)
    scorer = state.model.scorers_["names"]
    scores = scorer.score(documents, candidates)
    for position in np.flatnonzero(scores):
        (reason,) = scorer.reasons(documents, candidates, int(position))
        assert reason.share == pytest.approx(scores[position])
        assert sum(clue.share for clue in reason.reasons) == pytest.approx(scores[position])


def test_names_for_people_are_those_of_the_vocabulary(tagger):
    assert tagger.label_info("l-drone").name == "drones"
    assert [one.name for one in tagger.suggest("a drone", top=1)] == ["drones"]


def test_a_model_with_names_comes_back_from_its_folder(tagger, tmp_path):
    tagger.save(tmp_path / "model")
    again = Tagger.load(tmp_path / "model")
    text = "An unmanned aircraft over the river."
    assert list(again.suggest(text, top=None)) == list(tagger.suggest(text, top=None))


def test_learning_and_forgetting_leave_the_counts_as_they_were():
    tagger = Tagger(vocabulary=VOCABULARY, random_state=0).fit(TEXTS, LABELS)
    scorer = tagger._latest().model.scorers_["names"]
    before = scorer.counts
    tagger.learn(["A drone over a glacier"], [["l-drone", "l-new"]], ids=["x"])
    tagger.suggest("a drone")
    drone = tagger.labels.index("l-drone")
    assert [int(each[drone]) for each in scorer.counts.each] == [1, 1, 1, 0, 0]
    tagger.forget(["x"])
    tagger.suggest("a drone")
    for now, then in zip(scorer.counts.each, before.each, strict=True):
        assert (now[: then.size] == then).all()
        assert not now[then.size :].any()


def test_a_vocabulary_of_other_labels_is_an_error():
    other = Vocabulary([Concept("http://ex.org/1", [Name("cats")])])
    with pytest.raises(InputError, match="none of the documents' labels"):
        Tagger(vocabulary=other).fit(TEXTS, LABELS)


def test_the_number_of_threads_does_not_matter():
    named = LabelNames(["cats", "dogs"], [0, 1], [0, 0], 2, "english")
    texts = ["a cat", "a dog. A cat.", ""] * 2000
    one, two = (find_labels(named, texts, n_jobs) for n_jobs in (1, 2))
    assert (one.pattern != two.pattern).nnz == 0
    assert (one.clues == two.clues).all()
    assert (one.best == two.best).all()


def test_related_labels_and_qualifiers_are_clues():
    from scipy import sparse

    related = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], np.int8))
    named = LabelNames(
        ["cats", "dogs", "coaches (sports)"], [0, 1, 2], [0, 0, 0], 3, "english", related
    )
    found = find_labels(named, ["cats and dogs", "cats and a coach", "a sports coach"])
    from manylabel.vocabulary.clues import CLUES

    positions = {clue: position for position, clue in enumerate(CLUES)}
    assert found.clues[:, positions["related"]].tolist() == [1, 1, 0, 0, 0]
    assert found.clues[:, positions["context"]].tolist() == [0, 0, 0, 0, 1]
    assert found.clues[:, positions["qualified"]].tolist() == [0, 0, 0, 1, 1]


def test_labels_given_by_name_get_their_identifiers(tmp_path):
    """The model equals one whose documents have identifiers, also after learning by name."""
    names = [[f"{label[2:]}s" for label in labels] for labels in LABELS]
    names[0] = [" Cats ", *names[0]]
    kind = {"model": "lcif", "vocabulary": VOCABULARY}
    by_name, by_label = Tagger(**kind).fit(TEXTS, names), Tagger(**kind).fit(TEXTS, LABELS)
    assert by_name.labels == by_label.labels
    assert by_name.labels_named(["cats", "l-cat", "unmanned aircraft"]) == {"cats": "l-cat"}
    assert by_name.evaluate(TEXTS, names) == by_label.evaluate(TEXTS, LABELS)
    assert by_name.unseen(TEXTS, names) == by_label.unseen(TEXTS, LABELS)
    by_name.save(tmp_path / "model")
    by_name.learn(["A drone and a bank."], [["Drones", "bank"]], ids=["new"])
    expected = ["bank", "l-drone"]
    assert by_name.document("new").labels == expected
    assert Tagger.load(tmp_path / "model").document("new").labels == expected


def test_labels_renamed_to_their_names_stay_renamed():
    tagger = Tagger("lcif", vocabulary=VOCABULARY).fit(TEXTS, LABELS)
    tagger.edit_labels("rename", "l-cat", to="cats")
    tagger.compact(retrain=True)
    assert "cats" in tagger.labels
    assert "l-cat" not in tagger.labels


def test_the_language_of_the_texts_decides_between_equal_names():
    vocabulary = Vocabulary(
        [
            Concept("c1", [Name("gift", language="en")]),
            Concept("c2", [Name("Gift", language="de")]),
            Concept("c3", [Name("old gift", language="en")], deprecated=True),
            Concept("c4", [Name("present", language="en"), Name("lahja", 1, "fi")]),
        ]
    )
    assert vocabulary.named_once(["Gift"], "en") == {"Gift": "c1"}
    assert vocabulary.named_once(["gift"], "de") == {"gift": "c2"}
    assert vocabulary.named_once(["Gift", "gift", "GIFT"]) == {"Gift": "c2", "gift": "c1"}
    assert vocabulary.named_once(["old gift", "lahja", "c1"], "en") == {}


def test_identifiers_with_and_without_angle_brackets_are_the_same_label(tmp_path):
    cats, dogs = "http://example.org/cats", "http://example.org/dogs"
    vocabulary = Vocabulary([Concept(cats, [Name("cats")]), Concept(dogs, [Name("dogs")])])
    texts = ["a cat purrs", "the cat sleeps", "a dog barks", "the dog runs"]
    labels = [[cats], [f"<{cats}>"], [f"<{dogs}>"], [f"<{dogs}>"]]
    tagger = Tagger("lcif", vocabulary=vocabulary).fit(texts, labels)
    assert tagger.labels == [f"<{cats}>", f"<{dogs}>"]
    tagger.learn(["dogs"], [[dogs]], ["new"])
    assert tagger.document("new").labels == [f"<{dogs}>"]
    assert tagger.evaluate(["a dog"], [[dogs]], ["p@1"]) == {"p@1": 1.0}
    (why,) = tagger.explain("a dog", label=dogs)
    assert why.label == f"<{dogs}>"
