"""The package as a whole: what importing it costs, and who may import whom."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import manylabel
from manylabel.ensemble import SCORERS
from manylabel.models import MODELS

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "manylabel"
HEAVY = {"numba", "numpy", "scipy", "sklearn"}
SHELLS = {"typer", "rich", "fastapi", "uvicorn", "matplotlib"}


def modules_after(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after running the code."""
    found = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules, file=sys.stderr)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(found.stderr.split())


def test_importing_the_package_imports_nothing_heavy():
    assert modules_after("import manylabel").isdisjoint(HEAVY | SHELLS)


def test_the_help_needs_nothing_heavy():
    loaded = modules_after("from manylabel.cli.app import run; run(['convert', '--help'])")
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize("name", manylabel.__all__)
def test_public_names_can_be_imported(name):
    assert getattr(manylabel, name) is not None
    assert name in dir(manylabel)


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="module 'manylabel' has no attribute 'nothing'"):
        _ = manylabel.nothing


@cache
def layers() -> dict[str, int]:
    """Package -> height, from the table in docs/architecture.md."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    return {
        package: height for height, row in enumerate(rows) for package in re.findall("`(.*?)`", row)
    }


def source_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def package_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def imported(path: Path) -> tuple[str, ...]:
    """The full names that a file imports, anywhere in it."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.extend(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            found.extend(f"{node.module}.{name.name}" for name in node.names)
    return tuple(found)


def imported_packages(path: Path) -> set[str]:
    names = (name.split(".") for name in imported(path))
    return {name[1] for name in names if name[0] == "manylabel" and len(name) > 1}


def test_every_package_has_a_layer():
    packages = {package_of(path) for path in source_files()} - {"__init__"}
    assert packages <= layers().keys()


def test_imports_go_down():
    height = layers()
    for path in source_files():
        package = package_of(path)
        if package == "__init__":
            continue
        for other in imported_packages(path) - {package, "__version__"}:
            assert height[other] < height[package], f"{path}: {package} may not import {other}"


def test_only_kernels_import_numba():
    for path in source_files():
        if package_of(path) != "kernels":
            names = {name.split(".")[0] for name in imported(path)}
            assert names.isdisjoint({"numba", "llvmlite"}), path


def test_nothing_is_pickled():
    for path in source_files():
        names = {name.split(".")[0] for name in imported(path)}
        banned = {"pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
        assert names.isdisjoint(banned), path


@cache
def kernels_of_models() -> dict[str, set[str]]:
    """Model or "every model" -> kernel files, from the table in docs/architecture.md."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("| models | kernels |\n|---|---|\n")[2].partition("\n\n")[0]
    found: dict[str, set[str]] = {}
    for line in table.splitlines():
        models, kernels = line.strip("| ").split(" | ")
        named = set(re.findall("`(.*?)`", kernels))
        for other in re.findall(r"[A-Za-z]+", kernels.partition("those of")[2].split("`")[0]):
            named |= found.get(other, set())
        found.update(dict.fromkeys(models.split(", "), named))
    return found


def reached(module: str, seen: set[str]) -> set[str]:
    """The modules of the package that a module imports, and those that these import."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if module in seen or not path.exists():
        return seen
    seen.add(module)
    for name in imported(path):
        if name.startswith("manylabel."):
            # What is imported is a module, or something in one.
            reached(name, seen)
            reached(name.rpartition(".")[0], seen)
    return seen


def test_the_table_of_kernels_names_every_model_and_every_kernel():
    found = kernels_of_models()
    files = {path.stem for path in (PACKAGE / "kernels").glob("*.py")} - {"__init__"}
    assert set().union(*found.values()) == files
    assert found.keys() - {"every model", "no model"} == {m.class_name for m in MODELS.values()}


@pytest.mark.parametrize("model", sorted({model.class_name for model in MODELS.values()}))
def test_a_model_reaches_the_kernels_that_the_table_names(model):
    found = kernels_of_models()
    modules = reached(getattr(manylabel, model).__module__, set())
    if model == "Ensemble":
        for place in SCORERS.values():
            reached(place.partition(":")[0], modules)
    kernels = {name.split(".")[2] for name in modules if name.startswith("manylabel.kernels.")}
    assert found[model] <= kernels
