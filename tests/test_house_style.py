"""The check of words that `make lint` runs."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import manylabel

ROOT = Path(__file__).resolve().parents[1]
spec = importlib.util.spec_from_file_location("house_style", ROOT / "tools" / "house_style.py")
house_style = importlib.util.module_from_spec(spec)
spec.loader.exec_module(house_style)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It takes 3 ms a document.", "ms a document"),
        ("At most so many\nlabels are given.", "so many labels"),
        ("Whoever reads this", "Whoever"),
        ("The index is built anew.", "anew"),
        ("One SVM a label", "One SVM a label"),
        ("It takes 3 ms per document; a document has labels.", None),
        ("C times a row's weight", None),
        ("If somebody asks", "somebody"),
        ("def test_nobody_waits():", "nobody"),
        ("There is room for two.", None),
        ("<!-- house style: off -->\nanew\n<!-- house style: on -->\nfine", None),
    ],
)
def test_avoided_words_are_found(text, found):
    assert (
        next((words.replace("\n", " ") for _, words, _ in house_style.problems(text)), None)
        == found
    )


def test_lines_are_counted_after_a_part_that_is_skipped():
    text = "<!-- house style: off -->\nanew\n<!-- house style: on -->\nlearnt"
    assert [line for line, _, _ in house_style.problems(text)] == [4]


def test_every_pair_of_the_guide_that_names_a_phrase_is_checked():
    """At least fifteen of the pairs in CONTRIBUTING.md are found by the check."""
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = guide.split("house style: off -->")[1].split("<!-- house style: on")[0]
    before = re.findall(r"^\| (.*?) \| ", table, re.MULTILINE)[1:]
    assert len(before) >= 20
    assert sum(any(house_style.problems(words)) for words in before) >= 15


def test_the_citation_has_the_version():
    assert f"version: {manylabel.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
