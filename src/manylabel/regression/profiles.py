"""A regression on profiles: what a first regression expects of all labels at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.parallel import run_blocks, single_threaded_blas
from manylabel.regression.landmarks import Compared, LandmarkSolution, compare
from manylabel.regression.training import (
    LEAST,
    OFFSET,
    Solved,
    documents_with,
    effects_of,
    postings_of,
    similarities,
    without_documents,
)
from manylabel.validation import check_numbers, csr_parts

__all__ = ["PROFILE_OFFSET", "Profiles", "compare_profiles", "learn_profiles", "profiles_of"]

#: The constant c of the kernel ((s + c) / (1 + c))^2 of profiles with cosine s.
PROFILE_OFFSET = 0.5
#: The kernel of profiles that have nothing in common.
_UNRELATED = (PROFILE_OFFSET / (1 + PROFILE_OFFSET)) ** 2
#: Numbers in a profile.
_MAX_SIZE = 192
#: Rows scored at a time.
_ROWS = 64


@dataclass(frozen=True)
class Profiles:
    """The profiles of some training documents, the landmarks, and the weights of all labels.

    Parameters
    ----------
    postings : csr_array of shape (n_features, n_documents), float32
        The weighted rows of the training documents, by feature.
    steps : ndarray of shape (n_documents, size), float32
        What each document adds to the profile of a text, per unit of their kernel.
    start : ndarray of shape (size,), float64
        The profile of a text that shares no word with any document.
    units : ndarray of shape (size, n_landmarks), float32
        The profiles of the landmarks, of length 1.
    duals : ndarray of shape (n_labels, n_landmarks), float32
        The weight of each landmark for each label.
    constants : ndarray of shape (n_labels,), float64
        The score of each label for a profile that is unlike all others.
    is_trained : ndarray of shape (n_labels,), bool
        Which labels occur in a training document.
    landmarks : ndarray of shape (n_landmarks,), int64, optional
        The documents that are landmarks; by default all.
    """

    postings: sparse.csr_array
    steps: NDArray[np.float32]
    start: NDArray[np.float64]
    units: NDArray[np.float32]
    duals: NDArray[np.float32]
    constants: NDArray[np.float64]
    is_trained: NDArray[np.bool_]
    #: For older model folders, which lack it.
    landmarks: NDArray[np.int64] | None = None

    def _check_stored(self) -> None:
        """Refuse arrays whose shapes disagree, and values that are not finite."""
        n_labels, n_documents, size = len(self.constants), self.postings.shape[1], len(self.start)
        marks = np.arange(n_documents) if self.landmarks is None else self.landmarks
        if (
            self.steps.shape != (n_documents, size)
            or marks.ndim != 1
            or not 0 <= marks.min(initial=0) <= marks.max(initial=0) < max(n_documents, 1)
            or self.units.shape != (size, marks.size)
            or self.duals.shape != (n_labels, marks.size)
            or self.constants.ndim != 1
            or self.is_trained.shape != (n_labels,)
        ):
            raise InputError("the profiles are damaged: their arrays do not fit each other.")
        check_numbers(
            self.postings.data, self.steps, self.start, self.units, self.duals, self.constants
        )

    def grown(self, n_labels: int) -> Profiles:
        """The same with further labels, which are not trained."""
        n_new = n_labels - len(self.constants)
        if n_new <= 0:
            return self
        return Profiles(
            self.postings,
            self.steps,
            self.start,
            self.units,
            np.pad(self.duals, ((0, n_new), (0, 0))),
            np.pad(self.constants, (0, n_new)),
            np.pad(self.is_trained, (0, n_new)),
            self.landmarks,
        )

    def without(self, rows: sparse.csr_array) -> Profiles:
        """The same without documents that have these rows; rows that no document has are ignored.

        What the other documents add stays as it is.
        """
        gone = documents_with(rows, self.postings)
        if not gone.any():
            return self
        marks = gone if self.landmarks is None else gone[self.landmarks]
        steps, units, duals = self.steps.copy(), self.units.copy(), self.duals.copy()
        steps[gone], units[:, marks], duals[:, marks] = 0, 0, 0
        return Profiles(
            without_documents(self.postings, gone),
            steps,
            self.start - LEAST * self.steps[gone].sum(axis=0, dtype=np.float64),
            units,
            duals,
            self.constants - _UNRELATED * self.duals[:, marks].sum(axis=1, dtype=np.float64),
            self.is_trained,
            self.landmarks,
        )

    def scores(
        self, rows: sparse.csr_array, candidates: sparse.csr_array, n_jobs: int | None
    ) -> NDArray[np.float64]:
        """A score of each candidate of weighted rows; 0 for labels that were not trained."""
        from manylabel.kernels import regression
        from manylabel.kernels.index import Rows

        ptr, labels, _ = csr_parts(candidates)
        out = np.empty(labels.size)

        def work(first: int, last: int) -> None:
            near = Rows(*csr_parts(similarities(rows[first:last], self.postings)))
            asked = ptr[first : last + 1]
            own = slice(asked[0], asked[-1])
            regression.profile_scores(
                0, last - first, near, OFFSET, self.steps, self.start, self.units, PROFILE_OFFSET,
                self.duals, self.constants, asked - asked[0], labels[own], out[own],
            )  # fmt: skip

        run_blocks(work, rows.shape[0], _ROWS, n_jobs)
        return np.where(self.is_trained[labels], out, 0.0)

    def shares(self, rows: sparse.csr_array, label: int) -> tuple[NDArray[np.float64], float]:
        """The share of each feature of a single row in the score of a label, and the rest.

        A profile is a sum over words, and what a cosine adds is a multiple of the cosine.
        """
        effects, documents = effects_of(rows, self.postings)
        kernel = effects * similarities(rows, self.postings).data
        profile = self.start + kernel @ self.steps[documents]
        length = float(np.linalg.norm(profile))
        if length == 0:
            return np.zeros(rows.indices.size), float(self.constants[label])
        cosines = profile @ self.units / length
        pull = self.duals[label] * (cosines + 2 * PROFILE_OFFSET) / (1 + PROFILE_OFFSET) ** 2
        direction = self.units @ pull / length
        weights = np.zeros(len(self.steps))
        weights[documents] = effects * (self.steps[documents] @ direction)
        shares: NDArray[np.float64] = rows.data * (self.postings[rows.indices] @ weights)
        return shares, float(self.constants[label] + direction @ self.start)


def profiles_of(solved: Solved) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Profiles of length 1, each by the other documents alone, and the axes behind them.

    The axes are those of the scores of all labels in which documents differ most. A document
    that is expected to have no label at all has a profile of zeros.

    Returns
    -------
    units : ndarray of shape (n_documents, size)
    axes : ndarray of shape (n_labels, size)
    """
    expected = solved.all_left_out()
    with single_threaded_blas():
        values, axes = np.linalg.eigh((expected.T @ expected).astype(np.float64))
        axes = axes[:, np.argsort(-values, kind="stable")[:_MAX_SIZE]]
        found = expected @ axes.astype(np.float32)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0), axes


