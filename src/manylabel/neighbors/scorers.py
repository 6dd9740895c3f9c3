"""Score candidates by the votes of neighbours and words that a `NeighborSource` has counted."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.evidence import NeighborReasons, WordReasons
from manylabel.kernels.votes import Csr
from manylabel.metrics import evaluate
from manylabel.neighbors.features import FeatureSimilarity
from manylabel.neighbors.index import NeighborIndex
from manylabel.neighbors.source import ALL, NEAREST, WORDS, NeighborSource
from manylabel.scoring import Candidates, CandidateSource, Documents, Scorer, Training
from manylabel.scoring.candidates import recall, union
from manylabel.scoring.scorer import Reasons

__all__ = ["NearestVotes", "NeighborVotes", "WordVotes", "fit_source"]

#: Maximum documents to try powers and sources on.
_TRIED = 2_000
_POWERS = (1.0, 2.0, 4.0, 8.0)
#: A word proposes only its nearest labels; more cost time and hardly add to the recall.
_LABELS_PER_WORD = 200
#: Words propose labels if that raises the nDCG or the recall of candidates by at least this much.
_WORTH_WORDS = 0.01
#: In a large corpus words are not tried if the recall of candidates without them is this high.
_HIGH_RECALL = 0.9
#: Words are updated when new documents amount to one in this many.
_LAG = 1000


class _Votes(Scorer):
    """A scorer that reads votes of the source."""

    learns_at_once = True
    reads_incomplete: ClassVar[bool] = True
    effort: ClassVar[str] = "quick"

    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        return held.evidence[self.name]

    def score(
        self, documents: Documents, candidates: Candidates, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        return candidates.evidence[self.name].astype(np.float64)


class NeighborVotes(_Votes):
    """The share of the votes of all neighbours (LCIF, definition 6)."""

    name: ClassVar[str] = ALL
    title: ClassVar[str] = "similar documents"
    sentence: ClassVar[str] = "Documents that have the label and share words with the text."
    is_needed: ClassVar[bool] = True

    def _n_voters(self, source: NeighborSource) -> int:
        return source.k

    def explaining(
        self, documents: Documents, candidates: Candidates
    ) -> tuple[NDArray[np.float64], Reasons]:
        """Each neighbour's vote, and the words that make it similar."""
        source: NeighborSource = candidates.source
        near = candidates.neighbors
        numbers = near.indices[0][near.indices[0] >= 0][: self._n_voters(source)]
        similarities = near.similarities[0][: numbers.size].astype(np.float64)
        weights = similarities**source.alpha
        are_open = source.open_rows(numbers)
        total = float(weights.sum() if are_open is None else weights[~are_open].sum())
        given = labels_of_rows(source.given, numbers)

        words = _shared_words(documents, candidates, numbers)

        def reasons(position: int) -> NeighborReasons:
            at, votes = given(int(candidates.labels[position]))
            # An incomplete neighbour counts only where it has the label.
            known = total if are_open is None else total + float(weights[at[are_open[at]]].sum())
            shares = weights[at] / known if known else weights[at]
            return NeighborReasons(numbers[at], shares * votes, similarities[at], words)

        return self.score(documents, candidates), reasons


class NearestVotes(NeighborVotes):
    """The share of the votes of the nearest few."""

    name: ClassVar[str] = NEAREST
    title: ClassVar[str] = "the most similar documents"
    sentence: ClassVar[str] = "The nearest few documents, which vote a second time."
    is_needed: ClassVar[bool] = False

    def _n_voters(self, source: NeighborSource) -> int:
        return source.near


class WordVotes(_Votes):
    """The share of the votes of the document's words (LCIF, definition 8)."""

    name: ClassVar[str] = WORDS
    title: ClassVar[str] = "words typical of it"
    sentence: ClassVar[str] = "Words of the text that are common in documents with the label."
    # A word may occur only in the only document of a new label, mostly by chance.
    scores_new_labels: ClassVar[bool] = False

    def configure_source(self, source: NeighborSource, training: Training, forced: bool) -> bool:
        """Let words propose labels, if that improves the candidates."""
        trial = source.trial
        if not forced and (trial is None or not trial.is_open):
            return source.features is not None
        source.features = FeatureSimilarity(
            training.documents.rows, training.Y, _LABELS_PER_WORD, training.incomplete
        )
        if not forced and not trial.is_better():
            source.features = None
        return source.features is not None

    def explaining(
        self, documents: Documents, candidates: Candidates
    ) -> tuple[NDArray[np.float64], Reasons]:
        """What each word adds to the label."""
        source: NeighborSource = candidates.source
        features, values = entries(documents.rows, 0)
        total, scores = float(values.sum(dtype=np.float64)), self.score(documents, candidates)
        if source.features is None or total == 0:
            return scores, lambda _: []
        used, similarities, *_ = source.features.part(documents.rows)
        similar = labels_of_rows(similarities, used.indices)

        def reasons(position: int) -> WordReasons:
            at, found = similar(int(candidates.labels[position]))
            # Not a power of arrays, which may differ in the last bit.
            shares = [
                value * similarity**source.beta / total
                for value, similarity in zip(values[at].tolist(), found.tolist(), strict=True)
            ]
            return WordReasons(features[at], shares)

        return scores, reasons


