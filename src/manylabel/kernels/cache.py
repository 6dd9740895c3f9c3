"""Find a folder for Numba's own cache of compiled kernels."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from numba import config, njit
from numba.core import caching

from manylabel.kernels.machine_code import private_folder

__all__ = ["cache_folder", "find_cache"]


def find_cache(file: str) -> bool:
    """Make sure that Numba has a writable cache folder; False if there is none.

    In containers and services, the installation and the home folder are often read-only, and Numba
    then refuses to compile. This function falls back to a private temporary folder. Kernels that
    were compiled when the image was built are copied there, which is faster than compiling again.

    Parameters
    ----------
    file : str
        A file of this package.
    """
    if cache_folder() is not None:
        return True
    try:
        private = private_folder()
        # Numba has no public name for the folder of a file inside its cache.
        place = private / caching._CacheLocator.get_suitable_cache_subpath(file)
        compiled = Path(file).parent / "__pycache__"
        if compiled.is_dir() and not place.exists():
            copy = private / f"{os.getpid()}.tmp"
            copy.mkdir()
            for kernel in compiled.glob("*.nb*"):
                shutil.copyfile(kernel, copy / kernel.name)
            os.rename(copy, place)
        # For child processes.
        os.environ["NUMBA_CACHE_DIR"] = str(private)
        config.CACHE_DIR = str(private)  # type: ignore[attr-defined]
    except (OSError, AttributeError) as error:
        reason = getattr(error, "strerror", None) or error
        print(
            f"manylabel: cannot cache compiled kernels ({reason}), so every start compiles them "
            "again; set NUMBA_CACHE_DIR to a writable folder.",
            file=sys.stderr,
        )
        return False
    return True


def cache_folder() -> str | None:
    """Numba's cache folder for this package; None if it finds none."""

    def kernel() -> None:
        """Do nothing; Numba looks for a folder when a function is decorated."""

    try:
        return str(njit(cache=True)(kernel).stats.cache_path)
    except RuntimeError:
        return None
