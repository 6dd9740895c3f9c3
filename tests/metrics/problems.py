"""Small ranking problems with ties, stored zeros, negative scores and empty rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

SCORES = (-1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass
class Problem:
    """Sets and dictionaries for the oracles, matrices for the package."""

    n_labels: int
    truth: list[set[int]]
    scores: list[dict[int, float]]
    train: list[set[int]]

    @property
    def Y(self) -> sparse.csr_array:
        return indicator(self.truth, self.n_labels)

    @property
    def S(self) -> sparse.csr_array:
        return score_matrix(self.scores, self.n_labels)

    @property
    def Y_train(self) -> sparse.csr_array:
        return indicator(self.train, self.n_labels)

    @property
    def dense_truth(self) -> np.ndarray:
        return self.Y.toarray().astype(int)

    @property
    def dense_scores(self) -> np.ndarray:
        """Labels that are not stored get a score below every other."""
        dense = np.full((len(self.scores), self.n_labels), -9.0)
        for row, candidates in enumerate(self.scores):
            for label, score in candidates.items():
                dense[row, label] = score
        return dense

    @property
    def predicted(self) -> list[set[int]]:
        """Some label sets: the candidates with a positive score."""
        return [{label for label, s in row.items() if s > 0} for row in self.scores]


def indicator(sets: list[set[int]], n_labels: int) -> sparse.csr_array:
    rows = [row for row, labels in enumerate(sets) for _ in labels]
    columns = [label for labels in sets for label in sorted(labels)]
    ones = np.ones(len(rows), np.int8)
    return sparse.csr_array((ones, (rows, columns)), shape=(len(sets), n_labels))


def score_matrix(scores: list[dict[int, float]], n_labels: int) -> sparse.csr_array:
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in scores])]).astype(int)
    indices = np.array([label for row in scores for label in sorted(row)], dtype=int)
    data = np.array([row[label] for row in scores for label in sorted(row)], dtype=float)
    return sparse.csr_array((data, indices, indptr), shape=(len(scores), n_labels))


@st.composite
def problems(draw: st.DrawFn, every_label_scored: bool = False, min_labels: int = 1) -> Problem:
    n_labels = draw(st.integers(min_labels, 6))
    n_rows = draw(st.integers(1, 6))
    labels = st.integers(0, n_labels - 1)
    sets = st.sets(labels, max_size=n_labels)
    score = st.sampled_from(SCORES)
    if every_label_scored:
        row = st.fixed_dictionaries(dict.fromkeys(range(n_labels), score))
    else:
        row = st.dictionaries(labels, score, max_size=n_labels)
    return Problem(
        n_labels=n_labels,
        truth=draw(st.lists(sets, min_size=n_rows, max_size=n_rows)),
        scores=draw(st.lists(row, min_size=n_rows, max_size=n_rows)),
        train=draw(st.lists(sets, min_size=1, max_size=6)),
    )
