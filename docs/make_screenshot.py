"""Photograph every view of the page with the bundled catalogue: docs/images/*.png.

python docs/make_screenshot.py

Needs Chromium, Playwright and the fonts Inter and Noto Serif.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from manylabel.corpus import load_catalogue

IMAGES = Path(__file__).parent / "images"
SIZE = {"width": 1360, "height": 860}


def main() -> None:
    """Serve the bundled catalogue and take the pictures."""
    command = [sys.executable, "-m", "manylabel.cli", "demo", "--serve", "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603
    try:
        assert server.stderr is not None
        said = (re.search(r" at (http://\S+)", line) for line in server.stderr)
        photograph(next(match[1] for match in said if match).rstrip("/"))
    finally:
        server.terminate()
        server.wait()


def photograph(address: str) -> None:
    """Take one picture per view, with few colours to keep the files small."""
    browser_path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for name, show in VIEWS.items():
            page = browser.new_page(viewport=SIZE)
            show(page, address)
            page.mouse.move(0, 0)
            page.wait_for_timeout(300)
            page.screenshot(path=IMAGES / name)
            page.close()
            with Image.open(IMAGES / name) as picture:
                picture.convert("RGB").quantize(192, dither=Image.Dither.NONE).save(
                    IMAGES / name, optimize=True
                )
        browser.close()


def reasons(page: Page, address: str) -> None:
    """A text, its labels, and why it has one of them."""
    page.goto(address)
    page.locator("#examples button").first.click()
    page.locator(".chip-main").first.click()
    page.locator("#why .card").first.wait_for()
    for position in range(3):
        page.locator(".tick.yes").nth(position).click()


def label(page: Page, address: str) -> None:
    """What a label stands for."""
    reasons(page, address)
    page.locator("#about-tab").click()
    page.locator("#about > *").first.wait_for()


def review(page: Page, address: str) -> None:
    """A queue of documents to review."""
    page.goto(f"{address}/review")
    books = load_catalogue("test")
    with tempfile.TemporaryDirectory() as folder:
        queue = Path(folder) / "queue.jsonl"
        documents = zip(books.ids[:8], books.texts[:8], strict=True)
        queue.write_text(
            "".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in documents)
        )
        page.set_input_files("#file", queue)
        page.locator("#labels li").first.wait_for()
    page.keyboard.press("a")


def api(page: Page, address: str) -> None:
    """The routes, with examples."""
    page.goto(f"{address}/docs")
    route = page.locator("details", has_text="/v1/suggest").first
    route.locator("summary").first.click()
    route.get_by_role("button", name="Send").click()
    route.locator("pre:visible").first.wait_for()


#: File -> what shows the view.
VIEWS: dict[str, Callable[[Page, str], None]] = {
    "page.png": reasons,
    "label.png": label,
    "review.png": review,
    "api.png": api,
}


if __name__ == "__main__":
    main()
