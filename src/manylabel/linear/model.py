"""Weights of linear models, and where those of single labels are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.kernels.index import Rows
from manylabel.kernels.svm import Lookup, mark_labels
from manylabel.validation import check_numbers, csr_parts

__all__ = ["LinearModel", "make_lookup"]

#: Fewer weights of a feature are read one after another, which is faster than a lookup.
_MANY = 256
#: Nor are the weights of features that have one for less than one in this many labels.
_SHARE = 16


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
    def scored(self) -> list[int]:
        """The number of rows that were scored, as a list of one number that callers change."""
        return [0]

    @cached_property
    def lookup(self) -> Lookup:
        """Where the weights of single labels are, for features with many."""
        return make_lookup(self.rows, self.intercept.size)


def make_lookup(coef: Rows, n_labels: int) -> Lookup:
    """A lookup for the features with weights for many labels.

    It takes at most three eighths of the memory of these weights.
    """
    lengths = np.diff(coef.ptr)
    features = np.flatnonzero(lengths >= max(_MANY, n_labels // _SHARE))
    size = features.size, -(-n_labels // 64)
    at = np.full(lengths.size, -1, np.int32)
    lookup = Lookup(at, np.zeros(size, np.uint64), np.empty(size, np.int32))
    mark_labels(coef, features, lookup)
    return lookup
