"""The review view: its API, and the page in a real browser."""

from __future__ import annotations

import csv
import json
import re

import pytest

from manylabel.corpus import load_catalogue

CAT = "A cat sleeps on the mat"


def post(client, path, body):
    return client.post(path, json=body)


def test_decisions_change_some_labels_and_leave_the_others(client):
    body = {"documents": [{"id": "c1", "accepted": ["mice"], "rejected": ["sleep"]}]}
    answer = post(client, "/v1/review", body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["replaced"] == ["c1"]
    assert answer.json()["undo"] == [
        {"id": "c1", "label": "sleep", "decision": "add"},
        {"id": "c1", "label": "mice", "decision": "remove"},
    ]


def test_two_people_do_not_lose_each_others_work(client):
    for label in ("mice", "dogs"):
        body = {"documents": [{"id": "d1", "accepted": [label]}]}
        assert post(client, "/v1/review", body).is_success
    found = post(client, "/v1/suggest", {"text": "The dog barks at the postman", "top": 9}).json()
    assert {"mice", "dogs"} <= {one["label"] for one in found["labels"]}


def test_new_documents_need_a_text(client):
    body = {"documents": [{"id": "new", "accepted": ["cats"]}]}
    answer = post(client, "/v1/review", body)
    assert answer.status_code == 404
    assert answer.json()["detail"] == "No document has the id 'new'."
    body["documents"][0]["text"] = CAT
    assert post(client, "/v1/review", body).json()["learned"] == ["new"]


def test_the_rest_of_a_document_may_stay_open(client, tagger):
    new = {"id": "open", "text": CAT, "accepted": ["cats"]}
    assert post(client, "/v1/review", {"documents": [new], "incomplete": True}).is_success
    known = {"id": "open", "accepted": ["mats"]}
    assert post(client, "/v1/review", {"documents": [known]}).is_success
    more = {"id": "other", "text": CAT, "labels": ["cats"], "incomplete": True}
    assert post(client, "/v1/learn", {"documents": [more]}).is_success
    assert tagger.document("open").incomplete
    assert tagger.document("open").labels == ["cats", "mats"]
    assert tagger.document("other").incomplete
    assert not tagger.document("c1").incomplete


def test_a_learned_document_can_be_looked_up(client, tagger):
    answer = client.get("/v1/document", params={"id": "c1"})
    assert answer.status_code == 200, answer.text
    known = tagger.document("c1")
    assert answer.json()["text"] == known.text
    assert answer.json()["labels"] == known.labels
    missing = client.get("/v1/document", params={"id": "nothing"})
    assert missing.status_code == 404
    assert missing.json()["detail"] == "No document has the id 'nothing'."


def test_texts_are_put_in_an_order(client):
    answer = post(client, "/v1/next", {"texts": [CAT, CAT, "Cheese for mice"], "n": 2}).json()
    assert sorted(answer["order"]) == [0, 2]
    unsure = {"texts": [CAT, CAT, "Cheese for mice"], "n": 2, "by": "uncertainty"}
    refused = post(client, "/v1/next", unsure)
    assert refused.status_code == 422
    assert "gives no probabilities to be unsure of: choose by coverage" in refused.json()["detail"]


def test_review_is_a_page(client):
    answer = client.get("/review")
    assert answer.headers["content-type"].startswith("text/html")


# In a browser


playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
page_tests = pytest.importorskip("web.test_page")
browser, server, open_page = page_tests.browser, page_tests.server, page_tests.open_page
expect = playwright.expect
needs_browser = pytest.mark.skipif(page_tests.BROWSER is None, reason="needs Chromium")

DOCUMENTS = [
    {"id": "one", "text": "A painting is stolen from the museum, and a detective follows."},
    {"id": "two", "text": "Bees and honey in the garden of a village."},
]


@pytest.fixture
def review(open_page, server):
    page = open_page()
    page.goto(f"{server}/review")
    page.wait_for_selector("html[data-ready]")
    content = "".join(json.dumps(one) + "\n" for one in DOCUMENTS)
    page.set_input_files(
        "#file",
        {"name": "new.jsonl", "mimeType": "application/json", "buffer": content.encode()},
    )
    expect(page.locator("#labels li").first).to_be_visible()
    return page


@needs_browser
def test_a_queue_is_reviewed_with_the_keyboard_and_survives_a_reload(review, tmp_path):
    page = review
    page.locator("#text").focus()
    page.keyboard.press("a")
    page.keyboard.press("r")
    expect(page.locator("#labels li.accepted")).to_have_count(1)
    expect(page.locator("#labels li.rejected")).to_have_count(1)
    page.keyboard.press("u")
    expect(page.locator("#labels li.rejected")).to_have_count(0)
    page.keyboard.press("r")
    page.keyboard.press("Enter")
    expect(page.locator("#document-title")).to_have_text("two")
    expect(page.locator("#progress")).to_have_text("Document 2 of 2; 1 done.")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    expect(page.locator("#document-title")).to_have_text("two")
    expect(page.locator("#count")).to_have_text("2 decisions on 1 document.")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export JSON Lines").click()
    download.value.save_as(tmp_path / "d.jsonl")
    found = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text().splitlines()]
    assert [(one["id"], one["decision"]) for one in found] == [("one", "add"), ("one", "remove")]
    assert {one["text"] for one in found} == {DOCUMENTS[0]["text"]}
    with page.expect_download() as download:
        page.get_by_role("button", name="Export CSV").click()
    download.value.save_as(tmp_path / "d.csv")
    rows = list(csv.DictReader((tmp_path / "d.csv").open(newline="")))
    assert [(one["id"], one["decision"]) for one in rows] == [("one", "add"), ("one", "remove")]
    # A second tab sees the same queue, and neither overwrites the other.
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector("html[data-ready]")
    other.locator("#text").focus()
    other.keyboard.press("a")
    expect(page.locator("#count")).to_have_text("3 decisions on 2 documents.")
    other.close()
    page.locator("#text").focus()
    page.keyboard.press("b")
    expect(page.locator("#document-title")).to_have_text("one")
    expect(page.locator("#labels li.accepted")).to_have_count(1)


