"""Imported by the process that others are copied from: what every compilation needs first."""

from __future__ import annotations

import numba


@numba.njit(nogil=True, error_model="numpy")
def _first(values):
    """Nothing of interest: the first function that is compiled starts Numba up."""
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total


_first.compile((numba.types.float64[::1],))
