"""Numba kernels: arrays in, arrays out.

Each is serial, releases the GIL (``nogil=True``) and is cached on disk; parallel work is a pool of
threads over blocks of rows, in :mod:`manylabel.parallel`, so that two callers can never meet in
Numba's threading layer.
"""

from __future__ import annotations

from collections.abc import Callable

#: Called with the name of each kernel that is about to be compiled, which may take seconds.
on_compile: Callable[[str], None] | None = None
