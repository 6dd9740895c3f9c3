"""``predict --via`` asks a running server, and prints what it would print itself."""

from __future__ import annotations

import subprocess
import sys

import pytest
from web.serving import running

TEXT = "The cat sleeps near a mouse"
COMMAND = [sys.executable, "-m", "manylabel.cli", "predict"]


@pytest.fixture(scope="module")
def server(model_folder):
    with running("serve", model_folder) as server:
        yield server.address


def called(*arguments):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "choice",
    [
        (),
        pytest.param(("--top", 2), marks=pytest.mark.slow),
        pytest.param(("--threshold", 0.2), marks=pytest.mark.slow),
        ("--exclude", "cats", "--top", 3),
    ],
)
def test_a_server_gives_the_same_answer(model_folder, server, choice):
    here = called(model_folder, "--text", TEXT, "--quiet", *choice)
    there = called(model_folder, "--text", TEXT, "--via", server, *choice)
    assert here.stdout
    assert (there.stdout, there.returncode) == (here.stdout, 0)


def test_neither_the_model_nor_numpy_is_loaded(server):
    program = (
        "import sys; from manylabel.cli.app import run; run(sys.argv[1:]); "
        "sys.exit('numpy' in sys.modules)"
    )
    arguments = ["predict", "animals", "--text", TEXT, "--via", server]
    answer = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, check=False
    )
    assert (answer.returncode, answer.stdout[:9]) == (0, b'{"id": "0')


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x", "--via", "{}"), "refuses: Unknown model 'x'; there are animals."),
        (("animals", "--via", "http://127.0.0.1:9"), "start one with manylabel serve animals."),
        (("animals", "--via", "here"), "invalid --via 'here'; give the address of a server"),
    ],
)
def test_what_went_wrong_is_one_line(server, arguments, message):
    answer = called("--text", TEXT, *(each.format(server) for each in arguments))
    assert (answer.returncode, answer.stdout) == (1, "")
    assert message in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_via_is_for_one_text(server):
    answer = called("animals", "--via", server)
    assert answer.returncode == 2
    assert "--via needs --text" in answer.stderr
