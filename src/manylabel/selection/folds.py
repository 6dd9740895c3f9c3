"""Split documents into folds to learn from and to measure on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.corpus.splitting import folds as fold_of_rows
from manylabel.corpus.splitting import split
from manylabel.exceptions import ParameterError
from manylabel.validation import check_real, check_whole

__all__ = ["Fold", "make_folds", "share_mask"]

#: For ``cv="auto"``: this many folds for a corpus of fewer documents, a share of a larger one.
_SMALL_CORPUS, _FOLDS, _SHARE = 2_000, 3, 0.2


@dataclass(frozen=True)
class Fold:
    """Documents to learn from and held-out documents to measure on.

    For leave-one-out, ``rows`` has the numbers of the held-out documents in ``X``.
    """

    X: sparse.csr_array
    Y: sparse.csr_array
    X_held_out: sparse.csr_array
    Y_held_out: sparse.csr_array
    rows: NDArray[np.int64] | None = None


def make_folds(
    X: sparse.csr_array,
    Y: sparse.csr_array,
    cv: Any,
    *,
    can_leave_out: bool,
    max_documents: int,
    random_state: Any,
) -> Iterator[Fold]:
    """Make folds from the ``cv`` argument.

    Parameters
    ----------
    X, Y : csr_array
    cv : "auto", "loo", int or float
        See :class:`manylabel.selection.Tuner`.
    can_leave_out : bool
        Whether every setting can be measured by leave-one-out.
    max_documents : int
        Maximum documents that leave-one-out scores, evenly sampled.
    random_state : int, RandomState or None
    """
    n_rows = Y.shape[0]
    if isinstance(cv, str) and cv == "auto":
        cv = "loo" if can_leave_out else _FOLDS if _FOLDS <= n_rows < _SMALL_CORPUS else _SHARE
    if isinstance(cv, str):
        if cv != "loo":
            raise ParameterError(
                f'`cv` must be "auto", "loo", a number of folds or a share; got {cv!r}.'
            )
        if not can_leave_out:
            raise ParameterError(
                "leave-one-out needs a model and settings that share neighbours, such as LCIF's; "
                "give a number of folds or a share as `cv`."
            )
        rows = np.arange(n_rows)
        most = check_whole("max_documents", max_documents, 1)
        if n_rows > most:
            rows = np.linspace(0, n_rows - 1, most).astype(np.int64)
        yield Fold(X, Y, X[rows], Y[rows], rows)
        return
    if isinstance(cv, float | np.floating):
        masks = [share_mask(Y, "cv", float(cv), random_state)]
    else:
        n_folds = check_whole("cv", cv, 2)
        if n_folds > n_rows:
            raise ParameterError(
                f"`cv` must be at most the number of documents, {n_rows}; got {n_folds}."
            )
        fold_of = fold_of_rows(Y, n_folds, random_state, stratified=True)
        masks = [fold_of == fold for fold in range(n_folds)]
    for mask in masks:
        if mask.any() and not mask.all():
            yield Fold(X[~mask], Y[~mask], X[mask], Y[mask])


def share_mask(
    Y: sparse.csr_array, name: str, share: float, random_state: Any
) -> NDArray[np.bool_]:
    """A mask of a share of the documents, stratified by label."""
    if not 0 < check_real(name, share, 0) < 1:
        raise ParameterError(f"`{name}` must be a share between 0 and 1; got {share:g}.")
    mask = split(Y, share, random_state, stratified=True)
    if not mask.any() or mask.all():
        raise ParameterError(
            f"`{name}` must leave documents in both sets; {share:g} of {Y.shape[0]} does not."
        )
    return mask
