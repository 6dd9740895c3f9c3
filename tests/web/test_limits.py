"""What protects the server and those who use it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

TEXT = {"text": "a cat"}
NEW = {"documents": [{"id": "n1", "text": "a new cat", "labels": ["cats"]}]}


def test_learning_is_off_unless_it_is_allowed(client_of, tagger):
    client = client_of()
    for path, body in (("/v1/learn", NEW), ("/v1/forget", {"ids": ["c1"]})):
        answer = client.post(path, json=body)
        assert answer.status_code == 403
        assert answer.json()["detail"] == "Learning is off; start the server with --allow-learn."
    assert client.post("/v1/projects/animals/learn", json=[]).status_code in (403, 422)
    assert tagger.n_documents == 5


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (None, 401),
        ("Bearer wrong", 401),
        ("Bearer ", 401),
        ("Basic sesam-öffne", 401),
        ("sesam", 401),
        ("Bearer sesam", 200),
        ("bearer sesam", 200),
    ],
)
def test_a_token_guards_what_changes_a_model(client_of, header, status):
    client = client_of(allow_learn=True, token="sesam")
    headers = {} if header is None else {"authorization": header.encode()}
    answer = client.post("/v1/learn", json=NEW, headers=headers)
    assert answer.status_code == status
    if status == 401:
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "Authorization: Bearer TOKEN" in answer.json()["detail"]
    assert client.post("/v1/suggest", json=TEXT).status_code == 200


def test_tokens_are_compared_in_constant_time(client_of, monkeypatch):
    import hmac

    compared = []
    original = hmac.compare_digest
    monkeypatch.setattr(
        hmac, "compare_digest", lambda a, b: compared.append((a, b)) or original(a, b)
    )
    client = client_of(allow_learn=True, token="sesam")
    client.post("/v1/learn", json=NEW, headers={"authorization": "Bearer guess"})
    assert compared == [(b"guess", b"sesam")]


def test_large_bodies_are_refused_announced_or_not(client_of):
    client = client_of(max_body=1000)
    body = b'{"text": "' + b"a" * 2000 + b'"}'
    headers = {"content-type": "application/json"}
    pieces = (body[at : at + 100] for at in range(0, len(body), 100))
    for content in (body, pieces):
        answer = client.post("/v1/suggest", content=content, headers=headers)
        assert answer.status_code == 413
        assert answer.json()["detail"] == "The body is too large; the limit is 1,000 bytes."
    assert client.post("/v1/suggest", json=TEXT).status_code == 200


def test_an_answer_that_takes_too_long_is_given_up(client_of, tagger, monkeypatch):
    client = client_of(timeout=0.1)
    slow = threading.Event()
    monkeypatch.setattr(tagger, "suggest", lambda *_, **__: slow.wait(60))
    answer = client.post("/v1/suggest", json=TEXT)
    slow.set()
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert answer.json()["detail"].startswith("The answer took longer than 0.1 seconds; ")


def test_learning_that_has_begun_is_never_given_up(client_of, tagger, monkeypatch):
    client = client_of(timeout=0.05, allow_learn=True)
    learn = tagger.learn
    monkeypatch.setattr(
        tagger, "learn", lambda *given, **named: time.sleep(0.2) or learn(*given, **named)
    )
    assert client.post("/v1/learn", json=NEW).json()["learned"] == ["n1"]


def test_learning_that_waited_too_long_has_not_happened(client_of, tagger, accepted, monkeypatch):
    client = client_of(timeout=0.1, allow_learn=True, threads=1)
    busy = threading.Event()
    monkeypatch.setattr(tagger, "suggest", lambda *_, **__: busy.wait(60))
    other = threading.Thread(target=lambda: client.post("/v1/suggest", json=TEXT))
    other.start()
    assert accepted.acquire(timeout=60)
    answer = client.post("/v1/learn", json=NEW)
    busy.set()
    other.join()
    assert answer.status_code == 503
    assert "nothing was changed" in answer.json()["detail"]
    assert tagger.n_documents == 5


def test_when_too_many_wait_others_are_turned_away(client_of, tagger, accepted, monkeypatch):
    client = client_of(threads=1, max_waiting=1, timeout=60)
    busy = threading.Event()
    monkeypatch.setattr(tagger, "suggest", lambda *_, **__: busy.wait(60) and [])
    others = [
        threading.Thread(target=lambda: client.post("/v1/suggest", json=TEXT)) for _ in range(2)
    ]
    for other in others:
        other.start()
        assert accepted.acquire(timeout=60)
    answer = client.post("/v1/suggest", json=TEXT)
    busy.set()
    for other in others:
        other.join()
    assert answer.status_code == 503
    assert answer.json()["detail"] == "The server is busy with 2 requests; try again in a moment."


def test_every_answer_carries_the_headers_that_browsers_obey(client):
    for path in ("/", "/docs", "/static/page.js", "/v1/models", "/nothing"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"


def test_foreign_pages_are_let_in_only_if_they_are_named(client_of):
    origin = {"origin": "https://catalogue.example"}
    asks = origin | {"access-control-request-method": "POST"}
    closed, opened = client_of(), client_of(origins=("https://catalogue.example",))
    assert "access-control-allow-origin" not in closed.get("/v1/models", headers=origin).headers
    assert closed.options("/v1/suggest", headers=asks).status_code == 405
    answer = opened.get("/v1/models", headers=origin)
    assert answer.headers["access-control-allow-origin"] == "https://catalogue.example"
    assert opened.options("/v1/suggest", headers=asks).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:8000", 200), ("[::1]:80", 200), ("LOCALHOST", 200), ("evil.example", 400)],
)
def test_a_server_for_this_machine_goes_by_no_other_name(client_of, host, status):
    client = client_of(hosts=("localhost", "127.0.0.1", "::1"))
    assert client.get("/v1/models", headers={"host": host}).status_code == status


@pytest.mark.parametrize("name", ["..%2fapp.py", "%2e%2e/app.py", "page.py", "nothing.js", "%00"])
def test_only_the_files_of_the_page_are_sent(client, name):
    assert client.get(f"/static/{name}").status_code == 404


def test_files_that_have_not_changed_are_not_sent_again(client):
    first = client.get("/static/page.css")
    again = client.get("/static/page.css", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_an_accident_is_reported_without_its_particulars(client_of, tagger, monkeypatch, caplog):
    client = client_of(raise_server_exceptions=False)

    def fails(*_, **__):
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr(tagger, "suggest", fails)
    answer = client.post("/v1/suggest", json=TEXT)
    assert answer.status_code == 500
    assert answer.json()["detail"] == "Internal error; see the server's log."
    assert "secret" not in answer.text
    assert "the secret of the house" in caplog.text
    assert answer.headers["x-frame-options"] == "DENY"


def test_without_the_extra_one_sentence_says_what_to_install():
    code = (
        "import sys; sys.modules['fastapi'] = None\n"
        "from importlib.util import find_spec\n"
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name: None if name == 'fastapi' else real(name)\n"
        "from manylabel.exceptions import MissingExtraError\n"
        "try:\n    import manylabel.web\n"
        "except MissingExtraError as error:\n    print(error)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == (
        "Serving a model needs fastapi; install it with: pip install 'manylabel[web]'"
    )
