"""A short run of the campaign; `make torture` runs the long one."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from torture import faults, memory, power, server
from torture.campaign import run
from torture.system_calls import is_possible

from manylabel.exceptions import JournalError


@pytest.mark.parametrize(
    ("attack", "times"),
    [("alter", 60), ("matrix", 40), ("threads", 1), ("kill", 1), ("files", 3), ("craft", 30)],
)
def test_a_short_campaign(attack, times):
    counts = run(attack, times, 0, None, 4)
    assert counts["failed"] == 0
    assert counts["survived"] > 0


needs_strace = pytest.mark.skipif(
    not is_possible(), reason="strace is not installed, or may not watch processes"
)


@needs_strace
def test_an_acknowledged_change_survives_a_loss_of_power():
    assert power.check("learn") > len(power.LEFT)


def deaf_to(monkeypatch, is_meant):
    """Let the replayed disk ignore that some of its files are synchronised."""
    replay = power.Disk.call

    def call(self, name, arguments, result):
        if name not in ("fsync", "fdatasync") or not is_meant(arguments[0]):
            replay(self, name, arguments, result)

    monkeypatch.setattr(power.Disk, "call", call)


@needs_strace
def test_a_disk_that_never_synchronises_is_noticed(monkeypatch):
    deaf_to(monkeypatch, lambda _: True)
    with pytest.raises(AssertionError, match="acknowledged and lost"):
        power.check("learn", lefts=["synchronised"])


@needs_strace
def test_a_model_knows_that_its_journal_was_not_synchronised(monkeypatch):
    deaf_to(monkeypatch, lambda file: "journal.sqlite" in str(power.path_of(file)))
    with pytest.raises(JournalError, match="is lost"):
        power.check("learn", lefts=["synchronised"])


@needs_strace
@pytest.mark.slow  # test_faults_at_calls makes the same calls fail, in less time
@pytest.mark.parametrize("fault", ["killed", "full-disk", "broken-disk"])
def test_faults_at_system_calls(fault):
    counts = run(fault, 20, 0, None, 2)
    assert counts["failed"] == 0
    assert counts["survived"] > 0


@pytest.mark.slow
def test_servers_that_are_killed_lose_nothing():
    assert server.campaign(0, 20, n_clients=8, every=5)["acknowledged"] > 0


@pytest.mark.slow
def test_the_memory_of_a_server_does_not_grow():
    sizes = memory.memory(0, (1_000, 4_000), writes=50, new_words=0)
    assert sizes[-1] < 1.02 * sizes[0]


def with_faults(place, program):
    """The output of a program whose calls can fail."""
    environment = faults.environment(place) | {"PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@needs_compiler
def test_faults_at_calls(tmp_path):
    program = """
from torture.campaign import FAULTS, run
for attack in sorted(FAULTS):
    # Some calls of each change; those of `rename` and others are fewer.
    print(attack, dict(run(attack, 6, 80, None, 60)))
"""
    said = with_faults(tmp_path, program)
    assert re.fullmatch(r"([a-z-]+ \{'survived': \d+\}\n){5}", said), said


@needs_compiler
@needs_strace
def test_the_library_sees_every_call_that_strace_sees(tmp_path):
    program = """
from torture import faults, system_calls
for change in ("learn", "compact", "save"):
    # The last call says that the change is made.
    print(len(system_calls.outcome(change)[2]) - 1, len(faults.outcome(change)[2]))
"""
    said = with_faults(tmp_path, program)
    assert re.fullmatch(r"((\d+) \2\n){3}", said), said
