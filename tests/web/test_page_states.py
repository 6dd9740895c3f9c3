"""The page with a token, a promise, a reload, office files, and labels that are long."""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager

import pytest
from web.test_page import (  # noqa: F401
    THEFT,
    browser,
    chip,
    expect,
    names,
    open_page,
    open_reasons,
    options,
    page,
    pytestmark,
    server,
    write,
)
from web.test_uploads import docx_of, pdf_of

from manylabel.tagger import Tagger
from manylabel.web import Server, Settings


def opened(page, tmp_path, name: str, content: bytes) -> None:  # noqa: F811
    (tmp_path / name).write_bytes(content)
    page.locator("#file").set_input_files(tmp_path / name)


# ---- files


@pytest.mark.parametrize(
    ("name", "content"), [("a.docx", lambda: docx_of(THEFT)), ("a.pdf", lambda: pdf_of(THEFT))]
)
def test_the_text_of_an_office_file_is_tagged(page, tmp_path, name, content):  # noqa: F811
    opened(page, tmp_path, name, content())
    expect(page.get_by_role("textbox", name="Text")).to_have_value(THEFT)
    expect(page.locator(".chip-name").first).to_be_visible()


@contextmanager
def any_fault(browser, address):  # noqa: F811
    """A page that may complain: the browser's console reports every refused request."""
    context = browser.new_context()
    context.set_default_timeout(30_000)
    page = context.new_page()  # noqa: F811
    page.goto(address)
    yield page
    context.close()


@pytest.mark.slow
def test_a_broken_office_file_is_refused_in_a_sentence(browser, server, tmp_path):  # noqa: F811
    with any_fault(browser, server) as page:  # noqa: F811
        page.wait_for_selector("html[data-ready]")
        opened(page, tmp_path, "a.pdf", b"%PDF-1.4 nothing")
        expect(page.get_by_role("alert")).to_contain_text("the file cannot be read as .pdf")
        expect(page.locator(".chip")).to_have_count(0)


# ---- what is shown


def test_only_what_is_right_nine_times_in_ten(page):  # noqa: F811
    asked = []

    def promised(route):
        body = json.loads(route.request.post_data)
        if "threshold" not in body:
            return route.continue_()
        asked.append(body["threshold"])
        label = {"label": "Art theft", "name": "Art theft", "score": 0.9}
        return route.fulfill(json={"model": "catalogue", "labels": [label]})

    page.route("**/v1/suggest", promised)
    write(page, THEFT)
    page.get_by_label("9 in 10").check()
    expect(page.locator(".chip")).to_have_count(1)
    assert names(page) == ["Art theft"]
    assert asked == ["precision:0.9"]
    expect(page.locator("#promise")).to_have_text(
        "9 in 10 of these labels are right, as measured on held-out documents."
    )


@pytest.mark.slow
def test_a_promise_that_cannot_be_kept_is_explained(browser, server):  # noqa: F811
    with any_fault(browser, server) as page:  # noqa: F811
        page.wait_for_selector("html[data-ready]")
        write(page, THEFT)
        page.get_by_label("9 in 10").check()
        expect(page.locator("#promise")).to_have_text(
            re.compile(
                r"9 in 10 cannot be promised: \d+ held-out documents do not show that it is kept\. "
                r"Training with more documents may help\."
            )
        )
        expect(page.locator(".chip")).to_have_count(0)
        page.get_by_label("How many").check()
        expect(page.locator(".chip")).to_have_count(8)


@pytest.mark.slow
def test_what_the_figures_mean_is_one_sentence_behind_details(page):  # noqa: F811
    write(page, THEFT)
    open_reasons(page, "Art theft")
    sentence = page.get_by_text("their sum gives its probability")
    expect(sentence).to_be_hidden()
    page.get_by_text("What the figures mean").click()
    expect(sentence).to_be_visible()
    assert sentence.inner_text().count(". ") == 0


def test_labels_that_are_not_judged_are_said_to_count_as_absent(page):  # noqa: F811
    write(page, THEFT)
    absent = page.locator("#absent")
    expect(absent).to_be_hidden()
    chip(page, names(page)[0]).get_by_role("button", name="Accept").click()
    expect(absent).to_contain_text("The 7 other labels that are shown will count as absent.")
    chip(page, names(page)[1]).get_by_role("button", name="Reject").click()
    expect(absent).to_contain_text("The 6 other labels")
    page.get_by_label("Leave the rest open").check()
    expect(absent).to_contain_text("The 6 other labels that are shown will stay open: unknown,")
    page.get_by_role("button", name="Accept all shown").click()
    expect(absent).to_be_hidden()
    expect(page.locator(".chip.accepted")).to_have_count(7)
    expect(page.locator(".chip.rejected")).to_have_count(1)
    expect(page.locator("#learn-hint")).to_contain_text("Learns this text with 7 labels: ")


