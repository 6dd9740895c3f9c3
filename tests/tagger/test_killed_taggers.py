"""Real processes that are killed, and that write to one folder at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from manylabel import Tagger

PROGRAM = Path(__file__).with_name("killing_taggers.py")


def started(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(PROGRAM), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    return output


@pytest.mark.parametrize(
    "times", [10, pytest.param(400, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_what_a_killed_process_said_was_learned_is_there(tmp_path, times):
    steps = int(finished(started("kill_at_random", tmp_path / "model", times, 0)))
    assert steps > times


@pytest.mark.parametrize(
    "times", [5, pytest.param(300, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_what_is_learned_while_another_thread_compacts_survives_a_kill(tmp_path, times):
    steps = int(finished(started("kill_while_compacting", tmp_path / "model", times)))
    assert steps > times


@pytest.mark.parametrize(
    "times", [3, pytest.param(100, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_writers_wait_for_each_other_and_readers_never_wait(tmp_path, times):
    folder = tmp_path / "model"
    finished(started("made", folder))
    writers = [started("learn_again_and_again", folder, name, times) for name in ("x", "y")]
    reader = started("read_again_and_again", folder, times)
    for process in (*writers, reader):
        finished(process)
    assert Tagger.load(folder).n_documents == 4 + 2 * times
