"""The API keeps what its OpenAPI description promises."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from web.animals import animals

from manylabel.web import Settings, create_app

schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")

from schemathesis.checks import (  # noqa: E402
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


def test_any_request_gets_an_answer_that_the_description_allows():
    app = create_app({"animals": animals()}, Settings(allow_learn=True))
    described = schemathesis.openapi.from_asgi("/openapi.json", app)
    for operation in described.get_all_operations():

        @given(case=operation.ok().as_strategy())
        @settings(max_examples=12, suppress_health_check=list(HealthCheck))
        def check(case):
            case.call_and_validate(checks=CHECKS)

        check()


def sent(client, method, path, operation):
    """Send every example of an operation."""
    address = path.format(project_id="animals")
    query = {
        one["name"]: one["schema"]["examples"][0]
        for one in operation.get("parameters", ())
        if "examples" in one.get("schema", {})
    }
    if "requestBody" not in operation:
        yield client.request(method, address, params=query)
        return
    ((kind, content),) = operation["requestBody"]["content"].items()
    values = [one["value"] for one in content.get("examples", {}).values()]
    for value in values or [content["example"]]:
        headers = {"content-type": kind}
        if kind == "application/json":
            yield client.request(method, address, json=value, headers=headers)
        else:
            yield client.request(method, address, content=urlencode(value), headers=headers)


def test_every_example_works(client):
    """In the order of the description, where what is forgotten was learned before."""
    paths = client.get("/openapi.json").json()["paths"]
    for path, methods in paths.items():
        for method, operation in methods.items():
            for answer in sent(client, method, path, operation):
                if path != "/readyz":
                    assert answer.is_success, f"{method} {path}: {answer.text}"


def test_every_route_is_described(client):
    paths = client.get("/openapi.json").json()["paths"]
    for method, path in (
        ("get", "/v1/models"),
        ("get", "/v1/labels"),
        ("get", "/v1/label"),
        ("post", "/v1/suggest"),
        ("post", "/v1/explain"),
        ("post", "/v1/learn"),
        ("post", "/v1/forget"),
        ("get", "/healthz"),
        ("get", "/readyz"),
        ("get", "/metrics"),
        ("get", "/v1/projects"),
        ("post", "/v1/projects/{project_id}/suggest"),
        ("post", "/v1/projects/{project_id}/learn"),
    ):
        assert paths[path][method]["description"]
