"""A single text: the answers that it gets among others, and what the process imports for them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from manylabel import Tagger
from manylabel.corpus import load_catalogue, read

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


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(random_state=0, n_jobs=1).fit(load_catalogue("train"))


def answers(found):
    """Labels and scores to the last bit."""
    return [[(label, score.hex()) for label, score, *_ in suggestions] for suggestions in found]


def test_a_text_alone_gets_the_answers_that_it_gets_among_others(tagger):
    texts = [*load_catalogue("test").texts, "?", "Ein Schiff", "Cafe\u0301 नमस्ते \ud800"]
    alone = [tagger.suggest(text, top=10) for text in texts]
    assert answers(alone) == answers(tagger.suggest(texts, top=10))


@pytest.mark.slow
def test_a_law_alone_gets_the_answers_that_it_gets_among_others(shared_data):
    laws = read(shared_data / "eurlex57k" / "dev.jsonl.xz")[:1500]
    tagger = Tagger(random_state=0, n_jobs=1).fit(laws[:1300])
    texts = laws[1300:].texts
    alone = [tagger.suggest(text, top=10) for text in texts]
    assert answers(alone) == answers(tagger.suggest(texts, top=10))


@pytest.mark.parametrize(("lines", "never"), [(SHELL, NEVER_IN_A_SHELL), (PROGRAM, NEVER)])
def test_a_prediction_imports_no_more_than_it_needs(tagger, tmp_path, lines, never):
    model = str(tmp_path / "model")
    tagger.save(model)
    told = f"""
import atexit, sys
import manylabel{".cli" if lines is SHELL else ""}
def loaded(name):
    return type(sys.modules.get(name)).__name__ not in ("NoneType", "_Deferred")
atexit.register(lambda: print(*filter(loaded, {never!r}), file=sys.stderr))
{lines.format(model)}
"""
    # What is compiled now needs Numba; the second process finds it.
    for _ in range(2):
        found = subprocess.run(
            [sys.executable, "-c", told], capture_output=True, text=True, check=False
        )
    assert found.stderr.split() == []
