"""The examples run, and so do the commands of the page about spreadsheets."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
from pathlib import Path

import pytest

from manylabel.cli.app import run

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
#: Example -> what it prints, among other things.
PRINTED = {
    "corrections.py": r"learned: .*'forest bees'.*\nforgotten: \[(?!.*forest bees)",
    "data_frames.py": r"A field without sprays +farming",
    "grid_search.py": r"best: \{'k': \d\}",
    "reasons.py": r"bees: 0\.\d{4}\n\+0\.\d{4} similar documents",
}


def test_every_example_is_listed_and_tested():
    names = {path.name for path in EXAMPLES.glob("*.py")}
    assert names == set(PRINTED)
    for path in EXAMPLES.iterdir():
        assert path.name == "README.md" or f"`{path.name}`" in (EXAMPLES / "README.md").read_text()


@pytest.mark.parametrize("name", PRINTED)
def test_examples_run(name, capsys):
    runpy.run_path(str(EXAMPLES / name))
    assert re.search(PRINTED[name], capsys.readouterr().out)


def test_a_spreadsheet_takes_one_installation_and_two_commands(tmp_path, monkeypatch, capfd):
    page = (ROOT / "docs" / "howto" / "spreadsheet.md").read_text(encoding="utf-8")
    install, *commands = re.search(r"```sh\n(.*?)```", page, re.DOTALL)[1].splitlines()
    assert install.startswith("pip install ")
    assert len(commands) == 2
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for command in commands:
        assert run(shlex.split(command)[1:]) == 0
    told = capfd.readouterr()
    shown = re.search(r"```\n(Detected.*?)```", page, re.DOTALL)[1]
    assert re.sub(r"in .* s\.", "", shown) in re.sub(r"in .* s\.", "", told.err)
    best = re.findall(r'"labels": \[\{"label": "(\w+)"', told.out)
    assert best == ["bees", "forests", "farming"]
