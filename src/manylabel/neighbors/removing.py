"""Rows of an index that can be removed."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manylabel.exceptions import InputError

__all__ = ["RemovableRows"]


class RemovableRows:
    """What the indexes of sparse and of dense rows share: which rows have been removed."""

    #: Empty as long as no row was removed; replaced, never changed.
    _alive: NDArray[np.bool_]

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Row numbers in use, including removed rows."""

    def __len__(self) -> int:
        """The number of rows that can be found."""
        return int(self._alive.sum()) if self._alive.size else self.n_rows

    def remove(self, numbers: ArrayLike) -> None:
        """Remove rows; they are never found again. Others keep their numbers until `compact`."""
        gone = np.atleast_1d(np.asarray(numbers))
        if gone.size == 0:
            return
        if gone.dtype.kind not in "iu" or gone.min() < 0 or gone.max() >= self.n_rows:
            raise InputError(f"rows to remove must be numbers from 0 to {self.n_rows - 1}.")
        alive = self.is_alive(gone)
        if not alive.all():
            raise InputError(f"row {gone[~alive][0]} has already been removed.")
        self._alive = self._alive.copy() if self._alive.size else np.ones(self.n_rows, np.bool_)
        self._alive[gone] = False

    def is_alive(self, numbers: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of some rows have not been removed."""
        return self._alive[numbers] if self._alive.size else np.ones(numbers.size, np.bool_)

    def _kept(self) -> NDArray[np.int64]:
        """The numbers of the rows that have not been removed."""
        return np.flatnonzero(self._alive) if self._alive.size else np.arange(self.n_rows)

    def _keep_new(self, n: int) -> None:
        """Note that rows were added."""
        if self._alive.size:
            self._alive = np.concatenate([self._alive, np.ones(n, np.bool_)])

    def _check_alive(self, index: str) -> None:
        """Refuse a mask that does not fit the rows."""
        if self._alive.size not in (0, self.n_rows):
            raise InputError(f"the {index} is damaged: rows are missing.")
