"""Several processes serve one port and share a model."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from web.serving import running

from manylabel import Tagger
from manylabel.web import processes
from manylabel.web.processes import Processes


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "zoo"
    texts, labels = ["a cat sleeps", "the dog barks"] * 3, [["cats"], ["dogs"]] * 3
    Tagger("lcif", parameters={"k": 1}).fit(texts, labels).save(path)
    return path


def ask(address: str, text: str) -> str:
    """The best label, asked for on a new connection, so that any process may answer."""
    answer = httpx.post(f"{address}/v1/suggest", json={"text": text, "top": 1})
    assert answer.status_code == 200
    labels = answer.json()["labels"]
    return labels[0]["label"] if labels else ""


def children_of(process: subprocess.Popen) -> set[int]:
    """The processes that a process has started, without Python's resource tracker."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return {
        int(child)
        for child in children
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    }


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_every_process_sees_what_one_has_learned_and_all_stop(folder):
    with running("serve", folder, "--allow-learn", "--workers", 2) as server:
        until = time.monotonic() + 60
        while len(children_of(server.process)) < 2 and time.monotonic() < until:
            time.sleep(0.1)
        workers = children_of(server.process)
        assert len(workers) == 2
        assert ask(server.address, "a cat") == "cats"
        document = {"text": "cat and dog, dog and cat", "labels": ["pets"]}
        taught = httpx.post(f"{server.address}/v1/learn", json={"documents": [document]})
        assert taught.status_code == 200
        assert {ask(server.address, "cat and dog, dog and cat") for _ in range(12)} == {"pets"}
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=60) == 0
        assert not any(os.path.exists(f"/proc/{number}") for number in workers)


def test_a_model_that_cannot_be_loaded_is_refused_in_a_line(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-m", "manylabel.cli", "serve", tmp_path / "none", "--workers", "2",
         "--port", "0"],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 1
    assert ran.stderr.startswith("manylabel: ")
    assert ran.stderr.count("\n") == 1


def live(has_started, folder, seconds):
    """Leave a file, and end after a while."""
    (folder / str(os.getpid())).touch()
    has_started.set()
    time.sleep(seconds)


@pytest.mark.slow
def test_a_process_that_dies_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_YOUNG", 0.0)
    told = []

    def tell():
        told.append(True)

    several = Processes(live, (tmp_path, 0.05), 1, tell)
    start = several._start

    def count():
        start()
        if len(list(tmp_path.iterdir())) >= 2:
            several._stop()

    monkeypatch.setattr(several, "_start", count)
    assert several.run() == 0
    assert len(list(tmp_path.iterdir())) >= 2
    assert told == [True]


@pytest.mark.slow
def test_all_stop_if_one_dies_early(tmp_path, monkeypatch):
    # However slowly processes start here, this one dies young.
    monkeypatch.setattr(processes, "_YOUNG", 3600.0)
    several = Processes(live, (tmp_path, 0.05), 2, lambda: None)
    assert several.run() == 1
    assert len(list(tmp_path.iterdir())) <= 2
