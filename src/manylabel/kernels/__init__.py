"""Numba kernels: arrays in, arrays out.

Each is serial, releases the GIL (``nogil=True``) and is cached on disk. Threads over blocks of rows
are in :mod:`manylabel.parallel`, not in Numba: its default threading layer fails if two threads
enter it at once.
"""

from __future__ import annotations

from collections.abc import Callable

#: Called with the name of a kernel before it is compiled, which may take seconds.
on_compile: Callable[[str], None] | None = None
