"""What a server has imported and made when it is ready, and after its first answers."""

from __future__ import annotations

import signal
import subprocess
import sys
import warnings

import httpx
from web.serving import address_of, wait_until_ready

from manylabel.web import create_app

#: A server that suggests and explains waits for none of these.
NEVER = (
    "joblib",
    "manylabel.audit",
    "manylabel.compare",
    "manylabel.corpus.formats",
    "manylabel.corpus.texts",
    "matplotlib",
    "numba",
    "numpy.f2py.crackfortran",
    "pandas",
    "pydantic.v1",
    "rich",
    "scipy._lib.array_api_compat.numpy",
    "scipy.optimize",
    "scipy.special",
    "scipy.stats",
    "uvicorn.main",
)
PROGRAM = """
import atexit, gc, sys
def loaded(name):
    return type(sys.modules.get(name)).__name__ not in ("NoneType", "_Deferred")
def tell():
    from fastapi.openapi.models import OpenAPI
    from manylabel.web.messages import ExplainAnswer
    late = [model.__name__ for model in (OpenAPI, ExplainAnswer) if model.__pydantic_complete__]
    print("collects" if gc.isenabled() else "", *filter(loaded, {never!r}), *late, file=sys.stderr)
atexit.register(tell)
import manylabel.cli
manylabel.cli.main()
"""


def told_by_a_server(model) -> list[str]:
    """The lines that a server prints after its address, up to its end."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(never=NEVER), "serve", str(model), "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = address_of(process)
        wait_until_ready(address)
        for path in ("suggest", "explain"):
            assert httpx.post(f"{address}/v1/{path}", json={"text": "a cat"}).status_code == 200
        process.send_signal(signal.SIGTERM)
        return process.communicate(timeout=60)[1].splitlines()
    finally:
        process.kill()
        process.wait()


def test_what_is_built_late_warns_about_nothing(tagger):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        app = create_app({"animals": tagger})
        assert "ExplainAnswer" in app.openapi()["components"]["schemas"]


def test_a_server_starts_with_no_more_than_it_needs(model_folder):
    # What is compiled now needs Numba; the second process finds it.
    told_by_a_server(model_folder)
    assert told_by_a_server(model_folder) == ["collects"]
