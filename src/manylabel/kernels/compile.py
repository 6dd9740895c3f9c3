"""The decorators that kernels use."""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.core.cpu import CPUTargetOptions

from manylabel.kernels.cache import find_cache

# `error_model="numpy"` drops the division-by-zero checks that stop loops from becoming vector code.
_KERNEL: dict[str, Any] = {"cache": find_cache(__file__), "nogil": True, "error_model": "numpy"}
# Numba does not document this option; without it a step is a kernel like others.
_UNCOUNTED: dict[str, Any] = {"_nrt": False} if hasattr(CPUTargetOptions, "_nrt") else {}

kernel = njit(**_KERNEL)

# For a step inside a kernel that makes no array of its own: nothing counts the references to those
# that it reads, which would be an atomic addition for each array of each tuple that it looks into.
step = njit(**_KERNEL, **_UNCOUNTED)

# For a step that adds in any order, so that it adds several numbers at once.
summing_step = njit(**_KERNEL, **_UNCOUNTED, fastmath={"reassoc", "contract"})
