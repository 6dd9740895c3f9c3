"""What the formats of texts share."""

from __future__ import annotations

import os

from manylabel.corpus.corpus import Corpus
from manylabel.exceptions import CorpusError

__all__ = ["COLUMNS", "require_texts"]

#: The columns that a table of texts may have.
COLUMNS = {"id", "title", "text", "labels"}


def require_texts(corpus: Corpus, path: str | os.PathLike[str]) -> list[str]:
    """The texts, for formats that carry nothing else."""
    if corpus.texts is None:
        raise CorpusError(
            "this format holds texts, but the corpus has only features: write Extreme "
            "Classification text, svmlight or ARFF instead.",
            path=os.fspath(path),
        )
    return corpus.texts
