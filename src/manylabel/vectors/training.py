"""Learn vectors of features and labels, so that a document's vector is near those of its labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.parallel import run_blocks, single_threaded_blas
from manylabel.progress import progress_bar
from manylabel.validation import csr_parts, gathered
from manylabel.vectors.vectors import Vectors

__all__ = ["Trainer", "VectorSettings"]

#: Rows, labels and features per block that a thread processes: fixed, for the same rounding at any
#: number of threads.
_ROWS, _LABELS, _FEATURES = 64, 256, 512
#: Labels are drawn with probabilities in proportion to their number of documents to this power.
_FLATTENED = 0.75
#: Squares of gradients before the first step.
_LITTLE = 1e-6
#: Standard deviation of vectors before training.
_SPREAD = 0.05


@dataclass(frozen=True)
class VectorSettings:
    """How to train.

    Parameters
    ----------
    size : int
        Length of the vectors.
    epochs : int
        Number of passes over the documents.
    batch : int
        Documents per step.
    drawn : int
        Labels drawn at random for each batch, besides those of its documents.
    rate : float
        Learning rate at the start; it falls to a tenth of that.
    """

    size: int = 128
    epochs: int = 4
    batch: int = 256
    drawn: int = 300
    rate: float = 0.1


class Trainer:
    """Trains vectors; ``train`` can be called again to continue.

    Parameters
    ----------
    rows : csr_array of shape (n_documents, n_features), float32
    Y : csr_array of shape (n_documents, n_labels)
    settings : VectorSettings
    seed : int
    n_jobs : int, optional
        Threads. The result does not depend on it.
    verbose : bool or int
    """

    def __init__(
        self,
        rows: sparse.csr_array,
        Y: sparse.csr_array,
        settings: VectorSettings,
        seed: int = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        from manylabel.kernels import network, vectors
        from manylabel.kernels.index import Rows

        self._kernels, self._group = vectors, network.by_column
        self._settings, self._n_jobs, self._verbose = settings, n_jobs, verbose
        self._rows = Rows(*csr_parts(rows, np.float32))
        ptr, labels, _ = csr_parts(Y)
        self._pairs = Rows(ptr, labels, np.empty(0, np.float32))
        self._random = np.random.default_rng(seed)
        (n_rows, n_features), n_labels = rows.shape, Y.shape[1]
        self._features = self._normal(n_features)
        self._labels = self._normal(n_labels)
        self._constants = np.zeros(n_labels, np.float32)
        self._squares = [np.full(n, _LITTLE, np.float32) for n in (n_features, n_labels, n_labels)]
        self._free = np.full(n_features, -1, np.int64)
        self._place_of = np.full(n_labels, -1, np.int64)
        counts = np.bincount(labels, minlength=n_labels)
        self._is_trained = counts > 0
        weights = counts**_FLATTENED
        share = weights / max(weights.sum(), 1.0)
        self._sums = np.cumsum(share)
        # How probable it is that a batch includes a label.
        absent = np.log1p(-np.minimum(share, 0.5)) * settings.drawn
        absent += np.log1p(-np.minimum(counts / max(n_rows, 1), 0.5)) * settings.batch
        self._shift = -np.log(np.maximum(-np.expm1(absent), 1e-9)).astype(np.float32)

    def _normal(self, n: int) -> NDArray[np.float32]:
        shape = n, self._settings.size
        return self._random.standard_normal(shape, np.float32) * np.float32(_SPREAD)

    @property
    def vectors(self) -> Vectors:
        """The current vectors; they change if training continues."""
        return Vectors(self._features, self._labels, self._constants, self._is_trained)

    def train(
        self,
        documents: NDArray[np.int64],
        epochs: int | None = None,
        rates: tuple[float, float] = (1.0, 0.1),
    ) -> Vectors:
        """Train on documents; the learning rate moves from the first factor to the last."""
        settings = self._settings
        epochs = settings.epochs if epochs is None else epochs
        n_batches = -(-documents.size // settings.batch)
        done, total = 0, n_batches * epochs
        with (
            single_threaded_blas(),
            np.errstate(under="ignore"),
            progress_bar("vectors", self._verbose) as callback,
        ):
            for _ in range(epochs):
                order = self._random.permutation(documents)
                for start in range(0, order.size, settings.batch):
                    factor = rates[0] + (rates[1] - rates[0]) * done / total
                    self._step(order[start : start + settings.batch], settings.rate * factor)
                    done += 1
                    if callback is not None:
                        callback(done, total)
        return self.vectors

    def _step(self, members: NDArray[np.int64], rate: float) -> None:
        """Take one step with a batch of documents."""
        kernels, n_jobs = self._kernels, self._n_jobs
        n_members, size = members.size, self._settings.size
        drawn = np.searchsorted(self._sums, self._random.random(self._settings.drawn))
        ptr = self._pairs.ptr
        n_own = int((ptr[members + 1] - ptr[members]).sum())
        chosen = np.empty(min(n_own + drawn.size, self._place_of.size), np.int64)
        n_chosen = kernels.choose_labels(
            members, self._pairs, np.minimum(drawn, self._place_of.size - 1), self._place_of, chosen
        )
        chosen = chosen[:n_chosen]
        labels, shift = self._labels[chosen], (self._constants + self._shift)[chosen]
        hidden = np.empty((n_members, size), np.float32)
        errors = np.empty((n_members, n_chosen), np.float32)
        slopes = np.empty_like(hidden)

        def read(first: int, last: int) -> None:
            kernels.sum_vectors(first, last, members, self._rows, self._features, hidden)
            np.matmul(hidden[first:last], labels.T, out=errors[first:last])
            kernels.errors_of_scores(
                first, members, self._pairs, self._place_of, shift, errors[first:last]
            )
            np.matmul(errors[first:last], labels, out=slopes[first:last])

        run_blocks(read, n_members, _ROWS, n_jobs)
        self._place_of[chosen] = -1
        self._learn_labels(chosen, errors, hidden, rate)
        self._learn_features(members, slopes, rate)

    def _learn_labels(
        self,
        chosen: NDArray[np.int64],
        errors: NDArray[np.float32],
        hidden: NDArray[np.float32],
        rate: float,
    ) -> None:
        _, squares, others = self._squares
        sums = np.empty((chosen.size, hidden.shape[1]), np.float32)

        def work(first: int, last: int) -> None:
            np.matmul(errors[:, first:last].T, hidden, out=sums[first:last])
            self._kernels.learn_labels(
                first, last, chosen, errors, sums, self._labels, squares, self._constants, others,
                rate,
            )  # fmt: skip

        run_blocks(work, chosen.size, _LABELS, self._n_jobs)

    def _learn_features(
        self, members: NDArray[np.int64], slopes: NDArray[np.float32], rate: float
    ) -> None:
        rows, free = self._rows, self._free
        values = gathered(rows.values, rows.ptr, members)
        n = values.size
        touched = np.empty(min(n, free.size), np.int64)
        begins = np.empty(touched.size + 1, np.int64)
        who, which = np.empty(n, np.int32), np.empty(n, np.int64)
        n_touched = self._group(members, rows.ptr, rows.features, free, touched, begins, who, which)

        def work(first: int, last: int) -> None:
            self._kernels.learn_features(
                first, last, touched, begins, who, which, values, slopes, self._features,
                self._squares[0], rate,
            )  # fmt: skip

        run_blocks(work, int(n_touched), _FEATURES, self._n_jobs)
