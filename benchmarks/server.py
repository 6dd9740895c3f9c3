"""How many suggestions a second one server gives, how fast, and in how much memory.

python -m benchmarks.server [MODEL] [--texts CORPUS] [--seconds 10] [--clients 1 8 32]

Without a model folder, one is trained on EURLEX57K and asked about its test part. Clients and
server share the machine.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from benchmarks.common import DATA, table, versions
from manylabel.corpus import read
from manylabel.tagger import Tagger

HEADERS = {"Content-Type": "application/json"}


def train(folder: Path) -> None:
    """Train the default model on EURLEX57K."""
    start = time.perf_counter()
    tagger = Tagger(n_jobs=-1).fit(next((DATA / "eurlex57k").glob("train.*")))
    tagger.save(folder)
    print(f"Trained {tagger.model_name} in {time.perf_counter() - start:.1f} s.\n")


def ask(address: str, bodies: list[bytes], until: float, seconds: list[float]) -> None:
    """One client: ask, wait for the answer, ask again."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=120)
    for body in itertools.cycle(bodies):
        start = time.perf_counter()
        if start >= until:
            break
        connection.request("POST", "/v1/suggest", body, HEADERS)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        seconds.append(time.perf_counter() - start)
    connection.close()


def measure(address: str, bodies: list[bytes], clients: int, duration: float) -> list[object]:
    """A row of the table."""
    times: list[list[float]] = [[] for _ in range(clients)]
    until = time.perf_counter() + duration
    threads = [
        threading.Thread(target=ask, args=(address, bodies[number:], until, times[number]))
        for number in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = np.concatenate(times)
    middle, late = np.quantile(found, [0.5, 0.99]) * 1000
    return [clients, found.size / duration, float(middle), float(late)]


def memory(process: int) -> str:
    """What a process has in memory of its own, and in all with mapped files."""
    status = Path(f"/proc/{process}/status").read_text()
    own, whole = (
        int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1e6 for name in ("RssAnon", "VmHWM")
    )
    return f"Memory: {own:.2f} GB of its own, at most {whole:.2f} GB with the mapped files."


def run(model: Path, texts: list[str], clients: list[int], seconds: float) -> None:
    command = [sys.executable, "-m", "manylabel.cli", "serve", str(model), "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        said = (re.search(r" at (http://\S+)", line) for line in server.stderr)
        address = next(found[1] for found in said if found)
        bodies = [json.dumps({"text": text, "top": 10}).encode() for text in texts]
        measure(address, bodies, 1, 2.0)
        rows = [measure(address, bodies, number, seconds) for number in clients]
        print(table(["clients", "requests/s", "median ms", "99th percentile ms"], rows))
        print("\n" + memory(server.pid))
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--texts", type=Path, help="a corpus of texts to ask about")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    given = parser.parse_args()
    print("## The server\n\n" + versions("manylabel", "fastapi", "uvicorn", "numba") + "\n")
    path = given.texts or next((DATA / "eurlex57k").glob("test.*"))
    texts = [text for text in read(path).texts[:2000] if text.strip()]
    with tempfile.TemporaryDirectory() as folder:
        model = given.model or Path(folder) / "model"
        if given.model is None:
            train(model)
        run(model, texts, given.clients, given.seconds)


if __name__ == "__main__":
    main()
