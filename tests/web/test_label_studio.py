"""Label Studio's side of the conversation, as its connector speaks."""

from __future__ import annotations

import json

import pytest

CHOICES = """
<View>
  <!-- what people see -->
  <Text name="story" value="$body"/>
  <Choices name="animals" toName="story" choice="multiple">
    <Choice value="cats"/>
    <Choice value="Mäuse"/>
    <Choice value="A good rest" alias="sleep"/>
    <Choice value="yaks"/>
  </Choices>
</View>
"""
TAXONOMY = """
<View>
  <Text name="story" value="$body"/>
  <Taxonomy name="animals" toName="story">
    <Choice value="Pets"><Choice value="cats"/><Choice value="&lt;b>Dogs&lt;/b>"/></Choice>
    <Choice value="sleep"/>
  </Taxonomy>
</View>
"""
CAT = "A cat sleeps on the warm mat"


def predict(client, config, *texts, path="/predict"):
    tasks = [
        {"id": number, "data": {"body": text}, "annotations": []}
        for number, text in enumerate(texts)
    ]
    body = {
        "tasks": tasks,
        "model_version": "x",
        "project": "12.1630000000",
        "label_config": config,
        "params": {"login": None, "password": None, "context": None},
    }
    return client.post(path, json=body)


def test_health_and_setup(client):
    assert client.get("/health").json() == {"status": "UP", "model_class": "manylabel"}
    body = {"project": "1.2", "schema": CHOICES, "hostname": "http://here", "access_token": "t"}
    body |= {"extra_params": None}
    found = client.post("/setup", json=body)
    assert found.status_code == 200
    assert found.json()["model_version"].startswith("animals-")


def test_choices_are_those_of_the_interface(client, tagger):
    found = predict(client, CHOICES, CAT, "the mouse eats cheese", " ").json()
    first, second, empty = found["results"]
    (region,) = first["result"]
    assert {key: region[key] for key in ("from_name", "to_name", "type")} == {
        "from_name": "animals",
        "to_name": "story",
        "type": "choices",
    }
    wanted = tagger.suggest(CAT, threshold="auto", include=["cats", "mice", "sleep"]).labels
    names = {"cats": "cats", "mice": "Mäuse", "sleep": "sleep"}
    assert region["value"] == {"choices": [names[label] for label in wanted]}
    assert "Mäuse" in second["result"][0]["value"]["choices"]
    assert empty == {"result": [], "score": 0.0, "model_version": found["model_version"]}
    assert first["score"] > 0


def test_a_taxonomy_gets_paths(client):
    (first, second) = predict(client, TAXONOMY, CAT, "the dog barks").json()["results"]
    assert ["Pets", "cats"] in first["result"][0]["value"]["taxonomy"]
    assert ["Pets", "<b>Dogs</b>"] in second["result"][0]["value"]["taxonomy"]


def test_a_single_choice_is_the_best(client, tagger):
    single = CHOICES.replace('"multiple"', '"single"')
    (found,) = predict(client, single, CAT).json()["results"]
    assert len(found["result"][0]["value"]["choices"]) == 1


def test_each_model_has_a_path_of_its_own(client):
    path = "/label-studio/animals"
    assert predict(client, CHOICES, CAT, path=f"{path}/predict").status_code == 200
    assert client.get(f"{path}/health").status_code == 200
    assert client.get("/label-studio/zoo/health").status_code == 404


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ("<View/>", "needs Choices or a Taxonomy for a Text"),
        ("<View>", "The labelling interface is not valid XML: "),
        (
            "<!DOCTYPE v [<!ENTITY a 'b'>]><View/>",
            "The labelling interface must not contain a document type declaration.",
        ),
        (
            CHOICES.replace('value="$body"', 'value="$body" valueType="url"'),
            "The tasks must contain their text, not its URL.",
        ),
        (
            '<View><Text name="t" value="$body"/><Choices name="c" toName="t">'
            '<Choice value="yaks"/></Choices></View>',
            "No choice in the labelling interface is a label of animals; use",
        ),
    ],
)
def test_an_interface_that_does_not_suit_is_refused(client, config, sentence):
    for answer in (predict(client, config, CAT), client.post("/setup", json={"schema": config})):
        assert answer.status_code == 422
        assert sentence in answer.json()["detail"]


def test_a_taxonomy_may_have_many_levels_but_not_any_number(client):
    nested = '<Choice value="cats">' * 20_000 + "</Choice>" * 20_000
    config = TAXONOMY.replace('<Choice value="sleep"/>', nested)
    answer = predict(client, config, CAT)
    assert answer.status_code == 422
    assert answer.json()["detail"] == "The taxonomy has more than 50 levels."


def test_without_tasks_or_texts_there_is_nothing_to_choose(client):
    assert predict(client, CHOICES).json()["results"] == []
    (found,) = predict(client, CHOICES, "").json()["results"]
    assert found["result"] == []


def test_a_task_without_a_text_is_named(client):
    body = {"tasks": [{"id": 7, "data": {"body": 5}}], "label_config": CHOICES}
    answer = client.post("/predict", json=body)
    assert answer.status_code == 422
    assert answer.json()["detail"] == "Invalid task 7: `body` must be a text."


def event(action="ANNOTATION_CREATED", value=None, **annotation):
    region = {"from_name": "animals", "to_name": "story", "type": "choices"}
    region["value"] = value or {"choices": ["Mäuse", "sleep", "zebras"]}
    return {
        "action": action,
        "project": {"id": 12, "label_config": CHOICES, "title": "Animals"},
        "task": {"id": 3, "data": {"body": "the mouse sleeps"}},
        "annotation": {"id": 9, "result": [region], **annotation},
    }


def test_what_people_choose_is_learned(client, tagger):
    answer = client.post("/webhook", json=event())
    assert (answer.status_code, answer.json()) == (201, {"learned": ["label-studio-12-3"]})
    known = tagger.document("label-studio-12-3")
    assert (known.text, sorted(known.labels)) == ("the mouse sleeps", ["mice", "sleep", "zebras"])
    client.post("/webhook", json=event("ANNOTATION_UPDATED", {"choices": ["cats"]}))
    assert tagger.document("label-studio-12-3").labels == ["cats"]
    assert tagger.n_documents == 6


@pytest.mark.parametrize(
    "body",
    [
        event("PROJECT_UPDATED"),
        event(was_cancelled=True),
        event(value={"choices": [None, 5]}),
        {"action": "START_TRAINING", "project": {"id": 1}},
    ],
    ids=["another event", "skipped", "nothing chosen", "training"],
)
def test_other_events_change_nothing(client, tagger, body):
    answer = client.post(
        "/webhook", content=json.dumps(body), headers={"content-type": "application/json"}
    )
    assert (answer.status_code, answer.json()) == (201, {"learned": []})
    assert tagger.n_documents == 5


def test_only_those_who_may_write_teach(client_of, tagger):
    assert client_of().post("/webhook", json=event()).status_code == 403
    secret = client_of(allow_learn=True, token="sesam")
    assert secret.post("/webhook", json=event()).status_code == 401
    assert secret.post("/webhook", json=event(), auth=("ls", "sesam")).status_code == 201
