"""A command leaves quickly, but not before everything is done."""

import subprocess
import sys

import pytest

PROGRAM = """
import atexit, sys, threading, time
from manylabel.cli import app
atexit.register(lambda: print("handler", end=""))
if {thread}:
    threading.Thread(target=lambda: (time.sleep(0.2), print("thread ", end=""))).start()
sys.argv = ["manylabel", *{arguments}]
app.main()
"""


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--version"], 0), (["stats", "missing.csv"], 1), (["nothing"], 2)]
)
@pytest.mark.parametrize("thread", [False, True])
def test_handlers_and_threads_come_first(arguments, code, thread, tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(arguments=arguments, thread=thread)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert ran.returncode == code
    assert ran.stdout.endswith("thread handler" if thread else "handler")
    assert not thread or ran.stdout.count("handler") == 1
    assert bool(ran.stderr) == bool(code)


def test_an_error_of_the_output_is_reported_as_ever():
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(arguments=["--version"], thread=False)],
        stdout=open("/dev/full", "w"),  # noqa: SIM115
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert ran.returncode != 0
