"""Catalogues that speak to Annif: requests as its documentation shows them."""

from __future__ import annotations

import pytest

from manylabel import Tagger
from manylabel.vocabulary import Concept, Name, Vocabulary

BASE = "/v1/projects/animals"


def test_projects_are_listed_as_annif_lists_them(client):
    (project,) = client.get("/v1/projects").json()["projects"]
    assert project == client.get(BASE).json()
    assert project["project_id"] == "animals"
    assert project["backend"] == {"backend_id": "lcif"}
    assert project["is_trained"] is True
    assert {"name", "language", "vocab", "vocab_language"} <= project.keys()
    assert client.get("/v1/").json().keys() == {"title", "version"}


def test_a_form_with_a_text_gets_subjects(client, tagger):
    form = {"text": "my cat sleeps", "limit": 2, "threshold": 0.0}
    answer = client.post(f"{BASE}/suggest", data=form, headers={"accept": "application/json"})
    expected = tagger.suggest("my cat sleeps", top=2)
    assert answer.json() == {
        "results": [
            {"uri": label, "label": name, "notation": None, "score": score}
            for label, score, name in expected
        ]
    }


def test_a_text_alone_is_enough_and_other_fields_are_ignored(client):
    form = {"text": "cat", "language": "en", "metadata_x": "y"}
    assert client.post(f"{BASE}/suggest", data=form).status_code == 200
    assert client.post(f"{BASE}/suggest", data=form | {"limit": 0}).json() == {"results": []}


def test_a_threshold_leaves_the_better_subjects(client, tagger):
    best, second = tagger.suggest("my cat sleeps", top=2)
    form = {"text": "my cat sleeps", "threshold": (best.score + second.score) / 2}
    found = client.post(f"{BASE}/suggest", data=form).json()["results"]
    assert [one["uri"] for one in found] == [best.label]


def test_batches_keep_their_ids(client):
    documents = [{"text": "a cat", "document_id": "doc-1"}, {"text": "the dog barks"}]
    answer = client.post(
        f"{BASE}/suggest-batch", params={"limit": 1}, json={"documents": documents}
    )
    first, second = answer.json()
    assert (first["document_id"], second["document_id"]) == ("doc-1", None)
    assert [one["uri"] for one in second["results"]] == ["dogs"]


def test_documents_with_subjects_are_learned(client, tagger):
    documents = [
        {
            "text": "A quick brown fox jumped over the lazy dog.",
            "subjects": [{"uri": "http://example.org/fox", "label": "fox"}],
        }
    ]
    answer = client.post(f"{BASE}/learn", json=documents)
    assert (answer.status_code, answer.content) == (204, b"")
    assert tagger.n_documents == 6
    found = client.post(f"{BASE}/suggest", data={"text": "a lazy dog"}).json()["results"]
    assert "http://example.org/fox" in [one["uri"] for one in found]


@pytest.mark.parametrize(
    ("path", "sent", "status", "sentence"),
    [
        ("/v1/projects/zoo/suggest", {"data": {"text": "cat"}}, 404, "Unknown model 'zoo'"),
        (f"{BASE}/suggest", {"data": {"limit": 3}}, 422, "Missing field `text`"),
        (f"{BASE}/suggest", {"data": {"text": "a", "limit": "x"}}, 422, "Invalid `limit`"),
        (f"{BASE}/suggest", {"json": {"text": "cat"}}, 415, "The body must be a form"),
        (f"{BASE}/suggest-batch", {"json": {"documents": []}}, 422, "Invalid `documents`"),
        (f"{BASE}/learn", {"json": [{"text": "a"}]}, 422, "Missing field `0.subjects`"),
    ],
)
def test_refusals_are_problems_as_annif_sends_them(client, path, sent, status, sentence):
    answer = client.post(path, **sent)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json().keys() == {"title", "status", "detail"}
    assert sentence in answer.json()["detail"]


def test_learning_needs_the_token_here_too(client_of):
    client = client_of(allow_learn=True, token="sesam")
    documents = [{"text": "a fox", "subjects": [{"uri": "fox"}]}]
    assert client.post(f"{BASE}/learn", json=documents).status_code == 401
    headers = {"authorization": "Bearer sesam"}
    assert client.post(f"{BASE}/learn", json=documents, headers=headers).status_code == 204


def test_vocabularies_are_listed(client):
    (found,) = client.get("/v1/vocabs").json()["vocabs"]
    assert found == {"vocab_id": "animals", "languages": ["en"], "size": 4, "loaded": True}


def test_notations_and_languages_come_from_the_vocabulary(client_of):
    names = [Name("cats", language="en"), Name("kissat", language="fi")]
    vocabulary = Vocabulary([Concept("c1", names, "599.75"), Concept("c2", [Name("dogs")])])
    tagger = Tagger("lcif", vocabulary=vocabulary).fit(["a cat", "a dog"], [["c1"], ["c2"]])
    client = client_of({"animals": tagger})
    (found,) = client.get("/v1/vocabs").json()["vocabs"]
    assert found["languages"] == ["en", "fi"]
    answer = client.post(f"{BASE}/suggest", data={"text": "a cat and a dog"}).json()
    assert {one["uri"]: one["notation"] for one in answer["results"]} == {
        "c1": "599.75",
        "c2": None,
    }


def test_the_language_of_a_text_is_detected(client):
    body = {"text": "Die Katze schläft auf dem Sofa und der Hund im Garten"}
    found = client.post("/v1/detect-language", json=body | {"languages": ["en", "de"]}).json()
    assert [one["language"] for one in found["results"]] == ["de", "en", None]
    assert sum(one["score"] for one in found["results"]) == pytest.approx(1)
    answer = client.post("/v1/detect-language", json=body | {"languages": ["xx"]})
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("Unknown language 'xx'; there are da, de, en")
    assert client.post("/v1/detect-language", json=body | {"languages": []}).status_code == 422
