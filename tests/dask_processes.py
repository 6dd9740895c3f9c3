"""A scheduler and workers as processes that can be killed."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

#: Seconds to wait for a process to start, on a busy machine.
PATIENCE = 240

#: Kind of worker -> the code that it runs first. Dask runs it twice.
PRELOADS = {
    "plain": "",
    # Long enough that a kill comes in the middle.
    "slow": """
import time
from manylabel.distributed import spool, tasks
def slowly(thing, path):
    time.sleep(0.15)
    spool.keep(thing, path)
tasks.keep = slowly
""",
    # Hours of work for a minute of a core.
    "sleepy": """
import time
from manylabel.distributed import spool, tasks
def slowly(thing, path):
    time.sleep(1.5)
    spool.keep(thing, path)
tasks.keep = slowly
""",
    "ignorant": "import sys; sys.modules['manylabel'] = None",
    "old": "import manylabel; manylabel.__version__ = '0.0.9'",
    "allergic": """
import os
from manylabel.tagger.state import TaggerState
def fussy(self, corpus, read=TaggerState.read_corpus):
    if any("deadly" in text for text in corpus.texts):
        os._exit(1)
    if any("poison" in text for text in corpus.texts):
        raise ZeroDivisionError("this document is poison")
    return read(self, corpus)
if TaggerState.read_corpus.__name__ != "fussy":
    TaggerState.read_corpus = fussy
""",
}


class Processes:
    """Starts and kills; everything is gone at the end."""

    def __init__(self, folder: Path, kind: str = "slow") -> None:
        self.folder, self.kind = folder, kind
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []
        for name, code in PRELOADS.items():
            (folder / f"{name}.py").write_text(code)

    def __enter__(self) -> Self:
        self.start_scheduler()
        return self

    def __exit__(self, *error: object) -> None:
        for process in [*self.workers, self.scheduler]:
            if process is not None:
                process.kill()
                process.wait(PATIENCE)

    def start_scheduler(self) -> None:
        self.scheduler = self._start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard",
            "--idle-timeout", "300s",  # in case no process is left to end it
        )  # fmt: skip
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise TimeoutError("the scheduler does not come up")

    def start_workers(self, n: int, kind: str | None = None) -> None:
        preload = str(self.folder / f"{kind or self.kind}.py")
        self.workers += [
            self._start(
                "dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
                "--memory-limit", "0", "--preload", preload,
                "--local-directory", str(self.folder), "--death-timeout", str(PATIENCE),
            )
            for _ in range(n)
        ]  # fmt: skip

    def kill_a_worker(self) -> None:
        """Kill one without a warning; another one takes its place."""
        process = self.workers.pop(random.randrange(len(self.workers)))
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
        self.start_workers(1)

    def kill_scheduler(self) -> None:
        assert self.scheduler is not None
        self.scheduler.send_signal(signal.SIGKILL)
        self.scheduler.wait(PATIENCE)

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        # A document that kills workers should be found soon; an unlucky task should survive.
        failures = "1" if self.kind == "allergic" else "10"
        log = open(self.folder / f"{module}.log", "ab")  # noqa: SIM115 - the process writes to it
        with log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", *arguments],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env=os.environ | {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": failures},
                start_new_session=True,
            )


class Reacting(list[Any]):
    """A list that does something when it reaches certain lengths."""

    def __init__(self, lengths: set[int], react: Any) -> None:
        super().__init__()
        self._lengths, self._react, self.times = lengths, react, 0

    def append(self, thing: Any) -> None:
        super().append(thing)
        if len(self) in self._lengths:
            self.times += 1
            self._react()
