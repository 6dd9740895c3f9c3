"""Propose candidates: the labels of the nearest training documents, and labels from words."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.kernels import votes
from manylabel.kernels.votes import Csr
from manylabel.neighbors.changing_source import ChangingSource
from manylabel.neighbors.features import FeatureSimilarity, to_power
from manylabel.neighbors.index import NeighborIndex, Neighbors
from manylabel.parallel import Zeros, current_place, run_blocks
from manylabel.predictions import values_at
from manylabel.progress import progress_bar
from manylabel.scoring import Candidates, Documents
from manylabel.scoring.candidates import stacked, union
from manylabel.validation import (
    check_rows,
    csr_parts,
    distinct,
    pointers,
    trusted_csr,
)

__all__ = ["ALL", "NEAREST", "PROPOSED", "WORDS", "NeighborSource", "as_csr"]

#: The evidence of the source for each candidate: its share of the votes of all neighbours, of the
#: nearest few, and of the words.
ALL, NEAREST, WORDS = "neighbours", "nearest", "words"
#: Whether a candidate was proposed without seeing the labels of its document.
PROPOSED = "proposed"
#: Documents per task, and documents whose neighbours are in memory at a time.
BLOCK, ROUND = 256, 16_384

#: Single documents whose votes are counted without the kernel, and how many there were.
_PATIENCE = 8
_n_single = count()

_ZEROS = Zeros()
_NO_ROWS = np.empty(0, np.bool_)
_NO_LABELS, _NOTHING = np.empty(0, np.int32), np.empty(0)
_NONE = Csr(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0))


def as_csr(matrix: sparse.csr_array) -> Csr:
    """The arrays of a matrix in the types that the kernels expect."""
    return Csr(*csr_parts(matrix, np.float64))


def _ballots(
    given: Csr, voters: NDArray[Any], weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Where each voter's votes end, their labels, and what each vote is worth."""
    begins, lengths = given.ptr[voters], given.ptr[voters + 1] - given.ptr[voters]
    ends = np.cumsum(lengths)
    positions = np.repeat(begins - (ends - lengths), lengths) + np.arange(lengths.sum())
    worth = np.maximum(np.repeat(weights, lengths) * given.data[positions], votes.LEAST)
    return ends, given.indices[positions], worth


def _has_kernel() -> bool:
    """Whether the kernel should count the votes of a single document.

    It must be compiled already, and loading it pays off only after a few documents.
    """
    return next(_n_single) >= _PATIENCE and _is_compiled()


@cache
def _is_compiled() -> bool:
    return votes.propose.is_compiled


def _total(weights: NDArray[np.float64]) -> float:
    """The sum from the left, as the kernel's: the last bit depends on the order."""
    return max(float(np.cumsum(weights)[-1]) if weights.size else 0.0, votes.LEAST)


def _best(values: NDArray[Any], n: int, top: int) -> NDArray[np.int64]:
    """Positions of the greatest values, at most the ``n`` and the ``top`` greatest."""
    return np.argsort(-values, kind="stable")[: min(n, top)]