class _Trial:
    """Measures the candidates of a source on a sample of the held-out documents."""

    def __init__(self, source: NeighborSource, training: Training) -> None:
        held = training.judged
        sample = held[np.linspace(0, held.size - 1, min(_TRIED, held.size)).astype(np.int64)]
        self._source, self._n_jobs, self._sample = source, training.n_jobs, sample
        self._documents = training.shared
        self._rows, self._Y = training.shared.rows[sample], training.Y[sample]
        self._near = source.search_self(sample, training.n_jobs)
        self._is_small = training.is_small
        self._before = np.zeros(2)

    def _tried(self) -> Candidates:
        """The candidates of the sample."""
        return self._source.vote(self._rows, self._near, self._Y, self._n_jobs)

    def recall_gained(self, source: CandidateSource) -> float:
        """By how much another source raises the recall of the candidates."""
        some = self._documents[self._sample]
        some.cache = self._documents.cache
        more = source.propose(some, self._sample, self._n_jobs).pattern
        before = self._tried().pattern
        return recall(union([before, more]), self._Y) - recall(before, self._Y)

    def worth(self) -> NDArray[np.float64]:
        """The nDCG@5 of the candidates by votes, and their recall."""
        tried = self._tried()
        names = [name for name in (ALL, WORDS) if name in tried.evidence]
        votes = sum(tried.evidence[name].astype(np.float64) for name in names)
        ndcg = evaluate(self._Y, tried.scores(np.asarray(votes)), metrics=["ndcg@5"])["ndcg@5"]
        return np.array([ndcg, recall(tried.pattern, self._Y)])

    def remember(self) -> None:
        """Record the current quality as the baseline to beat."""
        self._before = self.worth()

    @property
    def is_open(self) -> bool:
        """Whether the candidates could be much better, or a trial is cheap."""
        return self._is_small or bool(self._before[1] < _HIGH_RECALL)

    def is_better(self) -> bool:
        """Whether the current quality clearly beats the baseline."""
        return bool((self.worth() >= self._before + _WORTH_WORDS).any())


def fit_source(
    training: Training, *, k: int, near: int, alpha: float | str, limit: int
) -> NeighborSource:
    """Fit a source on training documents; an ``alpha`` of "auto" is chosen on a sample.

    The source has a ``trial``, for scorers that may improve it.
    """
    source = NeighborSource(
        NeighborIndex(training.documents.rows),
        training.Y,
        k=k,
        near=min(near, k),
        alpha=2.0 if alpha == "auto" else float(alpha),
        weight=0.5,
        top_words=limit,
        limit=limit,
        lag=_LAG,
        dtype=np.float32,
        incomplete=training.incomplete,
    )
    trial = _Trial(source, training)
    if alpha == "auto":
        values = {}
        for source.alpha in _POWERS:
            values[source.alpha] = trial.worth()[0]
        source.alpha = max(values, key=lambda power: values[power])
    trial.remember()
    source.trial = trial
    return source


def entries(matrix: sparse.csr_array, row: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Columns and values of a row."""
    start, stop = matrix.indptr[row], matrix.indptr[row + 1]
    return matrix.indices[start:stop], matrix.data[start:stop]


def labels_of_rows(
    matrix: Csr, rows: NDArray[np.integer]
) -> Callable[[int], tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """A function from a column to its entries in some rows: positions in ``rows``, and values."""
    starts, stops = matrix.ptr[rows], matrix.ptr[rows + 1]
    sizes = stops - starts
    at = np.repeat(np.arange(sizes.size), sizes)
    positions = np.arange(at.size) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
    columns, values = matrix.indices[positions], matrix.data[positions].astype(np.float64)

    def of(column: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        mine = np.flatnonzero((columns == column) & (values != 0))
        return at[mine], values[mine]

    return of


class _SharedWords:
    """What each common feature adds to the similarity of a document and each neighbour.

    Parameters
    ----------
    index : NeighborIndex
    query : tuple of arrays
        The features and values of the document.
    numbers : array of int
        Its neighbours.
    """

    def __init__(
        self,
        index: NeighborIndex,
        query: tuple[NDArray[np.int32], NDArray[Any]],
        numbers: NDArray[np.integer],
    ) -> None:
        rows = index.rows(numbers)
        features, values = query
        length = float(np.sqrt((values**2).sum()))
        at = np.searchsorted(features, rows.indices)
        at[at == features.size] = 0
        mine = np.flatnonzero(features[at] == rows.indices) if features.size else at[:0]
        self._shares = (values[at[mine]] / length * rows.data[mine]).astype(np.float64)
        self._features = rows.indices[mine]
        ends = np.searchsorted(mine, rows.indptr).tolist()
        self._spans = dict(zip(numbers.tolist(), pairwise(ends), strict=True))
        self._made: dict[int, WordReasons] = {}

    def has(self, numbers: NDArray[np.integer]) -> bool:
        """Whether the words of all these neighbours are known."""
        return self._spans.keys() >= set(numbers.tolist())

    def __getitem__(self, number: int) -> WordReasons:
        """The words that a neighbour shares, greatest share first; then by feature."""
        made = self._made.get(number)
        if made is None:
            mine = slice(*self._spans[number])
            shares = self._shares[mine]
            order = np.argsort(-shares, kind="stable")
            made = self._made[number] = WordReasons(self._features[mine][order], shares[order])
        return made


def _shared_words(
    documents: Documents, candidates: Candidates, numbers: NDArray[np.integer]
) -> Callable[[int], WordReasons]:
    """A function from a neighbour to the words that it shares; found once for all scorers."""
    shared: _SharedWords | None = candidates.cache.get("shared words")
    if shared is None or not shared.has(numbers):
        index = candidates.source.index
        shared = _SharedWords(index, entries(documents.rows, 0), numbers)
        candidates.cache["shared words"] = shared
    return shared.__getitem__
