"""What the API answers."""

from __future__ import annotations

import math

import pytest
from prometheus_client.parser import text_string_to_metric_families

from manylabel.evidence import Explanation, Reason
from manylabel.exceptions import ParameterError
from manylabel.tagger import Tagger
from manylabel.web import Settings, create_app

CAT = "my cat sleeps, the cat"


def post(client, path, body, **headers):
    return client.post(path, json=body, headers=headers)


def labels_of(answer):
    assert answer.status_code == 200, answer.text
    return [one["label"] for one in answer.json()["labels"]]


def test_one_text_gets_the_labels_that_the_tagger_suggests(client, tagger):
    answer = post(client, "/v1/suggest", {"text": CAT, "top": 3})
    expected = [
        {"label": label, "score": score, "name": name}
        for label, score, name in tagger.suggest(CAT, top=3)
    ]
    assert answer.json() == {"model": "animals", "labels": expected}


def test_several_texts_are_answered_in_their_order(client):
    answer = post(client, "/v1/suggest", {"texts": ["the dog barks", CAT], "top": 1})
    first, second = answer.json()["documents"]
    assert first["labels"][0]["label"] == "dogs"
    assert second["labels"][0]["label"] == "cats"


def test_labels_can_be_demanded_and_excluded(client):
    assert labels_of(post(client, "/v1/suggest", {"text": CAT, "include": ["mice"]})) == ["mice"]
    assert "cats" not in labels_of(post(client, "/v1/suggest", {"text": CAT, "exclude": ["cats"]}))


def test_a_threshold_leaves_the_better_labels(client, tagger):
    scores = [one.score for one in tagger.suggest(CAT, top=None)]
    found = post(client, "/v1/suggest", {"text": CAT, "threshold": scores[1]}).json()["labels"]
    assert [one["score"] for one in found] == [score for score in scores if score >= scores[1]]
    automatic = labels_of(post(client, "/v1/suggest", {"text": CAT, "threshold": "auto"}))
    assert automatic == tagger.suggest(CAT, top=10, threshold="auto").labels


def test_the_parts_of_an_explanation_add_up_to_the_score(client):
    (reasons,) = post(client, "/v1/explain", {"text": CAT, "labels": ["cats"]}).json()["labels"]
    suggested = post(client, "/v1/suggest", {"text": CAT, "include": ["cats"]}).json()["labels"]
    assert reasons["score"] == pytest.approx(suggested[0]["score"])
    total = math.fsum(part["share"] for part in reasons["parts"])
    assert total == pytest.approx(reasons["score"])
    marked = {CAT[one["start"] : one["end"]] for one in reasons["highlights"]}
    assert "cat" in marked
    assert marked <= {"cat", "sleeps"}
    assert reasons["neighbours"][0]["labels"][0].keys() == {"label", "name"}


def test_suggestions_bring_their_reasons_along(client):
    asked = {"text": CAT, "top": 2, "explain": True}
    found = post(client, "/v1/suggest", asked).json()["labels"]
    plain = post(client, "/v1/suggest", {"text": CAT, "top": 2}).json()["labels"]
    why = post(client, "/v1/explain", {"text": CAT, "top": 2}).json()["labels"]
    assert [one.pop("reasons") for one in found] == why
    assert found == plain
    both = post(client, "/v1/suggest", asked | {"text": None, "texts": ["the dog barks", CAT]})
    first, second = both.json()["documents"]
    assert first["labels"][0]["reasons"]["label"] == "dogs"
    assert [one["reasons"] for one in second["labels"]] == why


def test_reasons_of_a_part_that_is_new_have_its_own_title(client, tagger, monkeypatch):
    why = Explanation(0, 0, 0.5, (Reason("moon", 0.5, title="phase of the moon"),))
    monkeypatch.setattr(type(tagger._state.model), "explain", lambda *_, **__: [[why]])
    (found,) = post(client, "/v1/explain", {"text": CAT, "top": 1}).json()["labels"]
    assert found["parts"] == [
        {"kind": "moon", "share": 0.5, "title": "phase of the moon", "sentence": ""}
    ]


