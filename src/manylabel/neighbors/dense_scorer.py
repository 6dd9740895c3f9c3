"""Propose and score the labels of the nearest documents in a dense view, such as embeddings."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.evidence import NeighborReasons, WordReasons
from manylabel.exceptions import InputError
from manylabel.metrics import evaluate
from manylabel.neighbors.dense import DenseIndex
from manylabel.neighbors.scorers import labels_of_rows
from manylabel.neighbors.source import as_csr
from manylabel.neighbors.strategies import Neighbors
from manylabel.predictions import keep_top, values_at
from manylabel.scoring import Candidates, CandidateSource, Documents, Scorer, Training, WordSums
from manylabel.scoring.candidates import stacked
from manylabel.scoring.scorer import Reasons
from manylabel.validation import (
    check_dense,
    check_rows,
    distinct,
    join_incomplete,
    pointers,
    trusted_csr,
)

__all__ = ["VIEW", "DenseNeighbors", "DenseSource", "DenseVotes"]

#: The view that is read.
VIEW = "dense"
#: Powers of similarities to choose from, and the number of documents to try them on. Embeddings of
#: unrelated texts are similar, too, so high powers are needed.
_POWERS, _TRIED = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0), 2_000
#: Neighbours, if the classifier does not say.
_K = 100
#: Maximum labels that are proposed per document.
_TOP = 30
#: Labels are proposed if that raises the recall of candidates by at least this much.
_MIN_RECALL_GAIN = 0.01
#: With more documents, it takes too long to search for the neighbours of each, unless asked to.
_MAX_DOCUMENTS = 100_000


class DenseNeighbors:
    """Training documents with their dense rows and labels, and the votes of the nearest.

    Shared by a source and a scorer. Changes may come from both, and count once.

    Parameters
    ----------
    index : DenseIndex
    Y : csr_array of shape (n_documents, n_labels), int8
    k : int
        The number of neighbours that vote.
    incomplete : ndarray of bool, optional
        Documents that may have more labels than are known: they vote for the labels that they
        have, and count neither for nor against the others.

    Attributes
    ----------
    alpha : float
        The power of similarities in votes, itself a power of two.
    """

    def __init__(
        self,
        index: DenseIndex,
        Y: sparse.csr_array,
        k: int,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        self.index, self.Y, self.k, self.incomplete = index, Y, k, incomplete
        self.alpha = 1.0

    def _check_stored(self) -> None:
        """Refuse labels of documents that do not exist."""
        n_rows = self.index.n_rows
        if self.Y.shape[0] != n_rows or (
            self.incomplete is not None and self.incomplete.shape != (n_rows,)
        ):
            raise InputError("the dense neighbours are damaged: documents are missing.")
        check_rows(self.Y.indptr, self.Y.indices, self.Y.shape[1], self.Y.data)

    def search(self, documents: Documents, n_jobs: int | None) -> Neighbors:
        """The nearest training documents; searched for once for a source and a scorer.

        Documents with numbers are left out themselves.
        """
        if documents.numbers is not None:
            key = *self.index.state, documents.numbers
        else:
            key = *self.index.state, documents.view(VIEW)
        known = documents.cache.get("dense neighbours")
        if known is None or any(a is not b for a, b in zip(known[0], key, strict=True)):
            known = key, self._search(documents, n_jobs)
            documents.cache["dense neighbours"] = known
        return cast(Neighbors, known[1])

    def _search(self, documents: Documents, n_jobs: int | None) -> Neighbors:
        if documents.numbers is not None:
            return self.index.search_self(self.k, rows=documents.numbers, n_jobs=n_jobs)
        return self.index.search(self.rows(documents), self.k, n_jobs=n_jobs)

    def rows(self, documents: Documents) -> NDArray[Any]:
        """The dense rows of documents, checked."""
        return dense_rows(documents, self.index.n_features)

    def shares(self, near: Neighbors, pattern: sparse.csr_array) -> NDArray[np.float64]:
        """The share of the votes for each candidate of documents with known neighbours."""
        votes, total = self._votes(near.indices, self._weights(near.similarities))
        known = total[np.repeat(np.arange(total.size), np.diff(pattern.indptr))]
        mine = values_at(votes, pattern)
        if self.incomplete is not None:
            closed = np.where(self._are_open(near.indices), 0.0, self._weights(near.similarities))
            voted, total = self._votes(near.indices, closed)
            # Incomplete neighbours count only where they have the label.
            known = total[np.repeat(np.arange(total.size), np.diff(pattern.indptr))]
            known = known + (mine - values_at(voted, pattern))
        return np.divide(mine, known, out=np.zeros(mine.size), where=known > 0)

    def best(self, near: Neighbors, top: int) -> sparse.csr_array:
        """The labels with the most votes, as ones."""
        votes, _ = self._votes(near.indices, self._weights(near.similarities))
        best = keep_top(votes, top)
        return trusted_csr(np.ones(best.nnz, np.int8), best.indices, best.indptr, best.shape)

    def _weights(self, similarities: NDArray[np.float32]) -> NDArray[np.float64]:
        """What each neighbour's vote is worth."""
        weights = similarities.astype(np.float64)
        # Not a power of arrays, which may differ in the last bit.
        for _ in range(round(np.log2(self.alpha))):
            weights *= weights
        return weights

    def _votes(
        self, indices: NDArray[np.int32], weights: NDArray[np.float64]
    ) -> tuple[sparse.csr_array, NDArray[np.float64]]:
        """The sum of the votes for each label, and of all neighbours."""
        count = weights > 0
        ptr = pointers(np.count_nonzero(count, axis=1))
        voters = distinct(indices[count])
        columns = np.searchsorted(voters, indices[count])
        shape = len(indices), voters.size
        ballots = sparse.csr_array((weights[count], columns, ptr), shape=shape)
        votes = sparse.csr_array(ballots @ self.Y[voters].astype(np.float64))
        votes.sort_indices()
        return votes, np.cumsum(weights, axis=1)[:, -1]

    def _are_open(self, numbers: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of some training documents are incomplete."""
        if self.incomplete is None:
            return np.zeros(numbers.shape, np.bool_)
        return self.incomplete[numbers]

    def choose_alpha(self, training: Training) -> None:
        """Choose the power that ranks the labels of left-out documents best."""
        held = training.judged
        sample = held[np.linspace(0, held.size - 1, min(_TRIED, held.size)).astype(np.int64)]
        near, Y = self.index.search_self(self.k, rows=sample, n_jobs=training.n_jobs), self.Y
        quality = {}
        for self.alpha in _POWERS:
            votes, _ = self._votes(near.indices, self._weights(near.similarities))
            quality[self.alpha] = evaluate(Y[sample], votes, metrics=["ndcg@5"])["ndcg@5"]
        self.alpha = max(quality, key=lambda power: quality[power])

    def reasons(self, documents: Documents, candidates: Candidates, n_jobs: int | None) -> Reasons:
        """A function from a candidate of a single document to each neighbour's share."""
        near = self.search(documents, n_jobs)
        numbers = near.indices[0][near.indices[0] >= 0]
        similarities = near.similarities[0][: numbers.size]
        weights, are_open = self._weights(similarities), self._are_open(numbers)
        given = labels_of_rows(as_csr(self.Y[numbers]), np.arange(numbers.size))
        closed = float(np.cumsum(weights[~are_open])[-1]) if not are_open.all() else 0.0
        words = _Words(documents, self.index.rows(numbers))

        def reasons(position: int) -> NeighborReasons:
            at, _ = given(int(candidates.labels[position]))
            known = closed + float(weights[at[are_open[at]]].sum())
            shares = weights[at] / known if known else weights[at]
            return NeighborReasons(
                numbers[at],
                shares.astype(np.float64),
                similarities[at].astype(np.float64),
                words.__getitem__,
                at,
            )

        return reasons

    def add(
        self,
        documents: Documents,
        Y: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Learn more documents, unless they are known already; ``Y`` may have more labels."""
        n_known, numbers = self.index.n_rows, documents.numbers
        if not len(documents):
            return
        self.grow(Y.shape[1])
        if numbers is None or numbers[0] >= n_known:
            self.index.add(self.rows(documents))
            self.Y = stacked([self.Y, Y])
            self.incomplete = join_incomplete(self.incomplete, n_known, incomplete, Y.shape[0])
        elif incomplete is not None:
            flags = np.zeros(n_known, np.bool_) if self.incomplete is None else self.incomplete
            self.incomplete = flags.copy()
            self.incomplete[numbers] = incomplete

    def remove(self, numbers: NDArray[np.int64]) -> None:
        """Forget documents, unless they are forgotten already."""
        self.index.remove(numbers[self.index.is_alive(numbers)])

    def relabel(self, numbers: NDArray[np.int64], Y: sparse.csr_array) -> None:
        """Replace the labels of documents; ``Y`` may have more labels."""
        self.grow(Y.shape[1])
        n_rows = self.Y.shape[0]
        order = np.arange(n_rows)
        order[numbers] = n_rows + np.arange(numbers.size)
        self.Y = stacked([self.Y, Y])[order]

    def grow(self, n_labels: int) -> None:
        """Extend the labels."""
        if n_labels > self.Y.shape[1]:
            self.Y = self.Y.copy()
            self.Y.resize((self.Y.shape[0], n_labels))

    def compact(self) -> NDArray[np.int64]:
        """Number the remaining documents from 0; return their old numbers."""
        kept = self.index.compact()
        if kept.size < self.Y.shape[0]:
            self.Y = self.Y[kept]
            self.incomplete = None if self.incomplete is None else self.incomplete[kept]
        return kept


def dense_rows(documents: Documents, n_columns: int | None = None) -> NDArray[Any]:
    """The dense view of documents, checked."""
    return check_dense(documents.view(VIEW), f"the view {VIEW!r}", n_columns=n_columns)


def trained(training: Training) -> DenseNeighbors:
    """The neighbours for these documents; made once for the source and the scorer."""
    cache = training.documents.cache
    if "dense" not in cache:
        known = DenseNeighbors(
            DenseIndex(dense_rows(training.documents)),
            training.Y,
            int(training.settings.get("k", _K)),
            training.incomplete,
        )
        known.choose_alpha(training)
        cache["dense"] = known
    return cast(DenseNeighbors, cache["dense"])


class _Words:
    """What each word adds to the similarity of a document and each of its neighbours.

    There are none unless the dense view is a sum over words.
    """

    def __init__(self, documents: Documents, units: NDArray[np.float32]) -> None:
        self._units = units
        self._shares: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None
        view = documents.views.get(VIEW)
        self._view = view if isinstance(view, WordSums) else None

    def __getitem__(self, place: int) -> WordReasons | tuple[()]:
        """The words of one neighbour, greatest share first."""
        if self._view is None:
            return ()
        if self._shares is None:
            words, shares = self._view.shares(self._units)
            length = float(np.linalg.norm(np.asarray(self._view[:1])))
            self._shares = words, shares / (length or 1.0)
        words, shares = self._shares
        order = np.argsort(-shares[place], kind="stable")
        return WordReasons(words[order], shares[place][order])


class DenseSource(CandidateSource):
    """Proposes the labels with the most votes of the nearest documents in the dense view."""

    name: ClassVar[str] = "dense"
    view: ClassVar[str] = VIEW

    def __init__(self) -> None:
        self.known: DenseNeighbors

    def wants(self, training: Training) -> bool:
        """Whether there is a dense view, and not too many documents, or the user asks for it."""
        if training.settings.get("sources", "auto") != "auto":
            return True
        is_quick_enough = not training.is_quick and len(training.documents) <= _MAX_DOCUMENTS
        return training.documents.has_view(VIEW) and is_quick_enough

    def fit(self, training: Training) -> None:
        """Index the documents."""
        self.known = trained(training)

    def is_worthwhile(self, trial: Any) -> bool:
        """Whether enough true labels are found that have no vote of neighbours or words."""
        return bool(trial.recall_gained(self) >= _MIN_RECALL_GAIN)

    def propose(
        self,
        documents: Documents,
        leave_out: NDArray[np.int64] | None = None,
        n_jobs: int | None = None,
    ) -> Candidates:
        """The labels of the nearest documents."""
        if leave_out is documents.numbers:
            near = self.known.search(documents, n_jobs)
        else:
            near = self.known.index.search_self(self.known.k, rows=leave_out, n_jobs=n_jobs)
        return Candidates(self.known.best(near, _TOP))

    def check(self, documents: Documents) -> None:
        """Refuse documents without a dense view of the right width."""
        self.known.rows(documents)

    def add(self, documents: Documents, Y: sparse.csr_array) -> None:
        """Learn more documents."""
        self.known.add(documents, Y)

    def remove(self, numbers: NDArray[np.int64]) -> None:
        """Forget documents."""
        self.known.remove(numbers)

    def relabel(self, numbers: NDArray[np.int64], Y: sparse.csr_array) -> None:
        """Replace the labels of documents."""
        self.known.relabel(numbers, Y)

    def grow(self, n_labels: int) -> None:
        """Extend to new labels."""
        self.known.grow(n_labels)

    def compact(self) -> NDArray[np.int64]:
        """Number the remaining documents from 0."""
        return self.known.compact()


class DenseVotes(Scorer):
    """The share of the votes of the nearest documents in the dense view."""

    name: ClassVar[str] = "dense"
    view: ClassVar[str] = VIEW
    effort: ClassVar[str] = "quick"
    title: ClassVar[str] = "documents about similar things"
    sentence: ClassVar[str] = (
        "Documents that have the label and whose vectors point in nearly the same direction."
    )
    learns_at_once = True
    searches: ClassVar[bool] = True
    reads_incomplete: ClassVar[bool] = True

    def __init__(self) -> None:
        self.known: DenseNeighbors

    def wants(self, training: Training) -> bool:
        """Whether documents have a dense view."""
        return training.documents.has_view(VIEW)

    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Index the documents, and leave out each held-out one exactly."""
        self.known = trained(training)
        index, k = self.known.index, self.known.k
        near = index.search_self(k, rows=training.held, n_jobs=training.n_jobs)
        return self.known.shares(near, held.pattern)

    def score(
        self, documents: Documents, candidates: Candidates, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """The shares of the votes."""
        return self.known.shares(self.known.search(documents, n_jobs), candidates.pattern)

    def explaining(
        self, documents: Documents, candidates: Candidates
    ) -> tuple[NDArray[np.float64], Reasons]:
        """Each neighbour's vote and, if the view is a sum over words, their shares in it."""
        scores = self.score(documents, candidates, 1)
        return scores, self.known.reasons(documents, candidates, 1)

    def check(self, documents: Documents) -> None:
        """Refuse documents without a dense view of the right width."""
        self.known.rows(documents)

    def add(
        self,
        documents: Documents,
        Y: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Learn more documents."""
        self.known.add(documents, Y, incomplete)

    def remove(
        self,
        documents: Documents,
        Y: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Forget documents."""
        assert documents.numbers is not None
        self.known.remove(documents.numbers)

    def relabel(
        self,
        documents: Documents,
        before: sparse.csr_array,
        after: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Replace the labels of documents."""
        assert documents.numbers is not None
        self.known.relabel(documents.numbers, after)

    def grow(self, n_labels: int) -> None:
        """Extend to new labels."""
        self.known.grow(n_labels)

    def compact(self) -> None:
        """Number the remaining documents from 0."""
        self.known.compact()
