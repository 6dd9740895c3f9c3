"""Photograph the page with the bundled corpus: docs/images/page.png.

python docs/make_screenshot.py

Needs Chromium, Playwright and, for the letters of the picture, the fonts Inter and Noto Serif.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parent / "images" / "page.png"
SIZE = {"width": 1360, "height": 860}


def main() -> None:
    """Serve the bundled corpus, open a label of a book, and take the picture."""
    command = [sys.executable, "-m", "manylabel.cli", "demo", "--serve", "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603
    try:
        assert server.stderr is not None
        said = (re.search(r" at (http://\S+)", line) for line in server.stderr)
        photograph(next(found[1] for found in said if found))
    finally:
        server.terminate()
        server.wait()


def photograph(address: str) -> None:
    """Take the picture."""
    browser_path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.goto(address)
        page.locator("#examples button").first.click()
        page.locator(".chip-main").first.click()
        page.locator("#why .card").first.wait_for()
        for place in range(3):
            page.locator(".tick.yes").nth(place).click()
        page.mouse.move(0, 0)
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
