"""Checks and messages that readers and writers share."""

from __future__ import annotations

import os
import re

from scipy import sparse

from manylabel.corpus.corpus import Corpus
from manylabel.exceptions import CorpusError

__all__ = ["NUMBER", "require_features", "require_texts", "shorten"]

#: A decimal number; Python's ``float`` also accepts ``1_0``, ``nan`` and digits of any script.
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)


def shorten(text: str, length: int = 40) -> str:
    """A quoted excerpt of the input, short enough for one line."""
    return repr(text if len(text) <= length else text[: length - 1] + "…")


def require_features(corpus: Corpus, path: str | os.PathLike[str]) -> sparse.csr_array:
    """The matrix of features, for formats that store features."""
    if corpus.X is None:
        raise CorpusError(
            "this format stores features, but the corpus has only texts; vectorise it first "
            "(`corpus.vectorized()`).",
            path=os.fspath(path),
        )
    return corpus.X


def require_texts(corpus: Corpus, path: str | os.PathLike[str]) -> list[str]:
    """The texts, for formats that store texts."""
    if corpus.texts is None:
        raise CorpusError(
            "this format stores texts, but the corpus has only features; write Extreme "
            "Classification text, svmlight or ARFF instead.",
            path=os.fspath(path),
        )
    return corpus.texts
