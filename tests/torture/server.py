"""Fifty clients, some of them hostile, at two servers that share a model and are killed.

``python -m torture.server --seconds 600 --clients 50`` runs the whole of it. A supervisor starts a
server again when it ends. Afterwards every acknowledged change is in the model and in the audit
log, every change without an answer is there as a whole or not at all, and the model answers as one
that was rebuilt from the journal. All traffic stays on loopback.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from manylabel import Tagger
from manylabel.store.journal import Journal
from manylabel.tagger.changes import decoded

WORDS = ["cat", "dog", "owl", "sea", "hill", "rain", "bread", "wheel", "paper", "stone", "glass"]
TEXTS = [f"{a} {b} {c}" for a in WORDS[:3] for b in WORDS[3:5] for c in WORDS[5:]]
LABELS = [[text.split()[0], text.split()[1]] for text in TEXTS]
#: Answers that a server may give while it is busy, or ends.
BUSY = (503,)
#: Connections that may be without an answer while a server is killed.
CUT = (OSError, http.client.HTTPException)


class Supervised:
    """A server that is started again when it ends."""

    def __init__(self, folder: Path, audit: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._command = [sys.executable, "-m", "manylabel.cli", "serve", str(folder)]
        self._command += ["--port", str(self.port), "--allow-learn", "--timeout", "10", "--quiet"]
        self._command += ["--audit-log", str(audit)]
        self._log = folder.with_name(f"server-{self.port}.log")
        self.starts = 0
        self._start()

    def _start(self) -> None:
        with open(self._log, "ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log)
        self.starts += 1

    def watch(self) -> None:
        """Start the server again if it has ended."""
        if self.process.poll() is not None:
            self._start()

    def wait(self, seconds: float = 300) -> None:
        """Wait until it answers."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            with suppress(*CUT):
                if call(self.port, "GET", "/readyz")[0] == 200:
                    return
            self.watch()
            time.sleep(0.1)
        raise TimeoutError(self._log.read_text()[-2000:])

    def stop(self) -> int:
        """End it politely; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def faults(self) -> list[str]:
        """Tracebacks in its log."""
        lines = self._log.read_text(errors="replace").splitlines()
        return [line for line in lines if line.startswith("Traceback")]


def call(port: int, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    """One request; status and answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        said = answer.read()
        kind = answer.getheader("content-type", "")
        return answer.status, json.loads(said) if "json" in kind else said
    finally:
        connection.close()


class Client:
    """Asks and teaches; remembers what was acknowledged, and what may have been."""

    def __init__(self, number: int, ports: list[int], seed: int) -> None:
        self.number, self.ports = number, ports
        self.rng = random.Random(seed * 1000 + number)
        self.known: dict[str, list[str]] = {}
        #: Ids whose last change has no answer: they may be there or not.
        self.unsure: set[str] = set()
        self.acknowledged: list[str] = []
        self.counts: Counter[str] = Counter()
        self.failed: list[str] = []
        self._turn = 0

    def work(self, until: float, pause: float) -> None:
        """Make requests until the time is up, with pauses of this many seconds on average."""
        doings = [self.learn, self.forget, self.suggest, self.explain, self.audit, self.labels]
        while time.monotonic() < until:
            doing = self.rng.choice(doings)
            try:
                doing(self.rng.choice(self.ports))
            except CUT:
                self.counts["cut"] += 1
                time.sleep(max(0.2, pause))
            except Exception as error:
                self.failed.append(f"{doing.__name__}: {type(error).__name__}: {error}")
            time.sleep(pause * self.rng.uniform(0, 2))

    def _asked(self, port: int, path: str, body: Any = None) -> Any:
        status, answer = call(port, "GET" if body is None else "POST", path, body)
        self.counts[str(status)] += 1
        if status not in (200, *BUSY):
            self.failed.append(f"{path}: {status} {str(answer)[:300]}")
        return answer if status == 200 else None

    def _text(self) -> str:
        return " ".join(self.rng.choices(WORDS, k=self.rng.randint(1, 6)))

    def learn(self, port: int) -> None:
        self._turn += 1
        name, labels = f"{self.number}-{self._turn}", [self.rng.choice(WORDS)]
        self.unsure.add(name)
        document = {"id": name, "text": self._text(), "labels": labels}
        if self._asked(port, "/v1/learn", {"documents": [document]}) is not None:
            self.unsure.remove(name)
            self.known[name] = labels
            self.acknowledged.append(name)

    def forget(self, port: int) -> None:
        names = sorted(self.known)
        if names and self.rng.random() < 0.6:
            name = self.rng.choice(names)
            self.unsure.add(name)
            del self.known[name]
            if self._asked(port, "/v1/forget", {"ids": [name]}) is not None:
                self.unsure.remove(name)
                self.acknowledged.append(name)

    def suggest(self, port: int) -> None:
        answer = self._asked(port, "/v1/suggest", {"text": self._text()})
        assert answer is None or isinstance(answer["labels"], list)

    def explain(self, port: int) -> None:
        answer = self._asked(port, "/v1/explain", {"text": self._text(), "top": 2})
        for one in answer["labels"] if answer else ():
            assert one["label"]

    def labels(self, port: int) -> None:
        self._asked(port, f"/v1/labels?query={self.rng.choice(WORDS)}")

    def audit(self, port: int) -> None:
        answer = self._asked(port, "/v1/audit", {"top": 3})
        if answer is not None:
            self.counts["audits"] += 1
            assert len(answer["pairs"]) == 3


