"""What people who run the server need: a log, HEAD, settings by environment, files to deploy it."""

from __future__ import annotations

import json
import logging
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from web.serving import running

from manylabel.cli.app import make_app
from manylabel.cli.serve import _misspelt
from manylabel.exceptions import ParameterError
from manylabel.web import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.fixture
def logged(caplog):
    log = logging.getLogger("manylabel.access")
    log.addHandler(caplog.handler)
    yield caplog
    log.handlers.clear()


def test_head_is_get_without_a_body(client):
    for path in ("/healthz", "/v1/models", "/"):
        full, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (full.status_code, b"")
        assert head.headers["content-type"] == full.headers["content-type"]
    assert client.head("/v1/suggest").status_code == 405


def test_requests_have_ids(client):
    assert re.fullmatch("[0-9a-f]{16}", client.get("/healthz").headers["x-request-id"])
    given = client.get("/healthz", headers={"X-Request-ID": "from-proxy.1"})
    assert given.headers["x-request-id"] == "from-proxy.1"
    forged = client.get("/healthz", headers={"X-Request-ID": 'a"b c'})
    assert re.fullmatch("[0-9a-f]{16}", forged.headers["x-request-id"])


def test_the_log_says_what_was_asked_for_and_never_the_text(client_of, logged):
    client = client_of(log="json")
    client.post("/v1/suggest", json={"text": "a secret cat"}, headers={"X-Request-ID": "r1"})
    facts = json.loads(logged.messages[-1])
    assert {key: facts[key] for key in ("method", "path", "status", "id")} == {
        "method": "POST",
        "path": "/v1/suggest",
        "status": 200,
        "id": "r1",
    }
    assert facts["ms"] > 0
    assert facts["bytes"] > 0
    client_of(log="text").get("/v1/label", params={"label": "secret"})
    assert '"GET /v1/label" 404' in logged.messages[-1]
    assert "secret" not in "".join(logged.messages)


def test_an_unknown_form_of_log_is_refused():
    with pytest.raises(ParameterError, match="`log` must be none, text or json; got 'xml'"):
        Settings(log="xml")


def serve_command():
    return typer.main.get_command(make_app()).commands["serve"]


def test_every_option_of_the_server_has_a_variable(monkeypatch):
    named = {p.name: p.envvar for p in serve_command().params if p.envvar}
    without = {p.name for p in serve_command().params} - set(named)
    assert without <= {"quiet", "debug", "help"}
    assert all(
        variable in (f"MANYLABEL_{name.upper()}", "MANYLABEL_MODELS")
        for name, variable in named.items()
    )
    monkeypatch.setenv("MANYLABEL_MODELS", "a=x b=y")
    monkeypatch.setenv("MANYLABEL_PORT", "81")
    monkeypatch.setenv("MANYLABEL_ALLOW_LEARN", "")
    found = serve_command().make_context("serve", []).params
    assert (list(found["models"]), found["port"], found["allow_learn"]) == (
        ["a=x", "b=y"],
        81,
        False,
    )


def test_a_misspelt_variable_is_pointed_at():
    given = ["MANYLABEL_PROT", "MANYLABEL_PORT", "MANYLABEL_MAX_LINE", "MANYLABEL_TOKEN", "PATH"]
    assert list(_misspelt(given)) == [
        "Ignored the environment variable MANYLABEL_PROT; did you mean MANYLABEL_PORT?"
    ]


def test_fields_are_missing_or_unknown(client):
    answer = client.post("/v1/suggest", json={"text": "a cat", "topp": 3})
    assert answer.status_code == 422
    assert answer.json()["detail"] == (
        "Unknown field `topp`; /docs lists the fields of this request."
    )
    answer = client.post("/v1/learn", json={})
    assert answer.json()["detail"].startswith("Missing field `documents`; /docs")


def test_the_commands_of_the_files_to_deploy_are_ours():
    docker = (DEPLOY / "Dockerfile").read_text()
    assert "USER manylabel" in docker
    entry = json.loads(re.search(r"ENTRYPOINT (\[.*\])", docker)[1])
    more = json.loads(re.search(r"^CMD (\[.*\])", docker, re.MULTILINE)[1])
    assert entry == ["manylabel", "serve"]
    assert list(serve_command().make_context("serve", [*more]).params["models"]) == more
    assert "/healthz" in docker
    demo = re.search("RUN manylabel (.*)", docker)[1].split()
    assert typer.main.get_command(make_app()).commands[demo[0]].make_context(demo[0], demo[1:])
    unit = (DEPLOY / "manylabel.service").read_text()
    assert shlex.split(re.search("ExecStart=(.*)", unit)[1])[1:] == ["serve"]
    variables = set(
        re.findall(r"MANYLABEL_\w+", docker + unit + (DEPLOY / "compose.yaml").read_text())
    )
    known = {p.envvar for p in serve_command().params} | {
        "MANYLABEL_TOKEN",
        "MANYLABEL_READ_TOKEN",
        "MANYLABEL_CACHE",
    }
    assert variables <= known


def test_the_health_check_of_the_image_tells_a_server_from_none(model_folder, monkeypatch):
    docker = (DEPLOY / "Dockerfile").read_text()
    check = json.loads(re.search(r"HEALTHCHECK .* CMD (\[.*\])", docker)[1])
    monkeypatch.setenv("MANYLABEL_READ_TOKEN", "peep")
    with running("serve", model_folder) as server:
        port = server.address.rpartition(":")[2]
        command = [sys.executable, *(part.replace("8000", port) for part in check[1:])]
        assert subprocess.run(command, capture_output=True).returncode == 0
    assert subprocess.run(command, capture_output=True).returncode != 0
