"""Weights of linear models, and where those of single labels are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.kernels.index import Rows
from manylabel.scoring.lookups import Lookups
from manylabel.validation import check_numbers, csr_parts

__all__ = ["LinearModel"]


@dataclass(frozen=True)
class LinearModel:
    """Weights of all labels.

    Parameters
    ----------
    coef : csr_array of shape (n_features, n_labels), float32
        By feature, since a document has few features.
    intercept : ndarray of shape (n_labels,), float64
        Minus infinity for labels that were not trained.
    """

    coef: sparse.csr_array
    intercept: NDArray[np.float64]

    def _check_stored(self) -> None:
        """Refuse weights of unknown labels, and values that are not finite."""
        if self.intercept.shape != (self.coef.shape[1],):
            raise InputError("the weights are damaged: each label needs one intercept.")
        check_numbers(self.coef.data, self.intercept)

    @cached_property
    def rows(self) -> Rows:
        """The weights in the form that kernels read."""
        return Rows(*csr_parts(self.coef))

    @cached_property
    def lookups(self) -> Lookups:
        """Where the weights of single labels are, for features with many."""
        return Lookups(self.rows.ptr, self.rows.features, self.intercept.size)
