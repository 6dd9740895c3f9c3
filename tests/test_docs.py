"""The documentation is true: its code runs, and generated pages are up to date."""

from __future__ import annotations

import doctest
import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from manylabel.cli.app import run
from manylabel.corpus import read
from manylabel.corpus.detection import FORMATS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: Pages that `make site` makes from docstrings.
MADE = ROOT / "docs" / "reference" / "api"


def blocks(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: language and content.

    A block without a language right after one of Python is what that prints, called "output".
    """
    fence = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    text = page.read_text(encoding="utf-8")
    found: list[tuple[str, str]] = []
    end = 0
    for match in fence.finditer(text):
        language, content = match.groups()
        if (
            not language
            and found
            and found[-1][0] == "python"
            and not text[end : match.start()].strip()
        ):
            language = "output"
        found.append((language, content))
        end = match.end()
    return found


def assert_says(printed: str, shown: str, what: str) -> None:
    """What is shown, where "..." stands for anything, is what was printed."""
    same = doctest.OutputChecker().check_output(
        shown, printed, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    assert same, f"{what} prints\n{printed}\nbut the page shows\n{shown}"


def generator():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_and_commands_run(page, tmp_path, monkeypatch, capfd):
    """Blocks run in order, those of a page in one folder, and print what is shown."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for language, content in blocks(page):
        if language == "python":
            capfd.readouterr()
            exec(compile(content, str(page), "exec"), names)
            printed = capfd.readouterr().out
        elif language == "output":
            assert_says(printed, content, "the code")
        elif language == "console":
            for line, shown in re.findall(
                r"^\$ manylabel (.*)\n((?:(?!\$ ).*\n)*)", content, re.MULTILINE
            ):
                assert run(shlex.split(line)) == 0, f"{line}: {capfd.readouterr().err}"
                answer = capfd.readouterr()
                if shown:
                    assert_says(answer.err + answer.out, shown, line)


@pytest.mark.parametrize("page", generator().PAGES, ids=lambda page: page.name)
def test_generated_pages_are_up_to_date(page):
    assert page.read_text(encoding="utf-8") == generator().PAGES[page](), "run `make docs`"


def test_examples_of_formats_are_read_with_the_labels_they_show(tmp_path):
    """Three documents each, the first two with two labels and the last with none."""
    examples = blocks(ROOT / "docs" / "formats.md")
    (tmp_path / "pets.xml").write_text(dict(examples)["xml"])
    shown = [(kind, content) for kind, content in examples if kind in FORMATS]
    # Lines have no labels, JSON is as JSON Lines; the others are folders, or no text.
    without = {"folder", "lines", "json", "xlsx", "ods", "parquet", "docx", "pdf", "html", "epub"}
    assert {kind for kind, _ in shown} == set(FORMATS) - without
    for kind, content in shown:
        path = tmp_path / ("pets.arff" if kind == "mulan" else "example")
        path.write_text(content)
        corpus = read(path)
        assert list(map(len, corpus.label_lists())) == [2, 2, 0], kind
        assert corpus.n_labels == 3
        assert len(read(path, kind)) == 3


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        found = (page.parent / target).resolve()
        assert found.exists() or found.parent == MADE, target


def test_figures_of_the_readme_are_those_of_the_tables():
    """Every figure in its table of results stands in the long tables, with date and commit."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 7
    kept = (ROOT / "docs" / "benchmarks" / "tables.md").read_text(encoding="utf-8")
    papers = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    for row in rows:
        for figure in re.findall(r"(?<![\d@])\.\d{3}", row):
            assert figure in kept, figure
        for seconds in re.findall(r"(\d+) s\b", row):
            assert re.search(rf"\b{seconds}\b", kept), seconds
        for ratio in re.findall(r"([\d.]+) times as fast", row):
            assert f"| {ratio}" in kept, ratio
        for better, reached, missed in re.findall(r"(\d+) better, (\d+) reached, \[(\d+) not", row):
            assert f"| {better} better, {reached} reached, {missed} not reached |" in papers
