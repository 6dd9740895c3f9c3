"""Text in, labels out."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tagger.tagger_problems import texts_and_labels

from manylabel import LCIF, Corpus, Tagger
from manylabel.exceptions import InputError, ParameterError
from manylabel.models import MODELS
from manylabel.text import CountVectorizer

QUICK = {
    "fastxml": {"n_trees": 3},
    "pfastrexml": {"n_trees": 3},
    "dependency-lda": {"topic_burn_in": 5, "n_topics": 4},
}


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    texts, labels = texts_and_labels()
    info = {"cats": {"name": "Cats & kittens", "description": "Felis catus."}, "dogs": "Dogs"}
    return Tagger("lcif", parameters={"k": 5, "lam": 0.6}).fit(texts, labels, label_info=info)


def fresh(model: str = "lcif", **parameters) -> Tagger:
    return Tagger(model, parameters=parameters, random_state=0).fit(*texts_and_labels())


def test_suggestions_come_best_first_with_names(tagger):
    found = tagger.suggest("the cat and the kitten purr", top=2)
    assert found[0].label == "cats"
    assert found[0].name == "Cats & kittens"
    assert found[0].score > found[1].score
    assert found.labels == [suggestion.label for suggestion in found]
    assert len(found) == 2


def test_several_texts_give_several_suggestions(tagger):
    texts = ["a cat", "a dog"]
    found = tagger.suggest(texts, top=1)
    assert [suggestions.labels for suggestions in found] == [["cats"], ["dogs"]]
    assert found == [tagger.suggest(text, top=1) for text in texts]
    named = tagger.suggest(Corpus.from_texts(texts, [[], []], ["x", "y"]), top=1)
    assert [suggestions.id for suggestions in named] == ["x", "y"]
    assert tagger.suggest([]) == []


def test_included_and_excluded_labels(tagger):
    text = "a cat and a dog by the river"
    assert set(tagger.suggest(text, include=["fish", "dogs"]).labels) <= {"fish", "dogs"}
    assert "cats" not in tagger.suggest(text, top=None, exclude=["cats"]).labels
    assert tagger.suggest(text, include=["cats"], exclude=["cats"]).labels == []
    everything = {found.label: found.score for found in tagger.suggest(text, top=None)}
    for found in tagger.suggest(text, include=["dogs"]):
        assert found.score == everything[found.label]


def test_thresholds(tagger):
    text = "a cat and a dog by the river"
    everything = tagger.suggest(text, top=None)
    limit = everything[1].score
    assert tagger.suggest(text, threshold=limit).labels == everything.labels[:2]
    own = tagger.suggest(text, top=None, threshold="auto").labels
    counts = tagger._state.vectorizer.transform([text])
    given = tagger._state.model.predict(counts)
    assert set(own) == {tagger.labels[column] for column in given.indices}
    assert tagger.suggest(text, threshold=10.0).labels == []


@pytest.mark.parametrize("model", MODELS)
def test_every_model_tags_and_is_measured(model):
    tagger = fresh(model, **QUICK.get(model, {}))
    assert tagger.suggest("cat kitten whiskers purr meow", top=1).labels == ["cats"]
    measures = tagger.evaluate(*texts_and_labels(20, seed=1), metrics=["p@1", "micro-f1"])
    assert measures["p@1"] > 0.6
    assert json.dumps(measures)


def test_an_estimator_is_copied_and_keeps_its_parameters():
    mine = LCIF(k=3)
    tagger = Tagger(mine, n_jobs=2).fit(*texts_and_labels())
    assert not hasattr(mine, "n_labels_")
    used = tagger._state.model
    assert (used.k, used.n_jobs, used.update_weights) == (3, 2, True)
    assert tagger.model_name == "LCIF"


def test_language_and_text_options():
    texts, labels = ["Laiva purjehtii", "Talo seisoo"], [["a"], ["b"]]
    finnish = Tagger("lcif", language="fi", parameters={"k": 1}).fit(texts, labels)
    assert finnish.suggest("laivat", top=1).labels == ["a"]
    plain = Tagger("lcif", language=None, parameters={"k": 1}).fit(texts, labels)
    assert plain.suggest("laivat").labels == []
    pairs = Tagger("lcif", language=None, vectorizer={"ngram_range": (2, 2)}).fit(texts, labels)
    assert pairs.suggest("laiva seisoo").labels == []
    given = Tagger("lcif", vectorizer=CountVectorizer(char_ngrams=(3, 4))).fit(texts, labels)
    assert given.suggest("laivat", top=1).labels == ["a"]


def test_a_corpus_and_a_file_bring_their_labels_and_ids(tmp_path):
    texts, labels = texts_and_labels()
    lines = [
        json.dumps({"id": f"d{row}", "text": text, "labels": given})
        for row, (text, given) in enumerate(zip(texts, labels, strict=True))
    ]
    path = tmp_path / "pets.jsonl"
    path.write_text("\n".join(lines))
    by_file, by_list = Tagger("lcif").fit(path), Tagger("lcif").fit(texts, labels)
    assert by_file.suggest("a cat") == by_list.suggest("a cat")
    assert by_file.document("d3").labels == labels[3]
    assert by_file.document("d3").text == texts[3]
    assert by_file.evaluate(path, metrics=["p@1"]) == by_list.evaluate(
        texts, labels, metrics=["p@1"]
    )


def test_a_corpus_of_features_without_texts():
    rng = np.random.default_rng(0)
    Y = rng.random((40, 3)) < 0.5
    X = rng.poisson(0.2 + 3 * Y @ np.eye(3, 9))
    names = [f"f{column}" for column in range(9)]
    corpus = Corpus(X, Y, feature_names=names, label_names=["a", "b", "c"])
    tagger = Tagger("lcif", parameters={"k": 3, "lam": 0.5}).fit(corpus[:30])
    assert len(tagger.suggest(corpus[30:], top=1)) == 10
    assert tagger.evaluate(corpus[30:], metrics=["p@1"])["p@1"] > 0.6
    why = tagger.explain(corpus[30])
    assert {word.word for word in why[0].words} <= set(names)
    assert tagger.learn(corpus[30:]).learned == tuple(map(str, range(30, 40)))
    assert tagger.describe_label("a").words[0][0] == "f0"
    with pytest.raises(InputError, match="trained on features, not on texts; give it a Corpus"):
        tagger.suggest("a text")
    with pytest.raises(InputError, match="the corpus has only texts"):
        tagger.evaluate(["a text"], [["a"]])


def test_a_file_that_does_not_count_its_features_may_lack_the_last(tmp_path):
    tagger = Tagger("lcif", parameters={"k": 1}).fit(Corpus(np.eye(4), np.eye(4)))
    path = tmp_path / "test.svm"
    path.write_text("1 0:1 1:3\n2 2:1\n")
    assert tagger.evaluate(path, metrics=["p@1"]) == {"p@1": 1.0}
    path.write_text("1 0:1 9:3\n")
    with pytest.raises(InputError, match="10 features, but the tagger was trained on 4; give one"):
        tagger.evaluate(path)
    path.write_text("# 1 rows, 3 features from 0, 4 labels\n1 0:1 1:3\n")
    with pytest.raises(InputError, match="3 features, but the tagger was trained on 4; give one"):
        tagger.evaluate(path)


def test_how_long_fitting_took(tagger):
    assert list(tagger.fit_seconds) == ["vectorize", "train"]
    assert list(Tagger("lcif").fit(Corpus(np.eye(4), np.eye(4))).fit_seconds) == ["train"]


def test_a_text_without_known_words_has_no_labels(tagger):
    assert tagger.suggest("zzz", threshold="auto").labels == []
    assert [len(found) > 0 for found in tagger.suggest(["zzz", "a cat"], threshold="auto")] == [
        False,
        True,
    ]


def test_labels_are_described_by_their_documents(tagger):
    shown = tagger.describe_label("cats", top=5)
    _, labels = texts_and_labels()
    assert shown.documents == sum("cats" in given for given in labels)
    assert {word for word, _ in shown.words} <= {"cat", "kitten", "whiskers", "purr", "meow"}
    counted = dict(shown.together)
    assert counted["dogs"] == sum({"cats", "dogs"} <= set(given) for given in labels)
    assert (shown.name, shown.description) == ("Cats & kittens", "Felis catus.")
    assert "Cats &amp; kittens" in shown._repr_html_()
    assert "Felis catus." in str(shown)


def test_label_info_from_files(tmp_path):
    table = tmp_path / "labels.tsv"
    table.write_text("cats\tKatzen\tFelis catus.\ndogs\tHunde\nrare\tSelten\n")
    lines = tmp_path / "labels.jsonl"
    lines.write_text('{"id": "cats", "name": "Katzen", "description": "Felis catus."}\n')
    for path in (table, lines):
        tagger = Tagger("lcif").fit(*texts_and_labels(), label_info=path)
        assert tagger.label_info("cats").name == "Katzen"
        assert tagger.label_info("cats").description == "Felis catus."
        assert tagger.label_info("fish").name == "fish"
    with pytest.raises(InputError, match="4 labels known"):
        tagger.label_info("cows")


def test_unknown_labels_count_as_missed(tagger):
    text = "the cat and the kitten purr"
    assert tagger.evaluate([text], [["cats"]], metrics=["recall@5"])["recall@5"] == 1
    assert tagger.evaluate([text], [["cats", "cows"]], metrics=["recall@5"])["recall@5"] == 0.5


def test_snippets_instead_of_texts():
    texts, labels = texts_and_labels()
    tagger = Tagger("lcif", keep_texts=False).fit([text + " x" * 300 for text in texts], labels)
    assert len(tagger.document("0").text) == 300
    tagger.learn(["dog " * 200], [["dogs"]], ids=["new"])
    assert len(tagger.document("new").text) == 300


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.suggest(""), "text 0 is empty; give it some words, or leave it out"),
        (lambda t: t.suggest(["a cat", "  "]), "text 1 is empty"),
        (lambda t: t.suggest([3]), "texts must be strings; text 0 is int"),
        (lambda t: t.suggest("a", top=0), "`top` must be a whole number of at least 1; got 0"),
        (
            lambda t: t.suggest("a", threshold="x"),
            "a number, 'auto' or a promise such as 'precision:0.9'; got 'x'",
        ),
        (
            lambda t: t.suggest("a", include=["cat"]),
            "unknown label 'cat' in `include` (4 labels known); did you mean 'cats'?",
        ),
        (
            lambda t: t.suggest("a", exclude=["q"]),
            "unknown label 'q' in `exclude` (4",
        ),
        (lambda t: t.explain("a cat", label="q"), "unknown label 'q' in `label` (4 labels"),
        (lambda t: t.forget(["unknown"]), "no document has the id 'unknown'"),
        (
            lambda t: t.forget(map(str, range(60))),
            "cannot forget every document: at least one must be left",
        ),
        (lambda t: t.learn(["a", "b"], [["x"]]), "must have the same length; got 2 and 1"),
        (lambda t: t.learn([" "], [["x"]]), "text 0 is empty"),
        (lambda t: t.learn(["a"]), "`labels` are missing"),
        (lambda t: t.learn(["a"], ["xy"]), "must be a list of names, such as ['xy']; got 'xy'"),
        (
            lambda t: t.learn(["a", "b"], [["x"], []], ids=["1", "1"]),
            "`ids` must be distinct; '1' occurs twice",
        ),
        (lambda t: t.learn(["a"], [["x"]], ids=["1", "2"]), "each of 1 document; got 2"),
        (lambda t: t.evaluate(["a"]), "`labels` are missing"),
        (lambda t: t.document("unknown"), "no document has the id 'unknown'"),
        (lambda t: Tagger().suggest("a"), "not fitted; call fit"),
        (lambda t: Tagger().labels, "not fitted; call fit"),
        (lambda t: Tagger().fit(["a b"], [[]]), "no document has a label"),
        (lambda t: Tagger().fit(["aa"], [["x"]], label_info=3), "a mapping of labels to names"),
        (lambda t: Tagger("cats"), "unknown model 'cats'"),
        (lambda t: Tagger("lcif", parameters={"kk": 1}), "lcif has no parameter 'kk'"),
        (lambda t: Tagger(3), "a model's name or an estimator; got 3"),
        (
            lambda t: Tagger(language="xx"),
            "`language` must be a code with stop words (da, de, en",
        ),
        (lambda t: Tagger(vectorizer={"x": 1}), "`vectorizer` has no parameter 'x'"),
        (lambda t: Tagger(vectorizer=3), "`vectorizer` must be a CountVectorizer"),
        (lambda t: fresh("svm").learn(["a"], [["x"]]), "svm cannot learn single documents"),
        (lambda t: fresh("br-knn").explain("a"), "br-knn cannot explain its labels"),
    ],
)
def test_mistakes_are_named_in_one_sentence(tagger, call, message):
    with pytest.raises((InputError, ParameterError)) as error:
        call(tagger)
    assert message in str(error.value)
    assert tagger.n_documents == 60
    assert tagger.labels == ["birds", "cats", "dogs", "fish"]


@pytest.mark.parametrize("model", ["ensemble", "lcif", "svm"])
def test_suggestions_can_have_their_reasons(model):
    tagger, texts = fresh(model), ["a cat by the river", "a dog barks", "cat and dog and fish"]
    plain = tagger.suggest(texts, top=3)
    found = tagger.suggest(texts, top=3, explain=True)
    assert found == plain
    assert all(one.why is None for one in plain)
    for text, suggested in zip(texts, found, strict=True):
        assert [reasons.label for reasons in suggested.why] == suggested.labels
        assert suggested.why == tagger.explain(text, label=suggested.labels)
    one = tagger.suggest(texts[0], top=3, explain=True)
    assert one.why == found[0].why
    few = tagger.suggest(texts[0], threshold="auto", exclude=plain[0].labels[:1], explain=True)
    assert [reasons.label for reasons in few.why] == few.labels
    assert plain[0].labels[0] not in few.labels
    unknown = tagger.suggest("...", explain=True)
    assert [reasons.label for reasons in unknown.why] == unknown.labels
    assert tagger.suggest((text for text in texts), top=3, explain=True)[1].why == found[1].why


def test_a_model_without_reasons_says_so():
    with pytest.raises(InputError, match="br-knn cannot explain its labels; use a model such as"):
        fresh("br-knn").suggest("a cat", explain=True)
