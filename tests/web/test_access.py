"""Who may read and write, how often, and what is logged."""

from __future__ import annotations

import base64
import json
import threading
from types import SimpleNamespace

import httpx
import pytest
from web.serving import running

from manylabel.cli.app import run
from manylabel.exceptions import ParameterError
from manylabel.web import Settings, create_app, limits
from manylabel.web.limits import Buckets, client_of
from manylabel.web.tokens import read_tokens

TEXT = {"text": "a cat"}
NEW = {"documents": [{"id": "n1", "text": "a new cat", "labels": ["cats"]}]}


def bearer(token):
    return {"authorization": f"Bearer {token}"}


# ---- a token for reading


def test_without_the_token_nothing_of_a_model_can_be_read(client_of):
    client = client_of(read_token="peep")
    described = client.get("/openapi.json", headers=bearer("peep")).json()["paths"]
    for path, methods in described.items():
        address = path.format(project_id="animals", model="animals")
        is_open = path in ("/healthz", "/readyz", "/health")
        for method in methods:
            for headers in ({}, bearer("guess"), {"authorization": "peep"}):
                answer = client.request(method, address, headers=headers)
                assert (answer.status_code == 401) != is_open, path
    answer = client.get("/v1/models")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["detail"] == (
        "Reading needs the server's token, in the header 'Authorization: Bearer TOKEN'."
    )
    for path in ("/openapi.json", "/metrics", "/nothing", "/static", "//v1/models", "/v1/../v1/"):
        assert client.get(path).status_code == 401, path


def test_the_page_is_open_and_has_no_data(client_of):
    client = client_of(read_token="peep")
    for path in ("/", "/review", "/docs", "/static/page.js"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "cats" not in answer.text


def test_the_token_lets_read_and_that_for_writing_does_both(client_of):
    client = client_of(allow_learn=True, token="sesam", read_token="peep")
    for token in ("peep", "sesam"):
        assert client.post("/v1/suggest", json=TEXT, headers=bearer(token)).status_code == 200
    found = client.get("/v1/models", headers=bearer("peep")).json()
    assert (found["reading"], found["learning"]) == ("token", "token")
    assert client.post("/v1/learn", json=NEW, headers=bearer("peep")).status_code == 401
    assert client.post("/v1/learn", json=NEW, headers=bearer("sesam")).status_code == 200


def test_a_token_can_be_the_password_of_basic_authentication(client_of):
    client = client_of(read_token="peep")
    for password, status in (("peep", 200), ("guess", 401)):
        given = base64.b64encode(f"anyone:{password}".encode()).decode()
        answer = client.get("/v1/models", headers={"authorization": f"Basic {given}"})
        assert answer.status_code == status
    broken = client.get("/v1/models", headers={"authorization": "Basic !!"})
    assert broken.status_code == 401


def test_whether_one_may_write_is_known_before_what_was_sent_is_judged(client_of):
    client = client_of(allow_learn=True, token="sesam")
    assert client.post("/v1/learn", json={"documents": []}).status_code == 401


@pytest.mark.parametrize(
    ("content", "tokens"),
    [
        ("sesam\n", "sesam"),
        ("", ""),
        ("anna k3y\n\nben s3cret\n", {"anna": "k3y", "ben": "s3cret"}),
        ("anna k3y", {"anna": "k3y"}),
    ],
)
def test_a_file_of_tokens_has_one_or_one_per_person(content, tokens):
    assert read_tokens(content) == tokens


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a b c", "expected one token, or a line 'NAME TOKEN' per person"),
        ("one\ntwo", "expected one token"),
        ("anna x\nanna y", "'anna' occurs twice"),
    ],
)
def test_other_files_of_tokens_are_refused(content, sentence):
    with pytest.raises(ParameterError, match=sentence):
        read_tokens(content)


# ---- limits per client


