"""The page, in a real browser."""

from __future__ import annotations

import json
import os
import re
import shutil

import httpx
import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
expect = playwright.expect

BROWSER = os.environ.get("CHROMIUM") or shutil.which("chromium")
FLAGS = [
    "--no-sandbox",  # containers have none
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
THEFT = "A painting is stolen from the museum, and a detective follows the thieves."
PATIENCE = 30_000

pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def server(demo_server):
    return demo_server


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, server):
    """Open the page; a request to another server or a message in the console is a fault."""
    contexts, faults = [], []

    def opened(address=server, **options):
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console",
            lambda message: message.type == "error" and faults.append(message.text),
        )
        page.on(
            "request",
            lambda asked: asked.url.startswith((address, "blob:")) or faults.append(asked.url),
        )
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        return page

    expect.set_options(timeout=PATIENCE)
    yield opened
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def page(open_page):
    return open_page()


def write(page, text):
    """Write a text, and wait until it has labels."""
    page.get_by_role("textbox", name="Text").fill(text)
    expect(page.locator(".chip").first).to_be_visible()


def names(page):
    return page.locator(".chip-name").all_inner_texts()


def chip(page, name):
    return page.locator(".chip").filter(has=page.get_by_text(name, exact=True))


def options(page):
    """What the completion of a label offers."""
    return page.locator(".options li")


def open_reasons(page, name):
    chip(page, name).locator(".chip-main").click()
    expect(page.locator("#why .total")).to_be_visible()


def test_labels_appear_after_a_pause_and_the_slider_chooses_how_many(page, server):
    write(page, THEFT)
    found = httpx.post(f"{server}/v1/suggest", json={"text": THEFT, "top": 50}).json()["labels"]
    assert names(page) == [one["name"] for one in found[:8]]
    slider = page.get_by_role("slider")
    slider.fill("3")
    expect(page.locator(".chip")).to_have_count(3)
    page.get_by_label("How sure").check()
    slider.fill("25")
    sure = [one["name"] for one in found if one["score"] >= 0.25]
    expect(page.locator(".chip")).to_have_count(len(sure))
    slider.fill("100")
    expect(page.get_by_text("No label reaches this threshold.")).to_be_visible()
    page.get_by_label("Auto", exact=True).check()
    automatic = {"text": THEFT, "top": 50, "threshold": "auto"}
    found = httpx.post(f"{server}/v1/suggest", json=automatic).json()["labels"]
    expect(page.locator(".chip")).to_have_count(len(found))


def test_an_example_of_the_page_can_be_taken(page):
    page.get_by_role("button", name=re.compile("Lift-Out")).click()
    expect(page.locator(".chip-name").first).to_have_text("Art theft")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".chip")).to_have_count(0)
    expect(page.locator("#examples")).to_be_visible()


def test_words_are_marked_and_the_parts_add_up_to_the_score(page, server):
    write(page, THEFT)
    open_reasons(page, "Art theft")
    body = {"text": THEFT, "labels": ["Art theft"]}
    (why,) = httpx.post(f"{server}/v1/explain", json=body).json()["labels"]
    marked = page.locator("#marked mark")
    expect(marked).to_have_count(len(why["highlights"]))
    assert marked.all_inner_texts() == [
        THEFT[one["start"] : one["end"]] for one in why["highlights"]
    ]
    strongest = max(why["highlights"], key=lambda one: abs(one["weight"]))
    strength = "node => node.style.getPropertyValue('--strength')"
    strengths = [float(one.evaluate(strength)) for one in marked.all()]
    assert max(strengths) == strengths[why["highlights"].index(strongest)] == 1
    total = page.locator("#why .total dd")
    shares = page.locator("#why .part dd").evaluate_all("all => all.map(d => +d.dataset.share)")
    assert sum(shares) == pytest.approx(float(total.get_attribute("data-score")))
    assert float(total.inner_text().replace("\u2212", "-")) == pytest.approx(why["score"], abs=0.01)
    sure = f"Total {round(100 * why['probability'])}\u2009%"
    expect(page.locator("#why .total dt")).to_have_text(sure)
    cards = page.locator("#why .card")
    near = why["neighbours"][0]
    assert cards.first.locator("b").inner_text() == near["id"]
    assert cards.first.locator(".tags").inner_text().split("\n") == [
        one["name"] for one in near["labels"]
    ]
    page.get_by_role("button", name="Close").click()
    expect(marked).to_have_count(0)


