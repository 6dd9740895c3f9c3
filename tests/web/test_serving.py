"""A server in a separate process: many clients, a clean stop, and a kill."""

from __future__ import annotations

import shutil
import signal
import socket
import threading
import time
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
from web.serving import running

from manylabel.cli.app import run
from manylabel.tagger import Tagger


@pytest.fixture
def folder(model_folder, tmp_path):
    """A copy of the small model."""
    return shutil.copytree(model_folder, tmp_path / "animals")


class Teacher(threading.Thread):
    """Teaches one document after the other, and looks each time whether it is known."""

    def __init__(self, address: str, until: threading.Event) -> None:
        super().__init__()
        self.address, self.until = address, until
        self.acknowledged: list[str] = []
        self.faults: list[str] = []

    def run(self) -> None:
        with httpx.Client(base_url=self.address, timeout=60) as client:
            while not self.until.is_set():
                try:
                    self.teach(client, f"n{len(self.acknowledged)}")
                except httpx.HTTPError as error:
                    self.faults.append(repr(error))
                    return

    def teach(self, client: httpx.Client, name: str) -> None:
        # One document is new, the other takes the place of its predecessor.
        documents = [
            {"id": name, "text": f"a cat and its mouse, {name}", "labels": ["cats", name]},
            {"id": "moving", "text": "the kitchen smells of cheese", "labels": [name]},
        ]
        answer = client.post("/v1/learn", json={"documents": documents})
        if answer.status_code != 200:
            self.faults.append(answer.text)
            return
        self.acknowledged.append(name)
        answer = client.post("/v1/suggest", json={"text": "cheese in the kitchen"})
        if name not in {one["label"] for one in answer.json()["labels"]}:
            self.faults.append(f"{name} was learned, but {answer.text}")


class Reader(threading.Thread):
    """Asks for suggestions again and again."""

    def __init__(self, address: str, until: threading.Event) -> None:
        super().__init__()
        self.address, self.until = address, until
        self.seconds: list[float] = []
        self.faults: list[str] = []

    def run(self) -> None:
        with httpx.Client(base_url=self.address, timeout=60) as client:
            while not self.until.is_set():
                start = time.perf_counter()
                answer = client.post("/v1/suggest", json={"text": "the cat sleeps", "top": 3})
                self.seconds.append(time.perf_counter() - start)
                if answer.status_code != 200 or not answer.json()["labels"]:
                    self.faults.append(answer.text)


def wait_until(is_done, seconds: float = 300) -> None:
    """Wait until a function returns true."""
    end = time.monotonic() + seconds
    while not is_done():
        assert time.monotonic() < end
        time.sleep(0.005)


def is_open(host: str, port: int) -> bool:
    """Whether a server accepts connections."""
    with socket.socket() as connection:
        return connection.connect_ex((host, port)) == 0


def crowd(folder, readers: int, answers: int) -> None:
    """Many read while one learns, until all have answers: no fault, and nothing learned is lost."""
    with running("serve", folder, "--allow-learn") as server:
        until = threading.Event()
        teacher = Teacher(server.address, until)
        threads = [Reader(server.address, until) for _ in range(readers)]
        start = time.perf_counter()
        for thread in (teacher, *threads):
            thread.start()
        wait_until(
            lambda: (
                any(thread.faults for thread in (teacher, *threads))
                or (
                    len(teacher.acknowledged) >= answers
                    and all(len(thread.seconds) >= answers for thread in threads)
                )
            )
        )
        until.set()
        seconds = time.perf_counter() - start
        for thread in (teacher, *threads):
            thread.join()
    assert [fault for thread in (teacher, *threads) for fault in thread.faults] == []
    assert teacher.acknowledged
    times = np.concatenate([thread.seconds for thread in threads]) * 1000
    print(
        f"{readers} clients, {times.size / seconds:.0f} requests/s, "
        f"median {np.median(times):.1f} ms, 99 % {np.quantile(times, 0.99):.1f} ms; "
        f"{len(teacher.acknowledged)} documents learned"
    )
    known = Tagger.load(folder)
    assert {known.document(name).id for name in teacher.acknowledged} == {*teacher.acknowledged}
    assert known.n_documents == 5 + 1 + len(teacher.acknowledged)


