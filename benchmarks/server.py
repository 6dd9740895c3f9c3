"""How many suggestions per second one server gives, how fast, and with how much memory.

python -m benchmarks.server [MODEL] [--texts CORPUS] [--seconds 10] [--clients 1 8 32]

A model folder that does not exist is made: trained on EURLEX57K. Questions are its test laws.
Clients and server share the machine. Learning uses a copy of the model.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import re
import shutil
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


def ask(address: str, path: str, bodies: list[bytes], until: float, seconds: list[float]) -> None:
    """One client: ask, wait for the answer, ask again."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=120)
    for body in itertools.cycle(bodies):
        start = time.perf_counter()
        if start >= until:
            break
        connection.request("POST", path, body, HEADERS)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        seconds.append(time.perf_counter() - start)
    connection.close()


def measure(
    address: str,
    bodies: list[bytes],
    clients: int,
    duration: float,
    lessons: list[bytes] | None = None,
) -> list[object]:
    """A row of the table: several clients, and perhaps one more that teaches."""
    times: list[list[float]] = [[] for _ in range(clients)]
    learning: list[float] = []
    until = time.perf_counter() + duration
    threads = [
        threading.Thread(
            target=ask, args=(address, "/v1/suggest", bodies[number:], until, times[number])
        )
        for number in range(clients)
    ]
    if lessons:
        teacher = (address, "/v1/learn", lessons, until, learning)
        threads.append(threading.Thread(target=ask, args=teacher))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    waits = np.concatenate(times)
    middle, late = np.quantile(waits, [0.5, 0.99]) * 1000
    return [
        clients,
        waits.size / duration,
        float(middle),
        float(late),
        len(learning) / duration,
    ]


def direct(model: Path, texts: list[str]) -> str:
    """The same question without a server."""
    tagger = Tagger.load(model, n_jobs=1)
    for text in texts[:50]:
        tagger.suggest(text, top=10)
    times = []
    for text in texts[50:550]:
        start = time.perf_counter()
        tagger.suggest(text, top=10)
        times.append(time.perf_counter() - start)
    return f"`Tagger.suggest` itself takes {np.median(times) * 1000:.2f} ms (median)."


def memory(process: int) -> str:
    """Private memory of a process, and its memory with mapped files."""
    status = Path(f"/proc/{process}/status").read_text()
    own, whole = (
        int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1e6 for name in ("RssAnon", "VmHWM")
    )
    return f"Memory: {own:.2f} GB of its own, at most {whole:.2f} GB with the mapped files."


def run(
    model: Path, texts: list[str], lessons: list[bytes], clients: list[int], seconds: float
) -> None:
    command = [sys.executable, "-m", "manylabel.cli", "serve", str(model)]
    command += ["--port", "0", "--allow-learn"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        said = (re.search(r" at (http://\S+)", line) for line in server.stderr)
        address = next(match[1] for match in said if match)
        bodies = [json.dumps({"text": text, "top": 10}).encode() for text in texts]
        measure(address, bodies, 1, 2.0)
        rows = [measure(address, bodies, number, seconds) for number in clients]
        used = memory(server.pid)
        rows += [measure(address, bodies, number, seconds, lessons) for number in clients[:2]]
        head = ["clients", "requests/s", "median ms", "99th percentile ms", "learned/s"]
        print(table(head, rows) + "\n\n" + used)
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
        model = shutil.copytree(kept, Path(folder) / "model")
        print(direct(model, texts) + "\n")
        run(model, texts, lessons, given.clients, given.seconds)


if __name__ == "__main__":
    main()
