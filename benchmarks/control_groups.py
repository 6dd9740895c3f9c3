"""Linux control groups: processes with a limit of memory, or with a share of a core. Needs root."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
#: Microseconds in which a process may use its share of a core.
PERIOD = 20_000


def limited_memory(limit: int) -> Path:
    """A new control group with a limit of memory, in bytes."""
    old = (GROUPS / "memory").is_dir()
    group = _made("memory", "")
    (group / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(limit))
    return group


@contextmanager
def slowed(processes: Iterable[int], share: float) -> Iterator[None]:
    """Give each of some processes this share of a core and no more."""
    old, groups = (GROUPS / "cpu").is_dir(), []
    quota = round(share * PERIOD)
    for number, process in enumerate(processes):
        group = _made("cpu", f"-{number}")
        groups.append((process, group))
        if old:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
        else:
            (group / "cpu.max").write_text(f"{quota} {PERIOD}")
        (group / "cgroup.procs").write_text(str(process))
    try:
        yield
    finally:
        for process, group in groups:
            (group.parent / "cgroup.procs").write_text(str(process))
            group.rmdir()


def _made(controller: str, ending: str) -> Path:
    first = GROUPS / controller
    group = (first if first.is_dir() else GROUPS) / f"manylabel-{os.getpid()}{ending}"
    group.mkdir()
    return group