def test_evidence_against_a_label_is_shown_as_such(page):
    words = [("stolen", 1.5), ("detective", -0.75), ("follows", 0.001)]
    spans = {word: (THEFT.index(word), THEFT.index(word) + len(word)) for word, _ in words}
    parts = [
        ("prior", "how common the label is", -4.0),
        ("moon", "phase of the <moon>", 5.0),
        ("linear", "words for and against", -0.5),
    ]
    why = {
        "label": "Art theft",
        "name": "Art theft",
        "score": 0.5,
        "probability": 0.62,
        "parts": [
            {"kind": kind, "title": title, "share": share, "sentence": f"About {kind}."}
            for kind, title, share in parts
        ],
        "words": [{"word": w, "share": s, "spans": [spans[w]]} for w, s in words],
        "neighbours": [],
        "highlights": [
            {"start": spans[w][0], "end": spans[w][1], "weight": s}
            for w, s in sorted(words, key=lambda one: spans[one[0]])
        ],
    }
    answer = {"model": "catalogue", "labels": [why]}
    page.route("**/v1/explain", lambda asked: asked.fulfill(json=answer))
    write(page, THEFT)
    open_reasons(page, "Art theft")
    titles = page.locator("#why .part dt")
    assert titles.all_text_contents() == [title for _, title, _ in parts]
    assert titles.nth(1).get_attribute("title") == "About moon."
    assert page.locator("#why .part .against").count() == 2
    for title, word in (("Words in its favour", "stolen"), ("Words against it", "detective")):
        said = page.locator("#why > div").filter(has_text=title)
        assert said.locator("mark").all_inner_texts() == [word]
    assert page.locator("#marked mark.against").all_inner_texts() == ["detective"]


def test_signs_beyond_the_basic_plane_do_not_shift_the_marks(page):
    write(page, f"😀🏳️‍🌈 {THEFT}")
    open_reasons(page, "Art theft")
    assert set(page.locator("#marked mark").all_inner_texts()) <= set(re.findall(r"\w+", THEFT))


def test_marks_lie_exactly_below_the_words(page):
    write(page, f"{THEFT}\n\n{THEFT * 4}")
    sizes = "node => [node.clientWidth, node.scrollHeight]"
    text, marked = (page.locator(one).evaluate(sizes) for one in ("#text", "#marked"))
    assert text == marked


def test_a_correction_is_learned_shown_and_undone(page, server):
    text = "An umbrella maker of Ljubljana remembers the rain of sixty years."
    write(page, text)
    first = names(page)[0]
    chip(page, first).get_by_role("button", name="Reject").click()
    expect(chip(page, first)).to_have_class(re.compile("rejected"))
    accepted = names(page)[1]
    chip(page, accepted).get_by_role("button", name="Accept").click()
    add = page.get_by_role("combobox", name="Add a label")
    add.fill("weath")
    expect(options(page).first).to_have_text("Weather")
    add.press("Enter")
    add.fill("Umbrellas")
    expect(options(page).get_by_text("New label: Umbrellas")).to_be_visible()
    add.press("Enter")
    known = httpx.get(f"{server}/v1/models").json()["models"][0]["documents"]
    page.get_by_role("button", name="Learn this").click()
    told = page.locator("#status")
    expect(told).to_contain_text(f"The model knows {known + 1} documents")
    expect(chip(page, "Umbrellas").locator(".change")).to_be_visible()
    expect(page.locator(".chip-name").first).not_to_have_text(first)
    assert {"Umbrellas", "Weather", accepted} <= set(names(page)[:4])
    told.get_by_role("button", name="Undo").click()
    expect(told).to_contain_text(f"The model knows {known} documents")


