"""The memory of a server that answers many requests: it does not grow.

``python -m torture.memory`` sends 100,000 questions, ``--writes 50`` also lets one request in 25
learn or forget a document, and ``--new-words 10`` puts that many words into each text that the
server has never seen. Eight connections ask at the same time, and are opened again after 100
requests. All traffic stays on loopback.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import tempfile
import threading
from itertools import pairwise
from pathlib import Path

from torture.server import LABELS, TEXTS, WORDS, Supervised

from manylabel import Tagger

#: Memory is read after this many requests.
POINTS = (2_000, 10_000, 30_000, 60_000, 100_000)
#: Connections at the same time, and requests of each before it is opened again.
LINKS, TURNS = 8, 100
LETTERS = "aeioubdfklmnprst"


def memory(seed: int, points: tuple[int, ...], writes: int, new_words: int) -> list[int]:
    """Kilobytes of a server after each number of requests."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "model"
        Tagger("lcif", parameters={"k": 3}).fit(TEXTS, LABELS).save(folder)
        server = Supervised(folder, Path(place) / "audit.jsonl")
        sizes: list[int] = []
        try:
            server.wait()
            for done, until in pairwise((0, *points)):
                _ask(server.port, f"{seed} {done}", until - done, writes, new_words)
                sizes.append(_resident(server.process.pid))
                print(f"{until:,} requests: {sizes[-1]:,} kB", flush=True)
        finally:
            server.process.kill()
            server.process.wait()
        assert not server.faults(), server.faults()
        return sizes


def _ask(port: int, seed: str, requests: int, writes: int, new_words: int) -> None:
    """Let all connections ask their share of some requests."""
    failed: list[BaseException] = []

    def work(link: int) -> None:
        client = _Client(port, random.Random(f"{seed} {link}"), writes, new_words, f"x{link}")
        try:
            for start in range(0, requests // LINKS, TURNS):
                client.ask(range(start, min(start + TURNS, requests // LINKS)))
        except BaseException as error:
            failed.append(error)

    links = [threading.Thread(target=work, args=(link,)) for link in range(LINKS)]
    for link in links:
        link.start()
    for link in links:
        link.join()
    assert not failed, failed[0]


class _Client:
    """Asks over one connection at a time, with as little work as possible."""

    def __init__(
        self, port: int, rng: random.Random, writes: int, new_words: int, name: str
    ) -> None:
        self._port, self._rng = port, rng
        self._writes, self._new_words, self._name = writes, new_words, name

    def ask(self, numbers: range) -> None:
        """Send requests over a new connection."""
        with (
            socket.create_connection(("127.0.0.1", self._port), 60) as link,
            link.makefile("rb") as answers,
        ):
            for number in numbers:
                path, message = self._request(number)
                body = json.dumps(message).encode()
                head = (
                    f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n"
                )
                link.sendall(head.encode() + body)
                status, size = answers.readline(), 0
                while (line := answers.readline()) != b"\r\n":
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        size = int(value)
                said = answers.read(size)
                assert status.split()[1] == b"200", f"{path}: {status!r} {said[:300]!r}"

    def _request(self, number: int) -> tuple[str, dict[str, object]]:
        rng, writes = self._rng, self._writes
        new = ["".join(rng.choices(LETTERS, k=9)) for _ in range(self._new_words)]
        text = " ".join([*rng.choices(WORDS, k=4), *new])
        if writes and number % writes == writes - 2:
            document = {"id": self._name, "text": text, "labels": ["cat"]}
            return "/v1/learn", {"documents": [document]}
        if writes and number % writes == writes - 1:
            return "/v1/forget", {"ids": [self._name]}
        if number % 10 == 5:
            return "/v1/explain", {"text": text, "top": 2}
        return "/v1/suggest", {"text": text}


def _resident(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def main() -> None:
    """Count memory over many requests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--writes", type=int, default=0, help="2 of this many requests change")
    parser.add_argument("--new-words", type=int, default=0, help="in each text")
    chosen = parser.parse_args()
    points = (*(point for point in POINTS if point < chosen.requests), chosen.requests)
    sizes = memory(chosen.seed, points, chosen.writes, chosen.new_words)
    print(f"growth after the first {points[0]:,}: {sizes[-1] / sizes[0] - 1:.1%}")


if __name__ == "__main__":
    main()
