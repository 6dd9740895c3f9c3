"""The command ``manylabel serve`` in a separate process."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx


@dataclass
class Running:
    """A server that runs."""

    address: str
    process: subprocess.Popen


@contextmanager
def running(*arguments: object) -> Iterator[Running]:
    """Start a command that serves, wait until it is ready, and stop it at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "manylabel.cli", *map(str, arguments), "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        server = Running(address_of(process), process)
        threading.Thread(target=_drain, args=(process.stderr,), daemon=True).start()
        wait_until_ready(server.address)
        yield server
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def address_of(process: subprocess.Popen) -> str:
    """The address that the process prints."""
    said = []
    for line in process.stderr:
        said.append(line)
        found = re.search(r" at (http://\S+)", line)
        if found:
            return found[1]
    raise AssertionError(f"the server did not start: {''.join(said)}")


def _drain(stream) -> None:
    try:
        for _ in stream:
            pass
    except ValueError:
        pass  # the test is over and the stream is closed


def wait_until_ready(address: str) -> None:
    until = time.monotonic() + 120
    while httpx.get(f"{address}/readyz").status_code != 200:
        assert time.monotonic() < until, "the server did not get ready"
        time.sleep(0.05)