def test_a_client_that_asks_too_often_is_turned_away(client_of, monkeypatch):
    client = client_of(max_rate=2)
    now = [0.0]
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: now[0]))
    answers = [client.get("/healthz") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 4 + [429] * 2
    refused = answers[-1]
    assert refused.headers["retry-after"] == "1"
    assert refused.json()["detail"] == (
        "Too many requests from your address; the limit is 2 per second. Try again in a moment."
    )
    now[0] = 0.6
    assert client.get("/healthz").status_code == 200


def test_a_client_that_asks_too_much_at_once_is_turned_away(
    client_of, tagger, accepted, monkeypatch
):
    client = client_of(max_concurrent=2, threads=4)
    busy = threading.Event()
    monkeypatch.setattr(tagger, "suggest", lambda *_, **__: busy.wait(60) and [])
    others = [
        threading.Thread(target=lambda: client.post("/v1/suggest", json=TEXT)) for _ in range(2)
    ]
    for other in others:
        other.start()
        assert accepted.acquire(timeout=60)
    answer = client.get("/healthz")
    busy.set()
    for other in others:
        other.join()
    assert answer.status_code == 429
    assert "the limit is 2 at the same time" in answer.json()["detail"]
    assert client.get("/healthz").status_code == 200


def asked(app, address, number):
    """Statuses of a number of requests from an address."""
    import asyncio

    transport = httpx.ASGITransport(app, client=(address, 1))

    async def ask():
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return [(await client.get("/healthz")).status_code for _ in range(number)]

    return asyncio.run(ask())


def test_without_settings_only_other_machines_are_limited(tagger, monkeypatch):
    # On a slow machine, the bucket must not have time to fill up again.
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: 0.0))
    app = create_app({"animals": tagger})
    for here in ("127.0.0.1", "::1", "testclient"):
        assert set(asked(app, here, 150)) == {200}
    assert 429 in asked(app, "192.0.2.7", 150)
    assert set(asked(app, "192.0.2.8", 20)) == {200}
    unlimited = create_app({"animals": tagger}, Settings(max_rate=0, max_concurrent=0))
    assert set(asked(unlimited, "192.0.2.7", 150)) == {200}


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.7", ("192.0.2.7", False)),
        ("127.0.0.1", ("127.0.0.1", True)),
        ("2001:db8::1:2:3:4", ("2001:db8::/64", False)),
        ("::ffff:192.0.2.7", ("192.0.2.7", False)),
        ("::1", ("::/64", True)),
        ("fe80::1%eth0", ("fe80::/64", False)),
        ("socket", ("socket", True)),
    ],
)
def test_a_client_is_an_address_or_the_network_of_an_ipv6_address(address, client):
    assert client_of_scope(address) == client


def client_of_scope(address):
    return client_of({"client": (address, 1)})


def test_the_memory_of_clients_is_bounded():
    buckets = Buckets(rate=1)
    for number in range(11_000):
        buckets.take(str(number), now=float(number))
    assert len(buckets._left) == 10_000


@pytest.mark.parametrize("name", ["max_rate", "max_concurrent"])
def test_limits_below_zero_are_refused(name):
    with pytest.raises(ParameterError, match=f"`{name}` must be at least 0; got -1"):
        Settings(**{name: -1})


# ---- the log of changes


def test_who_changed_what_and_when_is_written_down(client_of, tmp_path):
    path = tmp_path / "audit.jsonl"
    tokens = {"anna": "k3y", "ben": "s3cret"}
    client = client_of(allow_learn=True, token=tokens, audit_log=str(path))
    client.post("/v1/learn", json=NEW, headers=bearer("k3y") | {"x-request-id": "r1"})
    client.post("/v1/learn", json=NEW, headers=bearer("s3cret"))
    reviewed = {"documents": [{"id": "c1", "accepted": ["mice"]}]}
    client.post("/v1/review", json=reviewed, headers=bearer("k3y"))
    client.post("/v1/forget", json={"ids": ["n1"]}, headers=bearer("k3y"))
    client.post("/v1/forget", json={"ids": ["d1"]}, headers=bearer("guess"))
    client.post("/v1/suggest", json=TEXT)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["who"] for line in lines] == ["anna", "ben", "anna", "anna"]
    assert [line["action"] for line in lines] == ["learn", "learn", "review", "forget"]
    first = lines[0]
    assert (first["request"], first["client"], first["model"]) == ("r1", "testclient", "animals")
    assert (first["learned"], first["replaced"]) == (["n1"], [])
    assert lines[1]["replaced"] == ["n1"]
    assert lines[2]["learned"] == ["c1"]
    assert lines[3]["forgotten"] == ["n1"]
    assert first["time"].endswith("+00:00")
    assert "a new cat" not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_audit_log_may_be_moved_away(client_of, tmp_path):
    path = tmp_path / "audit.jsonl"
    client = client_of(allow_learn=True, audit_log=str(path))
    client.post("/v1/learn", json=NEW)
    path.rename(tmp_path / "audit.1.jsonl")
    client.post("/v1/learn", json=NEW)
    assert len(path.read_text().splitlines()) == 1


