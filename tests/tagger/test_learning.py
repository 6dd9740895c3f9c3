"""Learning and forgetting one document at a time."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from tagger.tagger_problems import texts_and_labels

from manylabel import Tagger
from manylabel.corpus import load_catalogue

QUERY = "a cat with a feather in the river, and a dog by the garden"
TEXTS, LABELS = texts_and_labels(40)
IDS = [f"d{number}" for number in range(40)]
# Counts are the same whatever else is known, so models that saw the same documents are the same.
PLAIN = {"k": 5, "lam": 0.5, "weighting": None}


def fitted(numbers, **options) -> Tagger:
    """A tagger for some of the documents; the words of all are known."""
    options = {"parameters": PLAIN, "model": "lcif"} | options
    tagger = Tagger(**options).fit(TEXTS, LABELS, IDS)
    gone = sorted(set(range(40)) - set(numbers))
    if gone:
        tagger.forget([IDS[number] for number in gone])
    return tagger


def scores(tagger: Tagger, text: str = QUERY) -> dict[str, float]:
    return {found.label: found.score for found in tagger.suggest(text, top=None)}


def retrained(tagger: Tagger) -> dict[str, float]:
    """The scores of a model that is trained from scratch on what a tagger knows."""
    tagger.compact()
    return scores(tagger)


@pytest.mark.parametrize("model", ["lcif", "instance-knn", "feature-knn"])
def test_what_was_learned_or_forgotten_is_as_if_it_had_always_been_so(model):
    parameters = {"weighting": None} | ({} if model == "feature-knn" else {"k": 5})
    tagger = fitted(range(40), model=model, parameters=parameters)
    tagger.forget(IDS[:10])
    tagger.learn(TEXTS[:5], LABELS[:5], IDS[:5])
    tagger.learn(TEXTS[5:7], [["new"], LABELS[6]], IDS[5:7])
    tagger.forget(IDS[12])
    live = scores(tagger)
    assert "new" in tagger.labels
    assert tagger.n_documents == 36
    assert live == pytest.approx(retrained(tagger), rel=1e-9)


def test_a_new_label_is_known_at_the_next_call():
    tagger = fitted(range(40))
    change = tagger.learn(["a zebra in the garden with a kitten"], [["zebras", "cats"]], ["z"])
    assert change.learned == ("z",)
    assert change.new_labels == ("zebras",)
    assert tagger.suggest("kitten in the garden", top=None, include=["zebras"]).labels == ["zebras"]
    assert tagger.document("z").labels == ["cats", "zebras"]
    assert tagger.evaluate(["kitten in the garden"], [["zebras"]], metrics=["recall@5"])
    assert tagger.suggest("kitten in the garden", top=None, threshold="auto").labels


def test_a_document_with_a_known_id_takes_the_place_of_the_other():
    tagger = fitted(range(40))
    change = tagger.learn([TEXTS[0]], [["fish"]], ["d7"])
    assert change.replaced == ("d7",)
    assert tagger.n_documents == 40
    assert tagger.document("d7").text == TEXTS[0]
    other = fitted(set(range(40)) - {7})
    other.learn([TEXTS[0]], [["fish"]], ["elsewhere"])
    assert scores(tagger) == pytest.approx(scores(other))


def test_documents_without_ids_get_free_ones():
    tagger = Tagger("lcif", parameters=PLAIN).fit(TEXTS[:3], LABELS[:3], ["3", "a", "b"])
    assert tagger.learn(["a cat", "a dog"], [["cats"], ["dogs"]]).learned == ("4", "5")
    assert tagger.learn([], []).learned == ()
    assert tagger.n_documents == 5


def test_a_document_may_come_and_go_before_anybody_asks():
    tagger = fitted(range(40))
    before = scores(tagger)
    tagger.learn(["a cat"], [["cats"]], ["x"])
    tagger.learn(["a dog"], [["dogs"]], ["x"])
    tagger.forget("x")
    assert scores(tagger) == pytest.approx(before)


def test_weights_of_words_are_learned_again_by_compacting():
    tagger = fitted(range(40), parameters={"k": 5})
    change = tagger.forget(IDS[:10])
    assert change.not_updated == ("word weights",)
    assert not change.exact
    tagger.compact()
    vocabulary = tagger._state.vectorizer
    fresh = Tagger("lcif", parameters={"k": 5}, vectorizer=vocabulary).fit(TEXTS[10:], LABELS[10:])
    assert scores(tagger) == pytest.approx(scores(fresh))
    assert tagger.explain(QUERY)[0].neighbours[0].id in IDS[10:]
    assert tagger._state.model.threshold == "cardinality"
    tagger.learn(["a zebra and a cat"], [["zebras"]])
    tagger.compact()
    assert tagger.suggest(QUERY, threshold="auto").labels


@pytest.mark.parametrize("model", ["lcif", "svm"])
def test_any_model_can_be_retrained_from_its_texts(model):
    tagger = fitted(range(40), model=model, parameters={})
    tagger.forget(IDS[:10])
    if model == "lcif":
        tagger.learn(["a zebra in the river"], [["zebras"]], ["z"])
    tagger.compact(retrain=True)
    texts, labels = TEXTS[10:], LABELS[10:]
    if model == "lcif":
        texts, labels = [*texts, "a zebra in the river"], [*labels, ["zebras"]]
        assert tagger.suggest("zebra", top=1).labels == ["zebras"]
    fresh = Tagger(model).fit(texts, labels)
    assert scores(tagger) == pytest.approx(scores(fresh))
    forgetful = fitted(range(40), keep_texts=False)
    with pytest.raises(ValueError, match="texts were not kept"):
        forgetful.compact(retrain=True)


def test_changes_say_which_parts_do_not_know():
    assert fitted(range(40)).forget("d1").exact
    topics = fitted(range(40), model="flat-lda", parameters={})
    assert topics.learn(["cat dog zebra"], [["zebras"]]).exact
    assert topics.forget("d1").not_updated == ("flat-lda",)
    assert topics.learn(["cat"], [["cats"]], ["d2"]).not_updated == ("flat-lda",)
    assert "zebras" in topics.suggest("cat dog", top=None).labels
    machine = fitted(range(40), model="svm", parameters={})
    assert machine.forget("d1").not_updated == ("svm",)
    assert machine.n_documents == 39
    machine.compact()
    assert machine.n_documents == 39


def test_an_ensemble_learns_and_forgets_by_its_neighbours():
    tagger = fitted(range(40), model="ensemble", parameters={})
    before = scores(tagger)
    change = tagger.learn(["a kitten in the river"], [["fish"]], ["z"])
    frozen = tagger._state.model.frozen_parts_
    assert "neighbours" not in frozen
    assert change.not_updated == (*frozen, "word weights")
    assert tagger.explain("kitten river", label="fish")[0].neighbours[0].id == "z"
    tagger.forget("z")
    assert scores(tagger) == pytest.approx(before, rel=1e-6)
    tagger.compact()
    assert scores(tagger) == pytest.approx(before, rel=1e-6)
    tagger.learn(["a kitten in the river"], [["zebras"]], ["z"])
    tagger.compact(retrain=True)
    assert "zebras" in tagger.suggest("kitten river", top=None).labels
    assert tagger.n_documents == 41


def test_fifty_forgotten_documents_leave_no_trace_in_the_default_model():
    """Neither in a score, nor in a weight, a word or a curve."""
    train, test = load_catalogue("train")[:240], load_catalogue("test")
    gone = np.arange(0, len(train), 4)[:50]
    left = np.setdiff1d(np.arange(len(train)), gone)
    tagger = Tagger(random_state=0).fit(train)
    change = tagger.forget([train.ids[number] for number in gone], retrain=True)
    assert change.exact
    fresh = Tagger(random_state=0).fit(
        [train.texts[number] for number in left],
        [list(train.label_lists())[number] for number in left],
        [train.ids[number] for number in left],
    )
    assert tagger.suggest(test.texts, top=None) == fresh.suggest(test.texts, top=None)
    mine, other = tagger._state.model, fresh._state.model
    assert tagger._state.vectorizer.vocabulary_ == fresh._state.vectorizer.vocabulary_
    assert list(mine.combination_.curves) == list(other.combination_.curves)
    for name, curve in mine.combination_.curves.items():
        np.testing.assert_array_equal(curve.values, other.combination_.curves[name].values)
    np.testing.assert_array_equal(mine.weighting_.idf_, other.weighting_.idf_)


@pytest.mark.parametrize("model", ["lcif", "svm", "flat-lda"])
def test_warming_up_changes_nothing(model):
    tagger = fitted(range(40), model=model, parameters={})
    before = scores(tagger)
    tagger.warm_up()
    assert scores(tagger) == before
    assert tagger.n_documents == 40


def test_a_failed_change_changes_nothing():
    tagger = fitted(range(40))
    before = scores(tagger)
    with pytest.raises(ValueError, match="no document has the id 'unknown'"):
        tagger.forget(["d1", "unknown"])
    with pytest.raises(ValueError, match="text 1 is empty"):
        tagger.learn(["a cat", ""], [["cats"], []])
    assert scores(tagger) == before
    assert tagger.n_documents == 40


def test_threads_learn_and_ask_at_the_same_time():
    tagger = fitted(range(40))
    problems: list[BaseException] = []

    def watched(work):
        def run() -> None:
            try:
                for turn in range(15):
                    work(turn)
            except BaseException as problem:
                problems.append(problem)

        return threading.Thread(target=run)

    def learn(name: str):
        def work(turn: int) -> None:
            tagger.learn(["a bird sings"], [[f"label {name}"]], [f"{name}{turn}"])
            if turn % 3 == 2:
                tagger.forget(f"{name}{turn - 1}")

        return work

    def ask(turn: int) -> None:
        assert tagger.suggest(QUERY)
        why = tagger.explain(QUERY, top=1)[0]
        assert np.isclose(why.total, why.score)

    threads = [watched(learn("a")), watched(learn("b")), watched(ask), watched(ask)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert tagger.n_documents == 40 + 2 * (15 - 5)
    assert scores(tagger) == pytest.approx(retrained(tagger), rel=1e-9)