def test_learning_is_known_to_the_next_suggestion_and_forgetting_undoes_it(client):
    text = "the parrot sings in its cage"
    learned = post(
        client, "/v1/learn", {"documents": [{"id": "p1", "text": text, "labels": ["parrots"]}]}
    ).json()
    assert (learned["learned"], learned["new_labels"]) == (["p1"], ["parrots"])
    assert learned["documents"] == 6
    dog = {"id": "d1", "text": "the dog barks", "labels": ["barking"]}
    assert post(client, "/v1/learn", {"documents": [dog]}).json()["replaced"] == ["d1"]
    assert "barking" in labels_of(post(client, "/v1/suggest", {"text": "it barks"}))
    forgotten = post(client, "/v1/forget", {"ids": ["p1"]}).json()
    assert (forgotten["forgotten"], forgotten["documents"]) == (["p1"], 5)
    assert post(client, "/v1/forget", {"ids": ["p1"]}).status_code == 404


def test_documents_without_an_id_get_one(client, tagger):
    documents = [{"text": "a bird", "labels": []}, {"id": "b2", "text": "a bee", "labels": []}]
    (first, second) = post(client, "/v1/learn", {"documents": documents}).json()["learned"]
    assert second == "b2"
    assert tagger.document(first).text == "a bird"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["cats", "dogs", "mice", "sleep"]),
        ("MAUS", ["mice"]),
        ("mice", ["mice"]),
        ("at", ["cats"]),
        ("nothing", []),
    ],
)
def test_labels_are_found_by_parts_of_their_names(client, query, found):
    answer = client.get("/v1/labels", params={"query": query})
    assert sorted(labels_of(answer)) == found
    assert answer.json()["total"] == len(found)


def test_fewer_labels_than_there_are_can_be_asked_for(client):
    answer = client.get("/v1/labels", params={"limit": 1}).json()
    assert (len(answer["labels"]), answer["total"]) == (1, 4)


def test_a_label_is_described_by_words_documents_and_other_labels(client):
    found = client.get("/v1/label", params={"label": "mice"}).json()
    assert (found["name"], found["documents"]) == ("Mäuse", 2)
    assert {"label": "cats", "name": "cats", "documents": 1} in found["together"]
    assert {document["id"] for document in found["examples"]} == {"c2", "m1"}
    assert any(one["word"].lower() in ("mouse", "mice") for one in found["words"])
    unknown = client.get("/v1/label", params={"label": "cat"})
    assert unknown.status_code == 404
    assert unknown.json()["detail"].endswith("(4 labels known); did you mean 'cats'?")


def test_several_models_are_served_side_by_side(client_of, tagger):
    other = Tagger("lcif", parameters={"k": 1}).fit(["red", "blue"], [["warm"], ["cold"]])
    client = client_of({"animals": tagger, "colours": other}, allow_learn=True)
    listed = client.get("/v1/models").json()["models"]
    assert [one["name"] for one in listed] == ["animals", "colours"]
    assert [one["documents"] for one in listed] == [5, 2]
    assert {one["scores"] for one in listed} == {"score"}
    body = {"model": "colours", "text": "red", "top": 1}
    assert labels_of(post(client, "/v1/suggest", body)) == ["warm"]
    new = {"model": "colours", "documents": [{"text": "green", "labels": ["fresh"]}]}
    assert post(client, "/v1/learn", new).json()["documents"] == 3
    assert tagger.n_documents == 5


def test_models_say_what_is_allowed(client_of):
    assert client_of().get("/v1/models").json()["learning"] == "off"
    assert client_of(allow_learn=True).get("/v1/models").json()["learning"] == "open"
    secret = client_of(allow_learn=True, token="t", max_texts=3)
    assert secret.get("/v1/models").json()["learning"] == "token"
    assert secret.get("/v1/models").json()["limits"]["texts"] == 3


REFUSED = [
    ("/v1/suggest", {"text": CAT, "model": "zoo"}, 404, "Unknown model 'zoo'; there are "),
    (
        "/v1/suggest",
        {"text": CAT, "include": ["yaks"]},
        422,
        "Unknown label 'yaks' in `include`",
    ),
    ("/v1/suggest", {"text": "  "}, 422, "Text 0 is empty"),
    ("/v1/suggest", {}, 422, "Give either `text` or `texts`."),
    ("/v1/suggest", {"text": CAT, "texts": []}, 422, "Give either `text` or `texts`."),
    ("/v1/suggest", {"text": CAT, "top": 0}, 422, "Invalid `top`"),
    ("/v1/suggest", {"text": CAT, "treshold": 1}, 422, "Unknown field `treshold`"),
    ("/v1/suggest", {"text": 5}, 422, "Invalid `text`"),
    (
        "/v1/suggest",
        {"texts": [CAT] * 300},
        413,
        "Too many texts: 300; the limit is 256 per",
    ),
    ("/v1/suggest", ["text"], 422, "Invalid body: "),
    ("/v1/explain", {"text": CAT, "labels": ["yaks"]}, 422, "Unknown label 'yaks'"),
    ("/v1/learn", {"documents": []}, 422, "Invalid `documents`"),
    ("/v1/learn", {"documents": [{"text": " ", "labels": ["x"]}]}, 422, "Text 0 is empty"),
    ("/v1/learn", {"documents": [{"text": "a", "labels": [" "]}]}, 422, "`documents.0.labels.0`"),
    ("/v1/forget", {"ids": ["unknown"]}, 404, "No document has the id 'unknown'."),
    ("/v1/nothing", {}, 404, "Unknown address; /docs lists the routes."),
    ("/healthz", {}, 405, "This address does not accept POST; /docs lists the routes."),
]


