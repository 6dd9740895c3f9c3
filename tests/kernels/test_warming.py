"""Kernels that are compiled in advance."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from manylabel.corpus import load_catalogue, write
from manylabel.kernels import compile, machine_code, warming
from manylabel.kernels.index import Rows

ROWS = Rows(np.array([0, 1]), np.array([0], np.int32), np.array([1], np.float32))
on_linux = pytest.mark.skipif(
    not machine_code.is_possible(), reason="machine code is kept by Numba here"
)
# Training and asking the default model needs no kernels but those listed under `small`.
USES = """
import json
from manylabel.cli.app import run
from manylabel.kernels.compile import KERNELS, Kernel, described
used = []
def found(self, arguments, find=Kernel._find):
    used[-1].append([self.name, ", ".join(map(described, arguments))])
    return find(self, arguments)
Kernel._find = found
Kernel.is_compiled = False  # as after an installation
for call in CALLS:
    for kernel in KERNELS.values():
        kernel._entries.clear()
    used.append([])
    assert run(call.split()) == 0
print("\\n" + json.dumps(used))
"""


@pytest.mark.parametrize(
    "arguments",
    [
        (1, 2.5, True, np.int64(3), np.float64(1), np.uint64(7)),
        (np.zeros(3), np.zeros((2, 2), np.float32, order="F"), np.zeros(4, np.uint8)[::2]),
        ((ROWS, np.zeros((1, 1, 1), np.int32)), ROWS),
        ((), np.zeros(8, np.uint8).view(np.float64)),
    ],
)
def test_types_are_read_back_from_their_names(arguments):
    signature = ", ".join(map(compile.described, arguments))
    assert warming.types_of(signature) == compile._numba_types(arguments)


def test_what_is_no_type_is_refused():
    with pytest.raises(ValueError, match="invalid signature"):
        warming.types_of("int) int")


def test_every_listed_kernel_exists_and_takes_as_many_arguments():
    for name in warming.SETS:
        for jobs in warming._listed()[name].values():
            for kernel, signature in jobs:
                code = warming.kernel_of(kernel).function.__code__
                assert len(warming.types_of(signature)) == code.co_argcount, kernel


def test_listed_types_have_the_names_that_calls_have():
    """A kernel that is listed with another name of a type is compiled again when it is called."""
    jobs = [
        tuple(job)
        for name in warming.SETS
        for jobs in warming._listed()[name].values()
        for job in jobs
    ]
    assert len(jobs) == len(set(jobs))
    for kernel, signature in jobs:
        for name in re.findall(r"(?<![\w.])[a-z]\w*(?![\w(\[.])", signature):
            number = {"int": int, "float": float, "bool": bool}.get(name) or getattr(np, name)
            assert compile.described(number(0)) == name, kernel


@on_linux
def test_the_list_has_every_kernel_of_the_demonstration():
    (jobs,) = used_by("demo --quiet --json")
    used = {tuple(job) for job in jobs}
    listed = {tuple(job) for jobs in warming._listed()["small"].values() for job in jobs}
    assert used
    assert used <= listed, "run python tools/kernel_signatures.py"


@on_linux
@pytest.mark.slow
def test_the_list_has_the_kernels_of_each_command(tmp_path):
    write(load_catalogue("train"), tmp_path / "train.jsonl")
    found = used_by(
        f"train {tmp_path}/train.jsonl -o {tmp_path}/model --quiet",
        f"predict {tmp_path}/model --text Whales",
        f"explain {tmp_path}/model --text Whales",
    )
    names = [sorted({name for name, _ in jobs}) for jobs in found]
    listed = warming._read()["commands"]
    assert list(listed) == ["train", "predict", "explain"]
    assert names == list(listed.values()), "run python tools/kernel_signatures.py"
    small = {tuple(job) for jobs in warming._listed()["small"].values() for job in jobs}
    assert {tuple(job) for jobs in found for job in jobs} <= small


def test_what_a_command_compiles_is_what_is_not_on_disk(monkeypatch):
    monkeypatch.setattr(machine_code, "is_kept", lambda name, types: False)
    for command, names in warming._read()["commands"].items():
        assert warming.missing_for(command) == set(names)
    monkeypatch.setattr(machine_code, "is_kept", lambda name, types: name != "votes.propose")
    assert warming.missing_for("train") == {"votes.propose"}
    assert warming.missing_for("stats") is None


def used_by(*calls: str) -> list[list[tuple[str, str]]]:
    """The kernels that commands of one process call, and with what."""
    program = f"CALLS = {calls!r}\n{USES}"
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    return json.loads(printed.splitlines()[-1])


@on_linux
@pytest.mark.slow
def test_two_processes_compile_two_files(tmp_path):
    program = """
from manylabel.kernels import warming
groups = [[("rng.mix", "uint64")], [("search.rounding_error", "int")]]
if __name__ == "__main__":
    told = []
    print(warming.warm(groups, 2, told.append), told)
"""
    script = tmp_path / "program.py"
    script.write_text(program)
    environment = {**os.environ, "MANYLABEL_CACHE": str(tmp_path / "code")}
    found = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "2 [1, 2]"
    names = {path.name.rpartition("-")[0] for path in Path(tmp_path, "code").rglob("*.code")}
    assert names == {"rng.mix", "search.rounding_error"}


@on_linux
def test_a_process_waits_for_another_that_compiles_the_same(tmp_path):
    program = """
import sys, time
from manylabel.kernels import machine_code
with machine_code.turn("rng.mix", "uint64") as waited:
    print(waited, flush=True)
    if len(sys.argv) > 1:
        sys.stdin.readline()
"""
    environment = {**os.environ, "MANYLABEL_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", program]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment}
    with subprocess.Popen([*command, "stay"], **pipes) as first:
        assert first.stdout.readline() == "False\n"
        with subprocess.Popen(command, **pipes) as second:
            first.communicate("go on\n")
            assert second.communicate()[0] in ("True\n", "False\n")
    assert not list(tmp_path.rglob("*.lock"))
