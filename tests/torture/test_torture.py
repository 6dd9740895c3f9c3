"""A short run of the campaign; `make torture` runs the long one."""

from __future__ import annotations

import pytest
from torture import power
from torture.campaign import run
from torture.system_calls import is_possible


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
    with pytest.raises(AssertionError, match="acknowledged and lost"):
        power.check("learn")


@needs_strace
def test_faults_at_system_calls():
    counts = run("system-calls", 42, 0, None, 6)
    assert counts["failed"] == 0
    assert counts["survived"] > 0
