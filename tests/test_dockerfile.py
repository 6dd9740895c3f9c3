"""Every instruction of the Dockerfile, run in a scratch folder instead of an image."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]
JSON = "application/json"


@pytest.fixture(scope="module")
def sources() -> list[str]:
    """What `.dockerignore` lets into the image."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "*"
    return [line.removeprefix("!") for line in lines[1:]]


@pytest.fixture(scope="module")
def instructions() -> list[tuple[str, str]]:
    lines = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    return [tuple(line.split(" ", 1)) for line in lines if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_every_instruction_does_what_it_says(instructions, sources, port, tmp_path):
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    # Only root may add a user: the stand-in makes the home that the real one would make.
    fake = tmp_path / "fake" / "useradd"
    fake.parent.mkdir()
    home = tmp_path / "home" / "manylabel"
    fake.write_text(f'#!/bin/sh\n[ "$*" = "--create-home manylabel" ] && mkdir -p {home}\n')
    fake.chmod(0o755)
    environment = {
        "PATH": os.pathsep.join([str(fake.parent), str(venv / "bin"), os.environ["PATH"]]),
        "HOME": str(home),
    } | {name: os.environ[name] for name in os.environ if name.startswith("PIP_")}

    def here(text: str) -> str:
        """A command with the folders and the port of this test."""
        text = re.sub(r"(?<![\w/])/(src|models|home/manylabel)\b", rf"{tmp_path}/\1", text)
        return text.replace("8000", str(port))

    def done(command: list[str] | str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, shell=isinstance(command, str), env=environment, cwd=tmp_path,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    check: list[str] = []
    start: list[str] = []
    for name, rest in instructions:
        if name == "FROM":
            assert re.fullmatch(r"python:3\.1[1-3]-slim", rest)
        elif name == "COPY":
            assert rest == ". /src"
            (tmp_path / "src").mkdir()
            for source in sources:
                copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
                copy(ROOT / source, tmp_path / "src" / source)
        elif name == "RUN":
            ran = done(here(rest))
            if "Could not find a version" in ran.stderr or "Connection" in ran.stderr:
                pytest.skip("no package index")
            assert ran.returncode == 0, f"{rest}: {ran.stderr}"
        elif name == "ENV":
            environment |= dict(one.split("=", 1) for one in here(rest).split())
        elif name == "HEALTHCHECK":
            check = json.loads(here(rest[rest.index("[") :]))
        elif name in ("ENTRYPOINT", "CMD"):
            start += json.loads(here(rest))
        else:
            assert (name, rest) in (("USER", "manylabel"), ("EXPOSE", "8000"))
    assert not (tmp_path / "src").exists()

    def compiled() -> set[str]:
        """The machine code that there is; the names of its folders tell the source."""
        return {str(path.relative_to(home)) for path in (home / "kernels").rglob("*.code")}

    in_the_image = compiled()
    assert in_the_image

    write = "from manylabel import corpus as c; c.write(c.load_catalogue('train'), 'a.jsonl')"
    assert done(["python", "-c", write]).returncode == 0
    (tmp_path / "models").mkdir()
    assert done(["manylabel", "train", "a.jsonl", "-o", "models/model", "-q"]).returncode == 0
    assert done(check).returncode != 0
    server = subprocess.Popen(start, env=environment, cwd=tmp_path, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while done(check).returncode != 0:
            assert time.monotonic() < until, "the server did not get healthy"
            time.sleep(0.2)
        body = json.dumps({"texts": ["A dog crosses the Antarctic", "A monk"], "explain": True})
        ask = urllib.request.Request(
            f"http://127.0.0.1:{port}/v1/suggest", body.encode(), {"content-type": JSON}
        )
        with urllib.request.urlopen(ask, timeout=60) as answer:
            assert len(json.load(answer)["documents"]) == 2
        assert compiled() == in_the_image, "the image lacks kernels that serving needs"
    finally:
        server.kill()
        server.wait()
