"""Kernels run where neither the installation nor the home folder is writable."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import manylabel

CODE = """
import numpy as np
from scipy import sparse
from manylabel.kernels import machine_code
machine_code._TRIED = ()  # as with a version of Numba whose machine code we cannot read
from manylabel.kernels.cache import cache_folder
from manylabel.neighbors import NeighborIndex
rows = sparse.csr_array(np.eye(3))
NeighborIndex(rows).search(rows, 1)
print(cache_folder())
"""


@pytest.fixture
def run(tmp_path):
    """Run code with a read-only copy of the package, without root's privileges."""
    shutil.copytree(Path(manylabel.__file__).parent, tmp_path / "read-only" / "manylabel")
    (tmp_path / "read-only" / "home").mkdir()
    folders = [tmp_path / "read-only", *(tmp_path / "read-only").rglob("*")]
    for path in folders:
        path.chmod(path.stat().st_mode & ~0o222)
    command = [sys.executable, "-c", CODE]
    if os.name != "posix" or os.getuid() == 0:
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            pytest.skip("root may write anywhere")
        command = [setpriv, "--bounding-set=-dac_override", "--inh-caps=-dac_override", *command]

    def run(temporary: Path) -> subprocess.CompletedProcess[str]:
        known = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        places = {"HOME": tmp_path / "read-only" / "home", "TMPDIR": temporary}
        environment = known | {name: str(path) for name, path in places.items()}
        environment["PYTHONPATH"] = str(tmp_path / "read-only")
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, cwd=tmp_path / "read-only"
        )

    yield run
    for path in folders:
        path.chmod(path.stat().st_mode | stat.S_IWUSR)


@pytest.mark.slow
def test_a_private_folder_takes_the_place_of_the_cache(run, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    found = run(temporary)
    assert found.stderr == ""
    assert found.returncode == 0
    private = temporary / f"manylabel-kernels-{os.getuid()}"
    assert found.stdout.startswith(str(private))
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert any(private.rglob("*.nbi"))


@pytest.mark.slow
def test_a_folder_that_others_can_write_is_not_trusted(run, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    (temporary / f"manylabel-kernels-{os.getuid()}").mkdir()
    (temporary / f"manylabel-kernels-{os.getuid()}").chmod(0o777)
    found = run(temporary)
    assert found.returncode == 0
    assert "cannot cache compiled kernels" in found.stderr
    assert "set NUMBA_CACHE_DIR to a writable folder" in found.stderr
    assert found.stdout.strip() == "None"
