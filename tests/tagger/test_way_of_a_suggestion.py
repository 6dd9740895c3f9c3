"""How many files a reader must open to follow one suggestion, or one training."""

import sys
from pathlib import Path

import pytest
from tagger.tagger_problems import texts_and_labels

import manylabel
from manylabel import Tagger

PACKAGE = Path(manylabel.__file__).parent
TEXTS, LABELS = texts_and_labels()


def files_of(work):
    """The files of the package whose functions are called."""
    found = set()

    def called(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            found.add(str(path.relative_to(PACKAGE)))

    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


@pytest.fixture(scope="module")
def tagger():
    found = Tagger(n_jobs=1).fit(TEXTS, LABELS)
    found.suggest(TEXTS[0])
    return found


def test_a_suggestion_is_short(tagger):
    found = files_of(lambda: tagger.suggest(TEXTS[0]))
    assert "ensemble/ensemble.py" in found
    assert len(found) <= 32, sorted(found)


@pytest.mark.slow
def test_a_training_is_not_too_long(tagger):
    found = files_of(lambda: Tagger(n_jobs=1).fit(TEXTS, LABELS))
    assert "linear/training.py" in found
    assert len(found) <= 64, sorted(found)