def test_a_label_can_be_browsed(page):
    look = page.get_by_role("combobox", name="Look up a label")
    look.fill("monast")
    expect(options(page).first).to_have_text("Monasteries")
    look.press("Enter")
    about = page.locator("#about")
    expect(about).to_contain_text("12 documents")
    for title in ("Typical words", "Related labels", "Documents"):
        expect(about.get_by_text(title, exact=True)).to_be_visible()
    about.locator(".tags button").first.click()
    expect(page.locator("#reasons-title")).not_to_have_text("Monasteries")


def test_a_label_is_renamed_and_that_is_taken_back(page):
    look = page.get_by_role("combobox", name="Look up a label")
    look.fill("monast")
    expect(options(page).first).to_have_text("Monasteries")
    look.press("Enter")
    about = page.locator("#about")
    about.get_by_role("textbox", name="New name or label").fill("Abbeys")
    about.get_by_role("button", name="Rename").click()
    told = page.locator("#status")
    expect(told).to_contain_text("Renamed 'Monasteries' to 'Abbeys'.")
    look.fill("abbey")
    expect(options(page).first).to_have_text("Abbeys")
    look.press("Escape")
    told.get_by_role("button", name="Undo").click()
    expect(told).to_contain_text("Undid the last edit: rename 'Monasteries'")
    look.fill("monast")
    expect(options(page).first).to_have_text("Monasteries")


def test_labels_are_merged_hidden_shown_deleted_and_added(page):
    look = page.get_by_role("combobox", name="Look up a label")
    about, told = page.locator("#about"), page.locator("#status")

    def opened(label):
        look.fill(label)
        expect(options(page).first).to_have_text(label)
        look.press("Enter")
        expect(page.locator("#reasons-title")).to_have_text(label)

    def pressed(button, value=None):
        if value is not None:
            about.get_by_role("textbox", name="New name or label").fill(value)
        about.get_by_role("button", name=button, exact=True).click()

    def taken_back(action):
        told.get_by_role("button", name="Undo").click()
        expect(told).to_contain_text(f"Undid the last edit: {action}")

    opened("Monasteries")
    pressed("Merge into", "Music")
    expect(told).to_contain_text("Merged 'Monasteries' into 'Music'")
    taken_back("merge 'Monasteries'")

    opened("Monasteries")
    pressed("Hide")
    expect(told).to_contain_text("Hid 'Monasteries'")
    opened("Music")
    pressed("Show Monasteries")
    expect(told).to_contain_text("Showed 'Monasteries'")

    opened("Monasteries")
    expect(about.get_by_role("button", name="Show Monasteries")).to_have_count(0)
    pressed("Delete")
    expect(told).to_contain_text("Deleted 'Monasteries'")
    taken_back("delete 'Monasteries'")

    opened("Monasteries")
    pressed("Add as new", "Hermitages")
    expect(told).to_contain_text("Added 'Hermitages'")
    opened("Hermitages")
    expect(about).to_contain_text("0 documents")
    taken_back("add 'Hermitages'")
    opened("Monasteries")


