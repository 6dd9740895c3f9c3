from __future__ import annotations

import json
from pathlib import Path

import pytest

from manylabel.cli.app import run


class Called:
    """What one call of the command line gave."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def call(capfd, monkeypatch):
    """Call the command line in this process, as if in a plain terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def called(*arguments: object) -> Called:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        return Called(code, *capfd.readouterr())

    return called


@pytest.fixture
def texts(tmp_path) -> Path:
    """A small corpus of texts."""
    path = tmp_path / "pets.jsonl"
    documents = [
        {"id": "a", "text": "The cat sleeps on the mat.", "labels": ["cats", "sleep"]},
        {"id": "b", "text": "The dog barks at the cat.", "labels": ["cats", "dogs"]},
        {"id": "c", "text": "Nothing happens.", "labels": []},
    ]
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return path


@pytest.fixture
def rows(tmp_path) -> Path:
    """A small corpus of features."""
    path = tmp_path / "rows.txt"
    path.write_text("3 4 2\n0,1 0:1 2:3\n1 1:2\n 3:1\n")
    return path
