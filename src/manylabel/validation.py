"""Check user input: turn it into a canonical CSR matrix, or raise a clear error.

Canonical means ``scipy.sparse.csr_array``, column indices sorted in each row, no duplicates, no
stored zeros, finite values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from manylabel.exceptions import InputError, ParameterError

__all__ = [
    "check_dense",
    "check_incomplete",
    "check_labels",
    "check_matrix",
    "check_numbers",
    "check_positive",
    "check_present",
    "check_real",
    "check_removable",
    "check_rows",
    "check_same_rows",
    "check_structure",
    "check_texts",
    "check_unless_auto",
    "check_whole",
    "csr_parts",
    "distinct",
    "gathered",
    "join_incomplete",
    "pointers",
    "trusted_csr",
    "widened",
]

_MAX_COLUMNS = np.iinfo(np.int32).max


def check_matrix(
    X: Any,
    name: str = "X",
    *,
    n_columns: int | None = None,
    non_negative: bool = True,
    dtype: DTypeLike | None = np.float64,
) -> sparse.csr_array:
    """Turn a sparse or dense matrix into a canonical CSR array of ``dtype``.

    The caller's matrix is not changed. The result shares its memory if it is already canonical.

    Parameters
    ----------
    X : sparse matrix, sparse array or array-like of shape (n_rows, n_columns)
    name : str
        Its name in error messages.
    n_columns : int, optional
        Refuse any other number of columns.
    non_negative : bool
        Refuse negative values.
    dtype : dtype, optional
        Of the values; None keeps the dtype.

    Examples
    --------
    >>> check_matrix([[0, 2.0], [1, 0]]).nnz
    2
    >>> check_matrix([[0, -2.0]])
    Traceback (most recent call last):
    manylabel.exceptions.InputError: X must not be negative; row 0, column 1 is -2.0. \
