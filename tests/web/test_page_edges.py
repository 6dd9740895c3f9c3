"""Unexpected things that people do with the page."""

from __future__ import annotations

import os

import pytest

# The fixtures of the other tests of the page.
from web.test_page import (  # noqa: F401
    THEFT,
    browser,
    chip,
    expect,
    names,
    open_page,
    options,
    page,
    pytestmark,
    server,
    write,
)

TABLE = (
    "Title;Abstract;Keywords\nOne;A painting, stolen;Art theft, Museums\nTwo;A ship in the ice;\n"
)


def opened(page, tmp_path, name: str, content: bytes) -> None:  # noqa: F811
    (tmp_path / name).write_bytes(content)
    page.locator("#file").set_input_files(tmp_path / name)


def test_an_arrow_down_and_enter_pick_the_label_and_make_no_new_one(page):  # noqa: F811
    write(page, THEFT)
    add = page.get_by_label("Add a label")
    add.press_sequentially("ches")
    expect(options(page).get_by_text("New label: ches")).to_be_visible()
    known = options(page).first.inner_text()
    add.press("ArrowDown")
    add.press("Enter")
    expect(chip(page, known)).to_be_visible()
    assert "ches" not in names(page)


def test_a_table_is_many_documents(page, tmp_path):  # noqa: F811
    opened(page, tmp_path, "books.csv", TABLE.encode())
    expect(page.get_by_role("textbox", name="Text")).to_have_value("A painting, stolen")
    page.get_by_role("button", name="Next document").click()
    expect(page.get_by_role("textbox", name="Text")).to_have_value("A ship in the ice")
    opened(page, tmp_path, "odd.csv", b"a,b\n1,2\n")
    expect(page.get_by_role("alert")).to_contain_text("no column for the texts among")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.odt", b"PK\x03\x04\0\0", "a.odt is not a text file. Open it in its own program, copy"),
        ("a.xlsx", b"PK\x03\x04\0", "a.xlsx is not a text file. Save it as CSV, then open that."),
        ("a.png", b"\x89PNG\0", "a.png is not a text file."),
        ("a.txt", b" \n", "a.txt is empty."),
        ("a.csv", b"Titel;Inhalt\nx;y\n", "Titel, Inhalt. Rename the column with the texts"),
    ],
)
def test_what_is_no_text_is_not_tagged(page, tmp_path, name, content, message):  # noqa: F811
    opened(page, tmp_path, name, content)
    expect(page.get_by_role("alert")).to_contain_text(message)
    expect(page.locator(".chip")).to_have_count(0)


def test_labels_can_be_copied_and_exported(open_page, tmp_path):  # noqa: F811
    page = open_page(permissions=["clipboard-read", "clipboard-write"])  # noqa: F811
    write(page, THEFT)
    chip(page, "Art theft").get_by_role("button", name="Accept Art theft").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("#status")).to_contain_text("Copied 1 label.")
    assert page.evaluate("navigator.clipboard.readText()") == "Art theft"
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    lines = download.value.path().read_text().splitlines()
    assert lines[0] == "label,name,score"
    assert lines[1].startswith('"Art theft","Art theft","0.')
    assert len(lines) == 2


def test_long_names_do_not_widen_the_page(page):  # noqa: F811
    write(page, THEFT)
    uri = "http://example.org/" + "very-long-name/" * 20
    page.evaluate("name => document.querySelector('.chip-name').append(name)", uri)
    page.set_viewport_size({"width": 380, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/narrow.png")
        page.set_viewport_size({"width": 1280, "height": 800})
        page.screenshot(path=f"{folder}/wide.png")
