"""Train a network with one hidden layer on the candidate labels of each document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.parallel import run_blocks
from manylabel.validation import check_numbers, csr_parts, gathered, pointers

__all__ = ["Network", "NetworkSettings", "Trainer"]

#: Rows per block, and features or labels per block, that a thread processes.
_ROWS, _VECTORS = 32, 512


@dataclass(frozen=True)
class NetworkSettings:
    """How to train.

    Parameters
    ----------
    size : int
        Number of hidden units.
    epochs : int
        Number of passes over the documents.
    batch : int
        Documents per step.
    rate : float
        Learning rate at the start; it falls to a tenth of that.
    left_out : float
        Dropout: the share of hidden units that are left out for a document.
    spread : float
        Standard deviation of the features' vectors before training. Small vectors depend most on
        the labels.
    """

    size: int = 256
    epochs: int = 8
    batch: int = 128
    rate: float = 1e-2
    left_out: float = 0.5
    spread: float = 0.03


@dataclass(frozen=True)
class Network:
    """A trained network.

    Parameters
    ----------
    features : ndarray of shape (n_features, size), float32
        A vector of each feature. A document's hidden units are their sum, with negative values set
        to 0.
    labels : ndarray of shape (n_labels, size + 1), float32
        A vector of each label, and its constant in the last column.
    is_trained : ndarray of shape (n_labels,), bool
        Which labels occur in a training document.
    """

    features: NDArray[np.float32]
    labels: NDArray[np.float32]
    is_trained: NDArray[np.bool_]

    def _check_stored(self) -> None:
        """Refuse arrays whose shapes disagree, and values that are not finite."""
        if (
            self.features.ndim != 2
            or self.labels.ndim != 2
            or self.labels.shape[1] != self.features.shape[1] + 1
            or self.is_trained.shape != (len(self.labels),)
        ):
            raise InputError("the network is damaged: its arrays do not fit each other.")
        check_numbers(self.features, self.labels)

    def copy(self) -> Network:
        """A copy of the vectors."""
        return Network(self.features.copy(), self.labels.copy(), self.is_trained)

    def grown(self, n_labels: int) -> Network:
        """A network with further labels, which are not trained."""
        n_new = n_labels - len(self.labels)
        if n_new <= 0:
            return self
        labels = np.pad(self.labels, ((0, n_new), (0, 0)))
        return Network(self.features, labels, np.pad(self.is_trained, (0, n_new)))

    def scores(
        self, rows: sparse.csr_array, candidates: sparse.csr_array, n_jobs: int | None
    ) -> NDArray[np.float64]:
        """A score of each candidate of weighted rows."""
        from manylabel.kernels import network
        from manylabel.kernels.index import Rows

        ptr, labels, _ = csr_parts(candidates)
        given = Rows(*csr_parts(rows, np.float32))
        out = np.empty(labels.size)

        def work(start: int, stop: int) -> None:
            network.candidate_scores(
                start, stop, given, self.features, self.labels, ptr, labels, out
            )

        run_blocks(work, rows.shape[0], _ROWS, n_jobs)
        return out

    def shares(
        self, rows: sparse.csr_array, row: int
    ) -> Callable[[int], tuple[NDArray[np.int32], NDArray[np.float64], float]]:
        """A function from a label to the shares of a row's features, and the constant."""
        span = slice(rows.indptr[row], rows.indptr[row + 1])
        features, values = rows.indices[span], rows.data[span].astype(np.float64)
        vectors = self.features[features].astype(np.float64) * values[:, None]
        above = vectors.sum(axis=0) > 0

        def of(label: int) -> tuple[NDArray[np.int32], NDArray[np.float64], float]:
            own = self.labels[label].astype(np.float64)
            return features, vectors[:, above] @ own[:-1][above], float(own[-1])

        return of


