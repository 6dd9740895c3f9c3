"""Numba kernels: arrays in, arrays out.

Each is serial, releases the GIL (``nogil=True``) and is cached on disk; parallel work is a pool of
threads over blocks of rows, in :mod:`manylabel.parallel`, so that two callers can never meet in
Numba's threading layer.
"""
