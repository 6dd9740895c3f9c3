"""What a prediction imports, which takes longer than the prediction itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

#: Neither the shell nor a program that loads a model waits for these.
NEVER = (
    "numba",
    "pandas",
    "scipy.stats",
    "scipy.special",
    "scipy.optimize",
    "narwhals.dataframe",
    "matplotlib",
    "fastapi",
    "manylabel.audit",
    "manylabel.compare",
    "manylabel.web",
)
#: Nor does the shell, whose process is its own, wait for these.
NEVER_IN_A_SHELL = (*NEVER, "numpy.f2py.crackfortran", "rich")

SHELL = "sys.argv = ['manylabel', 'predict', {!r}, '--text', 'A ship']; manylabel.cli.main()"
PROGRAM = "from manylabel import Tagger; Tagger.load({!r}).suggest('A ship')"


@pytest.mark.parametrize(("lines", "never"), [(SHELL, NEVER_IN_A_SHELL), (PROGRAM, NEVER)])
def test_a_prediction_imports_no_more_than_it_needs(library, lines, never):
    model = str(library / "model")
    told = f"""
import atexit, sys
import manylabel{".cli" if lines is SHELL else ""}
def loaded(name):
    return type(sys.modules.get(name)).__name__ not in ("NoneType", "_Later")
atexit.register(lambda: print(*filter(loaded, {never!r}), file=sys.stderr))
{lines.format(model)}
"""
    # What is compiled now needs Numba; the second process finds it.
    for _ in range(2):
        found = subprocess.run(
            [sys.executable, "-c", told], capture_output=True, text=True, check=False
        )
    assert found.stderr.split() == []
