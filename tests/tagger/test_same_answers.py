"""Answers do not depend on how many documents are asked about at once, on any corpus."""

from __future__ import annotations

import pytest

from manylabel import Tagger
from manylabel.corpus import read

SLOW = pytest.mark.slow
#: File of each corpus; those that take longer are marked.
CORPORA = [
    "medical/train.txt",
    pytest.param("eurlex57k/dev.jsonl.xz", marks=SLOW),
    pytest.param("yso-finna-en/test.jsonl.xz", marks=SLOW),
    pytest.param("bibtex/train.txt.xz", marks=SLOW),
    pytest.param("corel5k/train.txt", marks=SLOW),
    pytest.param("delicious/train.txt.xz", marks=SLOW),
    pytest.param("imdb-f/all.txt.xz", marks=SLOW),
    pytest.param("yahoo-arts/all.txt.xz", marks=SLOW),
    pytest.param("yahoo-health/all.txt.xz", marks=SLOW),
]
#: Maximum documents, and how many of them to ask about.
DOCUMENTS, ASKED = 360, 40


def answers(found):
    """Labels and scores to the last bit."""
    return [[(label, score.hex()) for label, score, *_ in suggestions] for suggestions in found]


@pytest.mark.parametrize("path", CORPORA)
def test_a_document_alone_gets_the_answers_that_it_gets_among_others(path, shared_data):
    corpus = read(shared_data / path)
    corpus = corpus[:: -(-len(corpus) // DOCUMENTS)]
    tagger = Tagger(random_state=0, n_jobs=1, effort="quick").fit(corpus[:-ASKED])
    # More documents than a model scores before it looks weights up, in both ways.
    asked = corpus[len(corpus) - ASKED :]
    alone = [tagger.suggest(asked[at : at + 1], top=10)[0] for at in range(ASKED)]
    together = answers(tagger.suggest(asked, top=10))
    assert answers(alone) == together
    few = [tagger.suggest(asked[at : at + 4], top=10) for at in range(0, ASKED, 4)]
    assert answers([one for some in few for one in some]) == together