@pytest.mark.parametrize(
    ("width", "height"), [pytest.param(1280, 600, marks=pytest.mark.slow), (390, 700)]
)
def test_learn_this_stays_in_view(open_page, width, height):  # noqa: F811
    page = open_page(viewport={"width": width, "height": height})  # noqa: F811
    write(page, THEFT)
    page.get_by_role("slider").fill("30")
    for top in (0, 400, 100_000):
        page.evaluate("top => scrollTo(0, top)", top)
        expect(page.get_by_role("button", name="Learn this")).to_be_in_viewport(ratio=1)


@pytest.mark.slow
def test_keys_that_come_faster_than_the_options_pick_the_label(page):  # noqa: F811
    write(page, THEFT)
    page.get_by_label("Add a label").focus()
    page.keyboard.type("ches")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".chip.accepted")).to_have_count(1)
    assert "ches" not in names(page)
    assert page.locator(".chip.accepted .chip-name").inner_text().lower().startswith("ches")


# ---- a reload


def test_a_reload_takes_nothing_away(page, tmp_path):  # noqa: F811
    books = [{"id": "one", "text": "A monk keeps bees."}, {"id": "two", "text": THEFT}]
    opened(page, tmp_path, "b.jsonl", "".join(json.dumps(one) + "\n" for one in books).encode())
    page.get_by_role("button", name="Next document").click()
    expect(page.locator("#text")).to_have_value(THEFT)
    expect(chip(page, "Art theft")).to_be_visible()
    page.get_by_label("How sure").check()
    page.get_by_role("slider").fill("12")
    chip(page, "Art theft").get_by_role("button", name="Accept").click()
    add = page.get_by_label("Add a label")
    add.fill("Umbrellas")
    add.press("Enter")
    expect(chip(page, "Umbrellas")).to_be_visible()
    open_reasons(page, "Art theft")
    before = names(page)
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert names(page) == before
    expect(page.locator("#text")).to_have_value(THEFT)
    expect(page.get_by_role("slider")).to_have_value("12")
    expect(chip(page, "Art theft")).to_have_class(re.compile("accepted"))
    expect(chip(page, "Umbrellas")).to_have_class(re.compile("accepted"))
    expect(page.locator("#reasons-title")).to_have_text("Art theft")
    expect(page.locator("#marked mark").first).to_be_attached()
    page.get_by_role("button", name="Previous document").click()
    expect(page.locator("#text")).to_have_value("A monk keeps bees.")


@pytest.mark.slow
def test_a_new_tab_begins_with_nothing(open_page):  # noqa: F811
    write(open_page(), THEFT)
    expect(open_page().locator("#text")).to_have_value("")


# ---- a token, a path, long labels

URI = "http://example.org/thesaurus/" + "a-very-long-name-without-a-blank-" * 6


@pytest.fixture(scope="module")
def guarded():
    """A server with tokens below a path, whose labels are addresses."""
    texts = ["a cat sleeps", "a cat hunts mice", "a dog barks", "a dog sleeps"]
    tagger = Tagger("lcif", parameters={"k": 2}).fit(texts, [[URI], [URI], ["dogs"], ["dogs"]])
    settings = Settings(
        allow_learn=True, token="sesam", read_token="peep", root_path="/labels", max_rate=0
    )
    server = Server({"animals": tagger}, settings, port=0)  # noqa: F811
    thread = threading.Thread(target=run_without_signals, args=(server,), daemon=True)
    thread.start()
    yield f"{server.address}/labels"
    server.close()


def run_without_signals(server):  # noqa: F811
    """Handlers of signals belong to the main thread, which is the tests'."""
    import uvicorn

    serving = uvicorn.Server(uvicorn.Config(server._app, log_level="warning"))
    serving.capture_signals = contextmanager(lambda: iter([None]))
    serving.run(sockets=[server._socket])


def give(page, token):  # noqa: F811
    page.get_by_role("dialog").get_by_label("Token").fill(token)
    page.get_by_role("button", name="Continue").click()


def test_a_token_is_asked_for_when_it_is_needed(browser, guarded):  # noqa: F811
    with any_fault(browser, guarded) as page:  # noqa: F811
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        give(page, "guess")
        expect(dialog.get_by_role("alert")).to_have_text("Wrong token. Try again.")
        give(page, "peep")
        page.wait_for_selector("html[data-ready]")
        write(page, "the cat sleeps")
        expect(dialog).to_be_hidden()
        page.locator(".tick.yes").first.click()
        page.get_by_role("button", name="Learn this").click()
        expect(dialog).to_be_visible()
        give(page, "sesam")
        expect(page.locator("#status")).to_contain_text("Learned")
        page.reload()
        page.wait_for_selector("html[data-ready]")
        expect(dialog).to_be_hidden()
        page.goto(f"{guarded}/docs")
        page.wait_for_selector("html[data-ready]")
        expect(page.locator("#tokens")).to_have_text(
            "To read and to change a model, send the header Authorization: Bearer TOKEN."
        )
        page.goto(f"{guarded}/review")
        page.wait_for_selector("html[data-ready]")
        page.get_by_role("link", name="Labels").click()
        page.wait_for_selector("html[data-ready]")
        assert page.url == f"{guarded}/"


