"""Hostile labels, titles, ids and texts in a real browser; requests from another origin."""

from __future__ import annotations

import http.server
import json
import threading

import httpx
import pytest
from web.serving import running
from web.test_page import BROWSER, FLAGS, PATIENCE

from manylabel import Corpus, Tagger
from manylabel.audit.report import AuditReport, Finding, Witness
from manylabel.corpus import Document

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="needs Chromium: apt-get install chromium"),
]
HOSTILE = {
    "markup": '<img src=x onerror="window.hit=1"><b>bold',
    "script": '"></p><script>window.hit=1</script>',
    "bidi": "\u202e\u2066\u202dabc\u2067 right to left",
    "long": "w" * 10_000_000,
    "address": "javascript:window.hit=1",
    "template": "{{7*7}} ${7*7} %s {0}",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile") / "model"
    documents = [
        Document(f"{name} {value[:900]}", f"{name} cat {value}", [value, "cat"], value, number)
        for number, (name, value) in enumerate(HOSTILE.items(), start=1)
    ]
    corpus = Corpus.from_texts(
        [document.full_text for document in documents],
        [document.labels for document in documents],
        [document.id for document in documents],
    )
    Tagger("lcif", parameters={"k": 6}).fit(corpus).save(folder)
    with running("serve", folder, "--allow-learn") as started:
        yield started.address


@pytest.fixture(scope="module")
def page(server):
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        yield page
        browser.close()


def test_hostile_content_is_shown_as_text_and_keeps_the_layout(page, server):
    page.goto(server)
    page.wait_for_selector("html[data-ready]")
    width = page.evaluate("document.documentElement.clientWidth")
    for value in HOSTILE.values():
        page.get_by_role("textbox", name="Text").fill(f"cat {value[:200_000]} markup script bidi")
        playwright.expect(page.locator(".chip").first).to_be_visible(timeout=PATIENCE)
        for chip in page.locator(".chip-main").all()[:7]:
            chip.click()
            # Names of labels above 1,000 characters are refused, with a sentence.
            told = page.locator("#why .total, #why p").first
            playwright.expect(told).to_be_visible(timeout=PATIENCE)
        assert page.evaluate("window.hit") is None
        assert page.locator("main img, main script").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_text_of_ten_megabytes_is_refused_with_a_sentence(page, server):
    page.goto(server)
    page.wait_for_selector("html[data-ready]")
    width = page.evaluate("document.documentElement.clientWidth")
    # The browser itself takes long to show such a word.
    page.get_by_role("textbox", name="Text").fill(HOSTILE["long"], timeout=8 * PATIENCE)
    said = playwright.expect(page.get_by_role("alert"))
    said.to_contain_text("The body is too large", timeout=8 * PATIENCE)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("textbox", name="Text").fill("cat", timeout=8 * PATIENCE)
    playwright.expect(page.locator(".chip").first).to_be_visible(timeout=PATIENCE)


def is_only_text(page, width):
    """Nothing of what was given has run, became an element, or widened the page."""
    assert page.evaluate("window.hit") is None
    assert page.locator("main img, main script, main b").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_hostile_documents_and_audits_are_reviewed(page, server, tmp_path):
    page.goto(f"{server}/review")
    page.wait_for_selector("html[data-ready]")
    width = page.evaluate("document.documentElement.clientWidth")
    for name, value in HOSTILE.items():
        part = value[:1_000_000]
        witness = {"id": part, "similarity": 0.5, "text": part}
        suspect = {"id": f"{name} {value}", "label": value, "name": value, "given": True}
        suspect |= {"probability": 0.1, "text": value, "reasons": {part: 1.5}}
        suspect |= {"having": [witness], "lacking": [witness]}
        new = {"id": value, "text": f"cat {value} dog"}
        content = "".join(json.dumps(one) + "\n" for one in (suspect, new))
        path = tmp_path / f"{name}.jsonl"
        path.write_text(content)
        page.set_input_files("#file", path)
        progress = playwright.expect(page.locator("#progress"))
        for place, shown in ((1, f"{name} {value}"), (2, value)):
            progress.to_have_text(f"Document {place} of 2; {place - 1} done.", timeout=8 * PATIENCE)
            title = page.locator("#document-title")
            playwright.expect(title).to_contain_text(shown[:50].strip(), timeout=8 * PATIENCE)
            if value is not HOSTILE["long"] or place == 1:
                one = page.locator("#labels li").first
                playwright.expect(one).to_be_visible(timeout=8 * PATIENCE)
                one.get_by_role("button").first.click(timeout=8 * PATIENCE)
                playwright.expect(page.locator("#labels li.accepted")).to_have_count(1)
            else:
                said = playwright.expect(page.locator("#message"))
                said.to_contain_text("The body is too large", timeout=8 * PATIENCE)
            is_only_text(page, width)
            page.get_by_role("button", name="Done, next").click(timeout=8 * PATIENCE)
        progress.to_have_text("All documents are reviewed; 2 done.", timeout=8 * PATIENCE)
        is_only_text(page, width)
        page.get_by_role("button", name="Empty the queue").click(timeout=8 * PATIENCE)


def test_hostile_labels_on_the_page_of_the_api(page, server):
    page.goto(f"{server}/docs")
    page.wait_for_selector("main details, main section", timeout=PATIENCE)
    width = page.evaluate("document.documentElement.clientWidth")
    is_only_text(page, width)


def test_hostile_content_of_a_report(page, tmp_path):
    value = {name: one[:1_000_000] for name, one in HOSTILE.items()}
    findings = [
        Finding(
            id=one,
            label=one,
            name=one,
            text=one,
            given=True,
            probability=0.1,
            error=0.9,
            reasons={one: 1.0},
            having=[Witness(one, 0.5, one)],
            lacking=[Witness(one, 0.5, one)],
        )
        for one in value.values()
    ]
    label = [{"label": one, "name": one} for one in value.values()]
    report = AuditReport(
        findings,
        6,
        6,
        duplicates=[],
        same=[{"labels": label[:2], "likeness": 0.9, "together": 1}],
        two_meanings=[],
        unlearned=[one | {"documents": 3, "probability": 0.1} for one in label],
    )
    report.write(tmp_path / "report.html")
    page.goto((tmp_path / "report.html").as_uri(), timeout=8 * PATIENCE)
    width = page.evaluate("document.documentElement.clientWidth")
    assert page.evaluate("window.hit") is None
    assert page.locator("img, body script").count() == 0
    assert page.locator("b", has_text="bold").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_another_origin_can_neither_change_nor_read(page, server):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    page.goto(f"http://127.0.0.1:{other.server_port}/")
    body = '{"documents": [{"text": "a cat", "labels": ["forged"]}]}'
    for mode, kind in (("cors", "application/json"), ("no-cors", "text/plain")):
        told = page.evaluate(
            """async ([address, mode, kind, body]) => {
                try {
                    const headers = {"Content-Type": kind};
                    const answer = await fetch(address, {method: "POST", mode, headers, body});
                    return answer.type === "opaque" ? "unreadable" : await answer.text();
                } catch (error) { return "refused"; }
            }""",
            [f"{server}/v1/learn", mode, kind, body],
        )
        assert told in ("refused", "unreadable")
    other.shutdown()
    found = httpx.get(f"{server}/v1/labels", params={"query": "forged"}).json()
    assert found["labels"] == []
    rebound = httpx.get(f"{server}/v1/models", headers={"Host": "evil.example:80"})
    assert rebound.status_code == 400
