"""Features of texts other than words: chosen on a sample, or added as separate views."""

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
    "MIN_FOR_VIEWS",
    "VIEWS",
    "check_features",
    "choose_features",
    "count_views",
    "has_words_only",
    "new_views",
]

#: Sample size: fewer documents give a random choice, more do not change it.
_MIN_DOCUMENTS, _MAX_DOCUMENTS = 2_000, 4_000
#: Maximum documents to use n-grams with: each word has several, and all cost time.
_MAX_WITH_NGRAMS = 100_000
#: Minimum words of a long text, where the beginning matters most, and maximum words of a short
#: one, where n-grams help.
_LONG, _SHORT = 100, 30
_LEAD: dict[str, Any] = {"lead": 50, "lead_weight": 4}
_PARTS: dict[str, Any] = {"char_ngrams": (4, 4), "whole_words": True}
#: Features are judged by ranking the labels of this many neighbours, in this many folds.
_NEIGHBOURS, _FOLDS = 50, 3
#: Three times the usual tolerance: the difference is as clear, in three quarters of the time.
_TOL = 0.3
#: Minimum gain in nDCG@5, in standard errors, that is worth the time of more features.
_MIN_GAIN = 1.0
#: Name of a view -> parameters in which its vectorizer differs from that of the words. The scorer
#: of the same name reads the view; an ensemble keeps it if it helps.
VIEWS: dict[str, dict[str, Any]] = {
    "phrases": {"ngram_range": (2, 2), "min_df": 3},
    "opening": {"ngram_range": (1, 2), "min_df": 3, "lead": 60, "lead_only": True},
}
#: With fewer documents, hardly any other feature occurs often enough to learn from.
MIN_FOR_VIEWS = 1_000
#: Parameters that reset the other features of a word vectorizer to make one for a view. Extra
#: weight for the first words applies to every view.
_VIEW: dict[str, Any] = {
    "char_ngrams": None,
    "whole_words": False,
    "max_features": None,
}


def check_features(features: Any) -> None:
    """Check the parameter ``features``."""
    if features not in ("auto", "words"):
        raise ParameterError(f"`features` must be 'auto' or 'words'; got {features!r}.")


def has_words_only(vectorizer: CountVectorizer) -> bool:
    """Whether a vectorizer counts single words and nothing else."""
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
    """Return the vectorizer, or one with more features if that ranks labels better on a sample.

    Long texts: more weight for the first words. Short texts: character n-grams beside the words.
    Linear models are trained with either on the labels of neighbours and compared on held-out
    documents.

    Parameters
    ----------
    texts : callable
        Returns the texts of some rows.
    Y : csr_array
        The labels of all rows.
    vectorizer : CountVectorizer
    n_jobs : int, optional
    verbose : bool
        Print the comparison.
    """
    if Y.shape[0] < _MIN_DOCUMENTS:
        return vectorizer
    n_tried = min(max(_MIN_DOCUMENTS, Y.shape[0] // 4), _MAX_DOCUMENTS)
    chosen = np.random.default_rng(0).permutation(Y.shape[0])[:n_tried]
    sample = texts(chosen)
    typical = float(np.median([len(text.split()) for text in sample]))
    if typical >= _LONG:
        more = _LEAD
    elif typical <= _SHORT and Y.shape[0] <= _MAX_WITH_NGRAMS:
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
    return richer if gain.mean() > _MIN_GAIN * error else vectorizer


def _quality(
    counts: sparse.csr_array, Y: sparse.csr_array, n_jobs: int | None
) -> NDArray[np.float64]:
    """nDCG@5 per document of linear models that rank the labels of neighbours.

    Labels of a single document are left out: other documents teach nothing about them.
    """
    from manylabel.linear import train_on_candidates
    from manylabel.linear.training import Settings
    from manylabel.metrics import ndcg_at
    from manylabel.neighbors import NeighborIndex
    from manylabel.neighbors.source import NeighborSource
    from manylabel.scoring import Documents
    from manylabel.text.weighting import make_weighting

    Y = Y[:, np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]) > 1)]
    rows = make_weighting("tfidf", np.float32).fit(counts).transform(counts)
    source = NeighborSource(NeighborIndex(rows), Y, k=_NEIGHBOURS)
    settings = Settings(
        C=1.0, bias=True, prune=0.0, max_iter=1000, tol=_TOL, seed=0, n_jobs=n_jobs, verbose=0
    )
    folds = (np.arange(rows.shape[0]) % _FOLDS).astype(np.int8)
    itself = np.arange(rows.shape[0])
    candidates = source.propose(Documents(rows), leave_out=itself, n_jobs=n_jobs).pattern
    _, scores, _ = train_on_candidates(rows, Y, candidates, settings, folds)
    return ndcg_at(Y, scores, 5, average=False)


def new_views(vectorizer: CountVectorizer) -> dict[str, CountVectorizer]:
    """Make an unfitted vectorizer for each view, for the same language."""
    return {
        name: clone(vectorizer).set_params(**_VIEW | own, verbose=False)
        for name, own in VIEWS.items()
        # The beginning of a text is a separate view only if first words get more weight.
        if vectorizer.lead or not own.get("lead_only")
    }


def count_views(
    views: Mapping[str, CountVectorizer], count: Callable[[CountVectorizer], sparse.csr_array]
) -> dict[str, sparse.csr_array]:
    """Count the features of each view; skip views that have none in these texts."""
    counts = {}
    for name, vectorizer in views.items():
        try:
            counts[name] = small(count(vectorizer))
        except InputError:
            # No feature occurs often enough.
            continue
    return counts
