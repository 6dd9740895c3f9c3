"""The one decorator that every kernel uses."""

from __future__ import annotations

from numba import njit

# `error_model="numpy"` drops the division-by-zero checks that stop loops from becoming vector code.
kernel = njit(cache=True, nogil=True, error_model="numpy")