def compare_profiles(
    units: NDArray[np.float32], chosen: NDArray[np.int64], Y: sparse.csr_array
) -> Compared:
    """Prepare regressions of labels on profiles of length 1, with some of them as landmarks."""
    with single_threaded_blas():
        kernel = units @ units[chosen].T
    for start in range(0, len(kernel), _ROWS):
        some = kernel[start : start + _ROWS]
        some += np.float32(PROFILE_OFFSET)
        some /= np.float32(1 + PROFILE_OFFSET)
        np.square(some, out=some)
    return compare(kernel, chosen, Y)


def learn_profiles(
    solved: Solved,
    units: NDArray[np.float32],
    axes: NDArray[np.float64],
    solution: LandmarkSolution,
    chosen: NDArray[np.int64],
) -> Profiles:
    """What is needed to score new texts, given the solutions for words and for profiles."""
    first, duals = solved.duals(), solution.duals()
    with single_threaded_blas():
        steps = np.ascontiguousarray(first.T @ axes.astype(np.float32))
    return Profiles(
        postings_of(solved.rows),
        steps,
        LEAST * steps.sum(axis=0, dtype=np.float64),
        np.ascontiguousarray(units[chosen].T),
        duals,
        solution.means + _UNRELATED * duals.sum(axis=1, dtype=np.float64),
        solution.is_trained,
        chosen,
    )
