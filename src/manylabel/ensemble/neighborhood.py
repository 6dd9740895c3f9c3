"""One search of neighbours that feeds every part: candidates, and what votes for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from manylabel.kernels.votes import Csr
from manylabel.neighbors import NeighborIndex, Neighbors
from manylabel.neighbors.features import FeatureSimilarity
from manylabel.neighbors.voting import as_csr
from manylabel.parallel import current_place, run_blocks
from manylabel.progress import progress_bar
from manylabel.validation import pointers

__all__ = ["Neighborhood", "Proposals", "recall"]

#: Documents a task, and documents whose neighbours are in memory at a time.
BLOCK, ROUND = 256, 16_384
#: A word proposes its nearest labels only; more cost time and hardly add to the recall.
_LABELS_A_WORD = 200
#: Words follow changes when they amount to one document in so many.
_LAG = 1000


@dataclass(frozen=True)
class Proposals:
    """Candidate labels of documents, and what the neighbourhood says of each.

    Parameters
    ----------
    candidates : csr_array of shape (n_documents, n_labels), int8
        Ones at the candidates.
    votes : dict of str to ndarray
        By part, a score of each candidate in the order of ``candidates``: ``"neighbours"``,
        ``"nearest"`` and ``"words"``.
    """

    candidates: sparse.csr_array
    votes: dict[str, NDArray[np.float32]]

    def of_rows(self, rows: NDArray[np.int64]) -> Proposals:
        """The proposals of some documents."""
        ptr = self.candidates.indptr
        lengths = ptr[rows + 1] - ptr[rows]
        starts = np.repeat(ptr[rows] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
        places = starts + np.arange(lengths.sum())
        votes = {name: values[places] for name, values in self.votes.items()}
        return Proposals(self.candidates[rows], votes)


class Neighborhood:
    """Training documents that can be searched, and how words go with labels.

    Parameters
    ----------
    rows : csr_array of shape (n_documents, n_features)
        Weighted.
    Y : csr_array of shape (n_documents, n_labels)
    k, near : int
        How many neighbours vote, and how many of them vote a second time among themselves.
    alpha : float
        The power of similarities in votes.
    n_candidates : int
        At most so many labels are proposed for a document.
    """

    def __init__(
        self,
        rows: sparse.csr_array,
        Y: sparse.csr_array,
        *,
        k: int,
        near: int,
        alpha: float,
        n_candidates: int,
    ) -> None:
        self.index = NeighborIndex(rows)
        self.k, self.near, self.alpha = k, near, alpha
        self.n_candidates = n_candidates
        self.features: FeatureSimilarity | None = None
        self._pending: list[tuple[sparse.csr_array, sparse.csr_array, int]] = []
        self._set_labels(Y)

    def _set_labels(self, Y: sparse.csr_array) -> None:
        self.Y = Y
        self.labels = as_csr(Y)

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return self.Y.shape[1]

    def learn_words(self, rows: sparse.csr_array) -> None:
        """Let words propose labels too; ``rows`` are the weighted training documents."""
        self.features = FeatureSimilarity(rows, self.Y, _LABELS_A_WORD)

    def search(self, weighted: sparse.csr_array, n_jobs: int | None) -> Neighbors:
        """The nearest training documents of weighted rows."""
        return self.index.search(weighted, self.k, n_jobs=n_jobs)

    def proposals(
        self,
        weighted: sparse.csr_array,
        neighbors: Neighbors,
        own: sparse.csr_array | None = None,
        n_jobs: int | None = None,
    ) -> Proposals:
        """Candidates of weighted rows with known neighbours.

        ``own`` are the rows' labels, if they are training documents to be looked at as if they
        were not.
        """
        from manylabel.kernels import votes

        n_rows, top = weighted.shape[0], self.n_candidates
        none = Csr(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0))
        features, held_out = self.features, own is not None
        weight = 1.0 if features is None else 0.5
        similar = none if features is None else features.plain
        lengths = (
            (np.empty(0), np.empty(self.n_labels))
            if features is None
            else (features.feature_lengths, features.label_lengths)
        )
        queries = none if features is None else as_csr(weighted)
        mine = as_csr(own) if own is not None and features is not None else none
        labels = np.empty((n_rows, top), np.int32)
        found = [np.empty((n_rows, top), np.float32) for _ in range(3)]

        def work(first: int, last: int) -> None:
            part = slice(first, last)
            votes.propose(  # type: ignore[call-arg]
                first, last, neighbors.indices, neighbors.similarities, self.near, self.alpha,
                self.labels, weight, queries, similar, held_out, mine, 1.0, *lengths,
                labels[part], *(each[part] for each in found),
            )  # fmt: skip

        run_blocks(work, n_rows, BLOCK, n_jobs)
        there = labels >= 0
        ptr = pointers(there.sum(axis=1))
        candidates = sparse.csr_array(
            (np.ones(int(ptr[-1]), np.int8), labels[there], ptr), shape=(n_rows, self.n_labels)
        )
        names = ("neighbours", "nearest", "words")[: 2 if features is None else 3]
        return Proposals(candidates, {n: v[there] for n, v in zip(names, found, strict=False)})

    def training_proposals(
        self,
        weighted: sparse.csr_array,
        voted: NDArray[np.int64],
        n_jobs: int | None,
        verbose: int | bool = False,
    ) -> tuple[sparse.csr_array, Proposals]:
        """Candidates of all training documents, each as if it had not been there.

        Parameters
        ----------
        weighted : csr_array
            The weighted rows of all training documents.
        voted : ndarray
            Documents, in rising order, of which votes are wanted as well.
        n_jobs : int, optional
        verbose : bool

        Returns
        -------
        candidates : csr_array of shape (n_documents, n_labels), int8
        proposals : Proposals
            Of the documents that are voted on.
        """
        n_rows = weighted.shape[0]
        candidates, mine = [], []
        # Elsewhere there may be many workers, and none should wait for the others often.
        size = ROUND if current_place() is None else 8 * ROUND
        with progress_bar("documents", verbose) as callback:
            for start in range(0, n_rows, size):
                stop = min(start + size, n_rows)
                chosen = np.arange(start, stop)
                neighbors = self.index.search_self(self.k, rows=chosen, n_jobs=n_jobs)
                found = self.proposals(
                    weighted[start:stop], neighbors, self.Y[start:stop], n_jobs=n_jobs
                )
                candidates.append(found.candidates)
                mine.append(found.of_rows(voted[(voted >= start) & (voted < stop)] - start))
                if callback is not None:
                    callback(stop, n_rows)
        return _stacked(candidates), _together(mine)

    def add(self, weighted: sparse.csr_array, Y: sparse.csr_array) -> None:
        """Learn more documents; ``Y`` may have more labels."""
        before = self.Y
        if Y.shape[1] > before.shape[1]:
            before = before.copy()
            before.resize((before.shape[0], Y.shape[1]))
        self._set_labels(sparse.csr_array(sparse.vstack([before, Y], "csr")))
        self.index.add(weighted)
        self._pending.append((weighted, Y, 1))
        self._update_words()

    def remove(self, numbers: ArrayLike) -> None:
        """Forget documents."""
        gone = np.asarray(numbers, np.int64)
        self._pending.append((self.index.rows(gone), self.Y[gone], -1))
        self.index.remove(gone)
        self._update_words()

    def compact(self) -> NDArray[np.int64]:
        """Index the documents that are left anew; their old numbers, in the new order."""
        self._update_words(lag=self.index.n_rows)
        kept = self.index.compact()
        self._set_labels(self.Y[kept])
        return kept

    def _update_words(self, lag: int = _LAG) -> None:
        """Let words know what came and went, once it is one in ``lag`` of all documents."""
        if self.features is None:
            self._pending.clear()
        elif sum(rows.shape[0] for rows, _, _ in self._pending) * lag >= self.index.n_rows:
            for rows, Y, sign in self._pending:
                self.features.update(rows, Y, sign)
            self._pending.clear()
        elif self.n_labels > self.features.label_lengths.size:
            self.features.grow(self.n_labels)


def recall(candidates: sparse.csr_array, Y: sparse.csr_array) -> float:
    """The share of true labels that are among the candidates."""
    return float(candidates.multiply(Y).nnz / max(Y.nnz, 1))


def _together(parts: list[Proposals]) -> Proposals:
    """Proposals of documents one after the other."""
    candidates = _stacked([part.candidates for part in parts])
    names = parts[0].votes
    return Proposals(
        candidates, {name: np.concatenate([part.votes[name] for part in parts]) for name in names}
    )


def _stacked(parts: list[sparse.csr_array]) -> sparse.csr_array:
    return sparse.csr_array(sparse.vstack(parts, "csr"))