Negative values in data have no meaning as counts or weights.
    """
    if sparse.issparse(X):
        check_structure(X, name)
        if X.dtype.kind not in "biuf":
            raise InputError(f"{name} must contain numbers; got values of type {X.dtype}.")
        matrix = sparse.csr_array(X)
        if dtype is not None and matrix.dtype != dtype:
            matrix = matrix.astype(dtype)
    else:
        try:
            dense = np.asarray(X)
            if dense.dtype.kind == "c":
                raise ValueError("complex data is not supported")
            if dense.dtype.kind not in "biuf":
                dense = dense.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{name} must be a matrix of numbers, sparse or dense ({error})."
            ) from None
        if dense.ndim != 2:
            raise InputError(
                f"{name} must have 2 dimensions (rows, columns); got {dense.ndim}. "
                "Reshape your data: one row per sample."
            )
        matrix = sparse.csr_array(dense, dtype=dtype)
    if matrix.data.size > matrix.nnz:
        # There is unused memory after the last row, with arbitrary content.
        matrix = matrix.copy()
        matrix.prune()
    if not (matrix.has_canonical_format and _without_zeros(matrix.data)):
        matrix = matrix.copy() if matrix is X or _shares(matrix, X) else matrix
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    if n_columns is not None and matrix.shape[1] != n_columns:
        raise InputError(f"{name} has {matrix.shape[1]} columns, but {n_columns} are expected.")
    _check_values(matrix, name, non_negative)
    return matrix


def check_structure(X: Any, name: str = "X") -> None:
    """Refuse a sparse matrix whose index arrays are invalid.

    Compiled code, SciPy's and ours, trusts indices and pointers, and reads or writes wherever they
    point. This check reads each once: 0.07 seconds for 50 million stored values, where
    `check_matrix` takes 0.54. Anything that is not sparse passes.

    Examples
    --------
    >>> matrix = sparse.csr_array([[1, 0], [0, 1]])
    >>> matrix.indices[1] = 5
    >>> check_structure(matrix)
    Traceback (most recent call last):
    manylabel.exceptions.InputError: X is damaged: column 5 is stored, but there are 2 columns.
    """
    if not sparse.issparse(X):
        return
    if len(X.shape) != 2:
        raise InputError(
            f"{name} must have 2 dimensions (rows, columns); got {len(X.shape)}. "
            "Reshape your data: one row per sample."
        )
    if X.format in ("csr", "csc"):
        major, minor = ("row", "column") if X.format == "csr" else ("column", "row")
        n_major, n_minor = X.shape if X.format == "csr" else X.shape[::-1]
        _check_pointers(X, name, major, n_major)
        _check_range(X.indices[: X.indptr[-1]], name, minor, n_minor)
    elif X.format == "coo":
        for positions, what, size in zip(X.coords, ("row", "column"), X.shape, strict=True):
            if positions.size != X.data.size:
                raise InputError(f"{name} is damaged: not every value has a {what}.")
            _check_range(positions, name, what, size)
    elif X.format in ("bsr", "dia"):
        try:
            X.check_format(full_check=True) if X.format == "bsr" else X.tocoo()
        except (ValueError, IndexError) as error:
            raise InputError(f"{name} is damaged: {error}.") from None


def check_rows(
    pointers: NDArray[Any], columns: NDArray[Any], n_columns: int, *values: NDArray[Any]
) -> None:
    """Refuse arrays of sparse rows that a kernel cannot read safely.

    Parameters
    ----------
    pointers : ndarray
        Where each row begins, and where the last one ends.
    columns : ndarray of int
    n_columns : int
    *values : ndarray
        Further arrays with an entry for each stored column.

    Examples
    --------
    >>> check_rows(np.array([0, 2]), np.array([1, 5]), 4)
    Traceback (most recent call last):
    manylabel.exceptions.InputError: rows are damaged: column 5 is stored, but there are 4 columns.
    """
    arrays = (pointers, columns, *values)
    if any(array.ndim != 1 for array in arrays) or pointers.size == 0:
        raise InputError("rows are damaged: an array has the wrong shape.")
    if pointers.dtype.kind not in "iu" or columns.dtype.kind not in "iu":
        raise InputError("rows are damaged: pointers and columns must be whole numbers.")
    if pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise InputError("rows are damaged: their pointers decrease or do not start at 0.")
    if any(array.size != pointers[-1] for array in arrays[1:]):
        raise InputError("rows are damaged: an array has the wrong length.")
    if columns.size and not 0 <= columns.min() <= columns.max() < n_columns:
        wrong = columns.max() if columns.max() >= n_columns else columns.min()
        raise InputError(
            f"rows are damaged: column {wrong} is stored, but there are {n_columns} columns."
        )


def check_numbers(*arrays: NDArray[Any]) -> None:
    """Refuse arrays that contain NaN, which kernels cannot compare.

    Examples
    --------
    >>> check_numbers(np.array([1.0, np.nan]))
    Traceback (most recent call last):
    manylabel.exceptions.InputError: numbers are damaged: one of them is NaN.
    """
    for array in arrays:
        # The sum is NaN if a number is, or if there are infinities of both signs.
        if array.dtype.kind == "f" and np.isnan(array.sum()) and np.isnan(array).any():
            raise InputError("numbers are damaged: one of them is NaN.")


def _check_pointers(X: Any, name: str, what: str, n_rows: int) -> None:
    """Refuse pointers that do not divide the stored values into rows."""
    for arrays, kind in ((X.data, "values"), (X.indices, "indices"), (X.indptr, "pointers")):
        if arrays.ndim != 1:
            raise InputError(f"{name} is damaged: its {kind} have {arrays.ndim} dimensions.")
    for array, kind in ((X.indices, "indices"), (X.indptr, "pointers")):
        if array.dtype.kind not in "iu":
            raise InputError(
                f"{name} is damaged: its {kind} are of type {array.dtype}, not whole numbers."
            )
    pointers, stored = X.indptr, min(X.data.size, X.indices.size)
    if pointers.size != n_rows + 1:
        raise InputError(
            f"{name} is damaged: it has {pointers.size} {what} pointers (indptr), but "
            f"{n_rows} {what}s need {n_rows + 1}."
        )
    if pointers[0] != 0 or (pointers[1:] < pointers[:-1]).any():
        raise InputError(
            f"{name} is damaged: its {what} pointers (indptr) decrease or do not start at 0."
        )
    if pointers[-1] > stored:
        raise InputError(
            f"{name} is damaged: its {what} pointers (indptr) end at {pointers[-1]}, but it "
            f"stores {stored} values."
        )


def _check_range(positions: NDArray[Any], name: str, what: str, size: int) -> None:
    """Refuse rows or columns that do not exist."""
    if positions.size == 0:
        return
    lowest, highest = positions.min(), positions.max()
    if lowest < 0 or highest >= size:
        outside = lowest if lowest < 0 else highest
        raise InputError(
            f"{name} is damaged: {what} {outside} is stored, but there are {size} {what}s."
        )


def check_dense(X: Any, name: str = "X", *, n_columns: int | None = None) -> NDArray[Any]:
    """Check a dense matrix of finite numbers, of any sign.

    Examples
    --------
    >>> check_dense([[0.5, -1], [2, 0]]).shape
    (2, 2)
    """
    if sparse.issparse(X):
        raise InputError(f"{name} must be a dense matrix; got a sparse one of shape {X.shape}.")
    try:
        dense = np.asarray(X)
        if dense.dtype.kind not in "biuf":
            if dense.dtype.kind == "c":
                raise ValueError("complex data is not supported")
            dense = dense.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a dense matrix of numbers ({error}).") from None
    if dense.ndim != 2 or dense.shape[1] == 0:
        raise InputError(
            f"{name} must have two dimensions and a column or more; got shape {dense.shape}."
        )
    if n_columns is not None and dense.shape[1] != n_columns:
        raise InputError(f"{name} has {dense.shape[1]} columns, but {n_columns} are expected.")
    # A minimum or maximum is NaN if any value is.
    if dense.size and not (np.isfinite(dense.min()) and np.isfinite(dense.max())):
        row, column = np.argwhere(~np.isfinite(dense))[0].tolist()
        raise InputError(
            f"{name} must be finite, without NaN or inf; "
            f"row {row}, column {column} is {dense[row, column]}."
        )
    return dense


def check_labels(Y: Any, name: str = "Y", *, n_columns: int | None = None) -> sparse.csr_array:
    """Turn an indicator matrix into a canonical CSR array of ones (int8).

    Examples
    --------
    >>> check_labels([[0, 1], [1, 1]]).indices.tolist()
    [1, 0, 1]
    """
    labels = check_matrix(Y, name, n_columns=n_columns)
    if labels.nnz and not (labels.data == 1).all():
        row, column = _position(labels, int(np.argmax(labels.data != 1)))
        value = labels.data[np.argmax(labels.data != 1)]
        raise InputError(
            f"{name} must contain only 0 and 1; row {row}, column {column} is {value}."
        )
    return labels.astype(np.int8)


def check_same_rows(X: sparse.csr_array, Y: sparse.csr_array) -> None:
    """Refuse matrices with different numbers of rows."""
    if X.shape[0] != Y.shape[0]:
        raise InputError(
            f"X and Y must have the same number of rows; got {X.shape[0]} and {Y.shape[0]}."
        )


def check_incomplete(incomplete: Any, n_rows: int) -> NDArray[np.bool_] | None:
    """Check flags of incomplete documents, one for all or one for each; None if all are complete.

    Examples
    --------
    >>> check_incomplete([False, True], 2)
    array([False,  True])
    >>> check_incomplete(False, 2) is None
    True
    """
    if incomplete is None:
        return None
    flags = np.asarray(incomplete)
    if flags.dtype != np.bool_ or flags.shape not in ((), (n_rows,)):
        raise InputError(
            "`incomplete` must be True or False, or an array of them for the "
            f"{n_rows:,} documents; got {incomplete!r}."
        )
    flags = np.broadcast_to(flags, (n_rows,)).copy()
    return flags if flags.any() else None


def join_incomplete(
    known: NDArray[np.bool_] | None, n_known: int, more: NDArray[np.bool_] | None, n_more: int
) -> NDArray[np.bool_] | None:
    """Concatenate the flags of known and further documents; None if no document is incomplete.

    Examples
    --------
    >>> join_incomplete(None, 2, np.array([True]), 1)
    array([False, False,  True])
    """
    if known is None and more is None:
        return None
    known = np.zeros(n_known, np.bool_) if known is None else known
    more = np.zeros(n_more, np.bool_) if more is None else more
    return np.concatenate([known, more])


def check_sample_weight(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Check sample weights: a number of at least 0 for each sample, not all 0.

    Examples
    --------
    >>> check_sample_weight([1, 0.5], 2)
    array([1. , 0.5])
    """
    try:
        weights = np.array(sample_weight, np.float64)
    except (TypeError, ValueError):
        weights = np.full(n_rows, np.nan)
    if weights.shape != (n_rows,):
        raise InputError(
            f"`sample_weight` must have a number for each of the {n_rows:,} samples; got an array "
            f"of shape {weights.shape}."
        )
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"`sample_weight` must contain numbers of at least 0; got "
            f"{list(sample_weight)[row]!r} for sample {row}."
        )
    if not weights.any():
        raise InputError("`sample_weight` is zero for every sample; give at least one a weight.")
    return weights


