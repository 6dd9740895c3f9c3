"""Where compiled kernels are kept: beside their files, at home, or else in a private folder."""

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
    """Make sure that Numba has a place to keep what it compiles; False if there is none.

    Containers and services often have an installation and a home that cannot be written. Numba
    would then refuse to compile. A private folder for temporary files takes their place; what was
    compiled when the image was made is copied there, which is quicker than compiling it again.

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
        # Processes that this one starts need it, too.
        os.environ["NUMBA_CACHE_DIR"] = str(private)
        config.CACHE_DIR = str(private)  # type: ignore[attr-defined]
    except (OSError, AttributeError) as error:
        reason = getattr(error, "strerror", None) or error
        print(
            f"manylabel: compiled kernels cannot be kept ({reason}), so that "
            "every start compiles them; NUMBA_CACHE_DIR may name a folder that can be written.",
            file=sys.stderr,
        )
        return False
    return True


def cache_folder() -> str | None:
    """The folder where Numba keeps what it compiles of this package; None if it finds none."""

    def kernel() -> None:
        """Stand for all of them."""

    try:
        return str(njit(cache=True)(kernel).stats.cache_path)
    except RuntimeError:
        return None