def test_what_cannot_be_written_down_is_not_changed(client_of, tagger, tmp_path):
    folder = tmp_path / "log"
    folder.mkdir()
    client = client_of(allow_learn=True, audit_log=str(folder / "audit.jsonl"))
    (folder / "audit.jsonl").unlink()
    folder.rmdir()
    answer = client.post("/v1/learn", json=NEW)
    assert answer.status_code == 503
    assert answer.json()["detail"] == "The audit log cannot be written; nothing was changed."
    assert tagger.n_documents == 5


def test_an_audit_log_without_a_place_is_refused_at_the_start(tagger, tmp_path):
    with pytest.raises(ParameterError, match=r"the audit log .* cannot be written"):
        create_app({"a": tagger}, Settings(audit_log=str(tmp_path / "no" / "log")))


def test_a_full_disk_is_reported(client_of, tagger, tmp_path, monkeypatch):
    client = client_of(allow_learn=True, audit_log=str(tmp_path / "log"))
    import manylabel.web.audit as audit

    monkeypatch.setattr(audit.os, "fsync", fails_for(audit.os.fsync))
    answer = client.post("/v1/learn", json=NEW)
    assert answer.status_code == 500
    assert answer.json()["detail"] == (
        "The change was made, but the audit log could not be written."
    )
    assert tagger.n_documents == 6


def fails_for(original):
    def fsync(_):
        raise OSError("no space left")

    return fsync


# ---- the name and the path of the server


def test_an_unknown_host_is_told_which_option_to_use(client_of):
    client = client_of(hosts=("localhost", "*.example.org"))
    answer = client.get("/v1/models", headers={"host": "evil.example"})
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"] == "Unknown Host header 'evil.example'; see --allow-host."
    assert client.get("/v1/models", headers={"host": "a.example.org:80"}).status_code == 200
    for forged in ("example.org.evil", "evil/localhost", "localhost@evil", ""):
        assert client.get("/v1/models", headers={"host": forged}).status_code == 400, forged


@pytest.mark.parametrize("host", ["a*", "*.*.org", ""])
def test_a_pattern_of_hosts_that_cannot_be_is_refused(host):
    with pytest.raises(ParameterError, match=r"write example\.org or "):
        Settings(hosts=(host,))


@pytest.mark.parametrize("prefix", ["", "/labels"])
def test_a_proxy_may_cut_its_path_off_or_not(client_of, prefix):
    client = client_of(root_path="/labels", read_token="peep")
    for path in ("/", "/review", "/docs", "/static/page.js", "/healthz"):
        assert client.get(prefix + path).status_code == 200, path
    assert client.get(f"{prefix}/v1/models").status_code == 401
    described = client.get(f"{prefix}/openapi.json", headers=bearer("peep")).json()
    assert described["servers"] == [{"url": "/labels"}]
    answer = client.get("/labels", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "/labels/")


@pytest.mark.parametrize("name", ["page.html", "review.html", "docs.html"])
def test_addresses_of_the_page_are_relative(client, name):
    content = client.get(f"/static/{name}").text
    assert 'href="/' not in content
    assert 'src="/' not in content


def test_a_path_that_cannot_be_is_refused():
    for path in ("labels", "/labels/", "/a b", "//"):
        with pytest.raises(ParameterError, match="invalid `root_path`"):
            Settings(root_path=path)


# ---- the command


def test_the_command_takes_all_of_it(model_folder, tmp_path, monkeypatch):
    (tmp_path / "peep").write_text("peep\n")
    monkeypatch.setenv("MANYLABEL_TOKEN", "sesam")
    audit = tmp_path / "audit.jsonl"
    arguments = ("serve", model_folder, "--allow-learn", "--read-token-file", tmp_path / "peep")
    more = ("--root-path", "/labels/", "--max-rate", 500, "--audit-log", audit)
    with running(*arguments, *more) as server, httpx.Client(base_url=server.address) as client:
        assert client.get("/labels/v1/models").status_code == 401
        assert client.get("/labels/v1/models", headers=bearer("peep")).status_code == 200
        forwarded = bearer("sesam") | {"x-forwarded-for": "192.0.2.7"}
        new = {"documents": [{"id": "new", "text": "a cat", "labels": ["cats"]}]}
        assert client.post("/v1/learn", json=new, headers=forwarded).status_code == 200
        assert client.post("/v1/forget", json={"ids": ["new"]}, headers=bearer("sesam"))
    first, second = map(json.loads, audit.read_text().splitlines())
    assert (first["client"], second["client"]) == ("192.0.2.7", "127.0.0.1")


def test_the_command_refuses_a_bad_path(model_folder, capfd):
    assert run(["serve", str(model_folder), "--root-path", "labels"]) in (1, 2)
    assert "invalid --root-path 'labels'" in capfd.readouterr().err
