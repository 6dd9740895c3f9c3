"""The documentation site builds without network, without warnings, and asks no other server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    pytest.importorskip("mkdocs", reason="the site needs `pip install manylabel[docs]`")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_every_page_is_built(site):
    pages = (ROOT / "docs").rglob("*.md")
    for page in pages:
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).exists(), page
    assert (site / "reference" / "api" / "tagger.html").exists()
    tagger = (site / "reference" / "api" / "tagger.html").read_text("utf-8")
    assert "Learns from texts" in tagger
    for method in ("fit", "suggest", "explain", "learn", "forget", "save", "load", "evaluate"):
        assert f'id="manylabel.tagger.Tagger.{method}"' in tagger, method


@pytest.mark.slow
def test_no_page_asks_another_server(site):
    loads = re.compile(r'<(?:script|img|iframe)[^>]* src="https?:|<link [^>]*href="https?:')
    for page in site.rglob("*.html"):
        assert not loads.search(page.read_text(encoding="utf-8")), page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?https?:", style.read_text(encoding="utf-8")), style


@pytest.mark.slow
def test_formulas_are_drawn(site):
    page = (site / "models" / "linear.html").read_text(encoding="utf-8")
    assert page.count("<math") > 20
    assert "arithmatex" not in page


@pytest.mark.slow
def test_search_finds_pages(site):
    assert "conformal" in (site / "search" / "search_index.json").read_text(encoding="utf-8")
