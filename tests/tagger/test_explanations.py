"""Reasons that add up, and how they look."""

from __future__ import annotations

import html
import json
import re
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tagger.tagger_problems import texts_and_labels

from manylabel import Tagger
from manylabel.corpus import Document
from manylabel.evidence import KINDS, Explanation, Reason
from manylabel.tagger.display import FOR, html_highlighted, separate
from manylabel.tagger.explanations import LabelReasons, TextExplanation
from manylabel.tagger.reasons import Words, label_reasons, summed_words
from manylabel.tagger.suggestions import Suggestion, Suggestions

QUERY = "The cats purr; a DOG barks by the river, <b>purrs</b> & all"
EXPLAINING = {
    "instance-knn": {"k": 5},
    "feature-knn": {},
    "lcif": {"k": 5, "lam": 0.5},
    "flat-lda": {},
    "subset-llda": {},
    "svm": {},
    "subset-svm": {},
    "fastxml": {"n_trees": 3},
    "pfastrexml": {"n_trees": 3},
    "ensemble": {},
}


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    texts, labels = texts_and_labels()
    info = {"cats": "<script>alert('cats')</script>"}
    return Tagger("lcif", parameters=EXPLAINING["lcif"]).fit(texts, labels, label_info=info)


@pytest.mark.parametrize("model", EXPLAINING)
def test_the_parts_of_every_model_sum_to_the_score(model):
    tagger = Tagger(model, parameters=EXPLAINING[model], random_state=0)
    tagger.fit(*texts_and_labels())
    why = tagger.explain(QUERY, top=3)
    suggested = tagger.suggest(QUERY, top=3)
    assert [reasons.label for reasons in why] == suggested.labels
    for reasons, found in zip(why, suggested, strict=True):
        given = reasons.score if reasons.probability is None else reasons.probability
        assert given == pytest.approx(found.score, rel=1e-6, abs=1e-9)
        assert reasons.total == pytest.approx(reasons.score, rel=1e-6, abs=1e-9)
        shown = {part.kind: part.share for part in reasons.parts}
        for kind, group in (("neighbours", reasons.neighbours), ("words", reasons.words)):
            if kind in shown:
                assert sum(reason.share for reason in group) == pytest.approx(shown[kind])


def test_data_for_json_are_those_of_the_objects(tagger):
    for reasons in tagger.explain(QUERY):
        near = [replace(one, words=list(one.words)) for one in reasons.neighbours]
        made = replace(reasons, words=list(reasons.words), neighbours=near)
        assert json.dumps(reasons.to_dict()) == json.dumps(asdict(made) | {"total": made.total})
        assert reasons == made
        assert reasons.words[:2] == made.words[:2]
        assert [reasons.words[-1], reasons.words[0]] == [made.words[-1], made.words[0]]


SHARES = st.sampled_from([0.0, 0.1, -0.1, 0.3, 0.7, 1e-17, -1e9])


@given(
    st.lists(st.tuples(st.sampled_from(["", "names"]), st.dictionaries(st.integers(0, 4), SHARES)))
)
def test_shares_of_words_are_added_in_order(given_words):
    words = {view: Words("", dict, [f"{view}{n}" for n in range(5)]) for view in ("", "names")}
    sums: dict[tuple[str, int], float] = {}
    for view, shares in given_words:
        for feature, share in shares.items():
            sums[view, feature] = sums.get((view, feature), 0.0) + share
    ordered = sorted(sums.items(), key=lambda item: -abs(item[1]))
    expected = [words[view].reason(feature, share) for (view, feature), share in ordered]
    direct = [(view, list(shares), np.array(list(shares.values()))) for view, shares in given_words]
    assert list(summed_words(direct, words)) == expected


def test_words_stand_where_they_say(tagger):
    for reasons in tagger.explain(QUERY):
        for word in reasons.words:
            assert word.spans
            assert QUERY[slice(*word.spans[0])] == word.word
        for neighbour in reasons.neighbours:
            assert reasons.label in neighbour.labels
            assert tagger.document(neighbour.id).text.startswith(neighbour.text)
            shared = sum(word.share for word in neighbour.words)
            assert shared == pytest.approx(neighbour.similarity, rel=1e-5)
    purr = next(word for word in tagger.explain(QUERY)["cats"].words if word.word == "purr")
    assert [QUERY[slice(*span)] for span in purr.spans] == ["purr", "purrs"]


def test_highlights_share_out_the_whole_score(tagger):
    for reasons in tagger.explain(QUERY):
        assert sum(weight for *_, weight in reasons.highlights()) == pytest.approx(reasons.score)


def test_labels_can_be_asked_for(tagger):
    why = tagger.explain(QUERY, label=["fish", "cats"])
    assert [reasons.label for reasons in why] == ["fish", "cats"]
    assert why["cats"] is why[1]
    assert len(tagger.explain("cat", label="cats")) == 1
    with pytest.raises(KeyError):
        why["dogs"]
    assert tagger.explain("nothing known", label="cats")[0] == LabelReasons(
        "cats", tagger.label_info("cats").name, 0.0
    )


def test_reasons_of_combined_models_are_gathered_from_their_parts():
    shared = (Reason("word", 0.5, 0),)
    why = Explanation(
        0,
        0,
        1.0,
        (
            Reason("knn", 0.6, reasons=(Reason("neighbour", 0.6, 3, 0.5, shared),)),
            Reason(
                "linear",
                0.5,
                reasons=(Reason("word", 0.4, 0), Reason("bias", 0.1)),
                title="words for and against",
            ),
            Reason("trees", -0.1, reasons=(Reason("word", -0.1, 0),)),
        ),
    )
    words = {"": Words("cat", lambda: {0: [(0, 3)]}, ["cat"])}
    reasons = label_reasons(
        why, "c", "Cats", words, lambda number: Document(f"d{number}", "text", ["c"])
    )
    assert [(part.kind, part.share, part.title) for part in reasons.parts] == [
        ("knn", 0.6, "knn"),
        ("linear", 0.5, "words for and against"),
        ("trees", -0.1, "groups of similar documents"),
    ]
    assert reasons.total == pytest.approx(1.0)
    assert reasons.probability is None
    assert [(word.word, word.share) for word in reasons.words] == [("cat", pytest.approx(0.3))]
    assert [(near.id, near.share) for near in reasons.neighbours] == [("d3", 0.6)]