class Trainer:
    """Trains a network; ``train`` can be called again to continue.

    Parameters
    ----------
    rows : csr_array of shape (n_documents, n_features), float32
    pairs : csr_array of shape (n_documents, n_labels)
        The labels that each document is trained on.
    positive : ndarray
        1 for pairs that are true, 0 for others.
    settings : NetworkSettings
    seed : int
    n_jobs : int, optional
        Threads. The result does not depend on it.
    hidden : ndarray of bool, optional
        Documents whose labels must not influence the initial constants.
    """

    def __init__(
        self,
        rows: sparse.csr_array,
        pairs: sparse.csr_array,
        positive: NDArray[np.float32],
        settings: NetworkSettings,
        seed: int = 0,
        n_jobs: int | None = None,
        hidden: NDArray[np.bool_] | None = None,
    ) -> None:
        from manylabel.kernels import network
        from manylabel.kernels.index import Rows

        self._kernels, self._settings, self._n_jobs = network, settings, n_jobs
        self._rows = Rows(*csr_parts(rows, np.float32))
        ptr, labels, _ = csr_parts(pairs)
        self._pairs = Rows(ptr, labels, np.empty(0, np.float32))
        self._positive = positive
        self._random = np.random.default_rng(seed)
        n_features, n_labels, size = rows.shape[1], pairs.shape[1], settings.size
        features = self._normal((n_features, size), settings.spread)
        vectors = self._normal((n_labels, size + 1), 0.5 / np.sqrt(size))
        n_pairs = np.bincount(labels, minlength=n_labels)
        n_true = np.bincount(labels, positive, minlength=n_labels)
        self._is_trained = n_true > 0
        if hidden is not None:
            n_true -= np.bincount(labels, positive * np.repeat(hidden, np.diff(ptr)), n_labels)
        vectors[:, -1] = np.log((n_true + 0.5) / (n_pairs - n_true + 1.0))
        self._layers = [_layer(network.Layer, features), _layer(network.Layer, vectors)]
        self._free = [np.full(n, -1, np.int64) for n in (n_features, n_labels)]

    def _normal(self, shape: tuple[int, int], spread: float) -> NDArray[np.float32]:
        return self._random.standard_normal(shape, np.float32) * np.float32(spread)

    @property
    def network(self) -> Network:
        """The current network; its vectors change if training continues."""
        return Network(self._layers[0].vectors, self._layers[1].vectors, self._is_trained)

    def train(
        self,
        documents: NDArray[np.int64],
        epochs: int | None = None,
        rates: tuple[float, float] = (1.0, 0.1),
    ) -> Network:
        """Train on documents; the learning rate moves from the first factor to the last."""
        settings = self._settings
        epochs = settings.epochs if epochs is None else epochs
        n_batches = -(-documents.size // settings.batch)
        done, total = 0, max(n_batches * epochs, 1)
        for _ in range(epochs):
            order = self._random.permutation(documents)
            for start in range(0, order.size, settings.batch):
                share = rates[0] + (rates[1] - rates[0]) * done / total
                self._step(order[start : start + settings.batch], settings.rate * share)
                done += 1
        return self.network

    def _step(self, members: NDArray[np.int64], rate: float) -> None:
        """Take one step with a batch of documents."""
        kernels, size = self._kernels, self._settings.size
        features, labels = self._layers
        left_out = np.float32(self._settings.left_out)
        kept = self._random.random((members.size, size), np.float32) >= left_out
        batch = kernels.Batch(
            members,
            kept.astype(np.float32) / (1 - left_out),
            np.ones((members.size, size + 1), np.float32),
            np.empty((members.size, size), np.float32),
        )
        pair_ptr = self._pairs.ptr
        starts = pointers(pair_ptr[members + 1] - pair_ptr[members])
        errors = np.empty(int(starts[-1]), np.float32)

        def read(first: int, last: int) -> None:
            kernels.read_batch(
                first, last, batch, self._rows, self._pairs, self._positive, starts,
                features.vectors, labels.vectors, errors,
            )  # fmt: skip

        run_blocks(read, members.size, _ROWS, self._n_jobs)
        values = gathered(self._rows.values, self._rows.ptr, members)
        self._learn(members, self._rows, self._free[0], values, batch.slopes, features, rate)
        self._learn(members, self._pairs, self._free[1], errors, batch.hidden, labels, rate)

    def _learn(
        self,
        members: NDArray[np.int64],
        rows: Any,
        free: NDArray[np.int64],
        factors: NDArray[np.float32],
        inputs: NDArray[np.float32],
        layer: Any,
        rate: float,
    ) -> None:
        """Update the vectors of the columns that occur in a batch."""
        kernels, n = self._kernels, factors.size
        capacity = min(n, free.size)
        touched, begins = np.empty(capacity, np.int64), np.empty(capacity + 1, np.int64)
        who, which = np.empty(n, np.int32), np.empty(n, np.int64)
        n_touched = kernels.by_column(
            members, rows.ptr, rows.features, free, touched, begins, who, which
        )

        def work(first: int, last: int) -> None:
            kernels.learn(
                first, last, touched, begins, who, which, factors, inputs, layer, np.float32(rate)
            )

        run_blocks(work, int(n_touched), _VECTORS, self._n_jobs)


def _layer(cls: Any, vectors: NDArray[np.float32]) -> Any:
    """A layer with its vectors, before the first step."""
    return cls(
        vectors, np.zeros_like(vectors), np.zeros_like(vectors), np.zeros(len(vectors), np.int32)
    )
