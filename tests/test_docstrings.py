"""Examples in docstrings run, and print what they say."""

from __future__ import annotations

import doctest
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import pytest

import manylabel

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def modules() -> Iterator[str]:
    """Every module of the package, but for those that run when they are imported."""
    for found in pkgutil.walk_packages(manylabel.__path__, "manylabel."):
        if not found.name.endswith("__main__"):
            yield found.name


def examples(module: ModuleType) -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    return [test for test in finder.find(module, module.__name__) if test.examples]


@pytest.mark.parametrize("name", list(modules()))
def test_examples_print_what_they_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    told: list[str] = []
    for test in examples(import_module(name)):
        runner.run(test, out=told.append)
    assert not runner.failures, "".join(told)


def test_there_are_examples():
    assert sum(len(examples(import_module(name))) for name in modules()) > 100
