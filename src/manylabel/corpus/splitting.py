"""Split documents at random, or stratified so that each label keeps its share in every fold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import ParameterError
from manylabel.validation import check_real, check_whole, csr_parts

__all__ = ["folds", "split", "stratified_folds"]


def split(
    Y: sparse.csr_array, test_size: float, random_state: Any, stratified: bool
) -> NDArray[np.bool_]:
    """A mask of the documents in the test set."""
    test_size = check_real("test_size", test_size, 0, 1)
    n_rows = Y.shape[0]
    n_test = round(test_size * n_rows)
    if not 0 < n_test < n_rows:
        raise ParameterError(
            f"`test_size` must leave documents in both sets; "
            f"{test_size:g} puts {n_test} of {n_rows} into the test set."
        )
    random = _random(random_state)
    if stratified:
        shares = np.array([1 - test_size, test_size])
        return stratified_folds(Y, shares, random) == 1
    in_test = np.zeros(n_rows, bool)
    in_test[random.permutation(n_rows)[:n_test]] = True
    return in_test


def folds(Y: sparse.csr_array, n: int, random_state: Any, stratified: bool) -> NDArray[np.int64]:
    """The fold of each document, from 0 to n - 1."""
    n = check_whole("n", n, 2)
    n_rows = Y.shape[0]
    if n > n_rows:
        raise ParameterError(f"`n` must be at most the number of documents, {n_rows}; got {n}.")
    random = _random(random_state)
    if stratified:
        return stratified_folds(Y, np.full(n, 1 / n), random)
    fold_of = np.empty(n_rows, np.int64)
    fold_of[random.permutation(n_rows)] = np.arange(n_rows) % n
    return fold_of


def stratified_folds(
    Y: sparse.csr_array, shares: NDArray[np.float64], random: np.random.RandomState
) -> NDArray[np.int64]:
    """The fold of each document by iterative stratification (Sechidis et al. 2011, algorithm 1).

    Documents and labels are shuffled first, so ties between them are broken at random. Ties between
    folds are broken by a random fold for each document.
    """
    from manylabel.kernels import corpus_stratification

    n_rows, n_labels = Y.shape
    documents, labels = random.permutation(n_rows), random.permutation(n_labels)
    shuffled = Y[documents][:, labels]
    shuffled.sort_indices()
    by_label = shuffled.T.tocsr()
    indptr, indices, _ = csr_parts(shuffled, np.int8)
    label_indptr, label_documents, _ = csr_parts(by_label, np.int8)
    folds = np.empty(n_rows, np.int64)
    folds[documents] = corpus_stratification.stratify(
        indptr,
        indices,
        label_indptr,
        label_documents,
        shares,
        random.randint(shares.size, size=n_rows),  # nosec B311  # splits are no secret
    )
    return folds


def _random(random_state: Any) -> np.random.RandomState:
    from manylabel.estimators import check_random_state

    try:
        return check_random_state(random_state)
    except ValueError:
        raise ParameterError(
            f"`random_state` must be None, a whole number or a RandomState; got {random_state!r}."
        ) from None
