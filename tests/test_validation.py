"""Every estimator refuses invalid matrices with a one-sentence error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.models import MODELS, make_model
from manylabel.neighbors import NeighborIndex
from manylabel.predictions import canonical_scores
from manylabel.text import Weighting
from manylabel.validation import check_labels, check_matrix, check_structure

RNG = np.random.default_rng(0)
X = sparse.csr_array(RNG.poisson(0.8, (40, 12)).astype(float))
Y = sparse.csr_array((RNG.random((40, 5)) < 0.4).astype(np.int8))


def broken(kind: type, shape: tuple[int, int], **arrays) -> object:
    """A matrix whose arrays are set behind SciPy's back."""
    matrix = kind(shape)
    for name, values in arrays.items():
        setattr(matrix, name, np.asarray(values))
    return matrix


def csr(indices, indptr, kind=sparse.csr_array, shape=(2, 3)) -> object:
    values = np.ones(len(indices))
    return broken(kind, shape, data=values, indices=np.array(indices), indptr=np.array(indptr))


CASES = {
    "column out of range": (
        csr([0, 3], [0, 1, 2]),
        "X is damaged: column 3 is stored, but there are 3 columns.",
    ),
    "far out of range": (
        csr([0, 2**30], [0, 1, 2]),
        "X is damaged: column 1073741824 is stored, but there are 3 columns.",
    ),
    "negative column": (
        csr([0, -1], [0, 1, 2]),
        "X is damaged: column -1 is stored, but there are 3 columns.",
    ),
    "row out of range": (
        csr([0, 2], [0, 1, 2, 2], sparse.csc_array),
        "X is damaged: row 2 is stored, but there are 2 rows.",
    ),
    "decreasing pointers": (
        csr([0, 1], [0, 2, 1]),
        "X is damaged: its row pointers (indptr) decrease or do not start at 0.",
    ),
    "negative pointers": (
        csr([0, 1], [-1, 1, 2]),
        "X is damaged: its row pointers (indptr) decrease or do not start at 0.",
    ),
    "column pointers": (
        csr([0, 1], [0, 2, 1, 2], sparse.csc_array),
        "X is damaged: its column pointers (indptr) decrease or do not start at 0.",
    ),
    "pointers beyond the end": (
        csr([0, 1], [0, 1, 9]),
        "X is damaged: its row pointers (indptr) end at 9, but it stores 2 values.",
    ),
    "too few pointers": (
        csr([0, 1], [0, 2]),
        "X is damaged: it has 2 row pointers (indptr), but 2 rows need 3.",
    ),
    "fractions as columns": (
        csr([0.0, 1.0], [0, 1, 2]),
        "X is damaged: its indices are of type float64, not whole numbers.",
    ),
    "coordinates": (
        broken(sparse.coo_array, (2, 3), data=[1.0], coords=(np.array([0]), np.array([7]))),
        "X is damaged: column 7 is stored, but there are 3 columns.",
    ),
    "values of two dimensions": (
        broken(sparse.csr_array, (2, 3), data=np.ones((2, 1)), indices=[0, 1], indptr=[0, 1, 2]),
        "X is damaged: its values have 2 dimensions.",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_no_matrix(name):
    matrix, message = CASES[name]
    if name == "coordinates":
        matrix.coords = (np.array([0]), np.array([7]))
    for check in (check_structure, check_matrix, check_labels):
        with pytest.raises(InputError) as error:
            check(matrix, "X")
        assert str(error.value) == message
    with pytest.raises(InputError, match="is damaged"):
        canonical_scores(matrix)


def damaged(matrix, kind):
    """The same matrix with one index out of range."""
    found = kind(matrix).copy()
    found.indices[found.indices.size // 2] = 10**6
    return found


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
@pytest.mark.parametrize("model", [*MODELS, "index", "weighting"])
def test_no_estimator_is_ended_by_it(model, kind):
    if model == "index":
        estimator = NeighborIndex(X)
        calls = [
            lambda: NeighborIndex(damaged(X, kind)),
            lambda: estimator.search(damaged(X, kind), 3),
        ]
    elif model == "weighting":
        fitted = Weighting().fit(X)
        calls = [
            lambda: Weighting().fit(damaged(X, kind)),
            lambda: fitted.transform(damaged(X, kind)),
        ]
    else:
        fitted = make_model(model, {}).fit(X, Y)
        calls = [
            lambda: make_model(model, {}).fit(damaged(X, kind), Y),
            lambda: make_model(model, {}).fit(X, damaged(Y, kind)),
            lambda: fitted.predict(damaged(X, kind)),
            lambda: fitted.decision_function(damaged(X, kind)),
        ]
        if fitted.can_learn:
            calls.append(lambda: fitted.partial_fit(damaged(X, kind), Y))
        if fitted.can_explain:
            calls.append(lambda: fitted.explain(damaged(X, kind)))
    for call in calls:
        with pytest.raises(InputError, match="is damaged"):
            call()


def test_values_that_no_pointer_reaches_do_not_count():
    matrix = csr([0, 1], [0, 1, 2])
    matrix.data = np.array([1.0, 2.0, np.nan, -1.0])
    matrix.indices = np.array([0, 1, 99, -4])
    checked = check_matrix(matrix)
    assert checked.data.tolist() == [1.0, 2.0]
    assert matrix.data.size == 4


def test_a_stale_flag_is_not_believed():
    matrix = csr([2, 0, 0], [0, 3, 3])
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    assert check_matrix(matrix).indices.tolist() == [0, 2]
    assert matrix.indices.tolist() == [2, 0, 0]
