"""Other features of texts than those a model searches by: a view, and a linear model, for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from manylabel.exceptions import InputError
from manylabel.text import CountVectorizer

__all__ = ["FEWEST", "VIEWS", "count_views", "new_views", "read_views"]

#: Name of a view -> what its vectorizer does otherwise than that of the words. An ensemble reads a
#: view by the scorer of that name, and keeps it if it helps.
VIEWS: dict[str, dict[str, Any]] = {
    "phrases": {"ngram_range": (2, 2), "min_df": 3},
}
#: With fewer documents hardly any other feature occurs often enough to be learned from.
FEWEST = 1_000
#: A vectorizer of words becomes that of a view when its other features are taken away. First words
#: that count more count more in every view.
_WORDS: dict[str, Any] = {
    "char_ngrams": None,
    "whole_words": False,
    "max_features": None,
}


def new_views(vectorizer: CountVectorizer) -> dict[str, CountVectorizer]:
    """A vectorizer for each view, not fitted, for the same language."""
    return {
        name: clone(vectorizer).set_params(**_WORDS | own, verbose=False)
        for name, own in VIEWS.items()
    }


def count_views(
    views: Mapping[str, CountVectorizer], count: Callable[[CountVectorizer], sparse.csr_array]
) -> dict[str, sparse.csr_array]:
    """Counts in each view; a view of which the texts have no features is left out."""
    counts = {}
    for name, vectorizer in views.items():
        try:
            counts[name] = _small(count(vectorizer))
        except InputError:
            # Nothing occurs often enough.
            continue
    return counts


def read_views(
    views: Mapping[str, CountVectorizer], texts: list[str]
) -> dict[str, sparse.csr_array]:
    """Counts of texts in each view, by vectorizers that are fitted."""
    return {name: _small(vectorizer.transform(texts)) for name, vectorizer in views.items()}


def _small(counts: sparse.csr_array) -> sparse.csr_array:
    """The same counts in half the memory."""
    counts.data = counts.data.astype(np.float32)
    return counts
