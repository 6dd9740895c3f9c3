"""Which features of texts pay beside words: chosen on a sample, or as views of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.estimators import clone
from manylabel.exceptions import InputError, ParameterError
from manylabel.tagger.reading import small
from manylabel.text import CountVectorizer

__all__ = [
    "FEWEST_FOR_VIEWS",
    "VIEWS",
    "check_features",
    "choose_features",
    "count_views",
    "has_words_only",
    "new_views",
]

#: Fewer documents than the first would choose by chance; more than the second add nothing.
_FEWEST, _MOST = 2_000, 4_000
#: Words have several n-grams each, and searching and training pay for all: not with more documents.
_MOST_WITH_NGRAMS = 100_000
#: Words of a long text, which begins with what matters, and of a short one, where n-grams help.
_LONG, _SHORT = 100, 30
_LEAD: dict[str, Any] = {"lead": 50, "lead_weight": 4}
_PARTS: dict[str, Any] = {"char_ngrams": (4, 4), "whole_words": True}
#: How features are judged: the labels of this many neighbours, by cross-validation.
_NEIGHBOURS, _FOLDS = 50, 3
#: How many standard errors features must add to the measure to be worth their time.
_WORTH = 1.0
#: Name of a view -> what its vectorizer does otherwise than that of the words. An ensemble reads a
#: view by the scorer of that name, and keeps it if it helps.
VIEWS: dict[str, dict[str, Any]] = {
    "phrases": {"ngram_range": (2, 2), "min_df": 3},
    "opening": {"ngram_range": (1, 2), "min_df": 3, "lead": 60, "lead_only": True},
}
#: With fewer documents hardly any other feature occurs often enough to be learned from.
FEWEST_FOR_VIEWS = 1_000
#: A vectorizer of words becomes that of a view when its other features are taken away. First words
#: that count more count more in every view.
_VIEW: dict[str, Any] = {
    "char_ngrams": None,
    "whole_words": False,
    "max_features": None,
}


def check_features(features: Any) -> None:
    """Refuse what a tagger cannot be told about features."""
    if features not in ("auto", "words"):
        raise ParameterError(f"`features` must be 'auto' or 'words'; got {features!r}.")


def has_words_only(vectorizer: CountVectorizer) -> bool:
    """Whether only words are asked for."""
    plain = CountVectorizer()
    names = ("ngram_range", "char_ngrams", "lead")
    return all(getattr(vectorizer, name) == getattr(plain, name) for name in names)


def choose_features(
    texts: Callable[[NDArray[np.int64]], list[str]],
    Y: sparse.csr_array,
    vectorizer: CountVectorizer,
    n_jobs: int | None,
    verbose: bool | int = False,
) -> CountVectorizer:
    """The vectorizer, or one with features that rank labels better on a sample.

    For long texts the first words are tried with more weight; for short texts character n-grams
    beside the words. Linear models are trained with each on the labels of neighbours, and judged
    on documents that they had not seen.

    Parameters
    ----------
    texts : callable
        Gives the texts of some rows.
    Y : csr_array
        The labels of all rows.
    vectorizer : CountVectorizer
    n_jobs : int, optional
    verbose : bool
        Say what was found.
    """
    if Y.shape[0] < _FEWEST:
        return vectorizer
    chosen = np.random.default_rng(0).permutation(Y.shape[0])[:_MOST]
    sample = texts(chosen)
    typical = float(np.median([len(text.split()) for text in sample]))
    if typical >= _LONG:
        more = _LEAD
    elif typical <= _SHORT and Y.shape[0] <= _MOST_WITH_NGRAMS:
        more = _PARTS
    else:
        return vectorizer
    richer = clone(vectorizer).set_params(**more)
    before, after = (
        _quality(clone(tried).set_params(verbose=False).fit_transform(sample), Y[chosen], n_jobs)
        for tried in (vectorizer, richer)
    )
    gain = after - before
    if verbose:
        print(
            f"nDCG@5 with words {before.mean():.3f}, with {more} {after.mean():.3f}.",
            file=sys.stderr,
        )
    error = gain.std() / np.sqrt(gain.size)
    return richer if gain.mean() > _WORTH * error else vectorizer


def _quality(
    counts: sparse.csr_array, Y: sparse.csr_array, n_jobs: int | None
) -> NDArray[np.float64]:
    """How well linear models rank the labels of neighbours: nDCG@5 of each document."""
    from manylabel.linear import train_on_candidates
    from manylabel.linear.training import Settings
    from manylabel.metrics import ndcg_at
    from manylabel.neighbors import NeighborIndex
    from manylabel.neighbors.source import NeighborSource
    from manylabel.scoring import Documents
    from manylabel.text.weighting import make_weighting

    rows = make_weighting("tfidf", np.float32).fit(counts).transform(counts)
    source = NeighborSource(NeighborIndex(rows), Y, k=_NEIGHBOURS)
    settings = Settings(
        C=1.0, bias=True, prune=0.0, max_iter=1000, tol=0.1, seed=0, n_jobs=n_jobs, verbose=0
    )
    folds = (np.arange(rows.shape[0]) % _FOLDS).astype(np.int8)
    everyone = np.arange(rows.shape[0])
    candidates = source.propose(Documents(rows), leave_out=everyone, n_jobs=n_jobs).pattern
    _, scores, _ = train_on_candidates(rows, Y, candidates, settings, folds)
    return ndcg_at(Y, scores, 5, average=False)


def new_views(vectorizer: CountVectorizer) -> dict[str, CountVectorizer]:
    """A vectorizer for each view, not fitted, for the same language."""
    return {
        name: clone(vectorizer).set_params(**_VIEW | own, verbose=False)
        for name, own in VIEWS.items()
        # How a text begins is a view of its own if first words count more, as those of long texts.
        if vectorizer.lead or not own.get("lead_only")
    }


def count_views(
    views: Mapping[str, CountVectorizer], count: Callable[[CountVectorizer], sparse.csr_array]
) -> dict[str, sparse.csr_array]:
    """Counts in each view; a view of which the texts have no features is left out."""
    counts = {}
    for name, vectorizer in views.items():
        try:
            counts[name] = small(count(vectorizer))
        except InputError:
            # Nothing occurs often enough.
            continue
    return counts
