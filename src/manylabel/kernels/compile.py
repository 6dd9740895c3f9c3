"""The decorators that kernels use."""

from __future__ import annotations

from numba import njit

# `error_model="numpy"` drops the division-by-zero checks that stop loops from becoming vector code.
kernel = njit(cache=True, nogil=True, error_model="numpy")

# For a step inside a kernel that makes no array of its own: nothing counts the references to those
# that it reads, which would be an atomic addition for each array of each tuple that it looks into.
step = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