def _slow(port: int) -> None:
    """A request that comes byte by byte, and never ends."""
    with socket.create_connection(("127.0.0.1", port), 20) as link:
        for byte in b"POST /v1/suggest HTTP/1.1\r\nHost: localhost\r\nContent-Le":
            link.send(bytes([byte]))
            time.sleep(0.05)


def _endless(port: int) -> None:
    """A body without an end: refused at the limit of a body."""
    with socket.create_connection(("127.0.0.1", port), 20) as link:
        head = b"POST /v1/suggest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        link.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(200):
            link.sendall(b"10000\r\n" + b" " * 65_536 + b"\r\n")


def _deep(port: int) -> None:
    """JSON of a hundred thousand lists, one in the other."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    connection.request("POST", "/v1/suggest", body, {"Content-Type": "application/json"})
    status = connection.getresponse().status
    connection.close()
    assert status in (400, 413, 422, *BUSY), status


def _flood(port: int) -> None:
    """Two hundred connections that say nothing."""
    links = []
    try:
        links = [socket.create_connection(("127.0.0.1", port), 20) for _ in range(200)]
        time.sleep(1)
    finally:
        for link in links:
            link.close()


HOSTILE: list[Callable[[int], None]] = [_slow, _endless, _deep, _flood]


def _attackers(
    servers: list[Supervised],
    until: float,
    rng: random.Random,
    failed: list[str],
    pause: float,
) -> None:
    while time.monotonic() < until:
        attack = rng.choice(HOSTILE)
        try:
            attack(rng.choice(servers).port)
        except CUT:
            pass
        except Exception as error:
            failed.append(f"{attack.__name__}: {type(error).__name__}: {error}")
        time.sleep(0.1 + pause)


def campaign(
    seed: int,
    seconds: float,
    n_clients: int = 50,
    n_servers: int = 2,
    every: float = 20,
    pause: float = 0,
) -> dict[str, Any]:
    """Run everything; counts of what happened. Raises if something was lost."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        folder, audit = Path(place) / "model", Path(place) / "audit.jsonl"
        Tagger("lcif", parameters={"k": 3}).fit(TEXTS, LABELS).save(folder)
        first = shutil.copytree(folder, Path(place) / "first")
        servers = [Supervised(folder, audit) for _ in range(n_servers)]
        try:
            for server in servers:
                server.wait()
            clients = [Client(n, [s.port for s in servers], seed) for n in range(n_clients)]
            failed, kills = _run(servers, clients, seconds, every, pause, rng)
            for server in servers:
                server.wait()
            codes = [server.stop() for server in servers]
            assert codes == [0] * n_servers, f"exit codes {codes}"
            faults = [fault for server in servers for fault in server.faults()]
        finally:
            for server in servers:
                server.process.kill()
                server.process.wait()
        failed += [fault for client in clients for fault in client.failed]
        assert not failed, f"{len(failed)} failed: {failed[:3]}"
        assert not faults, f"{len(faults)} tracebacks in the logs of the servers"
        _compare(folder, first, audit, clients)
        counts = sum((client.counts for client in clients), Counter[str]())
        changes = sum(len(client.acknowledged) for client in clients)
        unsure = sum(len(client.unsure) for client in clients)
        starts = sum(server.starts for server in servers)
        return dict(counts) | {
            "kills": kills, "starts": starts, "acknowledged": changes, "unsure": unsure,
        }  # fmt: skip


