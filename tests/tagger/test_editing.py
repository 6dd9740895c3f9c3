"""Labels that people rename, merge, hide, delete and add."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.label_edits import NaiveLabels
from tagger.tagger_problems import texts_and_labels

from manylabel import Tagger
from manylabel.corpus import Corpus, load_catalogue
from manylabel.exceptions import InputError, ParameterError
from manylabel.vocabulary import Concept, Name, Vocabulary

TEXTS, LABELS = texts_and_labels(40)
IDS = [f"d{number}" for number in range(40)]
QUERY = "a cat with a feather in the river, and a dog by the garden"
PLAIN = {"k": 5, "lam": 0.5, "weighting": None}
DRONES = Vocabulary(
    [
        Concept("c1", [Name("drones")], collections=["machines"]),
        Concept("c2", [Name("unmanned aircraft")], collections=["machines"]),
        Concept("c3", [Name("birds")], collections=["animals"]),
        Concept("c4", [Name("harbours")]),
    ]
)


def fitted(labels=LABELS, model="lcif", parameters=PLAIN, **options) -> Tagger:
    return Tagger(model, parameters=parameters, **options).fit(TEXTS, labels, IDS)


def scores(tagger: Tagger, text: str = QUERY) -> dict[str, float]:
    return {found.label: found.score for found in tagger.suggest(text, top=None)}


def merged(old: set[str], new: str | None) -> list[list[str]]:
    """The labels of all documents, as if they had always been merged."""
    return [
        sorted((set(each) - old) | ({new} if new and old & set(each) else set())) for each in LABELS
    ]


@pytest.mark.parametrize("model", ["lcif", "instance-knn", "feature-knn"])
@pytest.mark.parametrize("to", ["cats", "pets", None])
def test_neighbours_and_words_are_as_if_documents_had_always_had_the_merged_label(model, to):
    parameters = {"weighting": None} | ({} if model == "feature-knn" else {"k": 5})
    tagger = fitted(model=model, parameters=parameters)
    if to is None:
        change = tagger.edit_labels("delete", ["cats", "dogs"])
    else:
        change = tagger.edit_labels("merge", ["cats", "dogs"], to=to)
    expected = merged({"cats", "dogs"}, to)
    assert change.not_updated == ()
    fresh = fitted(expected, model=model, parameters=parameters)
    assert scores(tagger) == pytest.approx(scores(fresh), rel=1e-9)
    assert [tagger.document(name).labels for name in IDS] == expected
    assert sorted(tagger.labels) == sorted(fresh.labels)
    for label in scores(fresh):
        ours, theirs = (each.explain(QUERY, label=label)[0] for each in (tagger, fresh))
        assert ours.total == pytest.approx(ours.score)
        assert [near.id for near in ours.neighbours] == [near.id for near in theirs.neighbours]


def test_in_an_ensemble_the_votes_are_exact_and_the_rest_is_named():
    corpus = load_catalogue("train")
    parameters = {"scorers": ["neighbours", "nearest", "words", "linear"]}
    tagger = Tagger(parameters=parameters).fit(corpus)
    first, second = tagger.labels[3], tagger.labels[17]
    change = tagger.edit_labels("merge", [first, second], to=second)
    assert set(change.not_updated) <= {"linear"}
    lists = [
        sorted({second if label == first else label for label in labels})
        for labels in corpus.label_lists()
    ]
    state = tagger._state
    state.catch_up()
    source = state.model.source_
    Y = Corpus.from_texts(corpus.texts, lists).align_to(state.labels.listed).Y
    assert (source.Y != Y).nnz == 0
    assert np.array_equal(state.model.counts_, np.bincount(Y.indices, minlength=Y.shape[1]))
    if source.features is not None:
        from manylabel.neighbors.features import FeatureSimilarity

        rows = source.index.rows(np.arange(len(corpus)))
        fresh = FeatureSimilarity(rows, Y, source.features.labels_per_feature)
        assert np.array_equal(source.features.plain.indices, fresh.plain.indices)
        assert np.allclose(source.features.plain.data, fresh.plain.data, rtol=1e-4)
    for text in load_catalogue("test").texts[:20]:
        assert first not in tagger.suggest(text, top=None).labels
        for why in tagger.explain(text):
            assert why.total == pytest.approx(why.score, abs=1e-9)


@pytest.mark.parametrize("model", ["lcif", "ensemble"])
def test_training_again_is_bit_for_bit_what_the_edited_documents_give(tmp_path, model):
    parameters = PLAIN if model == "lcif" else {"scorers": ["neighbours", "words"]}
    tagger = fitted(model=model, parameters=parameters)
    tagger.save(tmp_path / "m")
    tagger.edit_labels("rename", "fish", to="aquatic animals")
    tagger.edit_labels("merge", ["cats", "dogs"], to="pets")
    tagger.compact(retrain=True)
    expected = merged({"cats", "dogs"}, "pets")
    expected = [sorted({"fish": "aquatic animals"}.get(x, x) for x in each) for each in expected]
    fresh = fitted(expected, model=model, parameters=parameters)
    assert scores(tagger) == scores(fresh)
    assert scores(Tagger.load(tmp_path / "m")) == scores(fresh)
    assert tagger.labels == fresh.labels


def test_a_renamed_label_keeps_everything_else():
    tagger = fitted()
    before = scores(tagger)
    change = tagger.edit_labels("rename", "cats", to="felines")
    assert str(change) == "Renamed 'cats' to 'felines'."
    expected = {"felines" if label == "cats" else label: value for label, value in before.items()}
    assert scores(tagger) == expected
    assert "cats" not in tagger.labels
    assert tagger.label_info("felines").name == "felines"
    with pytest.raises(InputError, match=r"unknown label 'cats' in `label` \(4 labels known\)"):
        tagger.explain(QUERY, label="cats")
    tagger.edit_labels("undo")
    assert scores(tagger) == before
    tagger.edit_labels("rename", "cats", name="Cats and kittens")
    assert tagger.suggest("a purring cat", top=1)[0].name == "Cats and kittens"
    assert tagger.labels[1] == "cats"


def test_the_name_that_a_merged_label_had_is_free_again():
    tagger = fitted()
    tagger.edit_labels("merge", ["cats"], to="dogs")
    tagger.edit_labels("rename", "fish", to="cats")
    assert sorted(tagger.labels) == ["birds", "cats", "dogs"]
    assert {label for name in IDS for label in tagger.document(name).labels} == set(tagger.labels)
    assert scores(tagger) == pytest.approx(
        scores(
            fitted(
                [
                    sorted({"cats": "dogs", "fish": "cats"}.get(x, x) for x in each)
                    for each in merged({"cats"}, "dogs")
                ]
            )
        )
    )
    for _ in range(2):
        tagger.edit_labels("undo")
    assert scores(tagger) == pytest.approx(scores(fitted()))
    assert [tagger.document(name).labels for name in IDS] == LABELS


def test_hidden_labels_are_never_suggested_and_others_keep_their_scores():
    tagger = fitted()
    before = scores(tagger)
    tagger.edit_labels("hide", ["cats"])
    assert scores(tagger) == {label: value for label, value in before.items() if label != "cats"}
    assert tagger.hidden_labels == ["cats"]
    assert "cats" not in tagger.labels
    assert "cats" not in tagger.suggest(QUERY, include=["cats", "dogs"]).labels
    assert "cats" not in tagger.suggest(QUERY, threshold="auto", explain=True).labels
    assert "cats" not in [why.label for why in tagger.explain(QUERY, top=10)]
    assert tagger.explain(QUERY, label="cats")[0].score == pytest.approx(before["cats"])
    assert len(tagger.suggest(QUERY, top=2)) == 2
    tagger.learn(["a cat"], [["cats"]])
    assert "cats" not in scores(tagger)
    assert str(tagger.edit_labels("hide", "cats")) == "Nothing changed."
    assert str(tagger.edit_labels("show", "cats")) == "Showed 'cats'."
    assert "cats" in scores(tagger)


def test_ghost_labels_vanish():
    tagger = fitted()
    tagger.learn(["a kat"], [["kats", "cats"]], ["typo"])
    assert "kats" in tagger.labels
    tagger.learn(["a kat"], [["cats"]], ["typo"])
    assert "kats" not in tagger.labels
    tagger.learn(["a kat"], [["kats"]], ["typo"])
    assert "kats" in tagger.labels
    tagger.forget("typo")
    assert "kats" not in tagger.labels
    gone = [name for name, each in zip(IDS, LABELS, strict=True) if "fish" in each]
    tagger.forget(gone)
    assert tagger.labels == ["birds", "cats", "dogs"]


def test_an_added_label_is_no_ghost(tmp_path):
    tagger = fitted()
    tagger.save(tmp_path / "m")
    tagger.edit_labels("add", ["horses"])
    assert tagger.labels[-1] == "horses"
    assert tagger.explain(QUERY, label="horses")[0].score == 0
    tagger.compact(retrain=True)
    assert Tagger.load(tmp_path / "m").labels == ["birds", "cats", "dogs", "fish", "horses"]
    tagger.learn(["a horse in the garden"], [["horses"]])
    assert "horses" in tagger.suggest("horse in the garden", top=None).labels
    tagger = Tagger.load(tmp_path / "m")
    assert tagger.describe_label("horses").documents == 1
    tagger.edit_labels("undo")
    assert "horses" in tagger.labels  # a document has it now


def test_labels_of_a_vocabulary_are_edited_with_their_names():
    texts = ["Gulls nest on the roof", "The ship came in", "A drone films"] * 4
    tagger = Tagger(vocabulary=DRONES).fit(texts, [["c3"], ["c4"], ["c1"]] * 4)
    assert tagger.suggest("Unmanned aircraft at night", top=1).labels == ["c2"]
    change = tagger.edit_labels("merge", ["c2"], to="c1")
    assert change.not_updated[-1] == "names"
    best = tagger.suggest("Unmanned aircraft at night", top=1)[0]
    assert (best.label, best.name) == ("c1", "drones")
    tagger.edit_labels("rename", "c1", to="x1")
    best = tagger.suggest("Unmanned aircraft at night", top=1)[0]
    assert (best.label, best.name) == ("x1", "drones")
    tagger.edit_labels("add", "x9", name="zeppelins")
    assert tagger.suggest("Zeppelins at night", top=1)[0].name == "zeppelins"
    tagger.edit_labels("delete", "c4")
    assert "c4" not in tagger.labels
    tagger.compact(retrain=True)
    assert sorted(tagger.labels) == ["c3", "x1", "x9"]
    assert tagger.suggest("Unmanned aircraft at night", top=1)[0].label == "x1"
    assert tagger.suggest("Zeppelins at night", top=1)[0].label == "x9"
    for _ in range(4):
        tagger.edit_labels("undo")
    assert sorted(tagger.labels) == ["c1", "c2", "c3", "c4"]
    assert tagger.suggest("Unmanned aircraft at night", top=1).labels == ["c2"]
    assert tagger.document("1").labels == ["c4"]


def test_without_any_document_names_are_edited():
    tagger = Tagger(vocabulary=DRONES).fit()
    tagger.edit_labels("merge", "c2", to="c1")
    assert tagger.suggest("Unmanned aircraft", top=None).labels == ["c1"]
    tagger.edit_labels("hide", "machines")
    assert tagger.suggest("Unmanned aircraft", top=None).labels == []
    tagger.set_vocabulary(DRONES)
    assert tagger.suggest("Unmanned aircraft and drones", top=None).labels == []
    assert tagger.labels == ["c3", "c4"]
    assert str(tagger.edit_labels("show", "machines")) == "Showed 'c1'."
    assert tagger.suggest("Unmanned aircraft", top=None).labels == ["c1"]


def test_collections_are_included_and_excluded():
    tagger = Tagger(vocabulary=DRONES).fit()
    text = "Drones and unmanned aircraft over birds in harbours"
    assert set(tagger.suggest(text, include=["machines", "c4"]).labels) == {"c1", "c2", "c4"}
    assert set(tagger.suggest(text, exclude=["machines"]).labels) == {"c3", "c4"}
    with pytest.raises(InputError, match="4 labels, 2 collections known"):
        tagger.suggest(text, exclude=["machine"])


def test_edits_are_journalled_and_other_processes_know_them(tmp_path):
    tagger = fitted()
    tagger.save(tmp_path / "m")
    follower = Tagger.load(tmp_path / "m")
    tagger.edit_labels("merge", ["cats", "dogs"], to="pets")
    tagger.edit_labels("hide", "fish")
    assert follower.labels == ["birds", "pets"]
    assert scores(follower) == scores(tagger) == scores(Tagger.load(tmp_path / "m"))
    tagger.compact()
    assert follower.labels == ["birds", "pets"]
    follower.edit_labels("undo")
    follower.edit_labels("undo")
    again = Tagger.load(tmp_path / "m")
    assert scores(again) == pytest.approx(scores(fitted()))
    assert [again.document(name).labels for name in IDS] == LABELS
    assert again.label_edits == 4


def test_taking_back_leaves_what_was_learned_since():
    tagger = fitted()
    tagger.edit_labels("merge", "cats", to="dogs")
    first = next(name for name, each in zip(IDS, LABELS, strict=True) if "cats" in each)
    tagger.learn(["a cat and a bird"], [["birds"]], [first])
    tagger.learn(["a dog"], [["dogs"]], ["new"])
    tagger.edit_labels("undo")
    assert tagger.document(first).labels == ["birds"]
    assert tagger.document("new").labels == ["dogs"]
    others = [name for name in IDS if name != first]
    assert [tagger.document(name).labels for name in others] == [
        each for name, each in zip(IDS, LABELS, strict=True) if name != first
    ]


def test_models_that_cannot_learn_are_edited_and_say_so():
    tagger = fitted(model="subset-svm", parameters={})
    change = tagger.edit_labels("merge", "cats", to="dogs")
    assert change.not_updated == ("subset-svm",)
    assert "cats" not in scores(tagger)
    tagger.edit_labels("rename", "fish", to="fishes")
    assert "fishes" in tagger.labels
    with pytest.raises(InputError, match="cannot learn single documents, so it would never"):
        tagger.edit_labels("add", "x")
    tagger.compact(retrain=True)
    assert set(scores(tagger)) <= {"birds", "dogs", "fishes"}


def test_models_of_features_are_edited():
    corpus = load_catalogue("train").vectorized()
    tagger = Tagger("lcif").fit(corpus)
    first, second = tagger.labels[:2]
    n_labels = len(tagger.labels)
    tagger.edit_labels("merge", first, to=second)
    tagger.edit_labels("delete", tagger.labels[5])
    assert len(tagger.labels) == n_labels - 2
    tagger.compact(retrain=True)
    assert len(tagger.labels) == n_labels - 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("renam", "cats"), "`action` must be one of .* did you mean 'rename'?"),
        (("rename", "cats"), "`to` is missing: give the new label, or a `name`."),
        (("rename", ["cats", "dogs"], "x"), "rename one label at a time; got 2."),
        (("rename", "cats", "dogs"), "`to` is an existing label, 'dogs'; merge the two"),
        (("rename", "cats", "cats"), "`to` is the label itself, 'cats'; give another."),
        (("rename", "cats", " "), "labels and names must not be empty."),
        (("rename", "katze", "x"), "^unknown label 'katze'"),
        (("merge", "cats"), "`to` is missing: give the label to merge into."),
        (("delete", []), "`labels` is empty: name a label to delete."),
        (
            ("delete", "cats", "dogs"),
            "`to` is for 'rename' and 'merge', not for 'delete'; leave it out.",
        ),
        (("hide", "cats", None, "x"), "`name` needs exactly one label to rename or add"),
        (("add", "cats"), "the label 'cats' already exists; choose another."),
        (("undo",), "there is no edit to undo."),
    ],
)
def test_what_cannot_be_done_is_said(arguments, message):
    tagger = fitted()
    with pytest.raises((InputError, ParameterError), match=message):
        tagger.edit_labels(*arguments)


def test_a_renamed_label_that_is_back_is_not_overwritten():
    tagger = fitted()
    tagger.edit_labels("rename", "cats", to="felines")
    tagger.learn(["a cat"], [["cats"]])
    assert {"cats", "felines"} <= set(tagger.labels)
    with pytest.raises(InputError, match="cannot be undone: 'cats' is in use again"):
        tagger.edit_labels("undo")


NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["hide", "show", "delete", "add"]), NAMES, st.none()),
        st.tuples(st.sampled_from(["rename", "merge"]), NAMES, NAMES),
        st.tuples(st.just("undo"), st.none(), st.none()),
        st.tuples(st.just("learn"), st.sampled_from(["1", "2", "9"]), st.sets(NAMES, max_size=3)),
        st.tuples(st.just("compact"), st.none(), st.none()),
        st.tuples(st.just("retrain"), st.none(), st.none()),
    ),
    max_size=8,
)


@settings(max_examples=40, deadline=None)
@given(steps=STEPS)
def test_any_edits_are_those_of_lists(steps):
    documents = {"1": {"a"}, "2": {"a", "b"}, "3": {"c"}, "4": {"z"}}
    texts = {"1": "red hot", "2": "red cold", "3": "blue", "4": "blue hot", "9": "cold red"}
    names = sorted(documents)
    parameters = {"k": 3, "lam": 0.5, "weighting": None}
    tagger = Tagger("lcif", parameters=parameters, language=None)
    tagger.fit([texts[name] for name in names], [sorted(documents[name]) for name in names], names)
    twin = NaiveLabels(documents)
    n_undo = 0
    for action, label, more in steps:
        known = twin.labels | twin.hidden
        if action == "learn":
            tagger.learn([texts[label]], [sorted(more)], [label])
            twin.learn(label, more)
            n_undo = 0
        elif action in ("compact", "retrain"):
            tagger.compact(retrain=action == "retrain")
        elif action == "undo":
            if n_undo:
                tagger.edit_labels("undo")
                twin.undo()
                n_undo -= 1
        elif action == "add":
            if label not in known:
                tagger.edit_labels("add", label)
                twin.edit("add", [label])
                n_undo += 1
        elif label not in known or (action == "rename" and more in known):
            continue
        elif tagger.edit_labels(action, label, to=more).labels:
            twin.edit(action, [label], more)
            n_undo += 1
        assert set(tagger.labels) == twin.labels, action
        assert set(tagger.hidden_labels) == twin.hidden
        for name, labels in twin.documents.items():
            assert set(tagger.document(name).labels) == labels
    known = list(twin.documents)
    given = [sorted(twin.documents[name]) for name in known]
    if not any(given):
        return
    fresh = Tagger("lcif", parameters=parameters, language=None)
    fresh.fit([texts[name] for name in known], given, known)
    for text in texts.values():
        expected = {k: v for k, v in scores(fresh, text).items() if k not in twin.hidden}
        assert scores(tagger, text) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_what_a_killed_process_said_was_edited_is_there(tmp_path):
    program = Path(__file__).with_name("killing_taggers.py")
    command = [sys.executable, str(program), "kill_editors", str(tmp_path / "model"), "12"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 12
