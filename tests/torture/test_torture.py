"""A short run of the campaign; `make torture` runs the long one."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from torture import power, server
from torture.campaign import run
from torture.system_calls import is_possible, with_short_writes

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


@needs_strace
def test_a_disk_that_never_synchronises_is_noticed(monkeypatch):
    replay = power.Disk.call

    def deaf(self, name, arguments, result):
        if name not in ("fsync", "fdatasync"):
            replay(self, name, arguments, result)

    monkeypatch.setattr(power.Disk, "call", deaf)
    # Either the model is opened without the change, or it knows that a change is missing.
    with pytest.raises((AssertionError, JournalError), match=r"acknowledged and lost|is lost"):
        power.check("learn")


@needs_strace
@pytest.mark.parametrize("fault", ["killed", "full-disk", "broken-disk"])
def test_faults_at_system_calls(fault):
    counts = run(fault, 20, 0, None, 3)
    assert counts["failed"] == 0
    assert counts["survived"] > 0


@pytest.mark.slow
def test_servers_that_are_killed_lose_nothing():
    assert server.campaign(0, 20, n_clients=8, every=5)["acknowledged"] > 0


@pytest.mark.slow
def test_the_memory_of_a_server_does_not_grow():
    sizes = server.memory(0, 3_000)
    assert sizes[-1] < 1.1 * sizes[1]


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_short_writes(tmp_path):
    environment = with_short_writes(tmp_path)
    program = "from torture.campaign import run; print(dict(run('short-writes', 40, 0, None, 4)))"
    command = [sys.executable, "-c", program]
    environment["PYTHONPATH"] = str(Path(__file__).parents[1])
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert re.fullmatch(r"\{'survived': \d+\}\n", said.stdout), said
