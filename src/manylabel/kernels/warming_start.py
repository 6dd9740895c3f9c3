"""Preloaded by the fork server: starts up Numba's compiler once for all processes."""

from __future__ import annotations

import numba


@numba.njit(nogil=True, error_model="numpy")
def _first(values):
    """A dummy: compiling the first function initialises Numba."""
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total


_first.compile((numba.types.float64[::1],))
