"""How many suggestions per second one server gives, how fast, and with how much memory.

python -m benchmarks.server [MODEL] [--texts CORPUS] [--seconds 10] [--clients 1 8 32]
    [--no-learning] [--source FOLDER ...]

A model folder that does not exist is made: trained on EURLEX57K. Questions are its test laws.
Clients and server share the machine. Learning uses a copy of the model. A source is a folder that
holds the package, to compare versions: each row is measured with one after the other. Python's
bytecode is in place, as after an installation.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import re
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

import manylabel
from benchmarks.common import DATA, table, versions
from benchmarks.startup import environment
from manylabel.corpus import read
from manylabel.tagger import Tagger


def train(folder: Path) -> None:
    """Train the default model on EURLEX57K."""
    start = time.perf_counter()
    tagger = Tagger(n_jobs=-1).fit(next((DATA / "eurlex57k").glob("train.*")))
    tagger.save(folder)
    print(f"Trained {tagger.model_name} in {time.perf_counter() - start:.1f} s.\n")


class Client:
    """One client: asks, waits for the answer, asks again.

    It writes requests that were made before and reads no more of an answer than its length, because
    it uses the same cores as the server.
    """

    def __init__(self, address: str, path: str, bodies: list[bytes]) -> None:
        place = urlsplit(address)
        head = f"POST {path} HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\n"
        self._requests = itertools.cycle(
            [f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body for body in bodies]
        )
        self.connection = socket.create_connection((str(place.hostname), place.port), timeout=120)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.seconds: list[float] = []
        self._read = b""
        self._size = 0

    def ask(self) -> None:
        """Send the next request."""
        self._start = time.perf_counter()
        self.connection.sendall(next(self._requests))

    def listen(self) -> bool:
        """Read what has arrived; return whether the answer is complete."""
        self._read += self.connection.recv(1 << 16)
        if not self._size:
            head, found, _ = self._read.partition(b"\r\n\r\n")
            if not found:
                return False
            assert head.startswith(b"HTTP/1.1 200 "), head
            length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
            self._size = len(head) + 4 + int(length[1])
        if len(self._read) < self._size:
            return False
        self.seconds.append(time.perf_counter() - self._start)
        self._read, self._size = b"", 0
        return True


def measure(
    address: str,
    bodies: list[bytes],
    clients: int,
    duration: float,
    lessons: list[bytes] | None = None,
) -> list[object]:
    """A row of the table: several clients, and perhaps one more that teaches."""
    asking = [Client(address, "/v1/suggest", bodies[number:]) for number in range(clients)]
    teaching = [Client(address, "/v1/learn", lessons)] if lessons else []
    until = time.perf_counter() + duration
    with selectors.DefaultSelector() as selector:
        for client in [*asking, *teaching]:
            selector.register(client.connection, selectors.EVENT_READ, client)
            client.ask()
        waiting = len(asking) + len(teaching)
        while waiting:
            for key, _ in selector.select():
                if key.data.listen():
                    if time.perf_counter() < until:
                        key.data.ask()
                    else:
                        waiting -= 1
    for client in [*asking, *teaching]:
        client.connection.close()
    waits = np.concatenate([client.seconds for client in asking])
    middle, late = np.quantile(waits, [0.5, 0.99]) * 1000
    return [
        clients,
        waits.size / duration,
        float(middle),
        float(late),
        sum(len(client.seconds) for client in teaching) / duration,
    ]


def memory(process: int) -> tuple[float, float]:
    """Private memory of a process in GB, and its memory with mapped files."""
    status = Path(f"/proc/{process}/status").read_text()
    own, whole = (
        int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1e6 for name in ("RssAnon", "VmHWM")
    )
    return own, whole


def cpu_seconds(process: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Serving:
    """A server of a copy of the model, by the package in a folder."""

    def __init__(self, source: Path, model: Path) -> None:
        command = [sys.executable, "-m", "manylabel.cli", "serve", str(model)]
        start = time.perf_counter()
        self.process = subprocess.Popen(
            [*command, "--port", "0", "--allow-learn"],
            stderr=subprocess.PIPE,
            text=True,
            env=environment(source),
        )
        said = (re.search(r" at (http://\S+)", line) for line in self.process.stderr)
        self.address = next(match[1] for match in said if match)
        self._wait()
        self.ready = time.perf_counter() - start, cpu_seconds(self.process.pid)

    def _wait(self) -> None:
        """Wait until the first requests need not load anything."""
        url = urlsplit(self.address)
        while True:
            connection = http.client.HTTPConnection(str(url.hostname), url.port, timeout=120)
            connection.request("GET", "/readyz")
            status = connection.getresponse().status
            connection.close()
            if status == 200:
                return
            time.sleep(0.01)

    def close(self) -> None:
        """Stop the server."""
        self.process.terminate()
        self.process.wait()


def run(
    servers: dict[str, Serving],
    texts: list[str],
    lessons: list[bytes],
    clients: list[int],
    seconds: float,
) -> None:
    bodies = [json.dumps({"text": text, "top": 10}).encode() for text in texts]
    for server in servers.values():
        measure(server.address, bodies, 1, 2.0)
    rows: list[list[object]] = []
    learning = [(n, lessons) for n in clients[:2]] if lessons else []
    for number, taught in [*((n, None) for n in clients), *learning]:
        for name, server in servers.items():
            before = cpu_seconds(server.process.pid)
            row = measure(server.address, bodies, number, seconds, taught)
            used = cpu_seconds(server.process.pid) - before
            rows.append([name, *row, 1000 * used / max(1, row[1] * seconds)])
    head = ["version", "clients", "requests/s", "median ms", "99th percentile ms", "learned/s"]
    print(table([*head, "CPU ms of the server per request"], rows) + "\n")
    rows = [[name, *server.ready, *memory(server.process.pid)] for name, server in servers.items()]
    head = ["version", "ready after s", "CPU s", "GB of its own", "GB with mapped files"]
    print(table(head, rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--texts", type=Path, help="a corpus of texts to ask about")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--no-learning", action="store_true", help="leave out the last two rows")
    parser.add_argument("--source", type=Path, nargs="+", help="folders with the package")
    given = parser.parse_args()
    sources = given.source or [Path(manylabel.__file__).parents[1]]
    print("## The server\n\n" + versions("manylabel", "fastapi", "uvicorn", "numba") + "\n")
    path = given.texts or next((DATA / "eurlex57k").glob("test.*"))
    corpus = read(path)
    texts = [text for text in corpus.texts[:2000] if text.strip()]
    others = corpus[2000:]
    lessons = [
        json.dumps({"documents": [{"text": text, "labels": labels}]}).encode()
        for text, labels in zip(others.texts, others.label_lists(), strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        kept = given.model or Path(folder) / "kept"
        if not kept.exists():
            train(kept)
        servers: dict[str, Serving] = {}
        try:
            for number, source in enumerate(sources):
                model = shutil.copytree(kept, Path(folder) / str(number) / "model")
                Serving(source, model).close()  # writes bytecode
                servers[str(source)] = Serving(source, model)
            run(servers, texts, [] if given.no_learning else lessons, given.clients, given.seconds)
        finally:
            for server in servers.values():
                server.close()


if __name__ == "__main__":
    main()
