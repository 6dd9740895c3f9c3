"""Faults at each call that writes, by a library in front of the system's: `faults.c`.

As `torture.system_calls`, without the thousands of pauses that strace costs, so that every call of
every change can be tried. Two more faults are possible: a write takes half of what it is given, and
a disk stays full.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from torture import system_calls
from torture.system_calls import Nothing, answers, chosen, compare, make, prepared

SOURCE = Path(__file__).with_name("faults.c")
#: As in `faults.c`.
KINDS = {"kill": 1, "full": 2, "broken": 3, "short": 4, "filled": 5}
#: Faults that only some calls can have.
TRAITS = {"filled": 1, "short": 2}


def library() -> Any:
    """The library, if this process was started with it."""
    loaded = ctypes.CDLL(None)
    return loaded if hasattr(loaded, "fault_at") else None


def environment(folder: Path) -> dict[str, str] | None:
    """The environment of a process whose calls can fail; None without a C compiler."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    made = folder / "faults.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, SOURCE, "-ldl"], check=True)
    return os.environ | {"LD_PRELOAD": str(made)}


def changed(change: str, folder: Path, when: int, kind: int) -> tuple[str, list[int], int]:
    """What became of a change, the traits of the calls that it made, and how many failed.

    A process that was killed says nothing.
    """
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        faults = library()
        faults.fault_at(when, kind)
        said = make(change, folder)
        calls, struck = range(1, faults.calls_seen() + 1), faults.faults_struck()
        faults.fault_at(0, 0)
        traits = "".join(str(faults.traits_of(number)) for number in calls)
        os.write(send, f"{traits} {struck} {said}".encode())
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(send)
    with os.fdopen(receive, "rb") as pipe:
        told = pipe.read().decode("utf-8", "replace")
    os.waitpid(child, 0)
    if not told:
        return "", [], 1
    traits, struck, said = told.split(" ", 2)
    return said, list(map(int, traits)), int(struck)


@cache
def outcome(change: str) -> tuple[object, object, list[int]]:
    """As `system_calls.outcome`, with the traits of the calls."""
    with tempfile.TemporaryDirectory() as place:
        folder = shutil.copytree(prepared(), Path(place) / "model")
        said, calls, _ = changed(change, folder, 0, 0)
        assert said == "done", said
        return answers(folder), answers(folder.with_name("fresh")), calls


def attack(fault: str, seed: int) -> None:
    """One fault at one call of one change; the seed counts through all of them."""
    if library() is None:
        if fault not in system_calls.FAULTS or not system_calls.is_possible():
            raise Nothing
        system_calls.attack(fault, seed)
        return
    change, when = chosen(seed)
    after, fresh_after, calls = outcome(change)
    if when > len(calls) or (fault in TRAITS and not calls[when - 1] & TRAITS[fault]):
        raise Nothing
    # Now and then a process makes a call less than the first one.
    for _ in range(system_calls.ATTEMPTS):
        with tempfile.TemporaryDirectory() as place:
            folder = shutil.copytree(prepared(), Path(place) / "model")
            said, _, struck = changed(change, folder, when, KINDS[fault])
            if struck:
                what = f"{fault} at call {when} of {len(calls)} of {change!r} ({said[:120]})"
                compare(folder, change, said, (after, fresh_after), what)
                return
    raise Nothing
