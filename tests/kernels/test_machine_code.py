"""Compiled kernels on disk."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from manylabel.kernels import machine_code
from manylabel.kernels.ranking import rank_order
from manylabel.kernels.rng import mix

RANK = """
import sys
import numpy as np
from manylabel import kernels
from manylabel.kernels.ranking import rank_order
compiled = []
kernels.on_compile = compiled.append
order = rank_order(np.array([0, 3]), np.array([0.5, 2.0, 0.5]))
print(order.tolist(), compiled, "numba" in sys.modules)
"""
ANSWER = "[1, 0, 2]"
COMPILED, FOUND = f"{ANSWER} ['ranking.rank_order'] True", f"{ANSWER} [] False"

on_linux = pytest.mark.skipif(
    not machine_code.is_possible(), reason="machine code is kept by Numba here"
)


def run(folder: Path, *before: str, **environment: str) -> str:
    """What a process prints that caches its machine code in a folder, for others to use."""
    found = subprocess.run(
        [*before, sys.executable, "-c", RANK],
        env={**os.environ, "MANYLABEL_CACHE": str(folder), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout.strip()


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder with the machine code that a process compiled."""
    folder = tmp_path_factory.mktemp("compiled")
    assert run(folder) == COMPILED
    return folder


@pytest.fixture
def code(compiled, tmp_path):
    """A copy of that folder, to be changed."""
    return shutil.copytree(compiled, tmp_path / "code")


@on_linux
def test_a_second_process_neither_compiles_nor_imports_numba(compiled):
    assert run(compiled) == FOUND


@on_linux
@pytest.mark.parametrize(
    "damage",
    ["changed", *(pytest.param(how, marks=pytest.mark.slow) for how in ("cut", "empty"))],
)
def test_a_damaged_file_is_compiled_again(code, damage):
    (path,) = code.rglob("*.code")
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[:-100])
    elif damage == "changed":
        path.write_bytes(content[:-100] + b"?" + content[-99:])
    else:
        path.write_bytes(b"")
    assert [run(code), run(code)] == [COMPILED, FOUND]


@on_linux
def test_code_in_a_folder_that_cannot_be_written_is_used(code, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    before: list[str] = []
    if os.getuid() == 0:
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            pytest.skip("root may write anywhere")
        before = [setpriv, "--bounding-set=-dac_override", "--inh-caps=-dac_override"]
    folders = [code, *(path for path in code.rglob("*") if path.is_dir())]
    for path in folders:
        path.chmod(0o555)
    try:
        assert run(code, *before, TMPDIR=str(temporary)) == FOUND
    finally:
        for path in folders:
            path.chmod(0o755)


@pytest.mark.slow
def test_without_a_place_for_code_everything_works(tmp_path):
    (tmp_path / "file").touch()
    assert run(tmp_path / "file" / "folder").startswith(ANSWER)


def test_mapped_arrays_use_the_code_for_others(tmp_path):
    scores = np.array([1.0, 3.0, 2.0])
    np.save(tmp_path / "scores.npy", scores)
    pointers = np.array([0, 3])
    rank_order(pointers, scores)
    known = len(rank_order._entries)
    mapped = np.load(tmp_path / "scores.npy", mmap_mode="r")
    assert rank_order(pointers, mapped).tolist() == [1, 2, 0]
    assert len(rank_order._entries) == known


def test_arguments_may_be_named():
    first, second = np.uint64(3), np.uint64(5)
    names = mix.function.__code__.co_varnames[: mix.function.__code__.co_argcount]
    arguments = (first, second)[: len(names)]
    named = dict(zip(names, arguments, strict=True))
    assert mix(**named) == mix(*arguments)