def test_some_read_while_another_learns(folder):
    crowd(folder, readers=6, answers=10)


@pytest.mark.slow
def test_fifty_read_while_another_learns(folder):
    crowd(folder, readers=50, answers=50)


def test_a_killed_server_has_lost_nothing_that_it_acknowledged(folder):
    with running("serve", folder, "--allow-learn") as server:
        teacher = Teacher(server.address, threading.Event())
        teacher.start()
        wait_until(lambda: len(teacher.acknowledged) >= 12 or teacher.faults)
        server.process.send_signal(signal.SIGKILL)
        teacher.join()
    assert len(teacher.acknowledged) >= 12
    known = Tagger.load(folder)
    for name in teacher.acknowledged:
        assert known.document(name).labels == ["cats", name]
    # The document that was being learned may be there or not, but nothing else.
    assert known.n_documents - 5 - 1 - len(teacher.acknowledged) in (0, 1)
    assert known.suggest("the cat sleeps").labels


def test_a_server_that_is_told_to_stop_finishes_what_it_took(folder):
    with running("serve", folder) as server:
        host = urlsplit(server.address)
        body = b'{"text": "the cat sleeps", "top": 1}'
        head = (
            f"POST /v1/suggest HTTP/1.1\r\nHost: {host.netloc}\r\nContent-Length: {len(body)}\r\n"
            "Content-Type: application/json\r\nExpect: 100-continue\r\n\r\n"
        )
        with socket.create_connection((host.hostname, host.port), timeout=60) as connection:
            connection.sendall(head.encode())
            assert connection.recv(65536).startswith(b"HTTP/1.1 100 Continue")
            connection.sendall(body[:10])
            server.process.send_signal(signal.SIGTERM)
            wait_until(lambda: not is_open(host.hostname, host.port))
            connection.sendall(body[10:])
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
        assert answer.startswith(b"HTTP/1.1 200")
        assert b'"sleep"' in answer
        assert server.process.wait(timeout=30) == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(server.address)


def refusal(capfd, *arguments: object) -> str:
    assert run(["serve", *map(str, arguments)]) in (1, 2)
    return capfd.readouterr().err


def test_what_cannot_be_served_is_refused_in_a_line(folder, tmp_path, capfd, monkeypatch):
    assert "two models are called 'animals'" in refusal(capfd, folder, folder)
    assert "; write NAME=FOLDER." in refusal(capfd, f"={folder}")
    assert "nowhere" in refusal(capfd, tmp_path / "nowhere")
    public = (folder, "--host", "0.0.0.0", "--allow-learn", "--port", 0)
    assert "learning on 0.0.0.0, which other machines can reach, needs a token" in refusal(
        capfd, *public
    )
    monkeypatch.setenv("MANYLABEL_TOKEN", " ")
    assert "the token is empty" in refusal(capfd, folder)
    (tmp_path / "token").write_text("\n")
    assert "the token is empty" in refusal(capfd, folder, "--token-file", tmp_path / "token")


def test_a_port_that_is_taken_is_reported(folder, capfd):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert "Address already in use" in refusal(capfd, folder, "--port", port)


def test_a_token_from_a_file_guards_a_named_model(folder, tmp_path):
    secret = tmp_path / "token"
    secret.write_text("sesam\n")
    arguments = ("serve", f"zoo={folder}", "--allow-learn", "--token-file", secret)
    with running(*arguments) as server, httpx.Client(base_url=server.address) as client:
        assert client.get("/v1/models").json()["models"][0]["name"] == "zoo"
        new = {"model": "zoo", "documents": [{"text": "a cat", "labels": ["cats"]}]}
        assert client.post("/v1/learn", json=new).status_code == 401
        headers = {"authorization": "Bearer sesam"}
        assert client.post("/v1/learn", json=new, headers=headers).status_code == 200
        assert client.get("/", headers={"host": "evil.example"}).status_code == 400