class NeighborSource(ChangingSource):
    """Proposes the labels of a document's nearest training documents, and labels from its words.

    The votes are definitions 6 and 8 of the LCIF paper.

    Parameters
    ----------
    index : NeighborIndex or None
        Of the weighted training documents; None to use words alone.
    Y : csr_array of shape (n_documents, n_labels)
        Their labels.
    k : int
        The number of neighbours that vote.
    alpha : float
        The power of similarities in votes.
    near : int
        The number of nearest neighbours that vote a second time, on their own; 0 for none.
    weight : float
        The weight of the neighbours' votes against those of words, from 0 to 1, when only the
        ``limit`` best labels are proposed. With 1 words do not vote, with 0 neighbours do not.
    features : FeatureSimilarity, optional
        The similarities of words and labels; needed unless ``weight`` is 1.
    beta : float
        The power of similarities in words' votes.
    top_words : int
        Maximum labels that the words propose.
    limit : int
        Maximum labels per document; 0 for no limit.
    strategy : str
        How to search for neighbours.
    lag : int, optional
        Words are updated when new documents amount to one in ``lag`` of all; at once by default.
    dtype : dtype
        Of the votes that are stored with candidates.
    incomplete : ndarray of bool, optional
        Training documents that may have more labels than are known: they vote for the labels that
        they have, and count neither for nor against the others.

    Attributes
    ----------
    given : Csr
        The vote of each training document for each label; its labels, unless :meth:`set_votes`
        was called.
    """

    name = "neighbours"
    #: For older model folders, which lack the attribute.
    incomplete: NDArray[np.bool_] | None = None

    def __init__(
        self,
        index: NeighborIndex | None,
        Y: sparse.csr_array,
        *,
        k: int = 1,
        alpha: float = 1.0,
        near: int = 0,
        weight: float = 1.0,
        features: FeatureSimilarity | None = None,
        beta: float = 1.0,
        top_words: int = 100,
        limit: int = 0,
        strategy: str = "auto",
        lag: int | None = None,
        dtype: Any = np.float64,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        self.incomplete = incomplete if incomplete is not None and incomplete.any() else None
        self.index, self.features = index, features
        self.k, self.alpha, self.near = k, alpha, near
        self.weight, self.beta, self.top_words = weight, beta, top_words
        self.limit, self.strategy, self.lag, self.dtype = limit, strategy, lag, np.dtype(dtype)
        self._pending: list[
            tuple[sparse.csr_array, sparse.csr_array, NDArray[np.bool_] | None]
        ] = []
        # Only in training: measures the candidates on a sample.
        self.trial: Any = None
        self.set_labels(Y)

    def set_labels(self, Y: sparse.csr_array) -> None:
        """Set the labels of all documents, removed ones included."""
        self.Y = Y
        self.given = as_csr(Y)

    def set_votes(self, given: sparse.csr_array) -> None:
        """Set the votes of documents, where they differ from their labels."""
        self.given = as_csr(given)

    def _check_stored(self) -> None:
        """Refuse votes of documents, or for labels, that do not exist."""
        check_rows(self.given.ptr, self.given.indices, self.n_labels, self.given.data)
        n_rows = self.Y.shape[0]
        if self.incomplete is not None and self.incomplete.shape != (n_rows,):
            raise InputError("the votes are damaged: the flags of incomplete documents do not fit.")
        if self.given.ptr.size != n_rows + 1 or (
            self.index is not None and self.index.n_rows != n_rows
        ):
            raise InputError("the votes are damaged: documents are missing.")

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return self.Y.shape[1]

    def search(
        self, rows: sparse.csr_array, n_jobs: int | None = None, trusted: bool = False
    ) -> Neighbors | None:
        """The nearest training documents of weighted rows; None if there is no index.

        Rows that are ``trusted`` are known to be canonical and are not checked.
        """
        if self.index is None:
            return None
        search = self.index.search_trusted if trusted else self.index.search
        return search(rows, self.k, strategy=self.strategy, n_jobs=n_jobs)

    def search_self(
        self, numbers: NDArray[np.int64], n_jobs: int | None = None, verbose: bool | int = 0
    ) -> Neighbors | None:
        """The nearest other training documents of training documents; None if there is no index."""
        if self.index is None:
            return None
        return self.index.search_self(
            self.k, rows=numbers, strategy=self.strategy, n_jobs=n_jobs, verbose=bool(verbose)
        )

    def propose(
        self,
        documents: Documents,
        leave_out: NDArray[np.int64] | None = None,
        n_jobs: int | None = None,
        also: sparse.csr_array | None = None,
    ) -> Candidates:
        """Candidates of documents; see the base class.

        ``also`` has labels from other sources, which become candidates with votes as well.
        """
        rows = documents.rows
        if leave_out is None:
            return self.vote(rows, self.search(rows, n_jobs, documents.trusted), None, n_jobs, also)
        near = self.search_self(leave_out, n_jobs)
        return self.vote(rows, near, self.Y[leave_out], n_jobs, also, self.open_rows(leave_out))

    def open_rows(self, numbers: Any) -> NDArray[np.bool_] | None:
        """Which of some training documents are incomplete; None if no document is."""
        return None if self.incomplete is None else self.incomplete[numbers]

    def vote(
        self,
        rows: sparse.csr_array,
        neighbors: Neighbors | None,
        own: sparse.csr_array | None = None,
        n_jobs: int | None = None,
        also: sparse.csr_array | None = None,
        open_rows: NDArray[np.bool_] | None = None,
    ) -> Candidates:
        """Candidates of weighted rows with known neighbours.

        ``own`` has the rows' labels, if they are training documents to be scored as if they were
        new; ``open_rows`` marks those that are incomplete.
        """
        n_rows, n_labels = rows.shape[0], self.n_labels
        features, held_out = self.features, own is not None
        weight = float(self.weight) if features is not None else 1.0
        is_single = n_rows == 1 and neighbors is not None and not held_out
        if is_single and self._all_vote_on_all_labels(weight) and not _has_kernel():
            assert neighbors is not None
            labels, values = self._vote_for_one(rows, neighbors, weight, also)
            return self._voted(labels, values, np.array([labels.size]), neighbors)
        if neighbors is None:
            indices, similarities = (
                np.empty((n_rows, 0), np.int32),
                np.empty((n_rows, 0), np.float32),
            )
        else:
            indices, similarities = neighbors.indices, neighbors.similarities
        if features is None or weight == 1:
            queries = similar = mine = _NONE
            lengths = np.empty(0), np.empty(n_labels), np.empty(0), np.empty(0)
        else:
            used, similar, feature_lengths, bounds = features.part(rows, held_out)
            queries = as_csr(used)
            similar = similar if held_out else to_power(similar, self.beta)
            mine = as_csr(own) if own is not None else _NONE
            lengths = feature_lengths, features.label_lengths, features.pair_lengths, bounds
        more = _NONE if also is None else as_csr(also)
        incomplete = _NO_ROWS if self.incomplete is None else self.incomplete
        are_open = _NO_ROWS if open_rows is None else open_rows
        blocks: dict[int, tuple[NDArray[Any], ...]] = {}

        def work(first: int, last: int) -> None:
            neighbours = indices[first:last]
            size = 0
            if weight > 0:
                voters = neighbours[neighbours >= 0]
                size = int((self.given.ptr[voters + 1] - self.given.ptr[voters]).sum())
            size += (last - first) * min(self.top_words, n_labels) if weight < 1 else 0
            size = min(size, (last - first) * (self.limit or n_labels))
            size += int(more.ptr[last] - more.ptr[first]) if also is not None else 0
            written = np.zeros(last - first, np.int64)
            labels, values = np.empty(size, np.int32), [np.empty(size) for _ in range(3)]
            with _ZEROS.lent((votes.WORKSPACE, n_labels)) as zeros:
                votes.propose(
                    first, last, indices, similarities, self.near, self.alpha, self.given,
                    incomplete, weight, queries, similar, held_out, mine, are_open, self.beta,
                    *lengths, self.top_words, self.limit, more, zeros, written, labels, *values,
                )  # fmt: skip
            n = int(written.sum())
            # Copies, so that the arrays of full capacity are released.
            kept = (each[:n].astype(self.dtype) for each in values)
            blocks[first] = written, labels[:n].copy(), *kept

        run_blocks(work, n_rows, BLOCK, n_jobs)
        if not blocks:
            nothing = np.empty(0, self.dtype)
            blocks[0] = np.empty(0, np.int64), np.empty(0, np.int32), nothing, nothing, nothing
        in_order = [blocks[first] for first in sorted(blocks)]
        written, labels, *values = (
            in_order[0]
            if len(in_order) == 1
            else (np.concatenate(each) for each in zip(*in_order, strict=True))
        )
        return self._voted(labels, values, written, neighbors)

    def _all_vote_on_all_labels(self, weight: float) -> bool:
        """Whether neighbours vote, and each has a vote on all labels."""
        return weight > 0 and self.incomplete is None and isinstance(self.alpha, float)

    def _vote_for_one(
        self,
        rows: sparse.csr_array,
        neighbors: Neighbors,
        weight: float,
        also: sparse.csr_array | None,
    ) -> tuple[NDArray[np.int32], list[NDArray[Any]]]:
        """The candidates of a single row and their votes, to the last bit as the kernel has them.

        The kernel takes half the time, but seconds to compile after an installation.
        """
        voters = neighbors.indices[0]
        absent = np.flatnonzero(voters < 0)
        voters = voters[: absent[0]] if absent.size else voters
        similarities = neighbors.similarities[0, : voters.size].tolist()
        weights = np.array([max(s**self.alpha, votes.LEAST) for s in similarities], np.float64)
        ends, of_voters, shares = _ballots(self.given, voters, weights)
        worth, of_words, by_words = _NOTHING, _NO_LABELS, _NOTHING
        if self.features is not None and weight < 1:
            worth = rows.data.astype(np.float64)
            used, similar, *_ = self.features.part(rows)
            similar = to_power(similar, self.beta)
            _, of_words, by_words = _ballots(similar, used.indices, worth)
        voted = np.concatenate([of_voters, of_words])
        known = distinct(voted)
        which = np.searchsorted(known, voted)
        n_near = int(ends[min(self.near, voters.size) - 1]) if self.near and voters.size else 0
        n_all = of_voters.size
        sums = [
            np.bincount(which[:n_all], shares, known.size),
            np.bincount(which[:n_near], shares[:n_near], known.size),
            np.bincount(which[n_all:], by_words, known.size),
        ]
        values = [
            each / _total(of)
            for each, of in zip(sums, (weights, weights[: self.near], worth), strict=True)
        ]
        # Labels of words are those with the most votes; of equal ones, the lower labels.
        chosen = sums[0] > 0
        chosen[_best(sums[2], int(np.count_nonzero(sums[2])), self.top_words)] = True
        positions = np.flatnonzero(chosen)
        if 0 < self.limit < positions.size:
            scores = weight * values[0] + (1 - weight) * sums[2] / _total(worth)
            scores = np.maximum(scores[positions], votes.LEAST)
            positions = positions[np.sort(_best(scores, positions.size, self.limit))]
        labels = known[positions]
        if also is not None:
            labels = distinct(np.concatenate([labels, also.indices]).astype(np.int32))
        at = np.searchsorted(known, labels)
        is_known = at < known.size
        is_known[is_known] = known[at[is_known]] == labels[is_known]
        at = at[is_known]
        kept = [np.zeros(labels.size, self.dtype) for _ in values]
        for mine, each in zip(kept, values, strict=True):
            mine[is_known] = each[at]
        return labels, kept

    def _voted(
        self,
        labels: NDArray[np.int32],
        values: list[NDArray[Any]],
        lengths: NDArray[np.int64],
        neighbors: Neighbors | None,
    ) -> Candidates:
        """Candidates row by row, and their votes: of neighbours, of the nearest, of words."""
        ones = np.ones(labels.size, np.int8)
        shape = lengths.size, self.n_labels
        pattern = trusted_csr(ones, labels, pointers(lengths), shape)
        used = {
            ALL: neighbors is not None,
            NEAREST: neighbors is not None and self.near > 0,
            WORDS: self.features is not None,
        }
        evidence = {
            name: shares
            for (name, is_used), shares in zip(used.items(), values, strict=True)
            if is_used
        }
        return Candidates(pattern, evidence, self, neighbors)

    def propose_training(
        self,
        documents: Documents,
        kept: NDArray[np.int64],
        also: sparse.csr_array | None = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        given: sparse.csr_array | None = None,
    ) -> tuple[sparse.csr_array, Candidates]:
        """Candidates of all training documents, each as if it were new.

        Parameters
        ----------
        documents : Documents
            All training documents.
        kept : ndarray
            Ascending numbers of the documents whose votes to return as well.
        also : csr_array, optional
            Candidates from other sources.
        n_jobs : int, optional
        verbose : bool
        given : csr_array, optional
            Labels of all documents, to be candidates, too; ``kept`` must be all documents.

        Returns
        -------
        pattern : csr_array of shape (n_documents, n_labels), int8
        candidates : Candidates
            Of the documents in ``kept``. With ``given``, their evidence "proposed" says which were
            proposed without seeing these labels, and ``neighbors`` has the nearest document.
        """
        numbers, is_kept = np.arange(len(documents)), np.zeros(len(documents), np.bool_)
        is_kept[kept] = True
        patterns, mine = [], []
        # Larger rounds on a cluster, so that its many workers rarely wait for each other.
        size = ROUND if current_place() is None else 8 * ROUND

        def voted(some: NDArray[np.int64], near: Neighbors | None, more: Any) -> Candidates:
            rows, Y, are_open = documents.rows[some], self.Y[some], self.open_rows(some)
            return self.vote(rows, near, Y, n_jobs, more, are_open)

        with progress_bar("documents", verbose) as callback:
            for start in range(0, numbers.size, size):
                some = numbers[start : start + size]
                near = self.search_self(some, n_jobs)
                candidates = voted(some, near, None if also is None else also[some])
                if given is None:
                    patterns.append(candidates.pattern)
                    candidates = replace(candidates, neighbors=None)
                    mine.append(candidates.take(np.flatnonzero(is_kept[some])))
                else:
                    proposed = candidates.pattern
                    candidates = voted(some, near, union([proposed, given[some]]))
                    candidates.evidence[PROPOSED] = values_at(proposed, candidates.pattern) > 0
                    nearest = None if near is None else near.nearest()
                    mine.append(replace(candidates, neighbors=nearest))
                if callback is not None:
                    callback(start + some.size, numbers.size)
        evidence = {
            name: np.concatenate([each.evidence.pop(name) for each in mine])
            for name in list(mine[0].evidence)
        }
        pattern = stacked([each.pattern for each in mine])
        found = [each.neighbors for each in mine if each.neighbors is not None]
        held = Candidates(pattern, evidence, self, Neighbors.stacked(found) if found else None)
        return pattern if given is not None else stacked(patterns), held

    def propose_in_groups(
        self,
        documents: Documents,
        size: int,
        seed: int,
        also: sparse.csr_array | None = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> sparse.csr_array:
        """Candidates of all training documents, with neighbours from a part of the documents only.

        Documents are divided at random into groups of at most ``size``, and each is compared with
        those of another group: the time grows with the number of documents, not with its square.
        Each document still votes as often as any other.

        Returns
        -------
        csr_array of shape (n_documents, n_labels), int8
        """
        assert self.index is not None
        n = len(documents)
        order = np.random.default_rng([seed, 5]).permutation(n)
        groups = [np.sort(each) for each in np.array_split(order, max(2, -(-n // size)))]
        numbers, patterns = [], []
        with progress_bar("documents", verbose) as callback:
            for asked, other in zip(groups, [*groups[1:], groups[0]], strict=True):
                index = NeighborIndex(self.index.rows(other))
                for start in range(0, asked.size, ROUND):
                    some = asked[start : start + ROUND]
                    found = index.search_trusted(self.index.rows(some), self.k, n_jobs=n_jobs)
                    places = np.where(found.indices < 0, -1, other[found.indices])
                    near = replace(found, indices=places.astype(np.int32))
                    more = None if also is None else also[some]
                    rows, Y, are_open = documents.rows[some], self.Y[some], self.open_rows(some)
                    patterns.append(self.vote(rows, near, Y, n_jobs, more, are_open).pattern)
                    numbers.append(some)
                    if callback is not None:
                        callback(sum(each.size for each in numbers), n)
        return stacked(patterns)[np.argsort(np.concatenate(numbers))]
