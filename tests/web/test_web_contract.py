"""The API keeps what its OpenAPI description promises."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings, strategies
from web.animals import animals

from manylabel.web import Settings, create_app


@pytest.fixture(scope="module")
def schemathesis():
    """The library, imported here because every test process reads this file."""
    return pytest.importorskip("schemathesis", reason="needs schemathesis")


@pytest.fixture(scope="module")
def promises(schemathesis):
    """What each answer must fulfil."""
    from schemathesis import checks

    return [
        checks.not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
    ]


@pytest.mark.parametrize("n", [4, pytest.param(50, marks=pytest.mark.slow)])
def test_any_request_gets_an_answer_that_the_description_allows(schemathesis, promises, n):
    app = create_app({"animals": animals()}, Settings(allow_learn=True))
    described = schemathesis.openapi.from_asgi("/openapi.json", app)
    for operation in described.get_all_operations():

        @given(case=operation.ok().as_strategy())
        @settings(max_examples=n, suppress_health_check=list(HealthCheck))
        def check(case):
            case.call_and_validate(checks=promises)

        check()


@pytest.mark.slow
def test_any_sequence_of_requests_gets_answers_that_the_description_allows(schemathesis, promises):
    """Any operation may follow any other; half of them are about a document that was learned."""
    app = create_app({"animals": animals()}, Settings(allow_learn=True))
    described = schemathesis.openapi.from_asgi("/openapi.json", app)
    operations = [operation.ok() for operation in described.get_all_operations()]
    called = set()

    @given(data=strategies.data())
    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    def check(data):
        learned = ["0"]
        for operation in data.draw(
            strategies.lists(strategies.sampled_from(operations), min_size=4, max_size=12)
        ):
            case = data.draw(operation.as_strategy())
            place = data.draw(strategies.integers(0, 9))
            if place < 5:
                name = learned[place % len(learned)]
                if isinstance(case.body, dict) and "ids" in case.body:
                    case.body["ids"] = [name]
                if operation.path == "/v1/document":
                    case.query["id"] = name
            answer = case.call_and_validate(checks=promises)
            called.add((operation.method, operation.path))
            if operation.path == "/v1/learn" and answer.status_code == 200:
                learned.extend(answer.json()["learned"])

    check()
    assert len(called) == len(operations)


def sent(client, method, path, operation):
    """Send every example of an operation."""
    address = path.format(project_id="animals", model="animals")
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
            content = value if kind == "application/octet-stream" else urlencode(value)
            yield client.request(method, address, params=query, content=content, headers=headers)


def test_every_example_works(client):
    """In the order of the description, so that documents are learned before they are forgotten."""
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
        ("post", "/v1/review"),
        ("get", "/v1/document"),
        ("post", "/v1/next"),
        ("post", "/v1/audit"),
        ("get", "/healthz"),
        ("get", "/readyz"),
        ("get", "/metrics"),
        ("get", "/v1/projects"),
        ("post", "/v1/projects/{project_id}/suggest"),
        ("post", "/v1/projects/{project_id}/learn"),
        ("post", "/v1/text"),
        ("post", "/predict"),
        ("post", "/label-studio/{model}/predict"),
    ):
        assert paths[path][method]["description"]


def test_every_route_says_what_it_answers(client):
    described = client.get("/openapi.json").json()
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            good = {s: one for s, one in operation["responses"].items() if s.startswith("2")}
            assert len(good) == 1, path
            ((status, answer),) = good.items()
            if (path, method) == ("/metrics", "get"):
                assert answer["content"].keys() == {"text/plain"}
            elif status != "204":
                schema = answer["content"]["application/json"]["schema"]
                assert schema.keys() & {"$ref", "anyOf", "items"}, f"{method} {path}: {schema}"
    for schema in described["components"]["schemas"].values():
        assert schema.get("description") or "ValidationError" in schema["title"], schema["title"]