def check_texts(texts: Iterable[Any], allow_empty: bool = False) -> list[str]:
    """Check texts: a list of strings, by default without empty ones."""
    listed = list(texts)
    for row, text in enumerate(listed):
        if text is None or (isinstance(text, float) and np.isnan(text)):
            instead = "leave it out, or give ''" if allow_empty else "leave it out"
            raise InputError(f"text {row} is missing ({text}); {instead}.")
        if not isinstance(text, str):
            decoded = "; decode it first" if isinstance(text, bytes) else ""
            raise InputError(
                f"texts must be strings; text {row} is {type(text).__name__}{decoded}."
            )
        if not allow_empty and not text.strip():
            raise InputError(f"text {row} is empty; give it some words, or leave it out.")
    return listed


def check_whole(name: str, value: Any, minimum: int) -> int:
    """Check a whole-number parameter.

    Examples
    --------
    >>> check_whole("k", 0, 1)
    Traceback (most recent call last):
    manylabel.exceptions.ParameterError: `k` must be a whole number of at least 1; got 0.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise ParameterError(
            f"`{name}` must be a whole number of at least {minimum}; got {value!r}."
        )
    if value < minimum:
        raise ParameterError(f"`{name}` must be a whole number of at least {minimum}; got {value}.")
    return int(value)


def check_real(name: str, value: Any, low: float, high: float = np.inf) -> float:
    """Check a real parameter in the closed interval from ``low`` to ``high``."""
    expected = f"at least {low:g}" if high == np.inf else f"between {low:g} and {high:g}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        raise ParameterError(f"`{name}` must be a number {expected}; got {value!r}.")
    if not low <= value <= high or not np.isfinite(value):
        raise ParameterError(f"`{name}` must be a number {expected}; got {value:g}.")
    return float(value)


def check_positive(name: str, value: Any) -> float:
    """Check a real parameter above 0."""
    if check_real(name, value, 0) == 0:
        raise ParameterError(f"`{name}` must be a number above 0; got 0.")
    return float(value)


def check_unless_auto(check: Callable[..., Any], name: str, value: Any, *bounds: float) -> None:
    """Check a parameter, by ``check`` with some bounds, unless it is "auto".

    Examples
    --------
    >>> check_unless_auto(check_whole, "k", "many", 1)
    Traceback (most recent call last):
    manylabel.exceptions.ParameterError: `k` must be a number or 'auto'; got 'many'.
    """
    if not isinstance(value, str):
        check(name, value, *bounds)
    elif value != "auto":
        raise ParameterError(f"`{name}` must be a number or 'auto'; got {value!r}.")


def check_removable(numbers: Any, alive: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Check and sort the numbers of documents to remove; ``alive`` masks those not removed."""
    gone = check_present(np.unique(np.asarray(numbers, np.int64)), alive)
    if gone.size and gone.size == alive.sum():
        raise InputError("cannot remove all training documents; keep at least one.")
    return gone