def _run(
    servers: list[Supervised],
    clients: list[Client],
    seconds: float,
    every: float,
    pause: float,
    rng: random.Random,
) -> tuple[list[str], int]:
    until = time.monotonic() + seconds
    failed: list[str] = []
    working = [threading.Thread(target=client.work, args=(until, pause)) for client in clients]
    working.append(
        threading.Thread(
            target=_attackers, args=(servers, until, random.Random(rng.random()), failed, pause)
        )
    )
    for thread in working:
        thread.start()
    kills, due = 0, time.monotonic() + every * rng.uniform(0.5, 1)
    while time.monotonic() < until:
        for server in servers:
            server.watch()
        if time.monotonic() > due:
            rng.choice(servers).process.send_signal(rng.choice((signal.SIGKILL, signal.SIGTERM)))
            kills, due = kills + 1, time.monotonic() + every * rng.uniform(0.5, 1.5)
        time.sleep(0.1)
    for thread in working:
        thread.join()
    return failed, kills


def _compare(folder: Path, first: Path, audit: Path, clients: list[Client]) -> None:
    """What was acknowledged is there; the model is the one that its journal makes."""
    tagger = Tagger.load(folder)
    ids = {tagger._state.documents.id(n) for n in tagger._state.documents.kept().tolist()}
    for client in clients:
        for name, labels in client.known.items():
            assert name in ids, f"{name} was acknowledged, and is lost"
            assert tagger.document(name).labels == labels, name
    sure = {name for client in clients for name in (*client.known, *client.unsure)}
    more = ids - sure - {str(n) for n in range(len(TEXTS))}
    assert not more, f"forgotten, and still there: {sorted(more)[:5]}"
    written = Counter[str]()
    for line in audit.read_text().splitlines():
        facts = json.loads(line)
        written.update([*facts["learned"], *facts["forgotten"]])
    wanted = Counter(name for client in clients for name in client.acknowledged)
    assert not wanted - written, f"not in the audit log: {list((wanted - written).items())[:5]}"
    with Journal(folder) as journal:
        changes = decoded(journal.read().entries)
    rebuilt = Tagger.load(first)
    for change in changes:
        if hasattr(change, "text"):
            rebuilt.learn([change.text], [list(change.labels)], [change.id])
        else:
            rebuilt.forget(change.id)
    for question in TEXTS[::5]:
        assert _said(tagger, question) == _said(rebuilt, question), question


def _said(tagger: Tagger, question: str) -> dict[str, float]:
    answers = tagger.suggest(question, top=None).to_list()
    return {one["label"]: round(one["score"], 9) for one in answers}


def attack(seed: int) -> None:
    """Half a minute of the campaign; run this file for longer ones."""
    campaign(seed, 30, 20, every=8)


def main() -> None:
    """Run the long campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--every", type=float, default=20, help="seconds between two kills")
    parser.add_argument("--pause", type=float, default=0, help="seconds between two requests")
    chosen = parser.parse_args()
    every, pause = chosen.every, chosen.pause
    print(campaign(chosen.seed, chosen.seconds, chosen.clients, every=every, pause=pause))


if __name__ == "__main__":
    main()