@pytest.mark.parametrize(("path", "body", "status", "sentence"), REFUSED)
def test_what_cannot_be_answered_is_refused_in_a_sentence(client, path, body, status, sentence):
    answer = post(client, path, body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert sentence in problem["detail"]


@pytest.mark.parametrize(
    "body",
    [b"{", b"\xff\xfe{", b"[" * 100_000, b'{"top": ' + b"9" * 5000 + b', "text": "a"}', b""],
    ids=["cut", "no UTF-8", "deep", "long number", "empty"],
)
def test_bodies_that_are_no_json_are_refused(client, body):
    answer = client.post("/v1/suggest", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["detail"].endswith(".")


def test_half_a_surrogate_pair_is_refused_wherever_it_stands(client):
    for body in ('{"text": "\\ud800"}', '{"\\ud800": 1}', '{"text": "a", "model": "\\ud800"}'):
        answer = client.post(
            "/v1/suggest", content=body, headers={"content-type": "application/json"}
        )
        assert answer.status_code in (404, 422)


def test_only_json_is_taken_for_json(client):
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        answer = client.post("/v1/learn", content=b"{}", headers={"content-type": kind})
        assert answer.status_code == 415
        assert answer.json()["detail"] == (
            "The body must be JSON, with the header Content-Type: application/json."
        )


def test_odd_texts_are_texts(client):
    for text in ("\x00", "😀 cat", "a" * 100_000, "<script>alert(1)</script>", "‮cat"):
        assert post(client, "/v1/suggest", {"text": text}).status_code == 200
        assert post(client, "/v1/explain", {"text": text}).status_code == 200
    body = {"documents": [{"id": "\x00'; --", "text": "odd 😀", "labels": ["<i>", "../.."]}]}
    assert post(client, "/v1/learn", body).status_code == 200
    assert post(client, "/v1/forget", {"ids": ["\x00'; --"]}).status_code == 200


def test_the_server_says_that_it_lives_and_is_ready(client):
    assert client.get("/healthz").json() == {"status": "alive"}
    for _ in range(200):
        if client.get("/readyz").status_code == 200:
            break
    assert client.get("/readyz").json() == {"status": "ready"}


def test_metrics_count_requests_times_and_documents(client):
    post(client, "/v1/learn", {"documents": [{"text": "a bird", "labels": ["birds"]}]})
    client.get("/v1/nothing-of-the-kind")
    client.request("BREW", "/v1/models")
    found = client.get("/metrics")
    assert found.headers["content-type"].startswith("text/plain; version=")
    read = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(found.text)
        for sample in family.samples
    }
    assert read["manylabel_requests_total", "/v1/learn", "200", "POST"] == 1
    assert read["manylabel_requests_total", "404", "GET", "none"] == 1
    assert read["manylabel_request_seconds_count", "/v1/learn"] == 1
    assert read["manylabel_request_seconds_bucket", "+Inf", "/v1/learn"] == 1
    assert read["manylabel_documents_learned_total", "animals"] == 1
    assert read["manylabel_documents", "animals"] == 6
    assert read["manylabel_labels", "animals"] == len(client.get("/v1/labels").json()["labels"])
    assert "nothing-of-the-kind" not in found.text
    assert "BREW" not in found.text


def test_there_must_be_a_model(tagger):
    with pytest.raises(ParameterError, match="no model to serve"):
        create_app({})
    with pytest.raises(ParameterError, match=r"`timeout` must be more than 0; got 0\."):
        Settings(timeout=0)
    with pytest.raises(ParameterError, match="the token is empty"):
        Settings(token=" ")