def test_an_unknown_kind_is_shown_under_its_own_title():
    why = Explanation(
        0,
        0,
        1.0,
        (
            Reason("moon", 0.7, title="phase of the <moon>", reasons=(Reason("word", 0.7, 0),)),
            Reason("tide", 0.5),
            Reason("prior", -0.2),
        ),
    )
    words = {"": Words("cat", lambda: {0: [(0, 3)]}, ["cat"])}
    reasons = label_reasons(why, "c", "Cats", words, lambda number: None)
    assert [(part.kind, part.title) for part in reasons.parts] == [
        ("prior", "how common the label is"),
        ("moon", "phase of the <moon>"),
        ("tide", "tide"),
    ]
    assert [word.word for word in reasons.words] == ["cat"]
    shown = TextExplanation("cat", [reasons])
    assert "+0.7000   phase of the <moon>" in str(shown)
    assert "phase of the &lt;moon&gt;" in shown._repr_html_()
    assert shown.to_dict()["labels"][0]["parts"][1]["title"] == "phase of the <moon>"


def test_every_kind_of_the_models_has_a_title_and_a_sentence():
    for kind, known in KINDS.items():
        assert known.title[0].islower()
        assert known.sentence.endswith(".")
        assert (known.group or kind) in KINDS


def test_reasons_of_one_kind_are_added_up_unless_their_titles_differ():
    why = Explanation(
        0,
        0,
        1.0,
        (Reason("word", 0.5, 0), Reason("word", 0.3, 1), Reason("word", 0.2, 2, title="x")),
    )
    words = {"": Words("", dict, ["a", "b", "c"])}
    reasons = label_reasons(why, "c", "c", words, lambda number: None)
    assert [(part.kind, part.title, part.share) for part in reasons.parts] == [
        ("words", "words", pytest.approx(0.8)),
        ("words", "x", 0.2),
    ]


def test_a_forgotten_document_is_not_shown_by_a_model_that_still_knows_it():
    texts, labels = texts_and_labels()
    tagger = Tagger("subset-llda", random_state=0).fit(texts, labels)
    near = [one.id for why in tagger.explain(QUERY) for one in why.neighbours]
    assert near
    tagger.forget(near[0])
    for compacted in (False, True):
        if compacted:
            tagger.compact()
        found = [one for why in tagger.explain(QUERY) for one in why.neighbours]
        assert near[0] not in [one.id for one in found]
        assert all(one.text == texts[int(one.id)] for one in found)
        assert {one.id for one in found} == set(near) - {near[0]}


def test_explanations_are_data_for_json(tagger):
    data = json.loads(json.dumps(tagger.explain(QUERY, top=1).to_dict()))
    assert data["text"] == QUERY
    assert data["labels"][0]["total"] == pytest.approx(data["labels"][0]["score"])


def test_a_notebook_shows_escaped_text_with_marked_words(tagger):
    for page in (tagger.explain(QUERY)._repr_html_(), tagger.suggest(QUERY)._repr_html_()):
        assert "<script>" not in page
        assert "&lt;script&gt;alert(&#x27;cats&#x27;)&lt;/script&gt;" in page
    page = tagger.explain(QUERY, label="cats")._repr_html_()
    text = re.search(r"<p[^>]*>(.*?)</p>", page, re.DOTALL)[1]
    assert html.unescape(re.sub("<[^>]*>", "", text)) == QUERY
    assert re.findall("<mark[^>]*>(.*?)</mark>", text)[0] == "cats"
    assert "no suggestions" in tagger.suggest("nothing known")._repr_html_()
    assert "no suggestions" in tagger.explain("<i>")._repr_html_()
    assert "&lt;i&gt;" in tagger.explain("<i>")._repr_html_()


def test_a_terminal_shows_tables(tagger):
    printed = str(tagger.explain(QUERY, top=1))
    assert QUERY in printed
    assert "similar documents" in printed
    assert "% similar" in printed
    assert re.search(rf"{FOR}\n.* purr", printed)
    assert "fish" in repr(tagger.suggest("a fish"))
    assert repr(tagger.suggest("nothing known")) == "no suggestions"
    assert str(tagger.explain("river " * 1000)).count("river") < 400


def test_overlapping_words_are_marked_once():
    spans = [(0, 9, 0.5), (4, 9, 0.9), (10, 12, -0.1)]
    assert separate(spans) == [(4, 9, 0.9), (10, 12, -0.1)]
    marked = html_highlighted("the <cat> is", spans)
    assert marked.count("<mark") == 2
    assert "&lt;cat&gt;" in marked
    assert html_highlighted("a & b", []) == "a &amp; b"


def test_suggestions_are_data_and_a_sequence():
    found = Suggestions([Suggestion("c1", 0.5, "cats"), Suggestion("dogs", 0.25, "dogs")], "x")
    assert found.to_list() == [
        {"label": "c1", "score": 0.5, "name": "cats"},
        {"label": "dogs", "score": 0.25},
    ]
    assert found[:1] == (Suggestion("c1", 0.5, "cats"),)
    assert found == list(found)
    assert found != 3
