"""A small model, an application around it, and clients."""

from __future__ import annotations

import threading

import pytest

pytest.importorskip("fastapi", reason="needs the extra web")
pytest.importorskip("httpx", reason="needs httpx")

from fastapi.testclient import TestClient
from web.animals import animals
from web.serving import running

from manylabel.tagger import Tagger
from manylabel.web import Settings, create_app
from manylabel.web.workers import Workers


@pytest.fixture
def tagger() -> Tagger:
    return animals()


@pytest.fixture
def client_of(tagger):
    """A client of the small model under some settings."""
    opened = []

    def made(models=None, raise_server_exceptions=True, **settings) -> TestClient:
        app = create_app(models or {"animals": tagger}, Settings(**settings))
        client = TestClient(app, raise_server_exceptions=raise_server_exceptions)
        opened.append(client.__enter__())
        return client

    yield made
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture
def accepted(monkeypatch) -> threading.Semaphore:
    """Released for each request that workers take on; a test can wait for as many as it sent."""
    semaphore = threading.Semaphore(0)
    check = Workers._check_busy

    def counted(workers) -> None:
        check(workers)
        semaphore.release()

    monkeypatch.setattr(Workers, "_check_busy", counted)
    return semaphore


@pytest.fixture
def client(client_of) -> TestClient:
    return client_of(allow_learn=True)


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory):
    """The small model in a folder; learning changes it."""
    folder = tmp_path_factory.mktemp("served") / "animals"
    animals().save(folder)
    return folder


@pytest.fixture(scope="session")
def demo_server():
    """The demo, shared by all tests of the page: they undo what they teach."""
    with running("demo", "--serve") as server:
        yield server.address