@pytest.mark.slow
def test_without_the_token_the_page_says_what_it_needs(browser, guarded):  # noqa: F811
    with any_fault(browser, guarded) as page:  # noqa: F811
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("#alert")).to_contain_text("Reading needs the server's token")


@pytest.mark.slow
def test_no_token_is_asked_for_where_none_is_needed(page):  # noqa: F811
    write(page, THEFT)
    expect(page.locator("input[type=password]")).to_have_count(0)


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.slow)])
def test_long_addresses_do_not_break_the_layout(browser, guarded, width):  # noqa: F811
    with any_fault(browser, guarded) as page:  # noqa: F811
        page.set_viewport_size({"width": width, "height": 800})
        give(page, "sesam")
        page.wait_for_selector("html[data-ready]")
        write(page, "the cat sleeps")
        page.locator(".tick.yes").first.click()
        page.locator(".chip-main").first.click()
        expect(page.locator("#why .total")).to_be_visible()
        narrow = "[document.documentElement.scrollWidth, window.innerWidth]"
        inner, outer = page.evaluate(narrow)
        assert inner <= outer
        page.get_by_role("tab", name="About the label").click()
        expect(page.locator("#about .card").first).to_be_visible()
        page.get_by_label("Add a label").fill("thesaurus")
        expect(options(page).first).to_be_visible()
        inner, outer = page.evaluate(narrow)
        assert inner <= outer
        page.goto(f"{guarded}/review")
        page.wait_for_selector("html[data-ready]")
        file = {"name": "a.txt", "mimeType": "text/plain", "buffer": b"the cat sleeps\n"}
        page.set_input_files("#file", file)
        expect(page.locator("#labels li").first).to_be_visible()
        inner, outer = page.evaluate(narrow)
        assert inner <= outer


@pytest.mark.slow
def test_no_state_with_a_token_or_a_warning_has_a_barrier(browser, guarded):  # noqa: F811
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with any_fault(browser, guarded) as page:  # noqa: F811
        expect(page.get_by_role("dialog")).to_be_visible()
        found = axe.run(page)
        assert found.violations_count == 0, found.generate_report()
        give(page, "sesam")
        page.wait_for_selector("html[data-ready]")
        write(page, "the cat sleeps")
        page.locator(".tick.yes").first.click()
        expect(page.locator("#absent")).to_be_visible()
        found = axe.run(page)
        assert found.violations_count == 0, found.generate_report()


# ---- the documentation and the review


@pytest.mark.slow
def test_the_documentation_says_what_every_route_answers(open_page, server):  # noqa: F811
    page = open_page()  # noqa: F811
    page.goto(f"{server}/docs")
    page.wait_for_selector("html[data-ready]")
    routes = page.locator("main > section > details")
    assert routes.count() > 20
    for form in page.locator(".schema").all():
        said = form.text_content()
        assert said.strip()
        assert "undefined" not in said
    suggest = routes.filter(has_text="POST /v1/suggest").first
    said = suggest.locator(".schema").text_content()
    assert '"score": number' in said
    assert '"share": number' in said
    expect(suggest.locator(".answers")).to_contain_text("429, 503: application/problem+json")


def test_the_review_reads_tables_and_office_files(open_page, server):  # noqa: F811
    page = open_page()  # noqa: F811
    page.goto(f"{server}/review")
    page.wait_for_selector("html[data-ready]")
    table = f"id;text\nx1;{THEFT}\nx2;A monk keeps bees\n".encode()
    page.set_input_files("#file", {"name": "a.csv", "mimeType": "text/csv", "buffer": table})
    expect(page.locator("#document-title")).to_have_text("x1")
    expect(page.locator("#progress")).to_contain_text("Document 1 of 2")
    letter = {"name": "a.pdf", "mimeType": "application/pdf", "buffer": pdf_of(THEFT)}
    page.set_input_files("#file", letter)
    expect(page.locator("#progress")).to_contain_text("Document 1 of 3")
    binary = {"name": "a.txt", "mimeType": "text/plain", "buffer": b"\x89PNG\0\0"}
    page.set_input_files("#file", binary)
    expect(page.locator("#progress")).to_have_text("a.txt is not a text file.")


@pytest.mark.slow
def test_the_review_marks_whole_words_behind_emoji(open_page, server):  # noqa: F811
    page = open_page()  # noqa: F811
    page.goto(f"{server}/review")
    page.wait_for_selector("html[data-ready]")
    text = f"😀😀😀 {THEFT}\n".encode()
    page.set_input_files("#file", {"name": "a.txt", "mimeType": "text/plain", "buffer": text})
    expect(page.locator("#text mark").first).to_be_visible()
    assert set(page.locator("#text mark").all_inner_texts()) <= set(re.findall(r"\w+", THEFT))