def check_present(numbers: Any, alive: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Check the numbers of documents, each once; ``alive`` masks those not removed."""
    given = np.asarray(numbers, np.int64)
    if given.size == 0:
        return given
    if given.min() < 0 or given.max() >= alive.size or not alive[given].all():
        raise InputError("`numbers` must be training documents that have not been removed.")
    if np.unique(given).size < given.size:
        raise InputError("`numbers` must contain each document once.")
    return given


def csr_parts(
    matrix: sparse.csr_array, dtype: DTypeLike = np.float32
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """The arrays of a CSR matrix in the types that kernels expect: int64, int32, ``dtype``.

    Row pointers have 64 bits, so the number of non-zeros is not limited to 2^31; each dimension
    is.
    """
    if matrix.shape[1] > _MAX_COLUMNS:
        raise InputError(f"at most 2^31 - 1 columns are supported; got {matrix.shape[1]}.")
    return (
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(dtype, copy=False),
    )


def trusted_csr(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]
) -> sparse.csr_array:
    """Make a matrix from arrays that are known to be canonical, without checks.

    SciPy's constructor checks shapes, types and ranges. For a single document that takes as long as
    a kernel, and a document goes through a dozen matrices.

    Examples
    --------
    >>> trusted_csr(np.ones(1), np.array([2]), np.array([0, 1]), (1, 3)).toarray().tolist()
    [[0.0, 0.0, 1.0]]
    """
    if indices.dtype != indptr.dtype or not _is_plain_object():
        return sparse.csr_array((data, indices, indptr), shape=shape)
    matrix = sparse.csr_array.__new__(sparse.csr_array)
    vars(matrix).update(_CANONICAL, _shape=shape, data=data, indices=indices, indptr=indptr)
    return matrix


def widened(matrix: sparse.csr_array, n_columns: int) -> sparse.csr_array:
    """A matrix with empty columns appended; it shares its arrays with the given one.

    Examples
    --------
    >>> widened(sparse.csr_array(np.eye(2)), 3).toarray().tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    return trusted_csr(matrix.data, matrix.indices, matrix.indptr, (matrix.shape[0], n_columns))


#: What a canonical matrix has besides its arrays and its shape.
_CANONICAL = {"maxprint": 50, "_has_canonical_format": True, "_has_sorted_indices": True}


@cache
def _is_plain_object() -> bool:
    """Whether a matrix in this version of SciPy has just the attributes that we set."""
    made = sparse.csr_array((np.ones(1), np.zeros(1, np.int32), np.array([0, 1], np.int32)))
    made.has_canonical_format = True
    arrays = {"_shape", "data", "indices", "indptr"}
    return vars(made).keys() == _CANONICAL.keys() | arrays and all(
        vars(made)[name] == value for name, value in _CANONICAL.items()
    )


def pointers(sizes: NDArray[Any]) -> NDArray[Any]:
    """Row pointers for rows of these sizes, in the narrowest type that fits.

    SciPy converts the indices of a matrix to the type of its pointers, so wide ones double its
    size.

    Examples
    --------
    >>> pointers(np.array([2, 0, 1]))
    array([0, 2, 2, 3], dtype=int32)
    """
    wide = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    return wide.astype(np.int32) if wide[-1] <= _MAX_COLUMNS else wide


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """The distinct values, ascending.

    ``np.unique`` does the same, but imports ``numpy.ma`` and takes three times as long for the few
    labels of a document.

    Examples
    --------
    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    values = np.sort(values)
    is_new = np.ones(values.size, np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_new[1:])
    return values[is_new]


def gathered(values: NDArray[Any], ptr: NDArray[Any], members: NDArray[np.int64]) -> NDArray[Any]:
    """The values of some rows, concatenated."""
    lengths = ptr[members + 1] - ptr[members]
    begins = np.repeat(ptr[members] - (np.cumsum(lengths) - lengths), lengths)
    return values[begins + np.arange(lengths.sum())]


def _shares(matrix: sparse.csr_array, X: Any) -> bool:
    """Whether the canonical form shares the caller's memory."""
    data = getattr(X, "data", None)
    return isinstance(data, np.ndarray) and np.shares_memory(matrix.data, data)


def _without_zeros(data: NDArray[Any]) -> bool:
    """Whether no stored value is zero; for positive values the minimum is enough."""
    return data.size == 0 or bool(data.min() > 0 or data.all())


def _position(matrix: sparse.csr_array, entry: int) -> tuple[int, int]:
    """Row and column of a stored entry."""
    row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
    return row, int(matrix.indices[entry])


def _check_values(matrix: sparse.csr_array, name: str, non_negative: bool) -> None:
    data = matrix.data
    if matrix.nnz == 0:
        return
    # A minimum or maximum is NaN if any value is.
    if not (np.isfinite(data.min()) and np.isfinite(data.max())):
        entry = int(np.argmax(~np.isfinite(data)))
        row, column = _position(matrix, entry)
        raise InputError(
            f"{name} must be finite, without NaN or inf; "
            f"row {row}, column {column} is {data[entry]}."
        )
    if non_negative and data.min() < 0:
        entry = int(np.argmax(data < 0))
        row, column = _position(matrix, entry)
        raise InputError(
            f"{name} must not be negative; row {row}, column {column} is {data[entry]}. "
            "Negative values in data have no meaning as counts or weights."
        )
