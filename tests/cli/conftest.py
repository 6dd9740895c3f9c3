from __future__ import annotations

import io
import json
import shutil
import signal
import sys
from pathlib import Path

import pytest

from manylabel.cli.app import run
from manylabel.corpus import load_catalogue, write


class Called:
    """What one call of the command line gave."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def _interruptible():
    """Let processes be interrupted even if the tests run in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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


@pytest.fixture(scope="session")
def catalogue(tmp_path_factory) -> Path:
    """A folder with the bundled corpus, ``train.jsonl`` and ``test.jsonl``, and a trained model."""
    folder = tmp_path_factory.mktemp("catalogue")
    for subset in ("train", "test"):
        write(load_catalogue(subset), folder / f"{subset}.jsonl")
    train = ["train", str(folder / "train.jsonl"), "-o", str(folder / "model")]
    # Neighbours and words both count.
    settings = ("k=50", "alpha=2.0", "beta=1.0", "lam=0.8")
    options = [option for setting in settings for option in ("--set", setting)]
    assert run([*train, "--model", "lcif", *options, "--quiet"]) == 0
    return folder


@pytest.fixture(scope="session")
def few(tmp_path_factory) -> Path:
    """A file with the first books of the bundled corpus, for trainings that need no more."""
    path = tmp_path_factory.mktemp("few") / "train.jsonl"
    write(load_catalogue("train")[:160], path)
    return path


@pytest.fixture
def model(catalogue, tmp_path) -> Path:
    """A copy of the trained model, to be changed."""
    return shutil.copytree(catalogue / "model", tmp_path / "model")


@pytest.fixture
def feed(monkeypatch):
    """Give bytes to standard input."""

    def fed(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), "utf-8"))

    return fed