@needs_browser
def test_a_label_can_be_added_and_the_model_taught(review):
    page = review
    page.keyboard.press("n")
    page.locator("#add").fill("Stolen pictures")
    page.keyboard.press("Enter")
    expect(page.locator("#labels li.accepted .name")).to_have_text("Stolen pictures")
    expect(page.locator("#warning")).to_contain_text(
        re.compile(r"^You accepted 1 of the \d+ labels shown\. For new documents, .* as absent")
    )
    expect(page.locator("#accept-shown")).to_be_visible()
    page.get_by_label("Leave the rest open").check()
    expect(page.locator("#accept-shown")).to_be_hidden()
    expect(page.locator("#warning")).to_contain_text("did not accept stay open: unknown, not wrong")
    page.get_by_role("button", name="Teach the model").click()
    expect(page.locator("#message")).to_have_text("The model has learned 1 document.")
    page.get_by_role("button", name="Undo what was taught").click()
    expect(page.locator("#message")).to_have_text(
        "The model is as it was before you taught it here."
    )
    address = page.url.replace("/review", "/v1/document?id=one")
    assert page.request.get(address).status == 404


@needs_browser
def test_all_labels_can_be_accepted_where_the_page_warns(review):
    review.keyboard.press("a")
    review.locator("#accept-shown").click()
    shown = review.locator("#labels li").count()
    expect(review.locator("#labels li.accepted")).to_have_count(shown)
    expect(review.locator("#accept-shown")).to_be_hidden()
    expect(review.locator("#warning")).to_contain_text("did not accept count as absent")


@needs_browser
def test_an_audit_says_what_looks_wrong(open_page, server):
    page, known = open_page(), load_catalogue("train")
    page.goto(f"{server}/review")
    page.wait_for_selector("html[data-ready]")
    suspect = {
        "id": known.ids[0],
        "label": "Dogs",
        "given": True,
        "probability": 0.01,
        "text": "A tale",
        "reasons": {"prior": -3.0, "words": -1.5},
        "titles": {"prior": "how common the label is", "words": "words typical of it"},
        "having": [{"id": "b7", "similarity": 0.2, "text": "Another tale"}],
        "lacking": [],
    }
    page.set_input_files(
        "#file",
        {
            "name": "audit.jsonl",
            "mimeType": "application/json",
            "buffer": json.dumps(suspect).encode(),
        },
    )
    expect(page.locator("#suspect")).to_have_text("Dogs looks wrong")
    expect(page.locator("#labels li .name").first).to_have_text("Dogs")
    # The report's reasons: those of the model that knows the document would not count.
    expect(page.locator("#why")).to_contain_text("\u22123.000 how common the label is")
    expect(page.locator("#why")).to_contain_text("b7: Another tale")
    # A report has the beginning of a text; the page shows all of it.
    expect(page.locator("#text")).to_have_text(" ".join(known.texts[0].split()))
    has = set(next(iter(known.label_lists())))
    shown = page.locator("#labels li", has_text="has it")
    assert set(shown.locator(".name").all_inner_texts()) <= has


@needs_browser
def test_the_page_finds_suspicious_labels(open_page, server):
    page = open_page()
    pair = {
        "id": load_catalogue("train").ids[0],
        # The model does not know it, so it has no reasons of its own.
        "label": "Sleighs",
        "name": "Sleighs",
        "given": False,
        "probability": 0.9,
        "text": "A tale",
        "reasons": {"words": 2.2, "rivals": -0.2},
        "titles": {"words": "words typical of it", "rivals": "how well all labels fit"},
        "having": [],
        "lacking": [],
    }
    # An audit would take longer than this test should.
    page.route("**/v1/audit", lambda route: route.fulfill(json={"pairs": [pair]}))
    page.goto(f"{server}/review")
    page.wait_for_selector("html[data-ready]")
    page.get_by_role("button", name="Find suspicious labels").click()
    expect(page.locator("#suspect")).to_have_text("Sleighs looks missing")
    expect(page.locator("#why")).to_contain_text("+2.200 words typical of it")
    expect(page.locator("#why")).to_contain_text("\u22120.200 how well all labels fit")
    expect(page.locator("#progress")).to_have_text("Document 1 of 1; 0 done.")