def test_everything_can_be_done_with_the_keyboard(page):
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skip to the text
    page.locator("#text").focus()
    page.keyboard.type(THEFT)
    expect(page.locator(".chip").first).to_be_visible()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.role") == "main":
            break
    focused = "document.activeElement.closest('.chip').dataset.label"
    first, second = names(page)[:2]
    assert page.evaluate(focused) == first
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == second
    page.keyboard.press("ArrowUp")
    page.keyboard.press("a")
    expect(chip(page, first)).to_have_class(re.compile("accepted"))
    page.keyboard.press("Enter")
    expect(page.locator("#why .total")).to_be_visible()
    expect(page.locator("#reasons-title")).to_have_text(first)
    page.keyboard.press("Escape")
    expect(page.locator("#reasons")).to_be_hidden()
    assert page.evaluate(focused) == first
    page.keyboard.press("r")
    expect(chip(page, first)).to_have_class(re.compile("rejected"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("a")
    page.keyboard.press("/")
    page.keyboard.type("secr")
    expect(options(page).first).to_be_visible()
    page.keyboard.press("Enter")
    expect(chip(page, "Secrets")).to_have_class(re.compile("accepted"))
    page.keyboard.press("Control+Enter")
    told = page.locator("#status")
    expect(told).to_contain_text("Learned")
    told.get_by_role("button", name="Undo").focus()
    page.keyboard.press("Enter")
    expect(told).to_contain_text("Forgotten")


ATTACK = '<img src=x onerror="window.hit=1"><script>window.hit=1</script> a monk keeps bees'


def test_scripts_in_texts_and_labels_are_only_text(page):
    write(page, ATTACK)
    add = page.get_by_role("combobox", name="Add a label")
    add.fill(ATTACK)
    expect(options(page).get_by_text("New label")).to_be_visible()
    add.press("Enter")
    page.get_by_role("button", name="Learn this").click()
    told = page.locator("#status")
    expect(told).to_contain_text("Learned")
    expect(chip(page, ATTACK).locator(".change")).to_be_visible()
    open_reasons(page, ATTACK)
    expect(page.locator("#why .card").first).to_contain_text("<script>")
    page.get_by_role("tab", name="About the label").click()
    expect(page.locator("#about")).to_contain_text("1 document")
    told.get_by_role("button", name="Undo").click()
    expect(told).to_contain_text("Forgotten")
    assert page.evaluate("window.hit") is None
    assert page.locator("main img, main script").count() == 0


def test_files_are_opened_and_dropped(page, tmp_path):
    books = [
        {"id": "one", "text": THEFT, "labels": ["Art theft"]},
        {"id": "two", "text": "A monk keeps bees.", "labels": []},
    ]
    lines = "".join(json.dumps(book) + "\n" for book in books)
    path = tmp_path / "books.jsonl"
    path.write_text(lines)
    page.locator("#file").set_input_files(path)
    expect(page.locator(".chip", has_text="in the file")).to_contain_text("Art theft")
    page.get_by_role("button", name="Next document").click()
    expect(page.locator("#text")).to_have_value("A monk keeps bees.")
    drop = """([name, content]) => {
        const data = new DataTransfer();
        data.items.add(new File([content], name));
        const event = { dataTransfer: data, bubbles: true, cancelable: true };
        document.querySelector("#editor").dispatchEvent(new DragEvent("drop", event));
    }"""
    page.evaluate(drop, ["plain.txt", THEFT])
    expect(page.locator("#text")).to_have_value(THEFT)
    expect(page.locator("#documents")).to_be_hidden()
    page.evaluate(drop, ["broken.jsonl", '{"text": "a"}\n{'])
    expect(page.get_by_role("alert")).to_have_text("broken.jsonl, line 2: not valid JSON.")


@pytest.mark.parametrize(
    "width", [320, 1280, *(pytest.param(w, marks=pytest.mark.slow) for w in (390, 768, 1920))]
)
def test_nothing_sticks_out_at_any_width(open_page, width):
    page = open_page(viewport={"width": width, "height": 800})
    write(page, THEFT)
    open_reasons(page, "Art theft")
    inner, outer = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert inner <= outer


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_no_state_of_the_page_has_a_barrier(open_page, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(color_scheme=scheme)

    def check():
        found = axe.run(page)
        assert found.violations_count == 0, found.generate_report()

    check()
    write(page, THEFT)
    chip(page, names(page)[1]).get_by_role("button", name="Reject").click()
    open_reasons(page, "Art theft")
    chip(page, "Art theft").get_by_role("button", name="Accept").click()
    check()
    page.get_by_role("tab", name="About the label").click()
    expect(page.locator("#about .card").first).to_be_visible()
    page.get_by_role("combobox", name="Add a label").fill("mem")
    expect(options(page).first).to_be_visible()
    check()


@pytest.mark.slow
def test_the_documentation_shows_every_route_and_sends_its_examples(open_page, server):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page()
    page.goto(f"{server}/docs")
    expect(page.locator("code", has_text="POST /v1/suggest").first).to_be_visible()
    suggest = page.locator("details").filter(has_text="POST /v1/suggest").first
    suggest.locator("summary").first.click()
    suggest.get_by_role("button", name="Send").click()
    expect(suggest.get_by_label("Answer", exact=True)).to_contain_text('"model": "catalogue"')
    found = axe.run(page)
    assert found.violations_count == 0, found.generate_report()
