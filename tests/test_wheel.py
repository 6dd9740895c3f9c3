"""What is uploaded to PyPI: a wheel with just what it needs, which works in a clean environment."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command far from the source."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[Path]:
    """The source archive, and the wheel that is built from it."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    done = run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def wheel(files) -> Path:
    return next(file for file in files if file.suffix == ".whl")


def test_pypi_takes_the_files(files, tmp_path):
    pytest.importorskip("twine")
    done = run(sys.executable, "-m", "twine", "check", "--strict", *files, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_the_wheel_has_just_what_it_needs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    package = ROOT / "src"
    wanted = {
        str(file.relative_to(package))
        for file in (package / "manylabel").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert {name for name in names if ".dist-info/" not in name} == wanted
    assert wheel.stat().st_size < 2_000_000


def test_the_description_on_pypi_has_nothing_broken(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        description = archive.read(name).decode().partition("\n\n")[2]
    assert description.startswith("# manylabel\n\nTag documents")
    assert "pip install manylabel" in description
    for piece in ("![", "<img", "](", "make demo"):
        assert piece not in description


def test_the_wheel_works_in_a_clean_environment(wheel, tmp_path):
    home = tmp_path / "clean"
    assert run(sys.executable, "-m", "venv", home, cwd=tmp_path).returncode == 0
    python = home / "bin" / "python"
    done = run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    if "Could not find a version" in done.stderr or "Connection" in done.stderr:
        pytest.skip("no package index")
    assert done.returncode == 0, done.stderr
    code = "from manylabel import corpus; corpus.write(corpus.load_catalogue('train'), 'a.jsonl')"
    assert run(python, "-c", code, cwd=tmp_path).returncode == 0
    for command in (
        ["train", "a.jsonl", "-o", "model", "--model", "lcif"],
        ["predict", "model", "--text", "A ship in the ice", "--top", "1"],
    ):
        done = run(home / "bin" / "manylabel", *command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert '"label"' in done.stdout
    done = run(home / "bin" / "manylabel", "serve", "model", cwd=tmp_path)
    assert done.returncode == 1
    assert "pip install 'manylabel[web]'" in done.stderr
