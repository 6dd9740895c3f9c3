"""Examples in docstrings run, and print what they say."""

from __future__ import annotations

import doctest
import pkgutil
from functools import cache
from importlib import import_module

import pytest

import manylabel

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@cache
def modules() -> tuple[str, ...]:
    """Every module of the package, but for those that run when they are imported."""
    found = pkgutil.walk_packages(manylabel.__path__, "manylabel.")
    return tuple(each.name for each in found if not each.name.endswith("__main__"))


@cache
def examples(name: str) -> list[doctest.DocTest]:
    module = import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    return [test for test in finder.find(module, module.__name__) if test.examples]


def packages() -> dict[str, list[str]]:
    """Package -> its modules; a test for each module would take longer than its examples."""
    found: dict[str, list[str]] = {}
    for name in modules():
        found.setdefault(name.split(".")[1], []).append(name)
    return found


@pytest.mark.parametrize("package", packages())
def test_examples_print_what_they_say(package, tmp_path, monkeypatch):
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    told: list[str] = []
    for name in packages()[package]:
        # Examples may write files.
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        for test in examples(name):
            runner.run(test, out=told.append)
    assert not runner.failures, "".join(told)


def test_there_are_examples():
    assert sum(len(examples(name)) for name in modules()) > 100
