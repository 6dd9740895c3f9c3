"""Labels that are edited over HTTP and on the page."""

from __future__ import annotations

import pytest


def edit(client, **body):
    return client.post("/v1/labels/edit", json=body)


def listed(client, **query):
    return [one["label"] for one in client.get("/v1/labels", params=query).json()["labels"]]


def test_labels_are_renamed_merged_hidden_and_all_is_taken_back(client):
    before = listed(client)
    answer = edit(client, action="rename", labels=["cats"], to="felines")
    assert answer.status_code == 200, answer.text
    assert answer.json()["message"] == "Renamed 'cats' to 'felines'."
    assert edit(client, action="merge", labels=["felines", "dogs"], to="pets").json() == {
        "model": "animals",
        "action": "merge",
        "labels": ["felines", "dogs"],
        "to": "pets",
        "documents": 4,
        "undone": None,
        "not_updated": [],
        "message": "Merged 2 labels into 'pets': 4 documents.",
    }
    assert edit(client, action="rename", labels=["mice"], name="Rodents").is_success
    assert listed(client, query="rodent") == ["mice"]
    assert edit(client, action="hide", labels=["mice"]).is_success
    assert sorted(listed(client)) == ["pets", "sleep"]
    assert listed(client, hidden=True) == ["mice"]
    found = client.post("/v1/suggest", json={"text": "A cat eats mice"}).json()["labels"]
    assert {one["label"] for one in found} <= {"pets", "sleep"}
    assert client.get("/v1/label", params={"label": "cats"}).status_code == 404
    for _ in range(4):
        assert edit(client, action="undo").is_success
    assert listed(client) == before
    assert edit(client, action="undo").status_code == 422


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"action": "hide", "labels": ["cat"]}, "(4 labels known); did you mean 'cats'?"),
        ({"action": "rename", "labels": ["cats"]}, "`to` is missing"),
        ({"action": "rename", "labels": ["cats"], "to": "dogs"}, "merge the two instead"),
    ],
)
def test_what_cannot_be_done_is_said(client, body, sentence):
    answer = edit(client, **body)
    assert answer.status_code == 422
    assert sentence in answer.json()["detail"]
    assert edit(client, action="burn", labels=["cats"]).status_code == 422


def test_editing_needs_what_learning_needs(client_of):
    assert edit(client_of(), action="hide", labels=["cats"]).status_code == 403
    client = client_of(allow_learn=True, token="secret")
    assert edit(client, action="hide", labels=["cats"]).status_code == 401
    headers = {"Authorization": "Bearer secret"}
    body = {"action": "hide", "labels": ["cats"]}
    assert client.post("/v1/labels/edit", json=body, headers=headers).is_success
